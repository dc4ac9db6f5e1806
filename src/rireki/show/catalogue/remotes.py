"""What is said of other machines, in Japanese."""

from __future__ import annotations

__all__ = ["JAPANESE"]

JAPANESE = {
    "{name} is removed; what is there stays there.": (
        "{name} を外しました。送ったものは向こうに残っています。"
    ),
    "{url} says it is a server of your own: everything in the archive will go there.": (
        "{url} はあなた自身のサーバーだと名乗っています。アーカイブのすべてが送られます。"
    ),
    "Token": "トークン",
    "Rules that shared with it went, too: {rules}": "共有ルールも取り消しました: {rules} 件",
    "Is it yours?": "本当にあなたのものですか？",
    "{name} is added: {url}, encrypted.": "{name} を登録しました: {url} (暗号化)",
    "Keep its key: without it nobody can read the folder, not even you.": (
        "鍵を保管してください。鍵がなければ、あなた自身もフォルダーを読めません。"
    ),
    "On another machine: rireki remote add {name} URL --key FILE": (
        "ほかのマシンでは: rireki remote add {name} URL --key ファイル"
    ),
    "'rireki remote key {name}' prints it.": "鍵は 'rireki remote key {name}' で表示できます。",
    "{name} is added as your own: everything goes to {url}.": (
        "{name} を自分のサーバーとして登録しました。すべてが {url} に送られます。"
    ),
    "{name} is added as a team's server: only what you share goes there.": (
        "{name} をチームのサーバーとして登録しました。共有したものだけが送られます。"
    ),
    "If it is your own, remove it and add it with --own.": (
        "自分のサーバーなら、いったん外し、--own を付けて登録し直してください。"
    ),
    "There is no remote: nothing leaves this machine.": (
        "リモートはありません。このマシンからは何も送られません。"
    ),
    "one of your own": "自分用",
    "a team's server": "チーム用",
    "one of your own, encrypted": "自分用、暗号化",
    "never": "まだ",
    "pushed: {time}, pulled: {time2}": "送信: {time}、取り込み: {time2}",
    "The token of {name}; it is not shown again:": ("{name} のトークンです。二度と表示されません:"),
    "The token of {name} opens nothing any more.": "{name} のトークンは使えなくなりました。",
    "No device may push here: 'rireki remote token --new NAME' lets one.": (
        "送信を許可したデバイスはありません。'rireki remote token --new 名前' で許可できます。"
    ),
    "No device may push here yet: 'rireki remote token --new NAME' lets one.": (
        "送信を許可したデバイスがまだありません。'rireki remote token --new 名前' で許可できます。"
    ),
    "An older copy was put back since the last time: everything was told again.": (
        "前回のあとで古いコピーに戻されたため、すべてを送り直しました。"
    ),
    "Files are missing there: a drive may still be bringing them.": (
        "足りないファイルがあります。ドライブの同期がまだ終わっていないのかもしれません。"
    ),
    "nothing new to push": "新しく送るものはありません",
    "nothing new to pull": "新しく取り込むものはありません",
    "pushed {hint}, {size}": "{hint}を送りました ({size})",
    "pulled {hint}, {size}": "{hint}を取り込みました ({size})",
    "1 change": "変更 1 件",
    "{n} changes": "変更 {n} 件",
}
