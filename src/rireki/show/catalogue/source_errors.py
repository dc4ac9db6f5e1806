"""What cannot be read at a source, and what the keeper struggles with, in Japanese.

The English sentence, with gaps, is the key. What a file or another program says stays as it is.
"""

from __future__ import annotations

__all__ = ["JAPANESE"]

JAPANESE = {
    "{what} says it unpacks to {n} bytes": "{what} は展開すると {n} バイトになると記されています",
    # a reader of somebody else's
    "{owners} both bring a reader called {name}: {used}": (
        "{owners} が同じ名前のリーダー {name} を持っています（{used}）"
    ),
    "Remove one of these packages, or ask its author for another name.": (
        "いずれかのパッケージを外すか、作者に別の名前を依頼してください。"
    ),
    "the reader of {owner} cannot be imported ({why}: {error})": (
        "{owner} のリーダーをインポートできません（{why}: {error}）"
    ),
    "the reader of {owner} failed to {verb} ({why}: {error})": (
        "{owner} のリーダーが {verb} に失敗しました（{why}: {error}）"
    ),
    "The other sources are read as ever. Update that package, or remove it.": (
        "ほかのソースは通常どおり読み込まれます。そのパッケージを更新するか、外してください。"
    ),
    "The other sources are read as ever. Tell the author of that package.": (
        "ほかのソースは通常どおり読み込まれます。パッケージの作者に知らせてください。"
    ),
    # a file or database as a whole
    "{place}: cannot be read ({why})": "{place}：読み取れません（{why}）",
    "cannot be read ({why})": "読み取れません（{why}）",
    "{place}: cannot be opened ({why})": "{place}：開けません（{why}）",
    "cannot be unpacked ({why})": "展開できません（{why}）",
    "not a prompt": "入力の記録ではありません",
    "too large to be shown whole": "大きすぎるため全体は表示できません",
    "cannot be listed ({why})": "中を一覧できません（{why}）",
    "cannot be looked into ({why})": "中を調べられません（{why}）",
    "{place}: not a plain file": "{place}：通常のファイルではありません",
    "{place}: is locked ({why})": "{place}：ロックされています（{why}）",
    "{place}: is damaged ({why})": "{place}：壊れています（{why}）",
    "{place}: was left in the middle of a change ({why})": (
        "{place}：書き込みの途中で止まったままです（{why}）"
    ),
    "{place}: is not an SQLite database": "{place}：SQLite データベースではありません",
    "{place}: is not an SQLite database ({why})": (
        "{place}：SQLite データベースではありません（{why}）"
    ),
    "{place}: {table} row {row} changes faster than it can be read": (
        "{place}：{table} の行 {row} は、読み取るより速く変わり続けています"
    ),
    "{place}: has no tables 'threads' and 'items' as ChatKit stores keep them": (
        "{place}：ChatKit の保存形式のテーブル「threads」「items」がありません"
    ),
    "{place}: has none of the tables {names}": "{place}：テーブル {names} が一つもありません",
    "is not TOML ({why})": "TOML として読めません（{why}）",
    "[chatkit] databases is not a list of paths": (
        "[chatkit] の databases がパスのリストになっていません"
    ),
    "{what} of {size} bytes is longer than {largest}: kept whole, but not read": (
        "{largest} バイトを超えています（{what}、{size} バイト）。すべて保存しましたが、内容は読み取りません"
    ),
    "a part of it is too large to be read, and kept whole": (
        "一部が大きすぎるため内容を読み取っていません。データはすべて保存しています"
    ),
    "too large to be read": "大きすぎるため読み取れません",
    "too large to be read: kept whole, in a file of its own": (
        "大きすぎるため内容を読み取っていません。データはすべて、独立したファイルとして保存しています"
    ),
    "it takes about {needed} MB of memory to read, and {left} MB are free": (
        "読み取りにはメモリーが約 {needed} MB 必要ですが、空きは {left} MB です"
    ),
    "{place}: it takes about {needed} MB of memory to read, and {left} MB are free": (
        "{place}：読み取りにはメモリーが約 {needed} MB 必要ですが、空きは {left} MB です"
    ),
    "there was not enough memory to read it": "メモリーが足りず、読み取れませんでした",
    "{place}: there was not enough memory to read it": (
        "{place}：メモリーが足りず、読み取れませんでした"
    ),
    "another process keeps taking it in": "ほかのプロセスが取り込みを続けています",
    "rireki could not interpret it ({why})": "rireki が解釈できませんでした（{why}）",
    # one entry of it
    "unfinished line": "書きかけの行です",
    "the last line is unfinished": "最後の行が書きかけです",
    "not readable as a line of a transcript": "会話記録の行として読み取れません",
    "damaged, but whole once taken apart": "壊れていましたが、分割してすべて読み取れました",
    "damaged, but repaired": "壊れていましたが、修復できました",
    "not an entry of a driven conversation": "操作した会話のエントリーではありません",
    "not an entry of a history": "履歴のエントリーではありません",
    "not a session export": "セッションの書き出しではありません",
    "not a session export: {why}": "セッションの書き出しではありません：{why}",
    "broken JSON: {why}": "JSON が壊れています：{why}",
    "nested too deeply": "入れ子が深すぎます",
    "nested too deeply; its innermost is not shown": (
        "入れ子が深すぎるため、最も内側は表示していません"
    ),
    "no value": "値がありません",
    "no conversation_id": "conversation_id がありません",
    "{what}, not a conversation": "会話ではありません（{what}）",
    # what to do about it
    "Its bytes are kept, and 'rireki restore' gives them back. "
    "'rireki rebuild' reads it once more memory is free.": (
        "データはすべて保存してあり、'rireki restore' で取り出せます。"
        "メモリーに空きができたら 'rireki rebuild' で読み取れます。"
    ),
    "Check that the file is there and that you may read it.": (
        "ファイルがあり、読み取る権限があるか確認してください。"
    ),
    "Check that you may read it; everything else was read.": (
        "読み取る権限があるか確認してください。ほかはすべて読み取りました。"
    ),
    "Check that you may read it.": "読み取る権限があるか確認してください。",
    "Check that you may read the folder.": "フォルダーを読み取る権限があるか確認してください。",
    "Check the path; a table needs the columns id and data, 'items' also thread_id.": (
        "パスを確認してください。テーブルには列 id と data が、「items」には thread_id も必要です。"
    ),
    'Write there: [chatkit] and, below it, databases = ["/path/to/chat.db"].': (
        '[chatkit] と、その下に databases = ["/path/to/chat.db"] と書いてください。'
    ),
    "It was left alone.": "何も変更していません。",
    "Another program is writing to it; import again in a moment.": (
        "ほかのプログラムが書き込み中です。少し待ってから取り込み直してください。"
    ),
    "What was archived before is safe. `sqlite3 FILE .recover` may rescue the rest.": (
        "取り込み済みのものは無事です。残りは `sqlite3 FILE .recover` で救えることがあります。"
    ),
    "Start the agent once, which repairs the file, then import again.": (
        "エージェントを一度起動するとファイルが修復されます。その後で取り込み直してください。"
    ),
    "Import again in a moment.": "少し待ってから取り込み直してください。",
    "Run the import again.": "取り込み直してください。",
    "It is kept as it is; the next import reads it again.": (
        "そのまま保存しています。次の取り込みで読み直します。"
    ),
    "It is kept as it is; the lines around it are told.": (
        "そのまま保存しています。前後の行は表示しています。"
    ),
    "It is kept as it was found; the other lines are not affected.": (
        "そのまま保存しています。ほかの行に影響はありません。"
    ),
    "It is kept as it was found; the other rows are not affected.": (
        "そのまま保存しています。ほかのデータに影響はありません。"
    ),
    "It is kept as it was found.": "そのまま保存しています。",
    "It is kept; if the agent is still writing, the next import brings the rest.": (
        "保存しています。エージェントが書き込み中なら、続きは次の取り込みで入ります。"
    ),
    "Its bytes are kept as they are.": "元のバイト列のまま保存しています。",
    "'rireki restore' gives it back. [import] largest_mb in config.toml allows more.": (
        "「rireki restore」で元に戻せます。上限は config.toml の [import] の largest_mb で変えられます。"
    ),
    "All of it is kept.": "すべて保存しています。",
    "This is a mistake in rireki: please report it. The records are kept; "
    "'rireki rebuild' reads them again with a better version.": (
        "rireki の不具合です。報告をお願いします。記録は保存してあり、修正後の版で"
        "「rireki rebuild」を実行すると読み直せます。"
    ),
    # what was looked at
    "{n} sessions, {files} files": "{n} セッション、{files} ファイル",
    "{n} files in sessions": "sessions に {n} ファイル",
    "named before": "以前に指定した場所",
    # the keeper and the archive
    "cannot be locked ({why})": "ロックできません（{why}）",
    "Keep the archive on a local disk, or run one keeper only.": (
        "アーカイブをローカルのディスクに置くか、監視を 1 つだけ動かしてください。"
    ),
    "changes cannot be heard of as they happen ({why})": "変更の通知を受け取れません（{why}）",
    "They are looked for every {n} s instead. On Linux, '{command}' allows more watches; it is "
    "tried again every few minutes.": (
        "代わりに {n} 秒ごとに調べます。Linux では「{command}」で監視できる数を増やせます。"
        "数分ごとに再試行します。"
    ),
    "{hint} It is tried again in {n} s.": "{hint} {n} 秒後に再試行します。",
    "It is tried again in {n} s.": "{n} 秒後に再試行します。",
    "This is a mistake in rireki.": "rireki の不具合です。",
    "the disk is full: {path} could not grow": (
        "ディスクがいっぱいで、{path} に書き込めませんでした"
    ),
    "Make room and run the command again; what was stored before is complete.": (
        "空きを作ってからやり直してください。それまでに保存したものは揃っています。"
    ),
    "{path} is being written by another process": "{path} はほかのプロセスが書き込み中です",
    "Try again when it has finished.": "終わってからやり直してください。",
    "{path} cannot be opened for this ({why})": "{path} を開けません（{why}）",
    "Check that you may write to the file and its folder.": (
        "ファイルとそのフォルダーに書き込む権限があるか確認してください。"
    ),
    "{path} is damaged ({why})": "{path} は壊れています（{why}）",
    "'rireki verify' tells what is affected; 'rireki verify --salvage NEW' saves all that can be read into"
    " a new archive.": (
        "影響を受けたものは「rireki verify」で確認でき、"
        "「rireki verify --salvage NEW」で読み取れるものすべてを新しいアーカイブに保存できます。"
    ),
    "{n} of its records cannot be read: the archive is damaged": (
        "記録のうち {n} 件を読み取れません。アーカイブが壊れています"
    ),
    "The archive is damaged: 'rireki verify' names what cannot be read, 'rireki verify --salvage NEW'"
    " saves all else into a new archive.": (
        "アーカイブが壊れています。読み取れないものは「rireki verify」で確認でき、"
        "「rireki verify --salvage NEW」でそれ以外を新しいアーカイブに保存できます。"
    ),
    "{path} is not a rireki archive": "{path} は rireki のアーカイブではありません",
    "{path} is another program's database": "{path} はほかのプログラムのデータベースです",
    "Choose another file with --archive.": "--archive で別のファイルを選んでください。",
    "{path} was written by a newer rireki (format {n}, this one knows {most})": (
        "{path} は新しい版の rireki で書かれています（形式 {n}、この版で読めるのは {most} まで）"
    ),
    "Update rireki.": "rireki を更新してください。",
    "{place} is damaged: {why}": "{place} は壊れています：{why}",
    "the search index in {place} cannot be written ({why})": (
        "{place} の検索索引に書き込めません（{why}）"
    ),
    "Check that there is room and that you may write there.": (
        "空きと、書き込む権限があるか確認してください。"
    ),
}
