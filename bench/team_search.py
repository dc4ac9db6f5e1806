"""Searches of a team: conversations of many people in shelves, as they are after years.

The corpus is copied with its texts cut short and a quarter of its long words renamed in each copy, and
dealt out to people; everybody shares with one team. Rows and shelves are written at once, as they would
be stored; there are no records behind them.
"""

from __future__ import annotations

import random
import re
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import psycopg
from bench.measure import at_most, percentile
from tests.support.postgres import running

from rireki.archive.base import Archive, Heading
from rireki.archive.open import open_archive
from rireki.intake.interpret import interpret
from rireki.model.conversation import Conversation
from rireki.search.language.match import Doc
from rireki.search.text.blocks import digest_docs
from rireki.search.text.documents import docs_of
from rireki.team.hub import TeamHub
from rireki.team.people import Member
from rireki.team.scopes import Scopes
from rireki.team.shelf_writer import REACHED, ShelfWriter
from rireki.team.shelves import Shelves
from rireki.team.store import Narrowed, Team

__all__ = ["measured"]

#: Characters of a text, and of a word that may be renamed.
LONGEST, LONG_WORD = 700, 6
CLIENTS = 10
#: Rounds of all words by one client, and by each of several.
ALONE, TOGETHER = 5, 3
RARE = ("quokkaflux", "獏", "鳳凰")
WORDS = (
    *("return", "self", "return import", "import", "config", "error", "test", "the file", "履歴"),
    *(
        "索",
        "データベース",
        '"def test"',
        "function",
        "class",
        "値",
        "write OR read",
        "fix the test",
    ),
    *("author:person file", "tool:bash error", "since:2026-01-01 index", "path", "value", "検索"),
    *("search index", "name -test", "data*", "line"),
)
COLUMNS = (
    "owner, number, id, native_id, family, grouping, source, nature, project, title, started_at,"
    " updated_at, upstream, changed, data"
)
_WORD = re.compile(f"[a-z]{{{LONG_WORD},}}")
Talk = tuple[Conversation, list[Doc]]


def measured(
    archive: Path, folder: Path, version: int, copies: int, people: int, count: int
) -> dict[str, Any]:
    with running(version, durable=True) as server, closing(open_archive(archive)) as laptop:
        team = Team(server.database(), folder / "server", create=True)
        with closing(team):
            shelves = Shelves(team, count)
            _accounts(team, people)
            built = _fill(team, shelves, list(_talks(laptop)), copies, people)
            with closing(Scopes(team, TeamHub(team), shelves)) as scopes:
                searched = _searched(team, scopes, people)
            return built | searched | _renewed(shelves)


def _accounts(team: Team, people: int) -> None:
    team.people.begin("p1", "everybody")
    for number in range(2, people + 1):
        team.people.add(f"p{number}", "everybody")


# ── filling ──


def _talks(laptop: Archive) -> Iterator[Talk]:
    for group in laptop.groups():
        strands = laptop.strands(group.family, group.conversation)
        for reading in interpret(group.conversation, strands):
            about = reading.conversation
            docs = docs_of(reading.messages(), about.updated_at)
            for doc in docs:
                doc.parts = [(where, text[:LONGEST]) for where, text in doc.parts[:1]]
            yield about, docs


def _fill(
    team: Team, shelves: Shelves, talks: Sequence[Talk], copies: int, people: int
) -> dict[str, Any]:
    """Conversations dealt out in turn; written owner by owner."""
    dealt: dict[int, list[tuple[int, int]]] = {}
    for place in range(copies * len(talks)):
        dealt.setdefault(place % people + 1, []).append(divmod(place, len(talks)))
    began, letters, messages = time.process_time(), 0, 0
    with psycopg.connect(team.store._connections._conninfo) as connection:
        for shelf in shelves.shelves:
            index = shelf.ensured()
            writer = ShelfWriter(index, shelf, shelves.rows)
            for owner in (owner for owner in dealt if shelves.of(owner) is shelf):
                given = [
                    (number, *_copied(talks[at], copy, number))
                    for number, (copy, at) in enumerate(dealt[owner], 1)
                ]
                _put_rows(connection, owner, [each[:2] for each in given])
                _write(writer, owner, given)
                messages += sum(len(docs) for *_, docs in given)
                letters += sum(len(t.encode()) for *_, ds in given for d in ds for _, t in d.parts)
            writer.commit()
            writer.close()
            index.close()
        connection.commit()
        connection.autocommit = True
        connection.execute("VACUUM ANALYZE")
    size = sum(f.stat().st_size for f in (team.folder).rglob("*") if f.is_file())
    words = sum(f.stat().st_size for f in (team.folder).rglob("words/*"))
    return {
        "people": people,
        "shelves": len(shelves.shelves),
        "conversations": copies * len(talks),
        "messages": messages,
        "text_mb": round(letters / 1e6, 1),
        "filling_cpu_s": round(time.process_time() - began, 1),
        "shelf_of_text": round(size / letters, 3),
        "words_of_text": round(words / letters, 3),
    }


def _copied(talk: Talk, copy: int, number: int) -> Talk:
    about, docs = talk
    id = f"{about.source}/{copy:02}-{number:04}-{about.native_id}"
    named = msgspec.structs.replace(about, id=id, native_id=id.partition("/")[2], links=[])
    return named, [
        Doc(doc.message, doc.at, doc.facts, [(w, _renamed(text, copy)) for w, text in doc.parts])
        for doc in docs
    ]


def _renamed(text: str, copy: int) -> str:
    """A quarter of the long words are others in each copy but the first."""
    return _WORD.sub(lambda found: _other(found[0], copy), text) if copy else text


@lru_cache(maxsize=200_000)
def _other(word: str, copy: int) -> str:
    chance = random.Random(f"{word} {copy}")
    return word[::-1] + "abcdefghijklmnopqrstuvwxyz"[copy % 26] if chance.random() < 0.25 else word


def _put_rows(
    connection: psycopg.Connection[Any], owner: int, given: Sequence[tuple[int, Conversation]]
) -> None:
    with connection.cursor() as cursor:
        with cursor.copy(f"COPY conversation ({COLUMNS}) FROM STDIN") as rows:
            for number, c in given:
                data = msgspec.json.encode(c).decode().replace("\\\\u0000", "")
                about = (c.source, c.native_id, c.source, c.nature, c.project, c.title)
                times = (c.started_at, c.updated_at, "present", number, data)
                rows.write_row((owner, number, c.id, c.native_id, *about, *times))
        with cursor.copy("COPY team_audience (person, family, grouping, team) FROM STDIN") as rows:
            for _, c in given:
                rows.write_row((owner, c.source, c.native_id, 1))
    connection.execute("INSERT INTO counter VALUES (%s, %s, %s)", (owner, len(given), len(given)))


def _write(
    writer: ShelfWriter, owner: int, given: Sequence[tuple[int, Conversation, list[Doc]]]
) -> None:
    headings = [
        Heading(
            c.id, c.source, c.native_id, c.source, c.nature, c.project, c.title, c.updated_at, n
        )
        for n, c, _ in given
    ]
    writer.turn_to(owner, headings, {(h.family, h.grouping): (1,) for h in headings})
    writer.begin([heading.id for heading in headings])
    for heading, (*_, docs) in zip(headings, given, strict=True):
        writer.put(digest_docs(heading, docs), heading)
    writer.note(f"{REACHED}{owner}", len(given))


# ── searching ──


def _searched(team: Team, scopes: Scopes, people: int) -> dict[str, Any]:
    chance = random.Random(7)
    readers = [_member(team, number) for number in chance.sample(range(1, people + 1), CLIENTS)]
    asked = [*RARE, *WORDS]
    own = [_asking(scopes, reader, Narrowed(person=reader.name)) for reader in readers]
    every = [_asking(scopes, reader, Narrowed()) for reader in readers]
    found = {word: every[0](word)[1] for word in asked}
    alone = [own[0](word)[0] for word in asked * ALONE]
    alone_all = [every[0](word)[0] for word in asked * ALONE]
    with ThreadPoolExecutor(CLIENTS) as threads:
        for ask in every:
            ask("quokkaflux")
        work = [(ask, chance.sample(asked * TOGETHER, len(asked) * TOGETHER)) for ask in every]
        together = list(threads.map(lambda each: [each[0](word)[0] for word in each[1]], work))
    slowest = sorted(zip(alone_all, asked * ALONE, strict=True), reverse=True)[:5]
    return {
        "found": found,
        "own_p50_ms": _milliseconds(alone, 0.5),
        "own_p95_ms": at_most(_milliseconds(alone, 0.95), 20),
        "all_p50_ms": _milliseconds(alone_all, 0.5),
        "all_p95_ms": _milliseconds(alone_all, 0.95),
        "all_slowest": [(word, round(seconds * 1000, 1)) for seconds, word in slowest],
        "all_by_10_p50_ms": _milliseconds([s for each in together for s in each], 0.5),
        "all_by_10_p95_ms": at_most(
            _milliseconds([s for each in together for s in each], 0.95), 50
        ),
        "memory_mb": at_most(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, 600),
    }


def _renewed(shelves: Shelves) -> dict[str, Any]:
    """A shelf without what went: how long its words stay in the files at most."""
    shelf = shelves.shelves[0]
    owners = [owner for owner in shelves.reached(shelf) if shelves.of(owner) is shelf]
    started = time.perf_counter()
    shelves.renew(shelf, owners)
    return {"renewed_s": at_most(round(time.perf_counter() - started, 1), 60)}


def _member(team: Team, number: int) -> Member:
    return Member(id=number, name=f"p{number}", device="", roles={"everybody": "member"})


def _asking(
    scopes: Scopes, reader: Member, narrowed: Narrowed
) -> Callable[[str], tuple[float, int]]:
    library = scopes.of(reader, narrowed).archive_reader.library

    def ask(words: str) -> tuple[float, int]:
        started = time.perf_counter()
        found = library.search(words)
        return time.perf_counter() - started, found.messages

    return ask


def _milliseconds(seconds: Sequence[float], share: float) -> float:
    return round(percentile(seconds, share) * 1000, 1)
