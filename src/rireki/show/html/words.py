"""The words of the interface in the reader's language; the English text is the key.

What was said in a conversation is never translated. A text that has no
translation is shown in English.
"""

from __future__ import annotations

from rireki.model.message import Author

__all__ = ["JAPANESE", "NAMES", "LOCALES", "say"]

#: Who said a message.
NAMES: dict[Author, str] = {
    "person": "You",
    "agent": "Agent",
    "tool": "Tool",
    "harness": "Program",
}

JAPANESE = {
    # who
    "You": "あなた",
    "Agent": "エージェント",
    "Tool": "ツール",
    "Program": "プログラム",
    "{who}, {time}": "{who}、{time}",
    # marks
    "no longer in the source": "元データからは消えています",
    "earlier version": "書き換え前の版",
    "on a branch you left": "巻き戻す前の枝",
    "never answered": "回答なし",
    "A branch you left": "巻き戻す前の枝",
    "hidden": "非表示",
    "(empty)": "（空）",
    # parts
    "Thinking": "思考",
    "Summary": "要約",
    "image": "画像",
    "attachment": "添付",
    "Copy": "コピー",
    "raw": "生データ",
    "Link to this message": "このメッセージへのリンク",
    "result without a call": "呼び出しのない結果",
    "1 more line": "ほか 1 行",
    "{n} more lines": "ほか {n} 行",
    "{n} more characters": "ほか {n} 文字",
    "1 unchanged line": "変更のない 1 行",
    "{n} unchanged lines": "変更のない {n} 行",
    "too large to compare line by line": "行ごとに比較するには大きすぎます",
    # calls
    "ok": "成功",
    "error": "エラー",
    "cancelled": "取り消し",
    "no result": "結果なし",
    "no result yet": "実行中",
    "approved": "承認",
    "rejected": "却下",
    "(no output)": "（出力なし）",
    "Your answer": "回答",
    "chosen": "選択",
    "not chosen": "未選択",
    "done": "完了",
    "in progress": "進行中",
    "to do": "未着手",
    "at line {n}": "{n} 行目",
    # sub-agents
    "Sub-agent": "サブエージェント",
    "Sub-agents started by no call told here": "ここにない呼び出しで始まったサブエージェント",
    # about a conversation
    "(no title)": "（無題）",
    "unfinished": "未完了",
    "1 turn": "1 往復",
    "{n} turns": "{n} 往復",
    "1 message": "1 メッセージ",
    "{n} messages": "{n} メッセージ",
    "1 tool call": "ツール 1 回",
    "{n} tool calls": "ツール {n} 回",
    "{n} without result": "結果なし {n} 件",
    "{n} tokens in": "入力 {n} トークン",
    "{n} tokens out": "出力 {n} トークン",
    "at least {n} tokens out": "出力 {n} トークン以上",
    "{n} from cache": "キャッシュから {n}",
    "{n} into cache": "キャッシュへ {n}",
    "Only what you typed survived: the transcript was gone before rireki saw it.": (
        "残っているのは入力した内容だけです。rireki が見る前に記録が消えていました。"
    ),
    "seen {when}": "確認 {when}",
    "{source} noted no times for it; these are of when rireki saw it.": (
        "{source} はこの会話の時刻を記録していません。rireki が確認した時刻です。"
    ),
    "{source} no longer has this conversation.": "{source} にはもうこの会話がありません。",
    "{source} no longer has all of it; what is gone there is marked.": (
        "{source} にはもう一部しか残っていません。消えたところには印があります。"
    ),
    "rireki (driven)": "rireki（操作）",
    "forked from": "分岐元",
    "forked into": "分岐先",
    "started by": "呼び出し元",
    "continues": "続きの元",
    "continued in": "続き",
    "took the place of": "置き換えた会話",
    "its place was taken by": "置き換えられた先",
    "Could not be read": "読めなかったもの",
    "What you asked": "あなたの発言",
    # what readers call a message
    "answered": "回答",
    "asked again after a timeout": "時間切れ後の再質問",
    "allowed once": "一度だけ許可",
    "always allowed": "常に許可",
    "You allowed once": "あなたが一度だけ許可",
    "You always allowed": "あなたが常に許可",
    "You answered": "あなたが回答",
    "You approved the plan": "あなたが計画を承認",
    "You refused": "あなたが拒否",
    "You rejected the plan": "あなたが計画を却下",
    "bash": "シェル",
    "context compacted": "ここまでの会話を要約",
    "conversation cleared": "会話を消去",
    "command text": "コマンドの内容",
    "cut off at the token limit": "トークン上限で打ち切り",
    "expired": "期限切れ",
    "failed": "失敗",
    "from an MCP prompt": "MCP プロンプト",
    "headless": "非対話",
    "interrupted": "中断",
    "not answered yet": "未回答",
    "only here": "rireki にのみ残存",
    "only in the transcript": "記録にのみ残存",
    "output": "出力",
    "picture": "画像",
    "plan": "計画",
    "plan approved": "計画を承認",
    "plan approved (edited)": "計画を修正して承認",
    "plan rejected": "計画を却下",
    "queued": "順番待ち",
    "refused": "拒否",
    "refused by the model": "モデルが拒否",
    "sent while working": "作業中に送信",
    "stopped": "停止",
    "stopped after too many requests": "要求回数の上限で停止",
    "task": "依頼",
    "timed out": "時間切れ",
    "typed prompts only": "入力のみ",
    "waits for your answer": "回答待ち",
    "waits for your permission": "許可待ち",
    "withdrawn": "取り下げ",
}

_TABLES = {"ja": JAPANESE}
LOCALES = ("en", *_TABLES)


def say(locale: str, text: str, **values: object) -> str:
    """The text in that language, with its values in place."""
    told = _TABLES.get(locale, {}).get(text, text)
    # Without values nothing is formatted: a label out of a transcript may hold braces.
    return told.format(**values) if values else told
