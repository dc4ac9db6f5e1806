"""The words of the pages in the reader's language; the English text is the key.

Words that the renderer of messages has are taken from there, so that both say the same.
"""

from __future__ import annotations

from rireki.show.catalogue.readings import reading_in_japanese
from rireki.show.html import words as renderer
from rireki.web.locale import drive_words, reason_words

__all__ = ["JAPANESE", "counted", "say", "script_words"]

JAPANESE = {
    **drive_words.JAPANESE,
    **reason_words.JAPANESE,
    # every page
    "Skip to the content": "本文へ移動",
    "Menu": "メニュー",
    "Pages": "ページ",
    "More": "その他",
    "Projects and filters": "プロジェクトと絞り込み",
    "Search everything": "すべての会話を検索",
    "Search": "検索",
    "Search results": "検索結果",
    "How to search": "検索のしかた",
    "Sources": "取り込み元",
    "Statistics": "統計",
    "Help": "ヘルプ",
    "Light or dark": "表示テーマを切り替える",
    "All conversations": "すべての会話",
    "The connection to rireki is lost. Reconnecting …": (
        "rireki との接続が切れました。再接続しています…"
    ),
    "Invented history": "サンプルの履歴",
    "This machine has no agent history yet. What you see is made up; as soon as there is "
    "something of yours, it is shown instead.": (
        "このマシンにはまだエージェントの履歴がないため、サンプルを表示しています。"
        "履歴ができると自動で切り替わります。"
    ),
    "The archive is damaged. What can be read is shown.": (
        "アーカイブが壊れています。読み取れるものを表示しています。"
    ),
    "'rireki verify' names what cannot be read, 'rireki verify --salvage NEW' saves all else into a new"
    " archive.": (
        "読み取れないものは「rireki verify」で確認でき、"
        "「rireki verify --salvage NEW」でそれ以外を新しいアーカイブに保存できます。"
    ),
    "Keys": "キーボード操作",
    "Next and previous message, or row": "次・前のメッセージや行へ",
    "Open or close what is folded; on a list, open the row": (
        "折りたたみの開閉（一覧では会話を開く）"
    ),
    "To the beginning, to the end": "先頭へ、末尾へ",
    "This list": "この一覧",
    "The list of keys": "キー操作の一覧",
    "Close what is open": "開いているものを閉じる",
    "Close": "閉じる",
    "Copied": "コピーしました",
    "Link": "リンク",
    "Raw": "生データ",
    "{n} new": "新着 {n} 件",
    "Show here": "ここに表示",
    "Hide": "隠す",
    "turn {n} of {all}": "{n} / {all} 往復目",
    "Theme: as the system": "テーマ：システムに合わせる",
    "Theme: light": "テーマ：ライト",
    "Theme: dark": "テーマ：ダーク",
    # the query language
    "all of these words, in one message": "すべての語を含むメッセージ",
    "as written, one after the other": "書いたとおりの並び",
    "words that begin so": "前方一致",
    "one or the other": "どちらか一方を含む",
    "without this": "含まない",
    "a regular expression": "正規表現",
    "who said it": "発言者",
    "where it was said": "取り込み元・プロジェクト",
    "with a tool, with an error": "使ったツール、エラーの有無",
    "when": "期間",
    "what the source lost, what was not finished": "元データから消えたもの、未完了のもの",
    "All of it": "くわしい説明",
    'Words must stand in the same message. A value with spaces stands in quotes: project:"my app". '
    "Filters also take model:, id:, has:attachment, has:thinking, is:abandoned and is:subagent; a "
    "minus before anything leaves it out; parentheses take together.": (
        "複数の語は同じメッセージに含まれている必要があります。空白を含む値は引用符で囲みます"
        '（例: project:"my app"）。ほかに model:、id:、has:attachment、has:thinking、'
        "is:abandoned、is:subagent で絞り込めます。先頭に - を付けると除外、かっこでまとめられます。"
    ),
    "Japanese needs no spaces and is found by any piece of it; one character suffices.": (
        "日本語は語を区切らなくても、途中の一部や 1 文字だけでも見つかります。"
    ),
    # the list
    "Conversations": "会話",
    "Filters": "絞り込み",
    "State": "状態",
    "Unfinished": "未完了",
    "{n} of them unfinished": "うち未完了 {n} 件",
    "gone": "元データから消失",
    "changed": "元データで書き換え",
    "Gone at the source": "元データから消失",
    "Rewritten at the source": "元データで書き換え",
    "gone at the source": "元データから消失",
    "rewritten at the source": "元データで書き換え",
    "gone at the source, kept here": "元データから消失（ここに保存済み）",
    "only prompts": "入力のみ",
    "With sub-agents": "サブエージェントも表示",
    "Projects": "プロジェクト",
    "and {n} more": "ほか {n} 件",
    "What this directory held over time": "このディレクトリの履歴",
    "Remove this filter": "絞り込みを解除",
    "Today": "今日",
    "Nothing in the archive fits. Leave a filter out to see more.": (
        "条件に合う会話はありません。絞り込みを減らしてみてください。"
    ),
    "Earlier conversations": "以前の会話",
    "working": "作業中",
    "idle": "待機中",
    # the first visit
    "Looking at this machine": "このマシンを調べています",
    "What was found on this machine": "このマシンで見つかったもの",
    "Taking in what agents left here": "エージェントの履歴を取り込んでいます",
    "There is no agent history on this machine yet. Use Claude Code, Amazon Q or Kiro as always: "
    "what they write appears here by itself.": (
        "このマシンにはまだエージェントの履歴がありません。Claude Code、Amazon Q、Kiro を"
        "いつもどおり使うと、ここに自動で表示されます。"
    ),
    "nothing found": "見つかりませんでした",
    "there": "あり",
    "not there": "なし",
    # a conversation
    "This conversation": "この会話",
    "Continue": "続ける",
    "Bring it back": "復元する",
    "then": "続けて",
    "Copy the command that continues this conversation": "会話を続けるコマンドをコピー",
    "Copy the command that brings this conversation back": "会話を復元するコマンドをコピー",
    "Versions": "過去の版",
    "Explain": "分類の根拠",
    "Also what nobody can have typed": "入力ではありえないものも表示",
    "Also hidden messages": "非表示のメッセージも表示",
    "Hide hidden messages": "非表示のメッセージを隠す",
    "Save as": "書き出し",
    "As the source held it on {when}.": "{when} 時点の内容です。",
    "As it is now": "現在の内容を見る",
    "Earlier messages": "前のメッセージ",
    "Later messages": "次のメッセージ",
    "Nothing was said in this conversation.": "この会話には発言がありません。",
    "What you searched for is in a part that is left out.": "検索した語は省略された部分にあります。",
    "Position": "位置",
    "To the beginning": "先頭へ",
    "To the end": "末尾へ",
    "Outline": "目次",
    "Sub-agents": "サブエージェント",
    # results
    "This query cannot be read": "検索条件を解釈できません",
    "Type something to search for, in any language.": "検索したい言葉を入力してください。",
    " or more": "以上",
    "The archive is empty.": "アーカイブは空です。",
    "Nothing found for {query}": "「{query}」に一致するものはありません",
    "Nothing has just these words; these have one that begins like the last.": (
        "完全に一致するものはありません。最後の語で始まる語を含むものです。"
    ),
    "Searched for {query}; what follows is not complete yet.": (
        "「{query}」で検索しました。続きはまだ入力の途中です。"
    ),
    "There are no further results.": "これ以上の結果はありません。",
    "From the beginning": "最初の結果へ",
    "Did you mean": "もしかして:",
    "Searched: {what}": "検索対象: {what}",
    "Searched: {what}, up to {moment}": "検索対象: {what}（{moment} まで）",
    "No message has all of it; these conversations have it in different messages.": (
        "すべてを含むメッセージはありません。別々のメッセージに含む会話を表示しています。"
    ),
    "The index is not ready yet, so this search read the archive itself.": (
        "索引がまだできていないため、アーカイブを直接検索しました。"
    ),
    "All results": "すべての結果",
    "More results": "さらに表示",
    "rireki does not answer just now. The search goes on by itself.": (
        "rireki が応答していません。応答し次第、自動で検索します。"
    ),
    "Best first": "関連度順",
    "Newest first": "新しい順",
    "you": "あなた",
    "program": "プログラム",
    "title": "タイトル",
    "project": "プロジェクト",
    "thinking": "思考",
    "attachment": "添付",
    # versions
    "Moment": "時点",
    "All moments": "すべての時点",
    "the source held {what}": "元データの内容: {what}",
    "{n} records came": "{n} レコード追加",
    "{n} records were lost": "{n} レコード消失",
    "{what} lost later": "うち {what} はその後に消失",
    "The source lost this later": "その後、元データから消失",
    "no longer found at the source": "元データが見つからない",
    "What {source} held of this conversation at each moment rireki saw it change. What it lost "
    "later is marked.": (
        "rireki が変化を確認した各時点で {source} が持っていた内容です。"
        "その後に消えたものには印が付きます。"
    ),
    "Read the whole conversation as it was then": "この時点の会話を全部読む",
    "Every conversation this directory ever had. Move the slider to see which of them the sources "
    "held at a moment; what they lost is kept here.": (
        "このディレクトリで行われたすべての会話です。スライダーを動かすと、その時点で元データに"
        "あった会話がわかります。失われた会話もここには残っています。"
    ),
    "In the list": "一覧で見る",
    "Also the directories below": "下位ディレクトリも含める",
    "since {when}": "{when} から",
    "continues here": "ここで継続中",
    # explain
    "Agents write much in the user's name that nobody typed. For every such entry: which rule "
    "decided who wrote it and how it is shown.": (
        "エージェントは、人が入力していないものもユーザーの名で記録します。各エントリーについて、"
        "どの規則で発言者と表示方法を決めたかを示します。"
    ),
    "Author": "発言者",
    "Shown as": "表示",
    "Role": "ロール",
    "Rule": "規則",
    "Flags": "フラグ",
    "First words": "冒頭",
    "person": "人",
    "agent": "エージェント",
    "tool": "ツール",
    "harness": "プログラム",
    "bubble": "吹き出し",
    "chip": "チップ",
    "divider": "区切り",
    "fold": "折りたたみ",
    # raw
    "Raw records": "生データ",
    "What the agent wrote, laid out for reading; the download is byte for byte.": (
        "エージェントが書いた内容を読みやすく整形しています。ダウンロードは元のバイト列のままです。"
    ),
    "Record {n}": "レコード {n}",
    "Download": "ダウンロード",
    # sources
    "Where rireki looks for history, what lies there, and what the archive has of it.": (
        "rireki が履歴を探す場所と、そこにあるもの、取り込み済みのものを示します。"
    ),
    "Keeper": "監視",
    "starting up": "起動中",
    "taking in what is there": "取り込み中",
    "watching": "監視中",
    "another process is watching": "ほかのプロセスが監視中",
    "stopped": "停止",
    "stopped by an error": "エラーで停止",
    "Process {n} keeps this archive.": "プロセス {n} がこのアーカイブを管理しています。",
    "Watched files and databases": "監視中のファイルとデータベース",
    "Last change": "最後の変更",
    "Last full look": "最後の全体確認",
    "Watched folders": "監視中のフォルダー",
    "This server does not watch anything: it shows what the archive has. 'rireki watch' or "
    "'rireki import' takes in what is new.": (
        "このサーバーは監視を行わず、アーカイブの内容だけを表示します。"
        "新しい履歴は rireki watch か rireki import で取り込めます。"
    ),
    "Seen, not readable yet": "見つかったがまだ読めないもの",
    "Found here now": "現在あるもの",
    "Archived": "取り込み済み",
    "nothing: none of these is there, or they are empty": "なし（場所が存在しないか、空です）",
    "{n} gone there since": "うち {n} 件はその後に消失",
    # statistics
    "All sources": "すべて",
    "conversations": "会話",
    "turns": "往復",
    "tool uses": "ツール利用",
    "sub-agents": "サブエージェント",
    "kept only here": "ここにだけ残る会話",
    "besides, with only the prompts left": "ほかに、入力だけが残る会話",
    "Activity": "活動",
    "Answers per day over the last year": "過去 1 年の 1 日あたりの回答数",
    "Patterns": "会話の型",
    "simple": "ツールなし",
    "single tool": "ツール 1 回",
    "several tools": "ツール複数回",
    "Tools": "ツール",
    "calls of each tool": "ツールごとの呼び出し回数",
    "Tokens by model": "モデル別トークン",
    "Tokens by project": "プロジェクト別トークン",
    "tokens that models wrote": "モデルの出力トークン",
    "Tokens": "トークン",
    "Model": "モデル",
    "Answers": "回答",
    "In": "入力",
    "Out": "出力",
    "From cache": "キャッシュから",
    "Into cache": "キャッシュへ",
    "≥ some answers were noted only when they began; there were more.": (
        "≥ は開始時の値しか記録されていない回答を含むため、実際はこれより多いことを表します。"
    ),
    "Flags on user-role entries": "ユーザー名義のエントリーのフラグ",
    # help, and what goes wrong
    "Marks": "印の意味",
    "The agent overwrote or deleted it. It is kept here.": (
        "エージェントが上書きまたは削除した会話です。ここには残っています。"
    ),
    "The agent compacted or trimmed it. What is gone there is marked and kept here.": (
        "エージェントが圧縮または切り詰めた会話です。消えた部分には印を付けて残しています。"
    ),
    "The agent did not speak last, or a tool has not answered.": (
        "最後の発言がエージェントのものでないか、ツールの結果がまだない会話です。"
    ),
    "Not found": "見つかりません",
    "Which one?": "複数の会話が該当します",
    "This cannot be shown": "表示できません",
}

#: One, many, and how Japanese counts it.
_COUNTED = {
    "turn": ("turn", "turns", "{n} 往復"),
    "message": ("message", "messages", "{n} メッセージ"),
    "conversation": ("conversation", "conversations", "{n} 件の会話"),
    "sub-agent": ("sub-agent", "sub-agents", "サブエージェント {n} 件"),
    "tool call": ("tool call", "tool calls", "ツール {n} 回"),
    "file": ("file", "files", "{n} ファイル"),
    "entry": ("entry", "entries", "{n} エントリー"),
    "trouble": ("trouble", "troubles", "読めなかったもの {n} 件"),
}

#: What scripts say, by the name they know it under.
_SCRIPT = {
    **drive_words.SCRIPT,
    "copied": "Copied",
    "fresh": "{n} new",
    "position": "turn {n} of {all}",
    "nest": "Show here",
    "unnest": "Hide",
    "unanswered": "rireki does not answer just now. The search goes on by itself.",
    "beyond": "What you searched for is in a part that is left out.",
    "system": "Theme: as the system",
    "light": "Theme: light",
    "dark": "Theme: dark",
}


def say(locale: str, text: str, **values: object) -> str:
    """The text in that language, with its values in place."""
    if locale == "ja" and text in JAPANESE:
        told = JAPANESE[text]
        return told.format(**values) if values else told
    told = renderer.say(locale, text, **values)
    # Which rule decided, as readers call it.
    return reading_in_japanese(told) if locale == "ja" and told == text else told


def counted(locale: str, number: int, what: str) -> str:
    """So many of something."""
    one, many, japanese = _COUNTED[what]
    if locale == "ja":
        return japanese.format(n=f"{number:,}")
    return f"{number:,} {one if number == 1 else many}"


def script_words(locale: str) -> dict[str, str]:
    return {name: say(locale, text) for name, text in _SCRIPT.items()}
