"""What goes wrong in the terminal, in Japanese: errors and hints that no page shows."""

from __future__ import annotations

__all__ = ["JAPANESE"]

JAPANESE = {
    # what was typed
    "there is no command {name}": "{name} というコマンドはありません",
    "Did you mean 'rireki {near}'?": "「rireki {near}」のことでしょうか。",
    "'rireki --help' lists them.": "「rireki --help」で一覧を表示します。",
    "there is no source {name}": "{name} という取り込み元はありません",
    "no reader for the source {name}": "取り込み元 {name} を読むものがありません",
    "Did you mean {near}? Known sources: {names}.": (
        "{near} のことでしょうか。使えるもの: {names}"
    ),
    "Known sources: {names}.": "使える取り込み元: {names}",
    "cannot read the time {value}": "日時 {value} を解釈できません",
    "Say what: rireki search WORDS. Without words it searches as you type, on a terminal.": (
        "rireki search 語 の形で指定してください。端末では語なしで入力しながら検索できます。"
    ),
    "Say what to search for: rireki search WORDS": "検索する語を指定してください: rireki search 語",
    "searching as you type needs a Unix terminal": "入力しながらの検索には Unix の端末が必要です",
    "this terminal (TERM=dumb) cannot show results as you type": (
        "この端末（TERM=dumb）では入力しながらの検索を表示できません"
    ),
    "'rireki show --all --json' lists the ids; without --upstream there may be more.": (
        "ID の一覧は「rireki show --all --json」で見られます。--upstream を外すと増えることがあります。"
    ),
    "{id} has no message {name} to show": "{id} に表示できるメッセージ {name} はありません",
    "Try --below for the directories below it, or 'rireki import' for what is new.": (
        "下位ディレクトリも見るには --below、新しい会話は「rireki import」で取り込めます。"
    ),
    "no agent has answered in {path} yet": "{path} ではまだ回答がありません",
    "'rireki path' lists what was asked there.": "「rireki path」でそこでの入力を一覧できます。",
    # going on
    "the directory {path} is not there any more": "ディレクトリ {path} がもうありません",
    "If it moved, make a link to it under its old name: ln -s NEW {path}. Or 'rireki show {id} "
    "--format markdown' gives it to an agent elsewhere.": (
        "移動したのなら元の名前でリンクを作ってください: ln -s 新しい場所 {path}。または"
        "「rireki show {id} --format markdown」でほかのエージェントに渡せます。"
    ),
    "{source} no longer has this conversation": "{source} にはもうこの会話がありません",
    "Run: {command}, then: {after}": "実行: {command}、続けて: {after}",
    "Run: {command}": "実行: {command}",
    "{source} has no command that goes on with this conversation": (
        "{source} にはこの会話を続けるコマンドがありません"
    ),
    "'rireki show {id} --format markdown' gives it to another agent.": (
        "「rireki show {id} --format markdown」でほかのエージェントに渡せます。"
    ),
    "no agent is called {name}": "{name} というエージェントはありません",
    "Known: {names}.": "使えるもの: {names}",
    "no agent that can be driven goes on with conversations of {source}": (
        "{source} の会話を続けられるエージェントがありません"
    ),
    "no agent is there to be driven": "動かせるエージェントがありません",
    "Get one: {why}.": "入手方法: {why}",
    "nothing can be sent yet: {hint} wait for your yes": "まだ送れません: {hint}が確認待ちです",
    "Say it at a terminal with the same command, or in the browser.": (
        "端末で同じコマンドを使うか、ブラウザーで確認してください。"
    ),
    "the conversation {id} is being driven by process {pid}": (
        "会話 {id} はプロセス {pid} が動かしています"
    ),
    "Go on with it there, or end it there first.": "そちらで続けるか、先に終了してください。",
    "Use letters, digits, '.', '_' and '-', up to 64 of them, a letter or digit first.": (
        "英数字と . _ - を 64 文字まで使えます。先頭は英数字です。"
    ),
    "the journal {path} is not open": "ジャーナル {path} が開いていません",
    "This is a mistake of ours.": "これは rireki の不具合です。",
    # settings
    "{file}: 'on' below [drive] is neither true nor false": (
        "{file}: [drive] の on は true か false で指定してください"
    ),
    "{file}: 'roots' below [drive] is not a list of directories": (
        "{file}: [drive] の roots がディレクトリの一覧になっていません"
    ),
    "{file}: 'drive' is not a table": "{file}: drive がテーブルになっていません",
    "{file}: 'agents' is not a list of tables": "{file}: agents がテーブルの一覧になっていません",
    "{file}: agent {name} leaves transcripts of {source}, which nobody reads": (
        "{file}: エージェント {name} の記録 {source} を読むものがありません"
    ),
    "{file}: agent {name} ({why})": "{file}: エージェント {name}（{why}）",
    "{file}: an agent cannot be understood ({why})": "{file}: エージェントを解釈できません（{why}）",
    "Known sources: {names}; or leave out 'source'.": (
        "使える取り込み元: {names}。source を省いてもかまいません。"
    ),
    "{file}: 'largest_mb' below [import] is not such a number of megabytes": (
        "{file}: [import] の largest_mb に使えないメガバイト数です"
    ),
    'Write there: [drive] and, below it, on = true and roots = ["~/src"].': (
        '[drive] の下に on = true と roots = ["~/src"] を書いてください。'
    ),
    "{path} is not a directory that agents could work in": (
        "{path} はエージェントが作業できるディレクトリではありません"
    ),
    "Name directories that are there with --root, or below [drive] in the settings.": (
        "存在するディレクトリを --root か設定の [drive] で指定してください。"
    ),
    "{path} is not TOML ({why})": "{path} は TOML として読めません（{why}）",
    # serve
    "agents cannot be driven: {path} can only be read": (
        "エージェントは動かせません: {path} は読み取り専用です"
    ),
    "What they do is taken into your archive: name one that you may write with --archive.": (
        "作業内容はアーカイブに保存されます。書き込めるものを --archive で指定してください。"
    ),
    "agents cannot be driven with {option}": "{option} と同時にはエージェントを動かせません",
    "What they do is taken into your archive: leave one of the two out.": (
        "作業内容はアーカイブに保存されます。どちらかを外してください。"
    ),
    "--root says where agents may work, but none may": (
        "--root がありますが、エージェントの操作は有効になっていません"
    ),
    "Add --drive to let them.": "--drive を付けてください。",
    "other machines could reach this: choose the token yourself": (
        "ほかのマシンから接続できるため、トークンを自分で決めてください"
    ),
    "Put one into a file and name it with --token-file, or set {name}. Whoever can reach the port "
    "and has the token can read every conversation; nothing is encrypted on the way, so put "
    "something in front that does, or use ssh -L.": (
        "ファイルに書いて --token-file で指定するか、{name} を設定してください。ポートに届き"
        "トークンを持つ人はすべての会話を読めます。通信は暗号化されないため、暗号化するものを"
        "前に置くか ssh -L を使ってください。"
    ),
    "no server shows {path}": "{path} を表示しているサーバーはありません",
    "'rireki serve' starts one and prints its address.": (
        "「rireki serve」で起動するとアドレスを表示します。"
    ),
    # service
    "there is no service to remove: {path} does not exist": (
        "削除するサービスがありません: {path} は存在しません"
    ),
    "'rireki service install' sets it up.": "「rireki service install」で設定できます。",
    "'{command}' failed: {why}": "「{command}」が失敗しました: {why}",
    # archive
    "{path} was written while it was read": "{path} は読み取り中に書き換えられました",
    "Run the command again.": "もう一度実行してください。",
    "Check that you may write to the file and its folder, or {hint}": (
        "ファイルとフォルダーの書き込み権限を確かめてください。または: {hint}"
    ),
    "{path} may not be read by you": "{path} の読み取り権限がありません",
    "Ask its owner to let you.": "所有者に許可してもらってください。",
    "there is no archive at {path} yet": "{path} にはまだアーカイブがありません",
    "'rireki import' makes it (with the same --archive, if you named one), 'rireki demo' shows an "
    "invented one.": (
        "「rireki import」で作成します（--archive を指定した場合は同じ指定で）。"
        "「rireki demo」でサンプルを見られます。"
    ),
    "{path} cannot be made ({why})": "{path} を作成できません（{why}）",
    "Check that you may write there, or choose another place with --archive.": (
        "書き込み権限を確かめるか、--archive で別の場所を指定してください。"
    ),
    "{path} holds what was last written to the archive, and cannot be read with it": (
        "{path} には最後に書かれた内容がありますが、一緒に読めません"
    ),
    "Check that you may read it, or copy both files to a folder of your own and name the copy with "
    "--archive.": (
        "読み取り権限を確かめるか、両方のファイルを自分のフォルダーにコピーして --archive で"
        "指定してください。"
    ),
    "records of strand {n} are missing": "系列 {n} の記録が欠けています",
    "Run 'rireki verify' to see what is affected.": "「rireki verify」で影響範囲を確かめてください。",
    "the projection does not fit the records": "一覧と記録が一致しません",
    "Restore the archive from a backup.": "バックアップからアーカイブを戻してください。",
    "{path} could not be written ({why})": "{path} に書き込めませんでした（{why}）",
    "{path} cannot be written ({why})": "{path} に書き込めません（{why}）",
    "Name a folder that you may write to.": "書き込む権限のあるフォルダーを指定してください。",
    "{path} cannot be read ({why})": "{path} を読み取れません（{why}）",
    "{path} is there already": "{path} はすでにあります",
    "Name a file that is not there yet.": "まだないファイルを指定してください。",
    "Name a folder that is not there yet.": "まだないフォルダーを指定してください。",
    "Name another folder.": "別のフォルダーを指定してください。",
    "Put a backup in its place.": "バックアップを戻してください。",
    "{n} rows are damaged": "{n} 行が破損しています",
    "a row of {table} is not what was written": "{table} の行が書かれた内容と異なります",
    "there is nothing in {path} that could be saved": "{path} から保存できるものはありません",
    "what was made of its records is damaged": "記録から作られたデータが破損しています",
    "the package openai-chatkit is not installed": (
        "パッケージ openai-chatkit がインストールされていません"
    ),
    "Install it with: {command}": "インストール方法: {command}",
    "Make room on the disk.": "ディスクの空きを作ってください。",
    "{path} was removed or cut by another program while it was open": (
        "{path} は開いている間にほかのプログラムに削除または切り詰められました"
    ),
    "the search index is of no use: {why}": "検索の索引が使えません: {why}",
    "The archive itself is in order. Check that there is room and that you may write there.": (
        "アーカイブ自体に問題はありません。空き容量と書き込み権限を確かめてください。"
    ),
    # import, restore, forget, demo
    "{path} does not exist": "{path} はありません",
    "Name a file or folder that an agent wrote.": (
        "エージェントが書いたファイルかフォルダーを指定してください。"
    ),
    "{path} holds no history that rireki can read": "{path} に rireki が読める履歴はありません",
    "It can read: {names}.": "読めるもの: {names}",
    "Tell the author of that package.": "そのパッケージの作者に知らせてください。",
    "{id} was not in the archive at {when}": "{id} は {when} の時点でアーカイブにありませんでした",
    "Leave --as-of out to restore what was seen last.": (
        "--as-of を外すと最後に確認した内容を復元します。"
    ),
    "{path} is there already, with other content": "{path} はすでにあり、内容が異なります",
    "{path} is a link, which may lead anywhere": "{path} はリンクで、行き先が保証できません",
    "Name an empty folder with --to.": "--to で空のフォルダーを指定してください。",
    "{id} is part of the file of {family}/{other}": "{id} は {family}/{other} のファイルの一部です",
    "Forget the whole: rireki forget {family}/{id}": "全体を消去: rireki forget {family}/{id}",
    "nothing of the id {name} was forgotten": "ID {name} で消去したものはありません",
    "Give the whole id, as it was then.": "当時の ID を全部書いてください。",
    "forgetting cannot be undone, and nobody is there to ask": (
        "消去は取り消せません。確認できる人がいません"
    ),
    "Add --yes.": "--yes を付けてください。",
    "its words may still stand in the search index: {hint}": (
        "検索の索引にまだ語が残っている可能性があります: {hint}"
    ),
    "Delete {path}: the next search makes it anew, without them.": (
        "{path} を削除してください。次の検索で作り直されます。"
    ),
    "{path} is not empty": "{path} は空ではありません",
    "The demo writes a home of its own: name a new directory.": (
        "サンプルは専用のホームを作ります。新しいディレクトリを指定してください。"
    ),
    "{path} is there already, and is not the demo's": (
        "{path} はすでにありますが、サンプルのものではありません"
    ),
    "Name another folder with --dir.": "--dir で別のフォルダーを指定してください。",
}
