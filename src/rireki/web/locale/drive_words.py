"""The words of what drives agents, in Japanese; the English text is the key, as in `words.py`."""

from __future__ import annotations

from rireki.model.activity import WORDS

__all__ = ["JAPANESE", "SCRIPT"]

JAPANESE = {
    # every page
    "Agents": "エージェント",
    "Waiting for you": "あなたの対応待ち",
    "Waiting for you: {n}": "あなたの対応待ち：{n} 件",
    "New conversation": "新しい会話",
    # a new conversation
    "Agents run commands on this machine. They may work below:": (
        "エージェントはこのマシンでコマンドを実行します。作業できるディレクトリ："
    ),
    "Directory": "ディレクトリ",
    "Recent projects": "最近のプロジェクト",
    "Agent": "エージェント",
    "ready": "利用できます",
    "Not here: {n}": "このマシンにないもの：{n}",
    "No agent was found on this machine.": "このマシンにエージェントが見つかりません。",
    "Model": "モデル",
    "as the agent calls it; empty for its own choice": (
        "エージェントでの呼び名。空欄ならエージェントに任せます"
    ),
    "What should it do?": "何をしてもらいますか",
    "Begin": "始める",
    "An agent may work here.": "ここで作業できます。",
    "This conversation was held with another agent ({agent}):": (
        "これは別のエージェント（{agent}）との会話です："
    ),
    "[Messages left out here: {n}]": "［ここで {n} 件のメッセージを省略］",
    "Go on with it from here.": "この続きからお願いします。",
    "What was said so far stands in the box below: another agent is told of it when you send it. "
    "Change it as you like.": (
        "これまでの会話を下の欄に入れました。送信すると別のエージェントに渡されます。"
        "自由に書き換えられます。"
    ),
    # the composer
    "Write to the agent": "エージェントに書く",
    "Pictures": "画像",
    "Picture": "画像",
    "Add pictures": "画像を追加",
    "Remove {name}": "{name} を外す",
    "Files of the project": "プロジェクトのファイル",
    "Enter sends, Shift+Enter makes a new line, @ names a file": (
        "Enter で送信、Shift+Enter で改行、@ でファイルを指定"
    ),
    "Send": "送信",
    "Send next": "次に送る",
    "{name} is no picture that can be sent: PNG, JPEG, GIF and WebP can.": (
        "{name} は送れません。送れる画像は PNG・JPEG・GIF・WebP です。"
    ),
    "{name} is larger than {n} MB.": "{name} は {n} MB を超えています。",
    "All pictures together may have {n} MB.": "画像は合計 {n} MB までです。",
    "This agent takes no pictures.": "このエージェントは画像を受け取れません。",
    # below a conversation
    "The agent": "エージェント",
    "Waiting their turn": "順番待ち",
    "waits": "順番待ち",
    "Change": "変更",
    "Change this prompt": "この依頼を変更",
    "Leave as it is": "変更しない",
    "Take back": "取り消す",
    "Taken back": "取り消しました",
    "Take it back into the box": "入力欄に戻す",
    "Go on with the queue": "順番待ちを続ける",
    "Stop": "止める",
    "End at once": "強制終了",
    "End the agent at once; what it said stays": "すぐに終了させます。ここまでの発言は残ります",
    "Start again": "再開する",
    "Continue here": "ここで続ける",
    "Continue with another agent": "別のエージェントで続ける",
    "This conversation cannot be continued from here.": "この会話はここから続けられません。",
    "Copy this command": "このコマンドをコピー",
    "with": "エージェント：",
    "sending …": "送信中…",
    "Not accepted:": "受け付けられませんでした：",
    "the queue is held back": "順番待ちは保留中",
    "The server cannot be reached just now. Nothing was lost; try again.": (
        "サーバーに接続できません。何も失われていません。もう一度お試しください。"
    ),
    "starting": "起動中",
    "stopping": "停止中",
    "ended; what you send starts it again": "終了しました。送信すると再開します",
    "failed": "失敗しました",
    # what waits
    "What agents want to do or to know, the eldest first. Digits choose; the next one is ready "
    "when one is answered.": (
        "エージェントがしたいこと、知りたいことを古い順に並べています。"
        "数字キーで選べ、答えると次に進みます。"
    ),
    "Prompts from before rireki was restarted: {n}": "rireki の再起動前に送られた依頼：{n} 件",
    "The agent gets none of them before you say so. Each can be changed or taken back in the "
    "conversation.": (
        "許可するまでエージェントには渡されません。会話の画面で 1 件ずつ変更・取り消しができます。"
    ),
    "Give them to the agent": "エージェントに渡す",
    "Take them back": "すべて取り消す",
    "Nothing waits for you.": "対応待ちはありません。",
    "Plan": "計画",
    "Every argument": "すべての引数",
    "Your decision": "あなたの判断",
    "Allow once": "今回だけ許可",
    "Always allow": "常に許可",
    "Refuse": "拒否",
    "Always refuse": "常に拒否",
    "Refuse with a reason": "理由を添えて拒否",
    "Refuse, and say what to change": "変更点を添えて差し戻す",
    "Do not answer, and say why": "理由を添えて回答しない",
    "Refused": "拒否しました",
    "What the agent should know or do instead": "エージェントに伝えること、代わりにしてほしいこと",
    "Something else": "その他",
    "In your own words": "自由記述",
    "Answer": "回答する",
    "Answered": "回答しました",
    "It does not wait any more: answered elsewhere, or expired. The conversation tells how.": (
        "対応は不要になりました（ほかの画面で回答済み、または期限切れ）。経緯は会話に残っています。"
    ),
    "Waiting for you: {title}": "あなたの対応待ち：{title}",
}

#: What scripts say, by the name they know it under.
SCRIPT = {
    "inbox": "Waiting for you: {n}",
    "askCame": "Waiting for you: {title}",
    "askOver": (
        "It does not wait any more: answered elsewhere, or expired. The conversation tells how."
    ),
    "askAnswered": "Answered",
    "away": "The server cannot be reached just now. Nothing was lost; try again.",
    "send": "Send",
    "queue": "Send next",
    "sending": "sending …",
    "refused": "Not accepted:",
    "held": "the queue is held back",
    "withdrawn": "Taken back",
    "picture": "Picture",
    "removePicture": "Remove {name}",
    "imageKind": "{name} is no picture that can be sent: PNG, JPEG, GIF and WebP can.",
    "imageSize": "{name} is larger than {n} MB.",
    "imagesSize": "All pictures together may have {n} MB.",
    "noImages": "This agent takes no pictures.",
    "directoryFine": "An agent may work here.",
    "state.starting": "starting",
    **{f"state.{state}": words for state, words in WORDS.items()},
    "state.stopping": "stopping",
    "state.ended": "ended; what you send starts it again",
    "state.failed": "failed",
}
