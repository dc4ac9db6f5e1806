"""Rows that are not what was written are found, whatever table they are in."""

from __future__ import annotations

import json
import re
import sqlite3
import zlib
from pathlib import Path

import apsw
import pytest

from rireki.archive.base import Archive, PersonFact
from rireki.archive.forgetting import forget
from rireki.archive.sqlite.sums import SUMMED
from rireki.intake.sweep import import_history
from rireki.intake.verify import verify
from rireki.sources.kit.places import Places
from tests.support.engine import sql_of
from tests.support.homes import lay_out

#: A column of each table that nothing else says.
CHANGES = {
    "meta": "value = value + 1",
    "origin": "stamp = 'x'",
    "strand": "cursor = replace(cursor, '1', '2')",
    "chunk": "digests = CAST(x'00' || substr(digests, 2) AS BLOB)",
    "state": "at = replace(at, '2026', '2027')",
    "trouble": "message = 'x' || substr(message, 2)",
    "change": "reached = reached + 1",
    "link": "call_id = 'another'",
    "succession": "at = '2027-01-01T00:00:00.000Z'",
    "forgotten": "together = 'another'",
    "stream": "reached = reached + 1",
    "removed": "number = number + 1",
    "fact": "value = 'another'",
}


@pytest.fixture
def full(archive: Archive, home: Path) -> Archive:
    """With a row in every table that has checksums."""
    lay_out("claude-code-2.0.76", home)
    lay_out("amazon-q-1.12", home)
    import_history(archive, places=Places.at(home))
    with archive.writing() as batch:
        sql_of(archive).execute(
            "INSERT INTO succession (family, child, parent, at) VALUES ('amazon-q', 'a', 'b', 'c')"
        )
        assert batch.number
    archive.stream("another archive", "laptop")
    forget(archive, [archive.find(next(c.id for c in archive.conversations()))])
    archive.add_facts(PersonFact("", "", "", "search", "mine", "is:starred"))
    assert verify(archive) == []
    return archive


@pytest.mark.parametrize("table", SUMMED)
def test_a_row_that_was_changed_is_found(full: Archive, table: str) -> None:
    other = apsw.Connection(full.address)
    first = f"SELECT rowid FROM {table} LIMIT 1" if table in ("origin", "strand", "chunk") else ""
    where = f"WHERE rowid = ({first})" if first else ""
    if table == "chunk":
        where = "WHERE id = (SELECT id FROM chunk WHERE digests <> x'' LIMIT 1)"
    other.execute(f"UPDATE {table} SET {CHANGES[table]} {where}")
    assert other.changes() >= 1
    other.close()
    troubles = verify(full)
    assert troubles and all("--salvage" in trouble.hint for trouble in troubles)
    assert f"a row of {table} is not what was written" in {t.message for t in troubles}


def test_a_trouble_names_the_conversation(full: Archive) -> None:
    other = apsw.Connection(full.address)
    other.execute("UPDATE state SET at = '2027' WHERE strand = 3")
    name = other.execute("SELECT family || '/' || conversation FROM strand WHERE id = 3").get
    other.close()
    assert [trouble.place for trouble in verify(full)] == [name]


def test_checksums_are_what_the_docs_say(full: Archive) -> None:
    docs = (Path(__file__).parents[2] / "docs" / "archive-format.md").read_text(encoding="utf-8")
    for table, columns in SUMMED.items():
        said = re.search(rf"^\| `{table}` \| (.+) \|$", docs, re.MULTILINE)
        assert said and tuple(re.findall(r"`(\w+)`", said[1])) == columns
    db = sqlite3.connect(full.address)
    for strand, number, at, runs, tail, noted in db.execute("SELECT * FROM state"):
        values = ["state", strand, number, at, runs, tail.hex().upper()]
        text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
        assert zlib.crc32(text.encode()) == noted
    db.close()
