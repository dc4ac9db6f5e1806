"""What went wrong, in the reader's language. The English sentence, with gaps, is the key.

Errors are worded where they arise, far from any page; here a finished sentence is recognised
by its pattern. One that is not known stays as it is.
"""

from __future__ import annotations

import re
from functools import cache

from rireki.errors import Wording, catalogue
from rireki.show.catalogue.drive_errors import JAPANESE as DRIVING
from rireki.show.catalogue.patterns import Sentences
from rireki.show.catalogue.source_errors import JAPANESE as READING

__all__ = ["error_lines", "filled", "in_locale", "known_sentences"]

JAPANESE = {
    # where the archive lies
    "{folder} is on a file system without locks": "{folder} のファイルシステムではロックを使えません",
    "Keep the archive on a local disk: name a place there with --archive or RIREKI_ARCHIVE.": (
        "アーカイブはローカルディスクに置いてください。場所は --archive か RIREKI_ARCHIVE で指定できます。"
    ),
    # a query that cannot be understood
    "the query has {n} characters, more than {most}": "検索文が {n} 文字あります（上限 {most} 文字）",
    "at character {at} more than {most} parentheses are open": (
        "{at} 文字目：かっこが {most} 個を超えて開いています"
    ),
    "there is nothing between the parentheses at character {at}": "{at} 文字目：かっこの中が空です",
    "the phrase at character {at} is empty": "{at} 文字目：引用符の中が空です",
    "the value of {name}: at character {at} is empty": "{at} 文字目：{name}: の値が空です",
    "the regular expression at character {at} has {n} characters, more than {most}": (
        "{at} 文字目：正規表現が {n} 文字あります（上限 {most} 文字）"
    ),
    "the regular expression cannot be read at character {at}: {why}": (
        "{at} 文字目：正規表現を解釈できません（{why}）"
    ),
    "the regular expression {pattern} takes too long: it tries too many ways to match a text": (
        "正規表現 {pattern} に時間がかかりすぎます（同じ文章への当てはめ方が多すぎます）"
    ),
    "AND at character {at} has nothing beside it": "{at} 文字目：AND の両側に語がありません",
    "- at character {at} has nothing behind it": "{at} 文字目：- の後に語がありません",
    "cannot read the time {value} at character {at}": "{at} 文字目：日時 {value} を解釈できません",
    "source:{value} at character {at} may be {names}": (
        "{at} 文字目：source:{value} は複数に当てはまります（{names}）"
    ),
    "{value} at character {at} leads nowhere: this directory is gone": (
        "{at} 文字目：{value} は参照できません（現在のディレクトリがなくなっています）"
    ),
    "OR at character {at} has nothing on its left": "{at} 文字目：OR の左側がありません",
    "OR at character {at} has nothing on its right": "{at} 文字目：OR の右側がありません",
    "the ) at character {at} closes nothing": "{at} 文字目：対応する ( がありません",
    "the ( at character {at} is never closed": "{at} 文字目：( が閉じられていません",
    "the quote at character {at} is never closed": "{at} 文字目：引用符が閉じられていません",
    "the * at character {at} does not end a word": "{at} 文字目：* は語の末尾にだけ付けられます",
    "{name}: at character {at} has no value": "{at} 文字目：{name}: の値がありません",
    "{name}: does not know {value} at character {at}, only {known}": (
        "{at} 文字目：{name}: に {value} は指定できません（指定できる値：{known}）"
    ),
    "there is no filter {name}: (character {at}); it may be {near}:": (
        "{at} 文字目：{name}: という絞り込みはありません（{near}: のことでしょうか）"
    ),
    # a parameter of the API that cannot be understood
    "there is nothing to search for": "検索する語がありません",
    "Say what: ?q=WORDS.": "?q=語 の形で指定してください。",
    "there is no parameter {name} here": "{name} というパラメーターはありません",
    "It takes none.": "パラメーターは取りません。",
    "It takes {names}.": "指定できるもの：{names}",
    "the parameter {name} cannot be read: {why}": "パラメーター {name} を解釈できません（{why}）",
    "a parameter cannot be read: {why}": "パラメーターを解釈できません（{why}）",
    "/api/v1/openapi.json tells what each takes.": "指定できる値は /api/v1/openapi.json にあります。",
    # what to do about it
    "Say more exactly what may stand between its parts ([^,]* instead of .*), leave out repetitions "
    "of repetitions, or add words that must be there.": (
        "部分の間に来る文字を限定する（.* の代わりに [^,]*）、繰り返しの繰り返しを外す、"
        "または必ず含まれる語を加えてください。"
    ),
    'Write a word right behind it to leave it out (-word), or "-" for the sign itself.': (
        '除きたい語をすぐ後に書いてください（-語）。記号そのものを探すには "-" と書きます。'
    ),
    'Put it between two words, or write "AND" for the word itself.': (
        '2 つの語の間に置くか、語そのものなら "AND" と書いてください。'
    ),
    "Search for a part of it.": "一部だけを検索してください。",
    "Leave out those that are not needed.": "不要なかっこを外してください。",
    "Put the words between the quotes, or leave the quotes out.": (
        "引用符の間に語を入れるか、引用符を外してください。"
    ),
    "Say more of its name.": "名前をもう少し長く書いてください。",
    "Name the directory from its root on.": "ディレクトリをルートから指定してください。",
    "Put it between two words: cat OR dog.": "2 つの語の間に置いてください：猫 OR 犬",
    "Close it, or put quotes around text that has parentheses in it.": (
        "閉じるか、かっこを含む文字列を引用符で囲んでください。"
    ),
    "Close it with {sign}": "{sign} で閉じてください",
    'Leave it out, or write "*" for the star itself.': (
        '外すか、* そのものを探すには "*" と書いてください。'
    ),
    "Say it right after the colon: {example}": "コロンの直後に書いてください：{example}",
    "Try: {better}, or {quoted} for the text itself.": (
        "こう書けます：{better}（文字列そのものを探すには {quoted}）"
    ),
    "Try: {better}, or {quoted} for the star itself.": (
        "こう書けます：{better}（* そのものを探すには {quoted}）"
    ),
    "Try: {better} for the text itself.": "文字列そのものを探すには：{better}",
    "Try: {better}": "こう書けます：{better}",
    "Say {times} or {last}.": "日時の書き方：{times}、{last}",
    # what is not there
    "there is no page {path}": "{path} というページはありません",
    "Begin at the front page: /": "トップページからたどってください：/",
    "no conversation has the id {id}": "ID が {id} の会話はありません",
    "'rireki list' shows what there is; 'rireki import' takes in what is new.": (
        "「rireki list」で一覧を表示し、「rireki import」で新しい会話を取り込めます。"
    ),
    "It may be among {n} that wait to be read again. If no other process is at it, 'rireki import'"
    " does that.": (
        "読み直しを待っている {n} 件の中にあるかもしれません。"
        "ほかのプロセスが実行中でなければ「rireki import」で読み直せます。"
    ),
    "{id} fits {n} conversations": "{id} に当てはまる会話が {n} 件あります",
    "Write more of the id: {examples}": "ID をもう少し長く書いてください：{examples}",
    "{id} has no message {message} with records of its own": (
        "{id} に、記録を持つメッセージ {message} はありません"
    ),
    "'rireki show {id} --raw --all' prints every record.": (
        "「rireki show {id} --raw --all」ですべての記録を表示できます。"
    ),
    "{id} has no message {message} any more": "{id} にメッセージ {message} はもうありません",
    "Load the conversation again.": "会話を読み込み直してください。",
    "{id} has no message {message}": "{id} にメッセージ {message} はありません",
    "The conversation itself is there: leave ?at= out of the address.": (
        "会話そのものはあります。アドレスから ?at= を外してください。"
    ),
    "{id} has no record {record} here": "{id} に記録 {record} はありません",
    "Go back to the raw view.": "生データの画面に戻ってください。",
    "{form} is no format to write a conversation in": "{form} という形式では書き出せません",
    "Choose one of {names}.": "次から選んでください：{names}",
    "no conversation was held in {path}": "{path} で行われた会話はありません",
    "The first page lists the directories that have some.": (
        "会話のあるディレクトリはトップページに並んでいます。"
    ),
    "{id} cannot be read from its records": "{id} を記録から読み取れません",
    "Run 'rireki verify' to check the archive.": "「rireki verify」でアーカイブを確認してください。",
    # who may ask, and for what
    "This page is for whoever has its token.": "このページを見るにはトークンが必要です。",
    "The token in this address is not the right one.": "アドレスのトークンが正しくありません。",
    "The token in the Authorization header is not the right one.": (
        "Authorization ヘッダーのトークンが正しくありません。"
    ),
    "An address with the token in it is for opening pages only.": (
        "トークンを含むアドレスは、ページを開くためだけに使えます。"
    ),
    "This address opens the page once, within a minute: that is over.": (
        "このアドレスは一度だけ、1 分以内に使えます。もう使えません。"
    ),
    "Open the address that `rireki serve` printed; `rireki serve --url` prints it again.": (
        "`rireki serve` が表示したアドレスを開いてください。`rireki serve --url` で再表示できます。"
    ),
    "If you were here before: {link}.": "以前に開いたことがある場合：{link}",
    "open this page": "このページを開く",
    "{method} is not done here": "{method} はここでは使えません",
    "Everything is read with GET.": "読み取りはすべて GET です。",
    "the host {host} is not one this server answers to": (
        "このサーバーは {host} という名前では応答しません"
    ),
    "Use the address that `rireki serve` printed, or start it with --allow-host NAME.": (
        "`rireki serve` が表示したアドレスを使うか、--allow-host NAME を付けて起動してください。"
    ),
    "the origin {origin} may not read this": "{origin} からは読み取れません",
    "Open the address that `rireki serve` printed in the browser itself.": (
        "`rireki serve` が表示したアドレスをブラウザーで直接開いてください。"
    ),
    "a {site} request may not read this": "{site} のリクエストでは読み取れません",
    "Open the page in the browser itself.": "ページをブラウザーで直接開いてください。",
    "a request that changes something has to say which page it comes from": (
        "何かを変えるリクエストには、どのページからのものかが必要です"
    ),
    "Browsers send Origin; a program sends the token in the Authorization header.": (
        "ブラウザーは Origin を、プログラムは Authorization ヘッダーでトークンを送ります。"
    ),
    "{type} is not taken here": "{type} は受け付けません",
    "Send application/json.": "application/json を送ってください。",
    "{id} had not begun at {when}": "{id} は {when} の時点でまだ始まっていません",
    "Its first message is of {when}.": "最初のメッセージは {when} のものです。",
}

#: Gaps in which several names stand, and one with a sentence of ours.
_LISTS = ("known", "names", "times")
_SENTENCE = "hint"
#: How a value is written, behind its name.
_FORMAT = re.compile(r"(?<=\w)[!:][^{}]*\}")


def error_lines(locale: str, error: Wording) -> tuple[str, str]:
    """Message and hint in a language. Plain words are looked up among the sentences we know."""
    message, hint = (
        in_locale(locale, line) if line == plain else line
        for line, plain in zip(error.lines(locale), error.lines(), strict=True)
    )
    return message, hint


def in_locale(locale: str, sentence: str) -> str:
    """The sentence in a language; as it is, where nobody has said it in that language."""
    if locale != "ja":
        return sentence
    return _sentences().find(sentence) or sentence


def known_sentences() -> dict[str, str]:
    """The Japanese of every English sentence that an error may have become."""
    english, japanese = (catalogue(Wording.catalogues, language) for language in ("en", "ja"))
    pairs = (pair for code in english for pair in zip(english[code], japanese[code], strict=True))
    bare = {_FORMAT.sub("}", key): _FORMAT.sub("}", said) for key, said in pairs}
    said = {key: said for key, said in bare.items() if key != said}
    return said | JAPANESE | DRIVING | READING


def filled(name: str, text: str) -> str:
    """What is ours as Japanese puts it; everything else is what somebody wrote."""
    if name == _SENTENCE:
        return in_locale("ja", text)
    return re.sub(", | and | or ", "、", text) if name in _LISTS else text


@cache
def _sentences() -> Sentences:
    return Sentences(known_sentences(), filled)
