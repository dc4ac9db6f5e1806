"""`rireki.open`: what a program does with an archive, alone, in threads, while it is written, and damaged."""

from __future__ import annotations

import inspect
import json
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

import rireki
from rireki import library as module
from rireki.archive.base import Filter
from rireki.archive.open import open_archive
from rireki.errors import Ambiguous, ArchiveTrouble, NotFound, RirekiError
from rireki.intake.sweep import import_history
from rireki.library import Library
from rireki.model.parts import Attachment
from rireki.search.language.query import QueryError
from rireki.sources.kit.places import Places
from tests.sources.transcripts import Transcript, lay
from tests.support.damaged import PAGE, run
from tests.support.engine import sql_of
from tests.support.homes import lay_out

ROOT = Path(__file__).parents[1]


@pytest.fixture
def path(tmp_path: Path, home: Path) -> Path:
    """An archive with what two agents left on a machine."""
    lay_out("claude-code-2.0.76", home)
    lay_out("amazon-q-1.12", home)
    place = tmp_path / "kept" / "archive.sqlite3"
    take_in(place, home)
    return place


@pytest.fixture
def kept(path: Path) -> Iterator[Library]:
    with rireki.open(path) as library:
        yield library


def take_in(place: Path, home: Path) -> None:
    archive = open_archive(place, create=True)
    import_history(archive, places=Places.at(home))
    archive.close()


def told(*arguments: str) -> str:
    ran = run(*arguments)
    assert ran.code == 0, ran.err
    return ran.out


def as_json(value: object) -> Any:
    return json.loads(msgspec.json.encode(value))


def two_lines(error: pytest.ExceptionInfo[RirekiError]) -> RirekiError:
    value = error.value
    assert value.message and value.hint
    assert "\n" not in value.message + value.hint
    return value


# ── the verbs give what the commands print ──


def test_it_lists_what_the_command_lists(kept: Library, path: Path) -> None:
    listed = [as_json(each) for each in kept.conversations(subagents=True)]
    printed = told("list", "--json", "--archive", str(path)).splitlines()
    assert listed == [json.loads(line) for line in printed]
    assert {each["source"] for each in listed} == {"amazon-q", "claude-code"}


def test_a_list_is_narrowed(kept: Library) -> None:
    every = list(kept.conversations())
    assert [c.id for c in kept.conversations(source="amazon-q")] == [
        c.id for c in every if c.source == "amazon-q"
    ]
    project = next(c.project for c in every if c.project)
    assert {c.project for c in kept.conversations(project=Path(project), below=False)} == {project}
    middle = every[len(every) // 2].updated_at or ""
    moment = datetime.fromisoformat(middle)
    later = list(kept.conversations(since=moment))
    earlier = list(kept.conversations(before=moment))
    assert [c.id for c in [*later, *earlier]] == [c.id for c in every]
    assert all((c.updated_at or "") >= middle for c in later)
    assert list(kept.conversations(since=middle)) == later
    assert list(kept.conversations(limit=0)) == []


def test_a_list_goes_on_behind_its_last(kept: Library) -> None:
    every = [c.id for c in kept.conversations(subagents=True)]
    seen: list[str] = []
    last = None
    while page := list(kept.conversations(subagents=True, limit=3, after=last)):
        seen += [c.id for c in page]
        last = page[-1]
    assert seen == every


def test_a_long_list_is_fetched_a_page_at_a_time(
    kept: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = list(kept.conversations(subagents=True))
    monkeypatch.setattr(module, "PAGE", 2)
    fetched: list[int | None] = []
    page = Library._page

    def counted(library: Library, wanted: Filter) -> list[rireki.Conversation]:
        fetched.append(wanted.limit)
        return page(library, wanted)

    monkeypatch.setattr(Library, "_page", counted)
    assert list(kept.conversations(subagents=True)) == every
    assert len(fetched) == len(every) // 2 + 1
    del fetched[:]
    assert list(kept.conversations(subagents=True, limit=3)) == every[:3]
    assert fetched == [2, 1]
    assert next(kept.conversations()) and len(fetched) == 3


@pytest.mark.parametrize("everything", [False, True])
def test_it_reads_what_the_command_shows(kept: Library, path: Path, everything: bool) -> None:
    for conversation in kept.conversations(subagents=True):
        read = kept.read(conversation.id, everything=everything)
        more = ["--all"] if everything else []
        printed = json.loads(told("show", conversation.id, "--json", *more, "--archive", str(path)))
        assert as_json(read.conversation) == printed["conversation"]
        assert as_json(read.messages) == printed["messages"]


def test_sub_agents_come_with_their_messages_if_asked(home: Path, tmp_path: Path) -> None:
    lay_out("claude-code-2.1.197", home)
    place = tmp_path / "archive.sqlite3"
    take_in(place, home)
    with rireki.open(place) as library:
        parent = next(
            c for c in library.conversations() if any(link.side == "child" for link in c.links)
        )
        briefly = library.read(parent.id).children
        nested = library.read(parent.id, nested=True).children
    assert [child.conversation.id for child in briefly] == [c.conversation.id for c in nested]
    assert not any(child.messages for child in briefly)
    assert all(child.messages for child in nested)


def test_it_reads_what_was_held_at_a_time(kept: Library, home: Path, path: Path) -> None:
    conversation = next(kept.conversations(source="claude-code"))
    before = kept.read(conversation.id)
    then = datetime.now(timezone.utc)
    (file,) = home.rglob(f"{conversation.native_id}.jsonl")
    line = {**json.loads(file.read_bytes().splitlines()[0]), "uuid": "new", "type": "user"}
    line["message"] = {"role": "user", "content": "and one thing more"}
    line["timestamp"] = "2027-01-01T00:00:00.000Z"
    with file.open("ab") as out:
        out.write(json.dumps(line).encode() + b"\n")
    take_in(path, home)
    assert len(kept.read(conversation.id).messages) == len(before.messages) + 1
    assert kept.read(conversation.id, then).messages == before.messages
    with pytest.raises(NotFound) as error:
        kept.read(conversation.id, "1999-01-01")
    two_lines(error)


def test_a_beginning_of_an_id_will_do(kept: Library) -> None:
    conversation = next(kept.conversations(source="claude-code"))
    assert kept.find(conversation.native_id[:8]) == kept.find(conversation.id) == conversation


def test_an_attachment_is_given_by_its_digest(home: Path, tmp_path: Path) -> None:
    lay_out("claude-code-2.1.197", home)
    place = tmp_path / "archive.sqlite3"
    take_in(place, home)
    with rireki.open(place) as library:
        given = [
            library.attachment(conversation.id, part.digest)
            for conversation in library.conversations()
            for message in library.read(conversation.id).messages
            for part in message.parts
            if isinstance(part, Attachment) and part.media_type == "image/png"
        ]
        assert given and all(data and data.startswith(b"\x89PNG") for data in given)
        assert library.attachment(next(library.conversations()).id, "0" * 64) is None


def test_it_finds_what_the_command_finds(kept: Library, path: Path) -> None:
    found = kept.search("test", limit=3, hits=1)
    printed = json.loads(
        told("search", "test", "--limit", "3", "--hits", "1", "--json", "--archive", str(path))
    )
    again = as_json(found)
    assert found.talks
    for each in (again, printed):
        each.pop("milliseconds")
    assert again == printed


def test_it_tells_what_changed_after_a_number(kept: Library, home: Path, path: Path) -> None:
    everything = kept.changes(0)
    assert {change.conversation for change in everything.changes} == {
        c.id for c in kept.conversations(subagents=True)
    }
    assert everything.number == kept.number()
    assert kept.changes(everything.number).changes == []
    talk = Transcript("00000000-0000-4000-8000-00000000beef")
    talk.user("what is the weather like in Tsukuba")
    lay(home, talk.bytes(), talk.session)
    take_in(path, home)
    news = kept.changes(everything.number)
    (change,) = news.changes
    assert change.kind == "new"
    read = kept.read(change.conversation)
    assert [message.id for message in read.messages] == change.messages
    with pytest.raises(RirekiError, match="not yet at") as error:
        kept.changes(news.number + 1)
    two_lines(error)


def test_it_restores_byte_for_byte(kept: Library, home: Path, tmp_path: Path) -> None:
    conversation = next(kept.conversations(source="claude-code"))
    files = kept.restore(conversation.native_id[:8], tmp_path / "back")
    (original,) = home.rglob(f"{conversation.native_id}.jsonl")
    assert original.read_bytes() in [file.read_bytes() for file in files]
    # Nothing is written twice.
    assert kept.restore(conversation.id, str(tmp_path / "back")) == files


# ── what is public ──


def page() -> str:
    return (ROOT / "docs" / "python.md").read_text("utf-8")


def test_every_example_of_python_md_runs(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RIREKI_ARCHIVE", str(path))
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for number, example in enumerate(re.findall(r"```python\n(.*?)```", page(), re.DOTALL), 1):
        exec(compile(example, f"python.md, example {number}", "exec"), names)
        assert capsys.readouterr().out or "print" not in example or "news" in example
    assert all(file.is_file() for file in names["files"])
    assert len(names["second"]) == 3 and names["transcript"].messages and names["found"].talks


def test_what_is_public_is_what_the_page_names() -> None:
    named = re.findall(r"^\| `rireki\.(\w+)` \|", page(), re.MULTILINE)
    assert sorted(named) == sorted(rireki.__all__)
    for name in named:
        assert getattr(rireki, name) is not None
        assert name in dir(rireki)
    assert rireki.open is module.open


def test_the_verbs_of_a_library_are_those_the_page_names() -> None:
    (row,) = re.findall(r"^\| `rireki.Library` \| (.*) \|$", page(), re.MULTILINE)
    named = set(re.findall(r"`(\w+)`", row)) - {"damage"}
    verbs = {name for name in vars(Library) if not name.startswith("_")}
    # For the commands and the web app, which also need verbs of the archive.
    assert verbs - {"ask", "archive"} == named
    parameters = set(inspect.signature(Library.conversations).parameters) - {"self"}
    table = re.findall(r"^\| (`.*?`) \|", page().partition("## Read")[0], re.MULTILINE)
    assert {name for cell in table for name in re.findall(r"`(\w+)`", cell)} == parameters


# ── errors ──


def test_the_users_own_archive_is_opened_without_a_path(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RIREKI_ARCHIVE", str(path))
    with rireki.open() as library:
        assert next(library.conversations())


def test_an_archive_that_is_not_there_is_said_at_once_and_not_made(tmp_path: Path) -> None:
    place = tmp_path / "none" / "archive.sqlite3"
    with pytest.raises(NotFound) as error:
        rireki.open(place)
    assert str(place) in two_lines(error).message
    assert not place.parent.exists()


def test_what_is_no_archive_is_said_at_once(tmp_path: Path) -> None:
    place = tmp_path / "archive.sqlite3"
    place.write_text("This is a shopping list.\n" * 200)
    with pytest.raises(ArchiveTrouble) as error:
        rireki.open(place)
    two_lines(error)


@pytest.mark.parametrize(
    ("kind", "mistake"),
    [
        (NotFound, lambda kept, to: kept.read("nobody")),
        (NotFound, lambda kept, to: kept.find("nobody")),
        (NotFound, lambda kept, to: kept.restore("nobody", to)),
        (NotFound, lambda kept, to: kept.attachment("nobody", "0")),
        (NotFound, lambda kept, to: kept.conversations(source="clade-code")),
        (Ambiguous, lambda kept, to: kept.read("claude-code/")),
        (QueryError, lambda kept, to: kept.search("/(/")),
        (RirekiError, lambda kept, to: kept.conversations(since="the other day")),
        (RirekiError, lambda kept, to: kept.conversations(limit=-1)),
        (RirekiError, lambda kept, to: kept.search("test", limit=0)),
        (RirekiError, lambda kept, to: kept.search("test", offset=-1)),
        (RirekiError, lambda kept, to: kept.restore(next(kept.conversations()).id, to)),
    ],
)
def test_a_mistake_is_an_error_of_two_lines(
    kept: Library,
    tmp_path: Path,
    kind: type[RirekiError],
    mistake: Callable[[Library, Path], object],
) -> None:
    file = tmp_path / "file"
    file.write_text("in the way")
    with pytest.raises(kind) as error:
        mistake(kept, file / "below")
    two_lines(error)


def test_a_misspelt_source_is_not_an_empty_one(kept: Library) -> None:
    with pytest.raises(NotFound, match="clade-code") as error:
        kept.conversations(source="clade-code")
    assert error.value.hint.startswith("Did you mean claude-code?")


def test_a_closed_one_says_so(path: Path) -> None:
    library = rireki.open(path)
    library.search("test")
    library.close()
    library.close()
    for verb in (library.number, partial(library.search, "test"), partial(library.find, "x")):
        with pytest.raises(RirekiError, match="was closed") as error:
            verb()
        two_lines(error)


# ── threads, and others who write ──


def test_threads_share_one(kept: Library) -> None:
    ids = [c.id for c in kept.conversations(subagents=True)]
    alone = {id: kept.read(id).messages for id in ids}
    found = msgspec.structs.replace(kept.search("test"), milliseconds=0)
    together = threading.Barrier(2)

    def everything(turn: int) -> None:
        together.wait()
        for id in ids if turn else reversed(ids):
            assert kept.read(id).messages == alone[id]
            assert [c.id for c in kept.conversations(subagents=True)] == ids
            assert msgspec.structs.replace(kept.search("test"), milliseconds=0) == found

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(everything, range(2)))
    assert len(kept._idle) <= 2


def test_no_connection_is_used_by_two_threads_at_once(kept: Library) -> None:
    inside = threading.Barrier(3)

    def hold() -> int:
        with kept.archive() as archive:
            inside.wait()
            return id(archive)

    with ThreadPoolExecutor(3) as pool:
        held = [work.result() for work in [pool.submit(hold) for _ in range(3)]]
    assert len(set(held)) == 3
    # They are kept for the next verbs, whatever thread those come from.
    with kept.archive() as archive:
        assert id(archive) in held


def test_many_verbs_at_once_leave_few_connections_open(kept: Library) -> None:
    many = module.IDLE + 4
    inside = threading.Barrier(many)

    def hold(_: int) -> None:
        with kept.archive():
            inside.wait()

    with ThreadPoolExecutor(many) as pool:
        list(pool.map(hold, range(many)))
    assert len(kept._idle) == module.IDLE


def test_closing_waits_for_nobody_and_leaves_nothing_open(path: Path) -> None:
    library = rireki.open(path)
    with library.archive() as archive:
        library.close()
        # Whoever is at it may finish.
        assert archive.count()
    assert library._idle == []
    with pytest.raises(Exception, match="closed"):
        archive.count()


def test_it_reads_while_an_import_writes(kept: Library, home: Path, path: Path) -> None:
    before = {c.id for c in kept.conversations(subagents=True)}
    done = threading.Event()

    def write() -> None:
        try:
            for number in range(12):
                talk = Transcript(f"{number:08d}-0000-4000-8000-00000000beef")
                talk.user(f"prompt {number} about snow in Sapporo")
                talk.answer("It snows. " * 40)
                lay(home, talk.bytes(), talk.session)
                take_in(path, home)
        finally:
            done.set()

    number, seen = kept.number(), set()
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        while True:
            last = done.is_set()
            news = kept.changes(number)
            for change in news.changes:
                read = kept.read(change.conversation)
                assert read.messages and read.conversation.title
                seen.add(change.conversation)
            number = news.number
            listed = {c.id for c in kept.conversations(subagents=True)}
            assert before <= listed
            if last:
                break
        writing.result()
    assert seen == {c.id for c in kept.conversations(subagents=True)} - before
    assert len(seen) == 12
    assert kept.search("Sapporo", limit=20).conversations == 12


# ── damage ──


def test_a_damaged_archive_gives_what_can_be_read(
    kept: Library, path: Path, tmp_path: Path
) -> None:
    whole = {c.id: kept.read(c.id).messages for c in kept.conversations(subagents=True)}
    kept.close()
    clean = open_archive(path)
    sql = sql_of(clean)
    sql.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    root = sql.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'conversation'").get
    clean.close()
    broken = tmp_path / "broken" / path.name
    shutil.copytree(path.parent, broken.parent)
    data = bytearray(broken.read_bytes())
    data[(root - 1) * PAGE : root * PAGE] = bytes(PAGE)
    broken.write_bytes(data)
    with rireki.open(broken) as library:
        for conversation in library.conversations(subagents=True):
            assert library.read(conversation.id).messages == whole[conversation.id]
        assert library.damage
        with pytest.raises(NotFound) as error:
            library.read("nobody")
        # What is not found may be what cannot be read.
        assert two_lines(error).hint == module.DAMAGED.message
        library.search("test")
    assert broken.read_bytes() == data


def test_a_file_that_is_damaged_all_over_is_an_error_of_two_lines(path: Path) -> None:
    size = path.stat().st_size
    path.write_bytes(path.read_bytes()[:100] + bytes(size - 100))
    for log in path.parent.glob(f"{path.name}-*"):
        log.unlink()
    with pytest.raises(RirekiError) as error, rireki.open(path) as library:
        list(library.conversations())
    two_lines(error)
