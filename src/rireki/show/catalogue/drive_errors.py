"""What goes wrong when agents are driven, in Japanese. The English sentence, with gaps, is the key."""

from __future__ import annotations

__all__ = ["JAPANESE"]

JAPANESE = {
    # a prompt
    "{id} cannot be the id of a prompt": "{id} はプロンプトの ID に使えません",
    "Use letters, digits, '.', '_', ':' and '-', up to 128 of them.": (
        "英数字と . _ : - を使い、128 文字以内にしてください。"
    ),
    "the prompt is empty": "プロンプトが空です",
    "Write something first.": "何か入力してください。",
    "the prompt is too long ({n} characters)": "プロンプトが長すぎます（{n} 文字）",
    "Put it in a file of the project, and mention the file.": (
        "プロジェクト内のファイルに保存し、そのファイルを @ で指定してください。"
    ),
    "the images are too large": "画像が大きすぎます",
    "Send fewer of them, or smaller ones.": "枚数を減らすか、小さい画像を送ってください。",
    "{name} is no image that can be sent ({type})": "{name} は送れない形式です（{type}）",
    "PNG, JPEG, GIF and WebP can.": "PNG、JPEG、GIF、WebP の画像を送れます。",
    "there is no file {name} in {project}": "{project} にファイル {name} はありません",
    "Mention one that is there.": "存在するファイルを指定してください。",
    "{name} does not lie in {project}": "{name} は {project} の外にあります",
    "Only files of the project can be mentioned.": "指定できるのはプロジェクト内のファイルだけです。",
    "there is no prompt {id} in the conversation {conversation}": (
        "会話 {conversation} にプロンプト {id} はありません"
    ),
    "the prompt {id} was given to the agent, or withdrawn, already": (
        "プロンプト {id} はすでにエージェントに渡されたか、取り消されています"
    ),
    "Only what is still queued can be changed.": "変更できるのは待機中のものだけです。",
    "it is not known whether {agent} takes images, since it does not run": (
        "{agent} が動いていないため、画像を受け取れるかどうか分かりません"
    ),
    "Send the text without them first.": "まず画像なしで送ってください。",
    "{agent} does not take images": "{agent} は画像を受け取れません",
    "Send the text without them, or mention the file: the agent can look at it.": (
        "画像なしで送るか、ファイルを @ で指定してください（エージェントが開けます）。"
    ),
    "Send the text without them.": "画像なしで送ってください。",
    "Amazon Q takes no pictures": "Amazon Q は画像を受け取れません",
    "Name the file in the prompt instead.": "代わりにプロンプトでファイル名を伝えてください。",
    "the prompts that wait were changed meanwhile": "待機中の依頼はその間に変更されました",
    "Look at them again.": "内容をもう一度確かめてください。",
    # where to work
    "{project} leads to another directory now: {found}": (
        "{project} は今は別のディレクトリ {found} を指しています"
    ),
    "Start a new conversation there, if that is where the agent should work.": (
        "そこで作業させる場合は、新しい会話を始めてください。"
    ),
    "{path} is not an absolute path": "{path} は絶対パスではありません",
    "Begin at the root, like /home/me/x.": "/home/me/x のようにルートから書いてください。",
    "there is no directory {path}": "{path} というディレクトリはありません",
    "Check its name, or make it.": "名前を確かめるか、作成してください。",
    "{path} is not a directory": "{path} はディレクトリではありません",
    "Name the directory that it lies in.": "それが入っているディレクトリを指定してください。",
    "{path} may not be read": "{path} を読む権限がありません",
    "Check its permissions.": "権限を確かめてください。",
    "{path} lies outside of the directories agents may work in": (
        "{path} はエージェントの作業が許可されたディレクトリの外にあります"
    ),
    "Allowed: {names}. `--root` allows another one.": (
        "許可されているのは {names} です。`--root` で追加できます。"
    ),
    "To continue it here, start the server so:": "ここで続けるには、次のように起動してください：",
    "No agent on this machine goes on with it.": (
        "この会話を続けられるエージェントがこのマシンにありません。"
    ),
    # answers to what an agent asks
    "{option} is not among the options of {title}": "{title} に選択肢 {option} はありません",
    "They are: {names}.": "選べるのは {names} です。",
    "there is no question {id} in {title}": "{title} に質問 {id} はありません",
    "Reload the page.": "ページを再読み込みしてください。",
    "{value} is not among the answers to {question}": "{question} の答えに {value} はありません",
    "only one answer is wanted to {question}": "{question} の答えは 1 つだけ選べます",
    "Choose one.": "1 つ選んでください。",
    "{question} has to be answered": "{question} には答えが必要です",
    "Or refuse all of it.": "または全体を拒否してください。",
    "nothing is asked under {ask} in the conversation {id}": (
        "会話 {id} に {ask} という問い合わせはありません"
    ),
    "this was settled already: {how}, by {by}, at {at}": "すでに決まっています：{how}（{by}、{at}）",
    "Reload to see how it went on.": "再読み込みすると続きが見られます。",
    # agents and their conversations
    "driving agents is off": "エージェントの操作は無効です",
    "Start the server with `rireki serve --drive` to let agents work from here.": (
        "`rireki serve --drive` で起動すると、ここからエージェントを動かせます。"
    ),
    "the agents are not ready yet": "エージェントの準備がまだできていません",
    "Ask again in a moment.": "少し待ってからもう一度試してください。",
    "there is no agent {name} in the settings any more": (
        "設定にエージェント {name} はもうありません"
    ),
    "there is no agent {name}": "エージェント {name} はありません",
    "Known agents: {names}.": "使えるエージェント：{names}",
    "{agent} cannot be started: {why}": "{agent} を起動できません：{why}",
    "{agent} cannot be started": "{agent} を起動できません",
    "{value} cannot be the name of a model": "{value} はモデル名に使えません",
    "{value} cannot be the id of a conversation": "{value} は会話の ID に使えません",
    "{value} cannot be the id of a driven conversation": "{value} は会話の ID に使えません",
    "It begins with '-', or is no name at all.": "- で始まるか、名前になっていません。",
    "there is a conversation {id} already, with {agent} in {project}": (
        "会話 {id} はすでにあります（{agent}、{project}）"
    ),
    "A new conversation needs an id of its own.": "新しい会話には別の ID が必要です。",
    "{id} is driven from here": "{id} はここから動かしている会話です",
    "Send your prompt to it: it goes on by itself.": "そこに送信すれば、そのまま続きます。",
    "{agent} cannot go on with {id}": "{agent} は {id} を続けられません",
    "Choose {names}, which wrote it.": "この会話を書いた {names} を選んでください。",
    "No agent here can: start a new conversation, and tell it what it has to know.": (
        "続けられるエージェントがありません。新しい会話を始めて、必要なことを伝えてください。"
    ),
    "{id} is being driven already, as {other}": "{id} はすでに {other} として動いています",
    "Send your prompt there: two agents at once would spoil it.": (
        "そちらに送ってください。二つのエージェントが同時に書くと会話が壊れます。"
    ),
    "the conversation {id} is not driven from here": "会話 {id} はここから動かしていません",
    "nothing was driven under the id {id}": "ID {id} で動かした会話はありません",
    "the conversation {id} could not be written to {path} ({why})": (
        "会話 {id} を {path} に書き込めませんでした（{why}）"
    ),
    "Nothing of it was kept or given to the agent. Make room on the disk, and send it again.": (
        "保存もエージェントへの送信もされていません。ディスクの空きを作り、もう一度送ってください。"
    ),
    "the conversation {id} cannot be opened ({why})": "会話 {id} を開けません（{why}）",
    "Check that you may write there, and that the folder lies on a local disk.": (
        "書き込み権限があり、フォルダーがローカルディスク上にあることを確かめてください。"
    ),
}
