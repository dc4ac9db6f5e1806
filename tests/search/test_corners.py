"""Corners of spelling: the index finds what reading the archive finds, and marks the right letters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from pathlib import Path

import pytest

from rireki.archive.base import Archive
from rireki.search.execute.view import look_without_index
from rireki.search.index.importing import take_in
from rireki.search.index.index import index_folder
from rireki.search.index.update import catch_up
from rireki.search.language.parse import parse
from rireki.search.results import Results, SearchOptions
from rireki.search.search import Search
from rireki.search.text.documents import docs_of
from rireki.sources.kit.places import Places
from tests.sources.transcripts import Transcript, lay, tell

NOW = datetime(2026, 11, 16, tzinfo=timezone.utc)
Find = Callable[[str], Results]
MENTIONED = {
    "type": "file",
    "filename": "/x/mentioned_notes.txt",
    "content": {"type": "text", "file": {"filePath": "/x/mentioned_notes.txt", "content": "body"}},
    "displayPath": "mentioned_notes.txt",
}


@pytest.fixture(params=["index", "archive"])
def find(request: pytest.FixtureRequest, archive: Archive, home: Path) -> Iterator[Find]:
    transcript = Transcript()
    transcript.meta("custom-title", customTitle="Migration titleword")
    transcript.user("please look at zebratext", cwd="/home/dev/redis-app")
    transcript.answer(
        "ﾊﾞｯｸｱｯﾌﾟ and camelCaseNeedle2 and toBase64, MyHTTPServer, userIDs cafe\u0301 か\u3099く",
        model="Claude Sonnet 4",
    )
    transcript.user("x 한글ㅋㅠㅠ 그리고 needlekr 뒤")
    transcript.call("c1", "My Tool", input={"command": "\x1b[32mpassedword\x1b[0m and TODO: fix "})
    transcript.answer(
        "h264encodeVideo ＹｏｕｒＣｌａｓｓ MañanaBayes openSQLiteDatabase", model="Opus\u00a05"
    )
    transcript.call(
        "c2",
        "会話\u3000検索",
        input={"files": {"src/keyedfile.py": "body", "mode": "x", "STRIPE_TOKEN": True}},
    )
    transcript.user("\u1025\u102e \u1025\u102e \u1025\u102e targetword")
    transcript.user("मैं खोज करो")
    transcript.user("✔\ufe0f 奈良の葛\U000e0100城市と辻\U000e0100さん 1\ufe0f\u20e3")
    transcript.user("I\u0307zmir İSTANBUL ıspanak Vie\u0323\u0302t")
    transcript.user("ﬁne cafe\u0301 42MyHTTPRouter thisIsACat 0x1F quux™ GroßeFlagge")
    transcript.user("this is is odd; host 10.0.0.1; class daDad wxyza\u0332\u0301 tail")
    transcript.user("getQ" + "z" * 70_000)
    transcript.user("zerohour", timestamp="1970-01-01T00:00:00.000Z")
    transcript.add("attachment", attachment=MENTIONED)
    lay(home, transcript.bytes())
    take_in(archive, Places.at(home))
    catch_up(archive)
    search = Search(archive)

    def look(query: str) -> Results:
        if request.param == "index":
            return search.find(query)
        return search._answer(look_without_index(archive), parse(query, NOW), SearchOptions())

    yield look
    search.close()


@pytest.mark.parametrize(
    "query",
    [
        # A word of the title or the project, and one of a message.
        "titleword zebratext",
        "redis zebratext",
        "titleword redis",
        "migration -redis",
        # Exact texts that end where a letter grows by what follows it.
        "=ﾊﾞｯｸｱｯﾌ=",
        "=ﾊ=",
        "/ﾌ/",
        "=cafe=",
        "/cafe/",
        "=か=",
        "=\u0301=",
        "=ㅋ=",
        "=Vie\u0323=",
        # Turkish letters, with and without a dot.
        "istanbul",
        "/istanbul/",
        "=İSTAN=",
        "ispan*",
        "IZMIR",
        "ıspanak",
        "/İSTANBUL ıs/",
        "/i\\w+mir ist/",
        # What an agent named in an object that it gave a tool.
        "STRIPE_TOKEN",
        "mode",
        # Drawn in another way.
        "葛城市",
        "葛\U000e0101城",
        "辻さん",
        "=葛\U000e0100城=",
        "/葛.城/",
        # Parts of identifiers.
        "caseNeedle",
        "caseNeedle*",
        "caseNeed*",
        "HTTPSer*",
        "base64",
        "base",
        "toBase",
        "ids",
        # Single Korean letters are what was typed, no syllables.
        "ㅋ",
        "ㅠㅠ",
        "ﾡ OR 한글",
        # What a terminal would have coloured.
        "passedword",
        'model:"Claude Sonnet 4"',
        'tool:"My Tool"',
        "model:sonnet",
        'model:"opus 5"',
        "tool:会話_検索",
        'tool:"会話 検索"',
        # A piece behind a number, and pieces in full width.
        "encode",
        'encode -"never said"',
        "class",
        'class -"never said"',
        "ＹｏｕｒＣｌａｓｓ",
        "bayes",
        "sq*",
        "openSQ*",
        # Where something else begins that is none.
        '"is is"',
        "0.0",
        "dad",
        "=xyza\u0332=",
        "/xyza\u0332/",
        "=\u1025=",
        "qzzz*",
        "zerohour since:1970",
        # Beginnings that end with a capital.
        "isAC*",
        "x1F*",
        # Pieces in a text whose letters become more and fewer by folding.
        "router",
        "quux",
        "THISISACAT",
        "flag*",
        # Names that stand in keys and labels.
        "keyedfile",
        "mentioned_notes.txt",
        "zerohour before:2020-01-01",
    ],
)
def test_it_is_found(find: Find, query: str) -> None:
    assert len(find(query).talks) == 1


@pytest.mark.parametrize(
    "query",
    [
        "큐",
        "caseNeedles*",
        "model:mode",
        "model:del:claude",
        "ana",
        "sqlite*",
        "zerohour -before:2020-01-01",
        f"={'ab' * 245}=",
        f"={'мир' * 90}=",
        f"{'ab' * 245}*",
    ],
)
def test_it_is_not_found(find: Find, query: str) -> None:
    assert find(query).talks == []


@pytest.mark.parametrize(
    ("query", "marked"),
    [
        ("그리고", "그리고"),
        ("needlekr", "needlekr"),
        ("뒤", "뒤"),
        ("ㅠㅠ", "ㅠㅠ"),
        ("=TODO: fix =", "TODO: fix"),
        ("toBase", "toBase"),
        ("targetword", "targetword"),
        ("खोज", "खोज"),
        ("dad", "Dad"),
        ("0.0", "0.0"),
        ('"is is"', "is is"),
    ],
)
def test_the_right_letters_are_marked(find: Find, query: str, marked: str) -> None:
    snippet = find(query).talks[0].hits[0].snippet
    assert [snippet.text[start:end] for start, end in snippet.marks] == [marked]


def test_a_message_without_a_time_has_that_of_its_neighbour(home: Path) -> None:
    transcript = Transcript()
    transcript.user("before all times", timestamp=None)
    transcript.answer("first")
    transcript.answer("without a time", timestamp=None)
    docs = docs_of(tell(home, transcript).messages())
    assert len({doc.at for doc in docs}) == 1 and docs[0].at is not None


def test_a_name_of_the_index_that_no_file_can_have_leads_to_a_new_one(
    archive: Archive, home: Path
) -> None:
    transcript = Transcript()
    transcript.user("zebratext")
    lay(home, transcript.bytes())
    take_in(archive, Places.at(home))
    catch_up(archive)
    (index_folder(archive) / "current").write_text("x" * 5000, encoding="utf-8")
    search = Search(archive)
    assert len(search.find("zebratext").talks) == 1
    search.close()
