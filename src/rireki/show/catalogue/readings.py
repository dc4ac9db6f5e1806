"""The words of the readers in Japanese: what they call a message, which rule decided, what they note.

What an agent or a person said may read like one of these. So they are asked for by themselves,
and only where a text is known to be a reader's.
"""

from __future__ import annotations

from functools import cache

from rireki.errors.catalogues import Sentences

__all__ = ["JAPANESE", "reading_in_japanese"]

#: How a person's answer is noted, in `sources/bridge/journal_message.py`.
_OUTCOMES = {
    "allowed once": "一度だけ許可",
    "always allowed": "常に許可",
    "answered": "回答",
    "plan approved": "計画を承認",
    "plan rejected": "計画を却下",
    "refused": "拒否",
}
_NOTED = {
    **{f"{said} by {{who}}": f"{told}（{{who}}）" for said, told in _OUTCOMES.items()},
    **{
        f"{said} by {{who}}: {{what}}": f"{told}（{{who}}）: {{what}}"
        for said, told in _OUTCOMES.items()
    },
    **{f"{said}: {{what}}": f"{told}: {{what}}" for said, told in _OUTCOMES.items()},
}

JAPANESE = {
    # what a message is called
    "accepted suggestion": "採用した候補",
    "asked for a summary on resuming": "再開時の要約の依頼",
    "attachment": "添付",
    "attached file": "添付ファイル",
    "custom instructions": "カスタム指示",
    "memory ({file})": "メモリー（{file}）",
    "plan": "計画",
    "task": "タスク",
    "to-do list": "ToDo リスト",
    "plan that the agent wrote": "エージェントが書いた計画",
    "task that the agent noted": "エージェントが記録したタスク",
    "to-do list that the agent kept": "エージェントの ToDo リスト",
    "what agents noted about the project": "プロジェクトについてエージェントが残したメモ",
    "message": "メッセージ",
    "not shown by the service": "サービスが表示しないもの",
    "branch": "分岐",
    "cancelled before it was answered": "回答前に取り消し",
    "caveat": "注意書き",
    "cleared": "消去",
    "closed": "終了",
    "context": "文脈",
    "context compacted ({before} tokens before)": "ここまでの会話を要約（{before} トークン）",
    "context compacted ({before} → {after} tokens)": (
        "ここまでの会話を要約（{before} → {after} トークン）"
    ),
    "denied": "拒否",
    "API error": "API エラー",
    "instructions of AGENTS.md": "AGENTS.md の指示",
    "permissions instructions": "許可についての説明",
    "warning": "警告",
    "a sub-agent reported": "サブエージェントからの報告",
    "added by the program": "プログラムによる追加",
    "context of an app": "アプリの文脈",
    "environment": "環境",
    "from the thread it was forked from": "フォーク元のスレッドから",
    "instructions": "指示",
    "picture": "画像",
    # Cline
    "browser action result": "ブラウザー操作の結果",
    "codebase search result": "コード検索の結果",
    "subtask result": "サブタスクの結果",
    "task resumed": "作業の再開",
    "mode changed": "モードの切り替え",
    "plan approved": "計画の承認",
    # opencode
    "earlier version": "以前の内容",
    "files changed": "変更されたファイル",
    "from the session it was forked from": "フォーク元のセッションから",
    "not sent to the model": "モデルには送られず",
    "queued prompt": "順番待ちのプロンプト",
    "reminder": "リマインダー",
    "reminder for the model": "モデルへのリマインダー",
    "shown to the person, not sent to the model": "人に見せただけでモデルには送られていない",
    "what stood here before it was changed": "変更前にここにあった内容",
    "shell command": "シェルコマンド",
    "system prompt": "システムプロンプト",
    "copied context": "写された文脈",
    "shared with rireki {version} out of {id}": "rireki {version} で共有されたもの。元は {id}",
    "shared": "共有",
    "notes": "メモ",
    "entered review mode": "レビューを開始",
    "exited review mode": "レビューを終了",
    "The turn was interrupted.": "この発言は中断されました。",
    "What came before stands in the thread it was forked from.": (
        "これより前は、フォーク元のスレッドにあります。"
    ),
    "What came before was in a file that was never seen.": (
        "これより前を含むファイルは、一度も見つかっていません。"
    ),
    "Only what was typed survives of this thread; its rollout was never seen.": (
        "このスレッドで残っているのは入力だけです。記録は一度も見つかっていません。"
    ),
    "directory": "フォルダー",
    "empty answer": "空の回答",
    "end of turn": "発言の終わり",
    "file": "ファイル",
    "from another agent": "別のエージェントから",
    "hidden context": "非表示の文脈",
    "hook": "フック",
    "injected": "挿入",
    "item without a type": "種類のない項目",
    "kept by compaction": "要約後も保持",
    "line": "行",
    "locked": "ロック",
    "never sent": "未送信",
    "notice": "通知",
    "only in a checkpoint": "チェックポイントにのみ残存",
    "questions": "質問",
    "remember": "メモ",
    "repaired": "修復",
    "row that cannot be read": "読めない行",
    "said": "発言",
    "skill": "スキル",
    "skipped": "回答せず",
    "steps": "手順",
    "summary": "要約",
    "system": "システム",
    "tangent": "脱線",
    "task completed": "作業完了",
    "task failed": "作業失敗",
    "task killed": "作業中止",
    "task stopped": "作業停止",
    "thinking": "思考",
    "thought for {minutes} min {seconds} s": "{minutes} 分 {seconds} 秒思考",
    "thought for {seconds} s": "{seconds} 秒思考",
    "thread": "スレッド",
    "tool results, left out": "省かれたツールの結果",
    "torn line": "途中で切れた行",
    "trimmed": "切り詰め",
    "unreadable line": "読めない行",
    "went back to an earlier point": "以前の時点に戻る",
    "widget": "ウィジェット",
    "worked for {minutes} min {seconds} s": "{minutes} 分 {seconds} 秒作業",
    "worked for {seconds} s": "{seconds} 秒作業",
    # rules: Amazon Q and Kiro
    "tool results": "ツールの結果",
    "tool results, rewritten as a prompt": "プロンプトに書き換えられたツールの結果",
    "cancelled tool uses": "取り消されたツール利用",
    "hook context": "フックが加えた文脈",
    "typed": "入力",
    "MCP prompt": "MCP プロンプト",
    "resume prompt": "再開時の要約の依頼",
    "timeout prompt": "時間切れ後の再質問",
    "interrupt text": "中断時の文",
    "redacted result": "省かれた結果",
    "denial": "拒否",
    "interrupt answer": "中断時の回答",
    "timeout answer": "時間切れ時の回答",
    # rules: Codex
    "command that a script of the model ran": "モデルのスクリプトが実行したコマンド",
    "what a script of the model did": "モデルのスクリプトが行ったこと",
    "command the person ran with !": "本人が ! で実行したコマンド",
    "description of the machine": "マシンの説明",
    "in the user's name, but not typed": "ユーザー名義だが入力ではない",
    "instructions for the model": "モデルへの指示",
    "typed by the person": "本人の入力",
    "chosen by the person from what the agent offered": "エージェントの選択肢から本人が選んだもの",
    "what another agent asked for": "別のエージェントからの依頼",
    # rules: Amazon Q in the IDE
    "asked to try again": "やり直しの依頼",
    "editor context": "エディターの文脈",
    "files from the editor": "エディターからのファイル",
    "hidden by the editor": "エディターが隠した発言",
    "no answer": "回答なし",
    "put in by the extension": "拡張機能による挿入",
    "the history was too long, and is cleared": "履歴が長すぎるため消去",
    "timed out": "時間切れ",
    "a prompt without words": "言葉のないプロンプト",
    "attached by the editor, not typed": "エディターによる添付（入力ではない）",
    "stands in place of an answer that never came": "届かなかった回答の代わり",
    "summary in place of the talk before it": "それまでの会話に代わる要約",
    "written by the editor's extension in the person's place": "本人の代わりにエディターの拡張機能が書いた文",
    # rules: llm
    "fragment": "フラグメント",
    "system prompt that the person gave": "本人が指定したシステムプロンプト",
    "text of a fragment that the person named": "本人が指定したフラグメントの本文",
    # rules: Goose
    "for the model": "モデル向け",
    "for the model, not shown to the person": "本人には表示されないモデル向けの文",
    # rules: Aider
    "Aider": "Aider",
    "command": "コマンド",
    "history cleared": "履歴を消去",
    "marked by Aider as typed (####)": "Aider が入力の印（####）を付けた文",
    "not marked by Aider: taken for an answer": "Aider の印がないため回答とみなした文",
    "said by Aider itself (>)": "Aider 自身の表示（>）",
    "session start": "セッションの開始",
    "start of a session": "セッションの開始",
    "tokens of the answer, as Aider counted them": "Aider が数えた回答のトークン",
    "typed command to Aider": "Aider への入力コマンド",
    "what Aider said before the first prompt": "最初のプロンプトより前の Aider の表示",
    "what was said before is not sent to the model any more": "これより前の発言はモデルに送られない",
    # rules: Zed
    "resumed": "再開",
    "the person sent the agent on": "本人がエージェントに続きを促した",
    # rules: exports
    "custom instructions of the account": "アカウントのカスタム指示",
    "error of the service": "サービスのエラー",
    "hidden by the service itself": "サービス自身が隠しているもの",
    "text of a file that was attached": "添付ファイルの本文",
    # rules: Kiro's third engine and its editor
    "put in by the editor": "エディターによる挿入",
    "task of a spec": "仕様のタスク",
    # labels and rules: Cursor
    "context that the program added": "プログラムが加えた文脈",
    "message that the editor does not show": "エディターが表示しない発言",
    "not shown by the editor": "エディターでは非表示",
    # labels and rules: Copilot
    "answered a plan": "計画への返答",
    "answered a question": "質問への返答",
    "answered a question: {question}": "質問への返答: {question}",
    "call that the program made by itself": "プログラムが自ら行った呼び出し",
    "change of a file that belongs to an answer": "回答に伴うファイルの変更",
    "changed files": "変更されたファイル",
    "compaction failed": "要約に失敗",
    "error that the program met": "プログラムのエラー",
    "file edit": "ファイルの変更",
    "from {source}": "{source} から",
    "instructions of a skill": "スキルの指示",
    "note of the program": "プログラムの注記",
    "notification of the program": "プログラムの通知",
    "read by the client": "クライアントによる読み取り",
    "sent by the program": "プログラムが送信",
    "skill {name}": "スキル {name}",
    "task of a sub-agent": "サブエージェントへの依頼",
    "the turn was interrupted": "発言の中断",
    "what the person answered when the agent asked": "エージェントの質問への本人の返答",
    "what the person said when they denied a call": "呼び出しを拒否した本人の言葉",
    # rules: Gemini CLI, Qwen Code
    "files that the prompt mentions": "プロンプトが参照するファイル",
    "goal": "目標",
    "nudge of the program": "プログラムによる促し",
    "part of a message": "発言の一部",
    "scheduled prompt": "予約されたプロンプト",
    "session context": "セッションの文脈",
    "typed, and not in the chat": "入力のみ（チャットには無い）",
    "what the model was given": "モデルに渡された文",
    "Only what was typed survives of this session; its chat was never seen.": (
        "このセッションは入力だけが残っています。チャットは一度も見つかりませんでした。"
    ),
    "goal of the agent": "エージェントの目標",
    "reminder of the program": "プログラムからの注意書き",
    "command that was typed": "入力されたコマンド",
    "context that an editor put in": "エディターが挿入した文脈",
    "error in place of an answer": "回答の代わりのエラー",
    "file that a prompt mentions": "プロンプトが参照するファイル",
    "notice of the program": "プログラムからのお知らせ",
    "the program sent the agent on": "プログラムによる続行の促し",
    "typed in the terminal, and in no chat": "端末での入力（チャットには無い）",
    "what the program made of a typed prompt": "入力からプログラムが作った文",
    # rules: driven agents, histories of programs
    "a turn ended": "発言の終わり",
    "call of a tool": "ツールの呼び出し",
    "history was cleared": "履歴が消去された",
    "history was trimmed": "履歴が切り詰められた",
    "message in the user's name": "ユーザー名義の発言",
    "permission or answer that the agent waits for": "エージェントが待つ許可または回答",
    "plan of the agent": "エージェントの計画",
    "repaired, so that a provider takes it": "プロバイダーが受け付けるように修復",
    "the agent failed": "エージェントの失敗",
    "thinking of the model": "モデルの思考",
    # rules: ChatKit
    "answer": "回答",
    "choice": "選択",
    "client tool call": "クライアントのツールの呼び出し",
    "client tool result": "クライアントのツールの結果",
    "generated picture": "生成された画像",
    "note of ChatKit": "ChatKit の注記",
    "picture to come": "未完成の画像",
    "reasoning": "思考",
    "thread status": "スレッドの状態",
    "user message": "ユーザーの発言",
    "widget tree": "ウィジェットの構造",
    "workflow": "作業の手順",
    # notes
    **_NOTED,
    "An answer without words.": "言葉のない回答です。",
    "Asked for: {what}": "指定: {what}",
    "Every task stood here twice, as ChatKit 1.4 wrote it; each is shown once.": (
        "ChatKit 1.4 は各作業を 2 回ずつ書いていました。1 回ずつ表示します。"
    ),
    "Only what was typed survives of this session; its transcript was never seen.": (
        "このセッションは入力した内容だけが残っています。記録は確認できませんでした。"
    ),
    "Picture at {where}": "画像: {where}",
    "Picture {name} at {where}": "画像 {name}: {where}",
    "Refers to: {what}": "参照: {what}",
    "The agent ended its turn.": "エージェントが発言を終えました。",
    "The app closed this thread.": "アプリがこのスレッドを終了しました。",
    "The app closed this thread: {why}": "アプリがこのスレッドを終了しました: {why}",
    "The app locked this thread.": "アプリがこのスレッドをロックしました。",
    "The app locked this thread: {why}": "アプリがこのスレッドをロックしました: {why}",
    "The picture was not finished.": "画像は完成しませんでした。",
    "The provider withheld the thinking.": "プロバイダーが思考を伏せました。",
    "Tools used: {names}": "使ったツール: {names}",
    "a line that was not finished: {what}": "途中で終わった行: {what}",
    "no reason was given": "理由なし",
    "not answered yet": "未回答",
    "cancelled": "取り消し",
    "expired": "期限切れ",
    "thinking that the provider hid": "プロバイダーが伏せた思考",
    # where a reader looked
    "{n} sessions, {files} files": "{n} セッション、{files} ファイル",
    "{n} files in sessions": "sessions に {n} ファイル",
    "named before": "以前に指定した場所",
    # what stands for a part that is not words
    "(and {n} more)": "（ほか {n} 件）",
    "(result) {output}": "（結果）{output}",
    "(result)": "（結果）",
    "(thinking)": "（思考）",
    "[attachment: {what}]": "[添付: {what}]",
}


def reading_in_japanese(words: str) -> str:
    """A reader's words in Japanese; as they are, where they are not in this table."""
    return _sentences().find(words) or words


@cache
def _sentences() -> Sentences:
    return Sentences(JAPANESE, lambda _, text: text)
