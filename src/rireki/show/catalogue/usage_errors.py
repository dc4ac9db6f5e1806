"""What click says of a command line it cannot understand, in Japanese. Its versions word it differently."""

from __future__ import annotations

__all__ = ["JAPANESE"]

_VALUES = {
    "{value} is not a valid integer.": "{value} は整数ではありません。",
    "{value} is not a valid integer range.": "{value} は整数ではありません。",
    "{value} is not a valid float.": "{value} は数ではありません。",
    "{value} is not a valid float range.": "{value} は数ではありません。",
    "{value} is not in the range {range}.": "{value} は範囲（{range}）の外です。",
    "{value} is not one of {names}.": "{value} は使えません。使えるもの: {names}",
    "{value} is not '{choice}'.": "{value} は使えません。使えるもの: '{choice}'",
    "File {name} does not exist.": "ファイル {name} はありません。",
    "File {name} is a directory.": "{name} はディレクトリーで、ファイルではありません。",
    "File {name} is not readable.": "ファイル {name} を読む権限がありません。",
    "Directory {name} does not exist.": "ディレクトリー {name} はありません。",
    "Directory {name} is a file.": "{name} はファイルで、ディレクトリーではありません。",
    "Directory {name} is not readable.": "ディレクトリー {name} を読む権限がありません。",
    "Path {name} does not exist.": "{name} はありません。",
    "Path {name} is not readable.": "{name} を読む権限がありません。",
}

_USAGE = {
    "Usage: {usage}": "使い方: {usage}",
    "Try '{command}' for help.": "「{command}」でヘルプを表示します。",
    # options
    "No such option {name}.": "{name} というオプションはありません。",
    "No such option {name}. Did you mean {near}?": (
        "{name} というオプションはありません。{near} のことでしょうか。"
    ),
    "No such option {name}. (Did you mean one of: {names}?)": (
        "{name} というオプションはありません。もしかして: {names}"
    ),
    "No such option: {name}": "{name} というオプションはありません。",
    "No such option: {name} Did you mean {near}?": (
        "{name} というオプションはありません。{near} のことでしょうか。"
    ),
    "No such option: {name} (Possible options: {names})": (
        "{name} というオプションはありません。もしかして: {names}"
    ),
    "No such option {name}. Did you mean {names}? To search for it, write '{query}'.": (
        "{name} というオプションはありません。{names} のことでしょうか。"
        "その語を検索するには '{query}' と書いてください。"
    ),
    "Option {name} requires an argument.": "オプション {name} には値が必要です。",
    "Option {name} requires {n} arguments.": "オプション {name} には値が {n} 個必要です。",
    "Option {name} does not take a value.": "オプション {name} は値を取りません。",
    "Missing option {name}.": "オプション {name} が必要です。",
    "Missing option {name}. Choose from:\n\t{choices}": (
        "オプション {name} が必要です。次から選んでください:\n\t{choices}"
    ),
    # arguments
    "Missing argument {name}.": "引数 {name} が必要です。",
    "Missing argument {name}. Choose from:\n\t{choices}": (
        "引数 {name} が必要です。次から選んでください:\n\t{choices}"
    ),
    "Got unexpected extra argument ({what})": "余分な引数があります（{what}）",
    "Got unexpected extra arguments ({what})": "余分な引数があります（{what}）",
    "Invalid value: {hint}": "値が正しくありません: {hint}",
    "Invalid value for {name}: {hint}": "{name} の値が正しくありません: {hint}",
}

#: Each with the option it is said of as one sentence: by itself it would take that for the value.
JAPANESE = (
    _USAGE
    | _VALUES
    | {
        f"Invalid value for {{option}}: {english}": f"{{option}} の値が正しくありません: {japanese}"
        for english, japanese in _VALUES.items()
    }
)
