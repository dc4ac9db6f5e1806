"""What is said of teams and of what is shared with them, in Japanese."""

from __future__ import annotations

__all__ = ["JAPANESE"]

JAPANESE = {
    "{what}: figures alone, for {team} on {remote}": "{what}: 数字だけを {remote} の {team} に",
    "{what}: in full, for {team} on {remote}": "{what}: そのまま {remote} の {team} に",
    "{what}: without secrets, for {team} on {remote}": (
        "{what}: 秘密の値を伏せて {remote} の {team} に"
    ),
    "{what}: nothing, for {team} on {remote}": "{what}: {remote} の {team} には何も送らない",
    "Share it from now on?": "これからも共有しますか？",
    "It goes with the next 'rireki push {name}', and what comes later by itself.": (
        "次の 'rireki push {name}' で送られます。これから増える分は自動で送られます。"
    ),
    "Nothing is shared with a team.": "チームには何も共有していません。",
    "{what} is no longer shared with {team}.": "{what} を {team} に共有するのをやめました。",
    "{name} could not be told; the next 'rireki push' does it.": (
        "{name} に伝えられませんでした。次の 'rireki push' で伝わります。"
    ),
    "{name} is prepared. {owner} owns the team {team}.": (
        "{name} を用意しました。チーム {team} のオーナーは {owner} です。"
    ),
    "{person} is in the team {team}.": "{person} をチーム {team} に加えました。",
    "The token of a device of {person}; it is not shown again:": (
        "{person} の端末のトークンです。二度と表示されません:"
    ),
    "On that device: rireki remote add {team} URL --token TOKEN": (
        "その端末では: rireki remote add {team} URL --token トークン"
    ),
    "The device {device} opens nothing any more.": "端末 {device} のトークンは無効になりました。",
    "{person} can open nothing any more. Devices that could: {n}.": (
        "{person} のトークンはすべて無効になりました(端末 {n} 台)。"
    ),
    "What was shared stays for the team.": "共有されたものはチームに残ります。",
    "Archives that wait to be read: {n}": "読み込みを待つアーカイブ: {n}",
    "shares {what}": "{what}を共有",
    "revoked": "無効",
    "devices: {names}": "端末: {names}",
    "owner": "オーナー",
    "member": "メンバー",
    "auditor": "監査役",
    "Nothing is encrypted on the way: let a proxy in front do that.": (
        "通信は暗号化されません。手前にプロキシを置いて暗号化してください。"
    ),
    "Two invented people share with each other. Open it as one of them:": (
        "架空の二人が互いに共有しています。どちらかとして開いてください:"
    ),
    "Stop with Ctrl-C: nothing of it stays.": "Ctrl-C で終わります。何も残りません。",
}
