"""Why an entry is shown as it is, in Japanese; the English stands with the readers."""

from __future__ import annotations

__all__ = ["JAPANESE"]

JAPANESE = {
    "result of a tool": "ツールの結果",
    "a person refused, in their words": "人が理由を述べて拒否",
    "a person answered a question": "人が質問に回答",
    "a person decided about a plan": "人が計画を判断",
    "written by the agent that started this one": "呼び出し元のエージェントが作成",
    "summary of a compacted context": "圧縮された文脈の要約",
    "skill that the model loaded": "モデルが読み込んだスキル",
    "text of a command that was typed": "入力されたコマンドの本文",
    "caveat before the output of commands": "コマンド出力前の注意書き",
    "path of a pasted picture": "貼り付けた画像のパス",
    "hook that sent the agent on": "エージェントを続行させたフック",
    "put in by the program": "プログラムが挿入",
    "sent by something else than a person": "人以外からの送信",
    "a background task ended": "バックグラウンド作業の終了",
    "sent by another agent": "別のエージェントから",
    "command that was typed": "入力されたコマンド",
    "output of a command": "コマンドの出力",
    "shell command that was typed, or its output": "入力されたシェルコマンドまたはその出力",
    "a person interrupted": "人が中断",
    "context that an editor or a loop put in": "エディターやループが挿入した文脈",
    "note that was typed for the memory": "記憶用に入力されたメモ",
    "typed prompt with a picture": "画像付きの入力",
    "typed prompt": "入力された発言",
    "typed while the agent worked": "作業中に入力",
    "queued by something else than a person": "人以外が順番待ちに追加",
    "typed, and never sent": "入力されたが未送信",
    "output of a hook": "フックの出力",
    "file or folder that a prompt mentions": "発言が指すファイルまたはフォルダー",
    "context for the model": "モデル向けの文脈",
    "unknown command that was typed": "入力された不明なコマンド",
    "notice of the program": "プログラムからの通知",
    "answer of the model": "モデルの回答",
    "error in place of an answer": "回答の代わりのエラー",
    "put in where no answer was wanted": "回答不要の箇所への挿入",
    "not understood": "解釈できず",
}
