"""The sentences of the terminal in Japanese. Those that pages have too stand in the other tables."""

from __future__ import annotations

from functools import cache

from rireki.errors.catalogues import Sentences, filled, stored_sentences
from rireki.show.catalogue.devices import JAPANESE as DEVICES
from rireki.show.catalogue.explaining import JAPANESE as EXPLAINING
from rireki.show.catalogue.remotes import JAPANESE as REMOTES
from rireki.show.catalogue.teams import JAPANESE as TEAMS
from rireki.show.catalogue.usage_errors import JAPANESE as USAGE
from rireki.show.html.page import JAPANESE as RENDERER

__all__ = ["JAPANESE", "in_japanese"]

JAPANESE = {
    # everywhere
    "error:": "エラー:",
    "hint:": "ヒント:",
    "note: {hint}": "注意: {hint}",
    ", ": "、",
    "just now": "たった今",
    "{n} min ago": "{n} 分前",
    "{n} h ago": "{n} 時間前",
    "{n} d ago": "{n} 日前",
    "1 conversation": "会話 1 件",
    "{n} conversations": "会話 {n} 件",
    "1 file": "1 ファイル",
    "{n} files": "{n} ファイル",
    "1 sub-agent": "サブエージェント 1 件",
    "{n} sub-agents": "サブエージェント {n} 件",
    "a sub-agent": "サブエージェント",
    "sub-agent": "サブエージェント",
    "notes": "メモ",
    "you": "あなた",
    "agent": "エージェント",
    "tool": "ツール",
    "program": "プログラム",
    "working": "作業中",
    "waits for your permission": "許可待ち",
    "waits for your answer": "回答待ち",
    "idle": "待機中",
    "reading": "読み込み",
    "exporting": "書き出し",
    "Write {file}?": "{file} に書き込みますか？",
    "Nothing in it looks like a secret.": "秘密らしいものは見つかりませんでした。",
    "Masked: 1 secret in 1 place": "伏せたもの: 秘密 1 件、1 か所",
    "Masked: 1 secret in {n} places": "伏せたもの: 秘密 1 件、{n} か所",
    "Masked: {n} secrets in {m} places": "伏せたもの: 秘密 {n} 件、{m} か所",
    "{hint} written": "{hint}を書き出しました",
    "{n} unchanged": "変更なし {n} 件",
    "{n} could not be written": "書き出せなかったもの {n} 件",
    "! {n} more remark; --json tells them all": "! ほか {n} 件。すべては --json で見られます",
    "! {n} more remarks; --json tells them all": "! ほか {n} 件。すべては --json で見られます",
    "understanding": "解釈",
    "indexing": "索引作成",
    "verifying": "検証",
    "1 trouble": "問題 1 件",
    "{n} troubles": "問題 {n} 件",
    "1 folder": "1 フォルダー",
    "{n} folders": "{n} フォルダー",
    "forgotten": "消去",
    "new, ": "新規、",
    "changed": "変更あり",
    "gone": "消失",
    "present": "あり",
    "current": "現在",
    "title": "タイトル",
    "project": "プロジェクト",
    "thinking": "思考",
    "attachment": "添付",
    "notice": "通知",
    "simple": "ツールなし",
    "single tool": "ツール 1 回",
    "several tools": "ツール複数回",
    "Leave": "そのまま終了",
    "Ignored: the agents and [drive] of {file}; yours belong in {yours}.": (
        "無視しました: {file} のエージェントと [drive]。あなたの設定は {yours} に書いてください。"
    ),
    # what people add
    "(hidden)": "（非表示）",
    "(no tags)": "（タグなし）",
    "hidden: {title}": "非表示にしました: {title}",
    "shown again: {title}": "再び表示します: {title}",
    "Nothing is starred.": "スターの付いた会話はありません。",
    "Nothing is hidden.": "非表示の会話はありません。",
    "There are no tags yet.": "タグはまだありません。",
    "There are no notes yet.": "メモはまだありません。",
    "No note there.": "そこにメモはありません。",
    "note": "メモ",
    "Nothing was said on that day.": "その日の会話はありません。",
    "(no project)": "（プロジェクトなし）",
    "changed: {names}": "変更: {names}",
    "left unfinished": "未完了",
    "1 hidden conversation": "非表示の会話 1 件",
    "{n} hidden conversations": "非表示の会話 {n} 件",
    "left out: {hint}": "{hint}を除いています",
    "{hint} left out: --hidden shows them too": "{hint}を除いています（--hidden で表示）",
    # list
    "WHEN": "日時",
    "SOURCE": "取り込み元",
    "TURNS": "往復",
    "PROJECT": "プロジェクト",
    "  TITLE": "  タイトル",
    "gone from its source": "元データから消失",
    "rewritten in its source": "元データで書き換え",
    "Nothing in the archive fits. Leave an option out to see more.": (
        "条件に合う会話はありません。オプションを減らしてみてください。"
    ),
    "The archive is empty. Run 'rireki import' to take in what is on this machine.": (
        "アーカイブは空です。「rireki import」でこのマシンの履歴を取り込めます。"
    ),
    "1 conversation waits to be read again: another process is at it, or was interrupted. "
    "'rireki import' finishes it.": (
        "会話 1 件が読み直しを待っています（ほかのプロセスが処理中か、中断されました）。"
        "「rireki import」で完了します。"
    ),
    "{n} conversations wait to be read again: another process is at it, or was interrupted. "
    "'rireki import' finishes it.": (
        "会話 {n} 件が読み直しを待っています（ほかのプロセスが処理中か、中断されました）。"
        "「rireki import」で完了します。"
    ),
    # show
    "(no result)": "（結果なし）",
    "result without a call": "呼び出しのない結果",
    "  Started by no call told here:": "  ここにない呼び出しで始まったもの:",
    "… 1 more line": "… ほか 1 行",
    "… {n} more lines": "… ほか {n} 行",
    "tokens: {n} in, {m} out": "トークン: 入力 {n}、出力 {m}",
    "tokens: {n} in, {m} out, {r} from cache": "トークン: 入力 {n}、出力 {m}、キャッシュから {r}",
    "tokens: {n} in, {m} out, {w} into cache": "トークン: 入力 {n}、出力 {m}、キャッシュへ {w}",
    "tokens: {n} in, {m} out, {r} from cache, {w} into cache": (
        "トークン: 入力 {n}、出力 {m}、キャッシュから {r}、キャッシュへ {w}"
    ),
    "! 1 more trouble (--full lists them)": "! ほか 1 件（--full で一覧）",
    "! {n} more troubles (--full lists them)": "! ほか {n} 件（--full で一覧）",
    # search
    "1 message in 1 conversation, {ms} ms": "会話 1 件に 1 メッセージ、{ms} ms",
    "at least {n} messages in {m} conversations, {ms} ms": "会話 {m} 件に {n} メッセージ以上、{ms} ms",
    "{n} messages in more than {m} conversations, {ms} ms": (
        "{m} 件を超える会話に {n} メッセージ、{ms} ms"
    ),
    "{n} messages in 1 conversation, {ms} ms": "会話 1 件に {n} メッセージ、{ms} ms",
    "{n} messages in {m} conversations, {ms} ms": "会話 {m} 件に {n} メッセージ、{ms} ms",
    "no message has all of it; these conversations have it in different messages": (
        "すべてを含むメッセージはありません。別々のメッセージに含む会話を表示します"
    ),
    "nothing found for {query}": "「{query}」は見つかりませんでした",
    "Did you mean: {names}": "もしかして: {names}",
    "searched 1 conversation": "会話 1 件を検索しました",
    "searched 1 conversation, up to {when}": "会話 1 件を検索しました（{when} まで）",
    "searched {n} conversations": "会話 {n} 件を検索しました",
    "searched {n} conversations, up to {when}": "会話 {n} 件を検索しました（{when} まで）",
    "  … 1 more message": "  … ほか 1 メッセージ",
    "  … {n} more messages": "  … ほか {n} メッセージ",
    "more: --offset {n}": "続き: --offset {n}",
    "read: rireki show {what}": "読む: rireki show {what}",
    "nothing more: {hint} in all, and --offset {n} passes over them": (
        "これ以上ありません（全部で{hint}、--offset {n} で飛ばしています）"
    ),
    "searching …": "検索中…",
    "the newest of {hint}": "新しい順（{hint}）",
    "↓ choose": "↓ 選ぶ",
    "↑↓ choose": "↑↓ 選ぶ",
    "Enter read": "Enter 読む",
    "^R resume": "^R 再開",
    "r resume": "r 再開",
    "^C quit": "^C 終了",
    "q quit": "q 終了",
    "/ query": "/ 検索語",
    "Esc again quits": "もう一度 Esc で終了します",
    "── Enter goes back to the search ──": "── Enter で検索に戻ります ──",
    # import
    "1 new conversation": "新しい会話 1 件",
    "{n} new conversations": "新しい会話 {n} 件",
    "{n} changed": "変更 {n} 件",
    "1 file moved": "移動 1 ファイル",
    "{n} files moved": "移動 {n} ファイル",
    "{n} gone from the source, kept here": "元データから消失 {n} 件（ここに保存済み）",
    "{n} left out, as you said to forget them": "消去済みのため除外 {n} 件",
    "{size} added": "{size} 追加",
    "{hint} compared": "{hint}を照合",
    "nothing new in {hint}": "新しいものはありません（{hint}）",
    "  ! 1 more trouble: 'rireki sources' lists them": "  ! ほか 1 件（「rireki sources」で一覧）",
    "  ! {n} more troubles: 'rireki sources' lists them": (
        "  ! ほか {n} 件（「rireki sources」で一覧）"
    ),
    "No history found. rireki looked here:": "履歴が見つかりませんでした。探した場所:",
    "Name a file or folder: rireki import PATH. Or look around first: rireki demo.": (
        "ファイルかフォルダーを指定してください: rireki import PATH。試すだけなら: rireki demo"
    ),
    # sources
    "seen, not readable yet: {source} ({place}, {hint})": (
        "あり、未対応: {source}（{place}、{hint}）"
    ),
    "  found     {hint}, {size}": "  発見      {hint}、{size}",
    "  found     nothing: none of these is there, or they are empty": (
        "  発見      なし（場所が存在しないか、空です）"
    ),
    "  archived  {what} from {hint}": "  保存済み  {what}（{hint}から）",
    "  archived  nothing yet: run 'rireki import'": "  保存済み  まだなし（「rireki import」で取り込み）",
    ", {n} gone there since": "、うち {n} 件はその後に消失",
    " and {hint}": "、{hint}",
    "Nothing found of: {names}": "見つからなかったもの: {names}",
    "'rireki sources --all' tells where rireki looked.": (
        "どこを探したかは 'rireki sources --all' で表示します。"
    ),
    "  looked at {place}: {hint}": "  場所      {place}: {hint}",
    "there": "あり",
    "not there": "なし",
    "nothing there": "なし",
    "list of projects": "プロジェクトの一覧",
    "nothing there, nor in known projects": "既知のプロジェクトにもなし",
    "named before": "以前に指定",
    "it cannot be read": "読み取れません",
    "typed lines, kept as a file": "入力行の履歴（ファイルとして保存）",
    "{n} file in sessions": "sessions に {n} ファイル",
    "{n} files in sessions": "sessions に {n} ファイル",
    "{n} session, {m} file": "セッション {n} 件、{m} ファイル",
    "{n} session, {m} files": "セッション {n} 件、{m} ファイル",
    "{n} sessions, {m} files": "セッション {n} 件、{m} ファイル",
    "{n} thread": "{n} スレッド",
    "{n} threads": "{n} スレッド",
    "{n} database": "{n} データベース",
    "{n} databases": "{n} データベース",
    "no such folder: Claude Code was never used here": (
        "フォルダーなし（Claude Code は未使用です）"
    ),
    "no transcripts: they may have been cleaned up": "記録なし（自動削除されたのかもしれません）",
    "configured, but not there": "設定にありますが、見つかりません",
    "no databases are named there, nor in {variable}": (
        "データベースの指定なし（{variable} にもありません）"
    ),
    # demo
    "An invented home lies in {place}": "サンプルのホームを {place} に作りました",
    "Then its agents did what agents do: a new chat overwrote an old one, one was compacted,": (
        "その後、新しいチャットによる上書き、要約、記録の削除が起きましたが、"
    ),
    "a transcript was deleted. Nothing is lost: the list marks them with ✗ and ~.": (
        "何も失われていません。一覧では ✗ と ~ の印が付きます。"
    ),
    "Look around:": "試してみる:",
    # serve
    "{path} can only be read: nothing is taken in.": (
        "{path} は読み取り専用のため、取り込みは行いません。"
    ),
    "{path} is served already (process {pid}).": "{path} はすでに表示中です（プロセス {pid}）。",
    "Port {wanted} is taken by another program: this is {port}.": (
        "ポート {wanted} は使用中のため、{port} を使います。"
    ),
    "Other machines can reach {host}. Whoever has the token can read every conversation, and "
    "nothing is encrypted on the way.": (
        "ほかのマシンから {host} に接続できます。トークンがあればすべての会話を読めます。"
        "通信は暗号化されません。"
    ),
    "This machine has no history yet: here is an invented one.": (
        "このマシンにはまだ履歴がないため、サンプルを表示します。"
    ),
    "Opening {url} in your browser.": "ブラウザーで {url} を開きます。",
    "Stop with Ctrl-C.": "Ctrl-C で終了します。",
    # mcp, install
    "This speaks MCP with an agent: 'rireki install AGENT' sets it up.": (
        "これはエージェントと MCP で話すためのものです。'rireki install AGENT' で設定できます。"
    ),
    "Nothing to take out of {file}.": "{file} から取り除くものはありません。",
    "{file} has it already.": "{file} には設定済みです。",
    "Change that?": "変更しますか？",
    "{title} knows rireki from its next session on.": "{title} は次のセッションから rireki を使えます。",
    "{title} does not know rireki any more.": "{title} から rireki の設定を取り除きました。",
    "What was there is kept in {backup}.": "元の内容は {backup} に残してあります。",
    "Driving agents is on: they can be let run commands below {where}.": (
        "エージェントの操作が有効です。{where} 以下でコマンドを実行できます。"
    ),
    "Whoever has the token can do so from another machine, with your rights.": (
        "トークンがあれば、別のマシンからもあなたの権限で実行できます。"
    ),
    "Open {url}": "開くアドレス: {url}",
    "The browser did not get there. {hint}": "ブラウザーで開けませんでした。{hint}",
    # watch, service
    "This archive is kept by {who} already. Its changes are told here as well, and": (
        "このアーカイブはすでに {who} が管理しています。変更はここにも表示し、"
    ),
    "this one takes over when the other ends ('rireki service status' tells more).": (
        "そちらが終わると引き継ぎます（詳しくは「rireki service status」）。"
    ),
    "The other keeper has ended: this one takes over.": "ほかの監視が終わったため、引き継ぎます。",
    "Watching {hint} in {n} folders; Ctrl-C ends.": (
        "{hint}を監視中（{n} フォルダー）。Ctrl-C で終了します。"
    ),
    "Watching {hint} in 1 folder; Ctrl-C ends.": "{hint}を監視中（1 フォルダー）。Ctrl-C で終了します。",
    "another process": "ほかのプロセス",
    "process {pid}": "プロセス {pid}",
    "Installed: {file}. The keeper starts at login, and was started now.": (
        "設定しました: {file}。監視はログイン時に始まります（今すぐ開始しました）。"
    ),
    "Removed: {file}. What is archived stays.": "削除しました: {file}。アーカイブは残ります。",
    "Installed: {file}": "設定済み: {file}",
    "Not installed. 'rireki service install' has the keeper run whenever you are logged in.": (
        "未設定です。「rireki service install」でログイン中は常に監視します。"
    ),
    "A keeper is running.": "監視中です。",
    "A keeper is running as process {pid}.": "監視中です（プロセス {pid}）。",
    "Archive: {path}": "アーカイブ: {path}",
    "Last change: {hint}": "最後の変更: {hint}",
    "It has not taken up its work yet: 'rireki service status' tells in a moment.": (
        "まだ始まっていません。少し後に「rireki service status」で確かめてください。"
    ),
    "No keeper is running.": "監視は動いていません。",
    "No keeper is running. '{where}' tells more.": (
        "監視は動いていません。詳しくは「{where}」を見てください。"
    ),
    # path, latest, resume
    "talked {span}": "会話 {span}",
    "seen {span}": "確認 {span}",
    "earlier": "以前",
    "earlier, rewritten": "以前（書き換え）",
    "gone there, kept here": "元データから消失（ここに保存済み）",
    "{source} no longer has all of it; 'rireki show' does.": (
        "{source} にはもう一部しか残っていません。「rireki show」なら全部読めます。"
    ),
    # verify, backup, rebuild, forget, token
    "{path}: {n} conversations, {m} other files, {size}, checked.": (
        "{path}: 会話 {n} 件、ほかのファイル {m} 件、{size}、検証済み"
    ),
    "{path}: {n} conversations, 1 other file, {size}, checked.": (
        "{path}: 会話 {n} 件、ほかのファイル 1 件、{size}、検証済み"
    ),
    "{path}: 1 conversation, {m} other files, {size}, checked.": (
        "{path}: 会話 1 件、ほかのファイル {m} 件、{size}、検証済み"
    ),
    "{path}: 1 conversation, 1 other file, {size}, checked.": (
        "{path}: 会話 1 件、ほかのファイル 1 件、{size}、検証済み"
    ),
    "looking for secrets": "秘密情報を探しています",
    "No secrets were found.": "秘密情報は見つかりませんでした。",
    "{hint} in all; none is shown.": "全部で{hint}（値は表示しません）",
    "1 secret": "秘密情報 1 件",
    "{n} secrets": "秘密情報 {n} 件",
    "1 place": "1 か所",
    "{n} places": "{n} か所",
    "{hint}, from {first} to {last}": "{hint}、{first} から {last} まで",
    "… and {hint}": "… ほか{hint}",
    "1 more place": " 1 か所",
    "{n} more places": " {n} か所",
    "The archive is sound.": "アーカイブに問題はありません。",
    "{path}: {hint} saved, and checked.": "{path}: {hint}を保存し、検証しました。",
    "1 thing could not be saved.": "1 件は保存できませんでした。",
    "{n} things could not be saved.": "{n} 件は保存できませんでした。",
    "{hint} interpreted anew.": "{hint}を解釈し直しました。",
    "Forgot {id}: {size} of records removed.": "{id} を消去しました（記録 {size}）。",
    "The next import may take {name} in again.": "次の取り込みで {name} がまた入ることがあります。",
    "The source no longer has it: this is the only copy.": (
        "元データにはもうありません。これが最後の一つです。"
    ),
    "Remove it from the archive for good?": "アーカイブから完全に削除しますか？",
    "The old token opens nothing any more.": "古いトークンはもう使えません。",
    # chatkit
    "{old}: {threads} threads, {items} items and {attachments} attachments are in the store '{name}', "
    "{new} of them new; all compared": (
        "{old}: スレッド {threads}、項目 {items}、添付 {attachments} がストア「{name}」にあります"
        "（新規 {new}、すべて照合済み）"
    ),
    "{what}: their bytes were not found; name the folder of the uploads with --files": (
        "{what}: 内容が見つかりません。--files でアップロードのフォルダーを指定してください"
    ),
    "{what}: their bytes were not found": "{what}: 内容が見つかりません",
    "{what}: no JSON object, left in the old database; 'rireki import' keeps them as they are": (
        "{what}: JSON オブジェクトではないため元のデータベースに残しました。"
        "「rireki import」ならそのまま保存します"
    ),
    " and {n} more": " ほか {n} 件",
    # chat
    " in ": "、作業場所: ",
    "Once more to leave.": "もう一度押すと終了します。",
    "Stopping; once more to leave.": "停止しています。もう一度押すと終了します。",
    "What was not given yet goes to the agent with the next prompt.": (
        "まだ渡していないものは、次の入力と一緒に渡します。"
    ),
    "refused, for nobody is there to ask: {title}": "確認できる人がいないため拒否しました: {title}",
    "May it?": "許可しますか？",
    "The plan:": "計画:",
    "It asks:": "質問:",
    "A number, or words to refuse with:": "番号、または拒否の理由:",
    "Why?": "理由:",
    "Your answer:": "回答:",
    "A number:": "番号:",
    "Numbers:": "番号（複数可）:",
    "A number, or your own words:": "番号、または自由記述:",
    "Numbers, or your own words:": "番号（複数可）、または自由記述:",
    "Allow once": "今回だけ許可",
    "Always allow": "常に許可",
    "Refuse": "拒否",
    "Always refuse": "常に拒否",
    "Refuse with a reason": "理由を添えて拒否",
    "Refuse, and say what to change": "変更点を添えて差し戻す",
    "Ctrl-C stops, Ctrl-D leaves; a line that ends with \\ goes on.": (
        "Ctrl-C で停止、Ctrl-D で終了。行末の \\ で次の行に続きます。"
    ),
    "Go on with: rireki chat --continue {id}": "続けるには: rireki chat --continue {id}",
    "Read it with: rireki show {id} (in the browser: /c/{same})": (
        "読むには: rireki show {id}（ブラウザーでは /c/{same}）"
    ),
    "the agent failed:": "エージェントが失敗しました:",
    "Waiting for your yes:": "確認待ち:",
    "Give them to the agent": "エージェントに渡す",
    "Take them back": "取り消す",
    "a prompt from before rireki was restarted": "rireki の再起動前の入力 1 件",
    "{n} prompts from before rireki was restarted": "rireki の再起動前の入力 {n} 件",
    # stats
    "Where from, and what is left there": "取り込み元と、そこに残っているもの",
    "Size": "大きさ",
    "Flags on user-role entries": "ユーザー名義のエントリーのフラグ",
    "Tokens": "トークン",
    "answers": "回答",
    "in": "入力",
    "out": "出力",
    "from cache": "キャッシュから",
    "to cache": "キャッシュへ",
    "{n} with only the prompts left": "入力のみ {n} 件",
    "credits": "クレジット",
    "cost": "費用",
    "total": "合計",
    "turns": "往復",
    "conversations": "会話",
    "(unknown)": "(不明)",
    "Nothing was used then.": "この期間の利用はありません。",
    "  no price is known for {n} answers: rireki prices tells of which": (
        "  料金がわからない回答が {n} 件あります（モデルは rireki prices で確認できます）"
    ),
    "for an hour": "1 時間保持",
    "your own": "自分の料金表",
    "above {n} tokens": "{n} トークン超",
    "US dollars per million tokens, read on {date} from:": (
        "100 万トークンあたりの米ドル。{date} 時点、出典:"
    ),
    "* from your own {file}": "* 自分の {file} から",
    "config.toml says that no money is shown: [usage] money = false": (
        "config.toml の設定（[usage] money = false）により金額は表示されません"
    ),
    "Models of your archive without a price": "アーカイブにあるが料金がわからないモデル",
    "  besides: {what}": "  ほかに: {what}",
    "  … {n} of them unfinished ({percent}%)": "  … うち未完了 {n} 件（{percent}%）",
    "  turns      {n}": "  往復        {n}",
    "  entries    {least} least, {mean} mean, {most} most": (
        "  エントリー  最少 {least}、平均 {mean}、最多 {most}"
    ),
    "  tool uses  {all} in all, {most} most": "  ツール利用  合計 {all}、最多 {most}",
    "  ≥ some answers were noted only when they began; there were more": (
        "  ≥ は開始時の値しか記録されていない回答を含むため、実際はこれより多いことを表します"
    ),
}


def in_japanese(sentence: str) -> str:
    """The sentence in Japanese; as it is, where there is none for it."""
    return _sentences().find(sentence) or sentence


def _filled(name: str, text: str) -> str:
    """`hint` is a gap for a sentence of ours."""
    return in_japanese(text) if name == "hint" else filled(name, text)


@cache
def _sentences() -> Sentences:
    # "{who}, {time}" is a sentence on a page; here it would fit every list.
    renderer = {key: said for key, said in RENDERER.items() if key != "{who}, {time}"}
    ours = DEVICES | EXPLAINING | REMOTES | TEAMS | USAGE | JAPANESE
    return Sentences(renderer | stored_sentences("ja") | ours, _filled)
