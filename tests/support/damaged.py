"""Archives with damage of every kind, made from a seed; and every way to read one."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import sqlite3
import sys
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import apsw
from click.testing import CliRunner

from rireki.archive.open import open_archive
from rireki.archive.sqlite.recover import recover
from rireki.cli import main as face
from rireki.intake.interpret import read_conversation
from tests.sources.transcripts import Transcript, lay
from tests.support.homes import lay_out

KINDS = ("flip", "flip", "flips", "zero", "zero", "zero", "noise", "cut", "swap", "stretch")
PAGE = 4096
#: The lines that tell of damage.
TOLD = ("damaged:", "error:", "hint:")


class Twin(NamedTuple):
    """An archive that is whole, and what is in it."""

    folder: Path
    home: Path
    #: Messages of every conversation, as JSON.
    messages: dict[str, str]
    #: The pages that hold records of each conversation, and those that hold anything of it.
    records: dict[str, set[int]]
    facts: dict[str, set[int]]
    pages: int


class Ran(NamedTuple):
    out: str
    err: str
    #: The exit code; None when it ended in a traceback, which `err` is then.
    code: int | None


def run(*arguments: str) -> Ran:
    """A command as a person runs it."""
    with CliRunner(catch_exceptions=False).isolation() as (out, err, _):
        try:
            code: int | None = face.run(arguments)
            wrong = ""
        except Exception:  # noqa: BLE001 - that is what is counted
            code, wrong = None, traceback.format_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        return Ran(out.getvalue().decode(), err.getvalue().decode() + wrong, code)


def build(place: Path) -> Twin:
    """Histories of several agents, imported in steps, so that there are versions and free pages."""
    home = place / "home"
    home.mkdir(parents=True)
    folder = place / "whole"
    path = folder / "archive.sqlite3"
    lay_out("claude-code-2.0.76", home)
    lay_out("amazon-q-1.12", home)
    for number in range(25):
        talk = Transcript(f"{number:08d}-0000-4000-8000-00000000beef")
        talk.user(f"prompt {number} about the weather in {chr(0x6771 + number)}")
        talk.answer("It rains. " * (number * 7 % 50))
        lay(home, talk.bytes(), talk.session)
    for step in range(3):
        assert run("import", "--home", str(home), "--archive", str(path)).code == 0
        for file in sorted(home.rglob("*.jsonl"))[: 6 - step]:
            with file.open("ab") as out:
                out.write(json.dumps({"type": "summary", "summary": f"S{step}"}).encode() + b"\n")
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return _described(folder, home)


def _described(folder: Path, home: Path) -> Twin:
    path = folder / "archive.sqlite3"
    archive = open_archive(path)
    messages, groups = {}, {}
    for conversation in archive.conversations():
        found = archive.find(conversation.id)
        messages[conversation.id] = _messages(read_conversation(archive, found))
        groups[found.family, found.grouping] = conversation.id
    archive.close()
    recovered = recover(path)
    names = {
        row.values["id"]: groups.get((row.values["family"], row.values["conversation"]))
        for row in recovered.rows["strand"]
    }
    records: dict[str, set[int]] = {name: set() for name in messages}
    facts: dict[str, set[int]] = {name: set() for name in messages}
    origins = {row.values["id"]: row.page for row in recovered.rows["origin"]}
    for row in recovered.rows["strand"]:
        if name := names[row.values["id"]]:
            facts[name] |= {row.page, origins[row.values["origin"]]}
    for row in recovered.rows["state"]:
        if name := names[row.values["strand"]]:
            facts[name].add(row.page)
    for row in recovered.rows["chunk"]:
        if name := names[row.values["strand"]]:
            for cell in recovered.pages.cells(row.page):
                if cell.rowid == row.values["id"]:
                    records[name].update(cell.pages)
    count = recovered.pages.count
    recovered.close()
    return Twin(folder, home, messages, records, facts, count)


def _messages(reading: object) -> str:
    import msgspec

    return msgspec.json.encode(reading.messages()).decode()  # type: ignore[attr-defined]


class Damaged(NamedTuple):
    name: str
    path: Path
    #: The pages that are not what they were.
    pages: set[int]


def cases(twin: Twin, place: Path, seed: int, number: int) -> Iterator[Damaged]:
    """Damaged copies, one after the other in the same place, always the same for a seed."""
    for case in range(number):
        chance = random.Random(f"{seed}/{case}")
        kind = KINDS[case % len(KINDS)]
        folder = place / "damaged"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(twin.folder, folder)
        path = folder / "archive.sqlite3"
        whole = path.read_bytes()
        path.write_bytes(_damage(whole, kind, chance))
        yield Damaged(f"{seed}/{case} {kind}", path, _differing(whole, path.read_bytes()))


def _damage(whole: bytes, kind: str, chance: random.Random) -> bytes:
    data = bytearray(whole)
    pages = len(data) // PAGE
    if kind in ("flip", "flips"):
        for _ in range(1 if kind == "flip" else 20):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    elif kind == "cut":
        del data[chance.randrange(PAGE, len(data)) :]
    elif kind == "swap":
        one, other = (chance.randrange(1, pages) * PAGE for _ in range(2))
        first, second = data[one : one + PAGE], data[other : other + PAGE]
        data[one : one + PAGE], data[other : other + PAGE] = second, first
    else:
        at = chance.randrange(pages) * PAGE
        length = PAGE * (8 if kind == "stretch" else 1)
        filling = chance.randbytes(length) if kind == "noise" else bytes(length)
        data[at : at + length] = filling[: len(data) - at]
    return bytes(data)


#: A page of an index without entries.
EMPTY_INDEX = bytes([10, 0, 0, 0, 0, 16, 0, 0]).ljust(PAGE, b"\0")


#: And of a table without rows.
EMPTY_TABLE = bytes([13, 0, 0, 0, 0, 16, 0, 0]).ljust(PAGE, b"\0")


def pages_of(path: Path, name: str) -> list[int]:
    """The pages with the rows of a table or the entries of an index."""
    connection = apsw.Connection(str(path))
    found: Any = connection.execute(
        "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY 1", (name,)
    ).fetchall()
    connection.close()
    return [page for (page,) in found]


def wipe(path: Path, pages: Iterable[int], filling: bytes = bytes(PAGE)) -> None:
    data = bytearray(path.read_bytes())
    for page in pages:
        data[(page - 1) * PAGE : page * PAGE] = filling
    path.write_bytes(data)


def swap_tables(path: Path, one: str, other: str) -> None:
    """Each table's first page where the other's belongs."""
    connection = apsw.Connection(str(path))
    roots = dict(connection.execute("SELECT name, rootpage FROM sqlite_schema"))
    connection.close()
    data = path.read_bytes()
    first, second = (slice((roots[name] - 1) * PAGE, roots[name] * PAGE) for name in (one, other))
    swapped = bytearray(data)
    swapped[first], swapped[second] = data[second], data[first]
    path.write_bytes(swapped)


def spoil(path: Path, table: str, column: str, value: str) -> bool:
    """Put a value that the column cannot hold (in SQL) into the first row, as a damaged page may have
    it; False where SQLite has no room for it at all."""
    connection = sqlite3.connect(path)
    (written,) = connection.execute(
        "SELECT sql FROM sqlite_schema WHERE name = ?", (table,)
    ).fetchone()
    # Without kinds: SQLite would make a number that goes into a column of texts a text.
    lax = re.sub(r"STRICT, |(?<=\)) STRICT|NOT NULL|TEXT|BLOB|INTEGER(?! PRIMARY KEY)", "", written)
    keys = [row[1] for row in connection.execute(f"PRAGMA table_info({table})") if row[5]]
    names = ", ".join(keys) or "rowid"
    _declare(connection, table, lax)
    connection = sqlite3.connect(path)
    try:
        connection.execute(
            f"UPDATE {table} SET {column} = {value}"
            f" WHERE ({names}) = (SELECT {names} FROM {table} LIMIT 1)"
        )
    except sqlite3.IntegrityError:
        return False
    connection.commit()
    _declare(connection, table, written)
    return True


def _declare(connection: sqlite3.Connection, table: str, statement: str) -> None:
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (statement, table))
    connection.commit()
    connection.close()


#: Of every kind, and below zero, and no text at all.
VALUES = ("7", "-7", "1.5", "'text'", "x'01b6'", "CAST(x'41b6' AS TEXT)", "NULL")
_NOTE = ("meta", "key", "'text'")


def spoiled(twin: Twin, place: Path, number: int | None) -> Iterator[Damaged]:
    """Copies that hold a value of another kind: every column with every value, or some of them."""
    connection = sqlite3.connect(twin.folder / "archive.sqlite3")
    tables = connection.execute(
        """SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c
            WHERE t.type = 'table' ORDER BY 1, 2"""
    ).fetchall()
    connection.close()
    # A note may have any value, and there may be a note of any name.
    every = [(*column, value) for column in tables for value in VALUES]
    every = [each for each in every if each[:2] != ("meta", "value") and each != _NOTE]
    chosen = every if number is None else random.Random(campaign_seed()).sample(every, number)
    for table, column, value in chosen:
        folder = place / "damaged"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(twin.folder, folder)
        path = folder / "archive.sqlite3"
        if spoil(path, table, column, value):
            yield Damaged(f"{table}.{column} = {value}", path, set())


def _differing(whole: bytes, damaged: bytes) -> set[int]:
    starts = range(0, len(whole), PAGE)
    return {at // PAGE + 1 for at in starts if whole[at : at + PAGE] != damaged[at : at + PAGE]}


def reading_commands(twin: Twin, damaged: Damaged, chance: random.Random) -> list[list[str]]:
    """Every command that reads an archive, on some of its conversations."""
    some = chance.sample(sorted(twin.messages), 2)
    back = damaged.path.parent / "back"
    commands = [
        ["verify"],
        ["verify", "--json"],
        ["list"],
        ["list", "--json"],
        ["search", "the"],
        ["search", "テスト"],
        ["path", "/home/u/dev/simple"],
        ["latest", "/home/u/dev/simple"],
        ["stats"],
        ["sources", "--home", str(twin.home)],
    ]
    for id in some:
        commands += [
            ["show", id, "--full"],
            ["show", id, "--raw", "--all"],
            ["show", id, "--format", "markdown"],
            ["show", id, "--format", "html"],
            ["show", id, "--json"],
            ["explain", id],
            ["resume", id],
            ["restore", id, "--to", str(back / id.replace("/", "-"))],
        ]
    # Last: where it meets no damage it writes.
    commands.append(["import", "--home", str(twin.home)])
    return [[*command, "--archive", str(damaged.path)] for command in commands]


def read_in_every_way(twin: Twin, damaged: Damaged, chance: random.Random) -> list[str]:
    """Tracebacks and other breaches of promise; empty when all is well."""
    wrong = []
    before = damaged.path.read_bytes()
    # Records that are damaged cost themselves alone: a search may still make an index, and notes there which.
    notes = set(pages_of(twin.folder / "archive.sqlite3", "meta"))
    for command in reading_commands(twin, damaged, chance):
        if command[0] == "import" and _differing(before, damaged.path.read_bytes()) - notes:
            wrong.append(f"{damaged.name}: the damaged file was written")
        shown = run(*command)
        if shown.code is None or "Traceback" in shown.err:
            wrong.append(f"{damaged.name}: {' '.join(command[:3])}\n{shown.err}")
        elif "mistake in rireki" in shown.out + shown.err:
            wrong.append(
                f"{damaged.name}: {' '.join(command[:3])}: blames itself\n{shown.out[-2000:]}"
            )
        elif sum(line.startswith(TOLD) for line in shown.err.splitlines()) > (
            4 if command[0] == "resume" else 2
        ):
            wrong.append(
                f"{damaged.name}: {' '.join(command[:3])}: more than two lines\n{shown.err}"
            )
    return wrong


def salvage(twin: Twin, damaged: Damaged) -> list[str]:
    """Save what can be read, and hold it against the twin."""
    new = damaged.path.parent / "saved" / "archive.sqlite3"
    before = damaged.path.read_bytes()
    done = run("verify", "--salvage", str(new), "--archive", str(damaged.path))
    if done.code is None:
        return [f"{damaged.name}: salvage\n{done.err}"]
    wrong = []
    if damaged.path.read_bytes() != before:
        wrong.append("salvage wrote the old file")
    if not new.exists():
        needed = [pages | twin.facts[id] for id, pages in twin.records.items() if pages]
        whole = any(not pages & damaged.pages for pages in needed)
        return [f"{damaged.name}: nothing saved: {done.err}"] if whole else []
    checked = run("verify", "--archive", str(new))
    if checked.code != 0:
        wrong.append(f"the saved archive is not sound\n{checked.out}")
    archive = open_archive(new)
    for id, messages in twin.messages.items():
        # Of one damaged page, indexes tell what stood there; of several, not always.
        spoiled = twin.records[id] if len(damaged.pages) == 1 else twin.records[id] | twin.facts[id]
        if spoiled & damaged.pages:
            continue
        if id not in {each.id for each in archive.headings()}:
            wrong.append(f"{id} is not saved, though none of its records was damaged")
        elif not twin.facts[id] & damaged.pages:
            read = _messages(read_conversation(archive, archive.find(id)))
            if read != messages:
                wrong.append(f"{id} is not what it was")
    archive.close()
    again = run("import", "--home", str(twin.home), "--archive", str(new))
    if again.code != 0:
        wrong.append(f"import does not go on: {again.err}")
    archive = open_archive(new)
    lacking = twin.messages.keys() - {each.id for each in archive.headings()}
    archive.close()
    if lacking:
        wrong.append(f"an import does not bring back {sorted(lacking)}")
    checked = run("verify", "--archive", str(new))
    if checked.code != 0:
        wrong.append(f"after an import it is not sound\n{checked.out}")
    return [f"{damaged.name}: {line}" for line in wrong]


def campaign_seed() -> int:
    return int(os.environ.get("RIREKI_SEED", "16"))


def visit(twin: Twin, damaged: Damaged, chance: random.Random) -> list[str]:
    """Every kind of page and answer of the web app that failed."""
    from tests.web.conftest import client_of, serving

    some = [quote(id) for id in chance.sample(sorted(twin.messages), 2)]
    places = [
        *("/", "/?lang=ja", "/search?q=the", "/stats", "/sources", "/help"),
        *("/api/v1/health", "/api/v1/conversations", "/api/v1/search?q=rain", "/api/v1/stats"),
        *(f"/c/{id}" for id in some),
        *(f"/c/{id}/versions" for id in some),
        *(f"/c/{id}/explain" for id in some),
        *(f"/c/{id}/raw" for id in some),
        *(f"/api/v1/conversations/{id}" for id in some),
        *(f"/api/v1/conversations/{id}/messages" for id in some),
    ]
    wrong = []
    with serving(damaged.path, twin.home) as server, client_of(server) as client:
        for place in places:
            answer = client.get(place)
            if answer.status_code == 500 or "Traceback" in answer.text:
                wrong.append(f"{damaged.name}: {place}: {answer.status_code} {answer.text[:300]}")
    return wrong
