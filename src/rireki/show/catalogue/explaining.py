"""What `rireki explain` and `rireki show --format PROVIDER` say, in Japanese."""

from __future__ import annotations

__all__ = ["JAPANESE"]

JAPANESE = {
    # who, and how it is shown
    "person": "人",
    "harness": "プログラム",
    "bubble": "吹き出し",
    "chip": "チップ",
    "divider": "区切り",
    "fold": "折りたたみ",
    "hidden": "非表示",
    "your message": "あなたの発言",
    "another's message": "ほかの発言",
    # explain
    "no rule": "規則なし",
    "1 entry": "エントリー 1 件",
    "{n} entries": "エントリー {n} 件",
    "{n} by person": "人 {n} 件",
    "{n} by agent": "エージェント {n} 件",
    "{n} by tool": "ツール {n} 件",
    "{n} by harness": "プログラム {n} 件",
    "{n} more with --all": "--all でさらに {n} 件",
    "Flags that stand together": "一緒に付いているフラグ",
    "(none)": "（なし）",
    "By the text alone, and by flags and text": "本文だけの判定と、フラグと本文による判定",
    "line": "行",
    "by text": "本文だけ",
    "shown as": "表示",
    "why": "理由",
    "{n} of {hint} would be shown otherwise by the text alone": (
        "{hint}のうち {n} 件は、本文だけの判定では表示が変わります"
    ),
    # the rules of Claude Code
    "result of a tool": "ツールの結果",
    "a person refused, in their words": "人が自分の言葉で拒否した",
    "a person answered a question": "人が質問に答えた",
    "a person decided about a plan": "人が計画の可否を決めた",
    "written by the agent that started this one": "呼び出し元のエージェントが書いた",
    "summary of a compacted context": "圧縮した文脈の要約",
    "skill that the model loaded": "モデルが読み込んだスキル",
    "text of a command that was typed": "入力されたコマンドの内容",
    "caveat before the output of commands": "コマンド出力の前の注意書き",
    "path of a pasted picture": "貼り付けた画像のパス",
    "hook that sent the agent on": "エージェントを続行させたフック",
    "put in by the program": "プログラムが挿入した",
    "sent by something else than a person": "人以外が送った",
    "a background task ended": "バックグラウンドの作業が終わった",
    "sent by another agent": "別のエージェントが送った",
    "command that was typed": "入力されたコマンド",
    "output of a command": "コマンドの出力",
    "shell command that was typed, or its output": "入力されたシェルコマンド、またはその出力",
    "a person interrupted": "人が中断した",
    "context that an editor or a loop put in": "エディターまたはループが挿入した文脈",
    "note that was typed for the memory": "メモリー用に入力されたメモ",
    "typed prompt with a picture": "画像付きで入力されたプロンプト",
    "typed prompt": "入力されたプロンプト",
    "typed while the agent worked": "エージェントの作業中に入力された",
    "queued by something else than a person": "人以外が順番待ちに入れた",
    "typed, and never sent": "入力されたが送られなかった",
    "output of a hook": "フックの出力",
    "file or folder that a prompt mentions": "プロンプトが触れているファイルかフォルダー",
    "context for the model": "モデル向けの文脈",
    "unknown command that was typed": "入力された不明なコマンド",
    "notice of the program": "プログラムの通知",
    "answer of the model": "モデルの回答",
    "error in place of an answer": "回答の代わりのエラー",
    "put in where no answer was wanted": "回答が不要な箇所への挿入",
    "not understood": "解釈できなかった",
    "shared by somebody": "誰かが共有したもの",
    "step of the system": "システムのステップ",
    "notes on the trajectory": "実行記録についてのメモ",
    # what a format could not carry as it was (show/atif.py, show/sts.py, export/)
    "atif: message {id}: the attachment {name} is only named: {hint}": (
        "atif: メッセージ {id}: 添付 {name} は名前だけになります: {hint}"
    ),
    "its bytes are not archived": "中身が保存されていません",
    "the format takes pictures only": "この形式に入れられるのは画像だけです",
    "atif: call {id}: its arguments were no object; they are its `input`": (
        "atif: 呼び出し {id}: 引数がオブジェクトではないため、`input` に入れました"
    ),
    "atif: message {id}: no call has the id of the result {call}": (
        "atif: メッセージ {id}: 結果 {call} に当たる呼び出しがありません"
    ),
    "sts: left out: {hint} ({n})": "sts: 省いたもの: {hint} ({n})",
    "attachments": "添付",
    "parts that were not understood": "解釈できなかった部分",
    "messages of earlier versions": "以前の版のメッセージ",
    "sub-agents": "サブエージェント",
    "otlp: the collector did not take {hint}": "otlp: コレクターが受け取らなかったもの: {hint}",
    "native: {name} is left out: it cannot be masked": (
        "native: {name} は省きました: 秘密を伏せられません"
    ),
    "1 span": "スパン 1 件",
    "{n} spans": "スパン {n} 件",
    # what a provider's form lacks (providers/notes.py)
    "{form}: {code} (message {names}): {hint}": "{form}: {code}（メッセージ {names}）: {hint}",
    "{form}: {code} (message {names} and {n} more): {hint}": (
        "{form}: {code}（メッセージ {names} ほか {n} 件）: {hint}"
    ),
    "The copy carries the unfinished text as the argument `unfinished`.": (
        "書き出しでは、途中までの文を引数 `unfinished` として渡します。"
    ),
    "The copy has U+FFFD in place of half a surrogate pair.": (
        "書き出しでは、サロゲートペアの片割れを U+FFFD に置き換えます。"
    ),
    "The copy answers the call with a marked error; repair() records that.": (
        "書き出しでは、呼び出しに印付きのエラーで答えます。repair() で記録できます。"
    ),
    "The copy tells the call as text: only the assistant can call tools.": (
        "ツールを呼べるのはアシスタントだけのため、書き出しでは呼び出しを文にします。"
    ),
    "The copy leaves the empty text out.": "書き出しでは、空の文を省きます。",
    "The copy says '(no output)' instead.": "書き出しでは、代わりに「(no output)」とします。",
    "Add the user's next message before you send, or give encode a `nudge`.": (
        "送る前にユーザーの次のメッセージを加えるか、encode に `nudge` を渡してください。"
    ),
    "The copy begins the result with 'Error:'.": "書き出しでは、結果を「Error:」で始めます。",
    "The copy uses another id for the call and its result.": (
        "書き出しでは、呼び出しとその結果に別の ID を使います。"
    ),
    "The copy tells in words what stood here; send it in a form the provider takes.": (
        "書き出しでは、ここにあったものを言葉で示します。"
        "プロバイダーが受け付ける形式で送ってください。"
    ),
    "The copy shows it after the results, in the user's name.": (
        "書き出しでは、結果の後にユーザー名義で示します。"
    ),
    "The copy writes the tool's name with the characters the provider allows.": (
        "書き出しでは、ツール名をプロバイダーが許す文字で書きます。"
    ),
    "Only the provider it came from understands this; the copy leaves it out.": (
        "元のプロバイダーにしか理解できないため、書き出しでは省きます。"
    ),
    "The copy tells it in words.": "書き出しでは、言葉で示します。",
    "Only the provider it came from can use this; the copy leaves it out.": (
        "元のプロバイダーでしか使えないため、書き出しでは省きます。"
    ),
    "The copy tells the result as text: no call before it has its id.": (
        "同じ ID の呼び出しが前にないため、書き出しでは結果を文にします。"
    ),
    "The copy has the result directly after its call.": (
        "書き出しでは、結果を呼び出しの直後に置きます。"
    ),
    "The copy puts neighbours of one role together.": (
        "書き出しでは、同じ役割の隣り合うメッセージをまとめます。"
    ),
    "The copy has the signature Gemini accepts for calls it did not make.": (
        "書き出しでは、Gemini 以外の呼び出しに Gemini が受け付ける署名を付けます。"
    ),
    "The copy begins with a short user turn.": "書き出しは、短いユーザーの発言で始めます。",
    "The copy has it as user text between <system> tags.": (
        "書き出しでは、<system> タグで囲んだユーザーの文にします。"
    ),
    "The copy has it as text between <thinking> tags.": (
        "書き出しでは、<thinking> タグで囲んだ文にします。"
    ),
    "The copy leaves it out.": "書き出しでは省きます。",
    "The copy leaves out reasoning that nothing followed.": (
        "書き出しでは、後に何も続かない思考を省きます。"
    ),
    "The copy ends without it.": "書き出しでは、末尾の空白を省きます。",
}
