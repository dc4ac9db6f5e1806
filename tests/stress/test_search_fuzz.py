"""Random queries over random texts: the index finds just what reading everything finds."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.base import Archive
from rireki.search.execute.view import look_without_index
from rireki.search.index.importing import take_in
from rireki.search.index.update import catch_up
from rireki.search.language.parse import parse
from rireki.search.language.query import QueryError
from rireki.search.results import Results, SearchOptions
from rireki.search.search import Search
from rireki.search.text import text_store, tokenizer
from rireki.sources.kit.places import Places
from tests.sources.transcripts import Transcript, lay

NOW = datetime(2026, 11, 16, tzinfo=timezone.utc)
ALL = SearchOptions(limit=10**6, hits=10**6)
WORDS = [
    *(
        "We",
        "can",
        "NOT",
        "a",
        "is",
        "the",
        "in",
        "of",
        "42",
        "0x1F",
        "utf8",
        "v2.1.197",
        "foo",
        "bar",
    ),
    *(
        "snake_case",
        "camelCaseNeedle",
        "MyHTTPServer",
        "userIDs",
        "toBase64",
        "h264encode",
        "x86_64",
    ),
    *(
        "self.mode",
        "src/app/main.py",
        "--flag",
        "a=b",
        "C:\\dir\\file",
        "e@mail.org",
        "it's",
        "TODO:",
    ),
    *(
        "naïve",
        "Straße",
        "ﬁne",
        "\u212aelvin",
        "İstanbul",
        "ılık",
        "cafe\u0301",
        "x\u0302",
        "Việt",
        "ÉTUDE",
    ),
    *(
        "Ａｂｃ",
        "ＧＩＴ",
        "²",
        "①",
        "foo™",
        "isACat",
        "ﾃﾞｰﾀ",
        "データ",
        "か\u3099く",
        "がく",
        "履歴",
        "会話履歴を見る",
    ),
    *(
        "linuxカーネル",
        "Git履歴",
        "한글",
        "ㅋㅋ",
        "ไทยแลนด์",
        "မြန်မာ",
        "हिन्दी",
        "Привет",
        "ΣΊΣΥΦΟΣ",
        "שלום",
    ),
    *(
        "👩‍👩‍👧",
        "🇯🇵🇩🇪",
        "→",
        "…",
        "«quoted»",
        '"q"',
        "(x)",
        "[y]",
        "{z}",
        "a|b",
        "*",
        "/",
        "=",
        "-",
        "\\n",
    ),
]
GAPS = [
    *"        \n\n\t",
    "  ",
    "\n    ",
    "\u00a0",
    "\u3000",
    "\u2028",
    ", ",
    ".",
    "",
    "_",
    "-",
    "/",
    ":",
    "…",
    "\ufe0f",
    "\U000e0100",
    "．",
    "＿",
]


def text(chance: random.Random, most: int) -> str:
    parts = (chance.choice(WORDS) + chance.choice(GAPS) for _ in range(chance.randint(1, most)))
    return "".join(parts)


def home_of(home: Path, chance: random.Random, talks: int) -> None:
    for talk in range(talks):
        transcript = Transcript(f"{talk:08d}-0000-4000-8000-000000000000")
        for turn in range(6):
            transcript.user(text(chance, 12), **line(talk, transcript))
            transcript.answer(text(chance, 60), **line(talk, transcript))
            given = {"command": text(chance, 5)}
            transcript.call(f"c{turn}", input=given, **line(talk, transcript))
            printed = text(chance, chance.choice([5, 40, 300]))
            transcript.result(f"c{turn}", printed, **line(talk, transcript))
        lay(home, transcript.bytes(), transcript.session)


def line(talk: int, transcript: Transcript) -> dict[str, Any]:
    """What no other line of any session has: else they would be copies of each other."""
    number = transcript.count
    return {
        "uuid": f"{number:08d}-{talk:04d}-4000-8000-000000000000",
        "timestamp": f"2026-11-{talk + 1:02d}T10:{number:02d}:00.000Z",
    }


def piece(chance: random.Random, texts: list[str]) -> str:
    """Some characters that stand somewhere, seldom more than a line."""
    whole = chance.choice(texts)
    start = chance.randrange(max(1, len(whole)))
    return whole[start : start + chance.choice([1, 2, 3, 5, 8, 13, 21, 34])]


def term(chance: random.Random, texts: list[str]) -> str:
    found = piece(chance, texts)
    mixed = "".join(chance.choice([letter, letter.swapcase()]) for letter in found)
    found = chance.choice([found, found, found.upper(), found.lower(), mixed])
    words = found.split() or ["foo"]
    match chance.randrange(7):
        case 0 | 1:
            return chance.choice(words)
        case 2:
            return chance.choice(words).rstrip("*") + "*"
        case 3:
            return f'"{found}"'
        case 4:
            return f"={found}="
        case 5:
            return f"/{re.escape(found)}/"
        case _:
            gap = chance.choice([r"\s+", r"\W*", ".*", r"\w*"])
            return "/" + gap.join(map(re.escape, words)) + "/"


def query(chance: random.Random, texts: list[str]) -> str:
    match chance.randrange(6):
        case 0:
            return f"{term(chance, texts)} {term(chance, texts)}"
        case 1:
            return f"{term(chance, texts)} -{term(chance, texts)}"
        case 2:
            return f"{term(chance, texts)} OR {term(chance, texts)}"
        case _:
            return term(chance, texts)


def told(results: Results) -> tuple[bool, set[tuple[str, str | None]]]:
    if results.apart:
        # Of messages that have only some of the words, the best are shown: that is a matter of rank.
        return True, {(talk.conversation.id, None) for talk in results.talks}
    return False, {(t.conversation.id, hit.message) for t in results.talks for hit in t.hits}


@pytest.fixture(params=["in C", "in Python"])
def seeded(
    request: pytest.FixtureRequest,
    archive: Archive,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[tuple[random.Random, Search]]:
    """An archive of random texts, cut by one side or by the other."""
    monkeypatch.setattr(tokenizer, "MUCH", 0 if request.param == "in C" else 10**9)
    chance = random.Random(request.param)
    home_of(home, chance, talks=8)
    take_in(archive, Places.at(home))
    catch_up(archive)
    search = Search(archive)
    yield chance, search
    search.close()


def test_random_queries_find_what_reading_everything_finds(
    seeded: tuple[random.Random, Search],
    pytestconfig: pytest.Config,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chance, search = seeded
    monkeypatch.setattr(text_store, "TALKS", 10**6)
    direct = look_without_index(search.archive)
    texts = [
        text
        for heading in direct.direct
        for doc in search.library.docs(heading)
        for _, text in doc.parts
    ]
    wrong = []
    for _ in range(20_000 if pytestconfig.getoption("campaign") else 80):
        asked = query(chance, texts)
        try:
            parsed = parse(asked, NOW)
            results = search.find(asked, ALL, NOW)
        except QueryError:
            continue
        if told(results) != told(search._answer(direct, parsed, ALL)):
            wrong.append(asked)
    assert wrong == []
