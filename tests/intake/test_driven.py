"""An agent that was driven from here: its journal and its own transcript are one conversation."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable, Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rireki.archive.base import Archive, Filter
from rireki.archive.forgetting import remember
from rireki.archive.open import open_archive
from rireki.errors import NotFound
from rireki.intake import sweep
from rireki.intake.forget import forget
from rireki.intake.interpret import read_at, read_conversation
from rireki.intake.known_origins import KnownOrigins
from rireki.intake.rebuild import rebuild
from rireki.intake.restore import restore
from rireki.intake.sweep import Report, import_history, take_some
from rireki.intake.verify import verify
from rireki.live.feed import Feed, Touched
from rireki.model.message import Message
from rireki.model.parts import Attachment
from rireki.search.index.update import catch_up
from rireki.search.results import SearchOptions
from rireki.search.search import Search
from rireki.sources import registry
from rireki.sources.bridge.reader import READER
from rireki.sources.kit.places import Places
from tests.conftest import Clock
from tests.sources.transcripts import SESSION, Transcript, lay
from tests.support.driven import Journal, time
from tests.support.dump import dump
from tests.support.engine import sql_of
from tests.support.homes import lay_out
from tests.support.q_rows import Client, said, talk

TakeIn = Callable[[], Report]
DRIVEN, OWN = "bridge/drive-1", f"claude-code/{SESSION}"
PICTURE = b"\x89PNG of a button"


def story(archive: Archive, id: str, as_of: str | None = None) -> list[Message]:
    return read_conversation(archive, archive.find(id), as_of).messages()


def ids(archive: Archive, id: str, as_of: str | None = None) -> list[str]:
    return [message.id for message in story(archive, id, as_of)]


def everything(archive: Archive) -> dict[str, list[Any]]:
    """Each conversation with all of its messages."""
    found = {}
    for about in archive.conversations(Filter(subagents=True)):
        reading = read_conversation(archive, archive.find(about.id))
        found[about.id] = [msgspec.to_builtins(x) for x in (about, reading.messages())]
    return found


@pytest.fixture
def journal(home: Path) -> Journal:
    return Journal(home)


def ask(journal: Journal) -> None:
    options = [{"id": "y", "name": "Allow", "kind": "allow_once"}]
    journal.write("ask", id="ask-1", what="permission", title="ls", call="t1", options=options)
    journal.write("answer", id="ask-1", outcome="selected", option="y", by="web")


def drive(journal: Journal) -> Iterator[None]:
    """A whole drive, a piece at a time."""
    image = {"media_type": "image/png", "data": base64.b64encode(PICTURE).decode(), "name": "b"}
    journal.start()
    journal.send("p1", "What is here?", images=[image])
    yield
    journal.write("session", source="claude-code", id=SESSION)
    yield
    journal.say("b1", "I look.")
    journal.write("call", call="t1", name="Bash", arguments={"command": "ls"})
    ask(journal)
    yield
    journal.write("result", call="t1", status="ok", output="a.py")
    journal.say("b2", "One file.")
    journal.end("p1")
    yield
    journal.send("p2", "Remove it.")
    journal.say("b3", "Removing")
    journal.end("p2", "interrupted")
    journal.send("p3", "next", given=False)
    yield


def transcript(home: Path) -> Iterator[None]:
    """What Claude Code writes meanwhile."""
    written = Transcript()

    def add() -> None:
        lay(home, written.bytes())

    written.user("What is here?", timestamp=time(2.1))
    add()
    yield
    written.answer("I look.", id="m1", timestamp=time(5))
    written.call("t1", input={"command": "ls"}, id="m1", timestamp=time(6))
    add()
    yield
    written.result("t1", "a.py", timestamp=time(9))
    written.answer("One file.", id="m2", timestamp=time(10))
    add()
    yield
    written.user("Remove it.", timestamp=time(14))
    add()
    yield


def finish(*steps: Iterator[None]) -> None:
    for some in steps:
        for _ in some:
            pass


def calm(home: Path, folder: Path) -> Archive:
    """An archive that takes everything in at once."""
    archive = open_archive(folder / "calm.sqlite3", create=True, clock=Clock())
    import_history(archive, places=Places.at(home))
    return archive


# ── one conversation ──


def test_both_are_one_conversation_with_everything_once(
    archive: Archive, home: Path, journal: Journal, take_in: TakeIn
) -> None:
    finish(drive(journal), transcript(home))
    take_in()
    (about,) = archive.conversations()
    told = story(archive, about.id)
    assert [(m.id[-4:] if m.author == "agent" else m.author, m.label) for m in told][:3] == [
        ("person", None),
        ("0000", None),
        ("person", "You allowed once: ls"),
    ]
    assert [m.id for m in told[-4:]][1:3] == ["b3", f"n{_number(journal, 'turn_end')}"]
    assert (told[-3].label, told[-2].label, told[-1].label) == (
        "only here",
        "interrupted",
        "queued",
    )
    assert (about.id, about.source, about.held_by) == (OWN, "claude-code", ["claude-code"])
    assert (about.turns, about.messages, about.finished) == (2, len(told), False)
    assert (about.tool_calls, about.tool_results, about.calls_without_result) == (1, 1, 0)
    assert about.title == "What is here?" and about.project == "/home/dev/app"
    # Tokens are counted where the agent counted them.
    assert [a.key for _, found in archive.answers() for a in found] == ["m1", "m2"]
    assert (
        registry.reader(about.source).resume(about)
        == f"cd /home/dev/app && claude --resume {SESSION}"
    )


def _number(journal: Journal, kind: str) -> int:
    lines = [msgspec.json.decode(line) for line in journal.file.read_bytes().splitlines()]
    numbers: list[int] = [line["n"] for line in lines if line["kind"] == kind]
    return numbers[-1]


@pytest.mark.parametrize("seed", range(12))
def test_in_whatever_order_they_arrive_they_are_the_same(
    seed: int, archive: Archive, home: Path, journal: Journal, tmp_path: Path
) -> None:
    chance = random.Random(seed)
    going = [drive(journal), transcript(home)]
    if seed < 2:
        # One of them wholly before the other.
        finish(going.pop(seed))
        import_history(archive, places=Places.at(home))
    while going:
        one = chance.choice(going)
        if next(one, "end") == "end":
            going.remove(one)
        elif chance.random() < 0.8:
            import_history(archive, places=Places.at(home))
            assert archive.count() >= 1 and verify(archive) == []
    import_history(archive, places=Places.at(home))
    with closing(calm(home, tmp_path)) as other:
        assert everything(archive) == everything(other)
        assert dump(archive) == dump(other)
    assert {each.id for each in archive.headings()} == {OWN} and verify(archive) == []
    before = everything(archive)
    rebuild(archive)
    assert everything(archive) == before and verify(archive) == []


def test_it_has_the_agents_name_before_the_agent_left_anything(
    archive: Archive, journal: Journal, take_in: TakeIn
) -> None:
    finish(drive(journal))
    take_in()
    (about,) = archive.conversations()
    assert (about.id, about.source, about.held_by) == (OWN, "claude-code", [])
    assert archive.find(OWN).conversation == archive.find(DRIVEN).conversation == about
    assert "p1" in ids(archive, OWN)


def test_many_fresh_files_at_once_are_joined_as_well(
    archive: Archive, home: Path, journal: Journal, tmp_path: Path
) -> None:
    finish(drive(journal), transcript(home))
    for number in range(5):
        other = Journal(home, f"other-{number}")
        other.start(None)
        other.send("p", f"number {number}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweep, "BULK", 0)
        import_history(archive, places=Places.at(home))
    with closing(calm(home, tmp_path)) as singly:
        assert everything(archive) == everything(singly)
    assert archive.count() == 6 and verify(archive) == []


def test_a_conversation_that_is_continued_twice_is_still_one(
    archive: Archive, home: Path, take_in: TakeIn
) -> None:
    finish(transcript(home))
    take_in()
    old = ids(archive, OWN)
    for number in (1, 2):
        journal = Journal(home, f"again-{number}", seconds=1000 * number)
        journal.start(continues=SESSION)
        journal.send(f"q{number}", "What is here?")
    take_in()
    assert ids(archive, OWN) == [*old, "q1", "q2"]
    assert archive.find("bridge/again-2").conversation.id == OWN
    assert [m.turn for m in story(archive, OWN)][-2:] == [3, 4]


def test_the_rows_of_amazon_q_take_the_place_of_what_its_terminal_showed(
    archive: Archive, home: Path, journal: Journal, take_in: TakeIn
) -> None:
    client = Client(home)
    journal.start("amazon-q")
    journal.send("p1", "hello")
    journal.say("b1", "> Hel\x1b[0mlo!", provisional=True)
    take_in()
    assert ids(archive, DRIVEN) == ["p1", "b1"]
    # The row is there before the journal knows its name.
    client.save(talk("q-1", said("m1", "hello", "Hello!")), "/home/dev/app")
    take_in()
    assert {each.id for each in archive.headings()} == {DRIVEN, "amazon-q/q-1"}
    start = archive.number()
    journal.write("session", source="amazon-q", id="q-1")
    journal.end("p1")
    take_in()
    assert {each.id for each in archive.headings()} == {"amazon-q/q-1"}
    row = ids(archive, "amazon-q/q-1")
    assert len(row) == 2 and not {"p1", "b1"} & set(row)
    assert {t.conversation: t.kind for t in Feed(archive).since(start).changes} == {
        DRIVEN: "removed",
        "amazon-q/q-1": "changed",
    }
    (sighting,) = archive.sightings("/home/dev/app")
    assert sighting.current
    # Another chat took the directory: this one is no longer what the agent goes on with.
    client.save(talk("q-2", said("m2", "other", "Other!")), "/home/dev/app")
    take_in()
    assert {s.conversation.native_id: s.current for s in archive.sightings("/home/dev/app")} == {
        "q-1": False,
        "q-2": True,
    }


# ── names ──


def test_the_first_address_stays_valid(
    archive: Archive, home: Path, journal: Journal, take_in: TakeIn
) -> None:
    steps = [drive(journal), transcript(home)]
    next(steps[0])
    take_in()
    assert archive.find(DRIVEN).conversation.id == DRIVEN
    for some in steps:
        for _ in some:
            take_in()
            assert archive.find(DRIVEN).conversation.id == OWN
    rebuild(archive)
    assert archive.find(DRIVEN).conversation.id == OWN
    with pytest.raises(NotFound):
        archive.find("bridge/drive-2")


def test_an_agent_that_begins_anew_takes_its_journal_along(
    archive: Archive, home: Path, journal: Journal, take_in: TakeIn
) -> None:
    finish(drive(journal))
    take_in()
    other = SESSION.replace("a", "b")
    journal.write("session", source="claude-code", id=other)
    journal.say("b7", "I am new here.")
    start = archive.number()
    take_in()
    assert {each.id for each in archive.headings()} == {f"claude-code/{other}"} and verify(
        archive
    ) == []
    for name in (DRIVEN, OWN):
        assert archive.find(name).conversation.native_id == other
    removed = [t.conversation for t in Feed(archive).since(start).changes if t.kind == "removed"]
    assert removed == [OWN]
    # What it left in its first session is that session's again.
    finish(transcript(home))
    take_in()
    assert archive.find(OWN).conversation.id == OWN
    assert archive.find(DRIVEN).conversation.native_id == other


def test_prompts_that_survived_elsewhere_do_not_hide_the_journal(
    archive: Archive, home: Path, journal: Journal, take_in: TakeIn
) -> None:
    typed = {"display": "What is here?", "timestamp": 1794736800000, "project": "/home/dev/app"}
    (home / ".claude").mkdir()
    (home / ".claude" / "history.jsonl").write_bytes(
        msgspec.json.encode({**typed, "sessionId": SESSION, "pastedContents": {}}) + b"\n"
    )
    take_in()
    assert archive.find(OWN).conversation.nature == "prompts"
    finish(drive(journal))
    take_in()
    assert archive.find(OWN).conversation.nature == "conversation"
    assert "ask-1" in ids(archive, OWN)
    before = everything(archive)
    rebuild(archive)
    assert everything(archive) == before


def test_it_is_found_while_it_is_being_read_anew(
    archive: Archive, home: Path, journal: Journal, take_in: TakeIn
) -> None:
    steps = drive(journal)
    next(steps)
    take_in()
    next(steps)
    # Kept, and not yet understood: what another process sees in between.
    (origin,) = READER.discover(Places.at(home)).origins
    take_some(archive, [origin], KnownOrigins(archive), understand=False)
    assert [group[:2] for group in archive.pending()] == [
        ("bridge", "drive-1"),
        ("claude-code", SESSION),
    ]
    assert ids(archive, DRIVEN) == ["p1"]
    with closing(Search(archive)) as search:
        assert search.find("What", SearchOptions()).messages <= 1
    take_in()
    assert list(archive.pending()) == [] and {each.id for each in archive.headings()} == {OWN}
    assert ids(archive, DRIVEN) == ["p1"]


# ── the feed ──


def test_the_feed_names_each_message_once_whatever_it_turns_out_to_belong_to(
    archive: Archive, home: Path, journal: Journal, take_in: TakeIn
) -> None:
    feed = Feed(archive)
    journal.start()
    journal.send("p1", "What is here?")
    take_in()
    begun = feed.since(0)
    assert begun.changes == [Touched(DRIVEN, "new", ["p1"])]
    journal.write("session", source="claude-code", id=SESSION)
    journal.say("b1", "I look.")
    take_in()
    revealed = feed.since(begun.number)
    assert sorted(revealed.changes, key=lambda t: t.kind) == [
        Touched(OWN, "new", ["p1", "b1"]),
        Touched(DRIVEN, "removed"),
    ]
    steps = transcript(home)
    next(steps)
    take_in()
    arrived = feed.since(revealed.number)
    (prompt,) = [m.id for m in story(archive, OWN) if m.author == "person"]
    assert [t.messages for t in arrived.changes] == [[prompt]]
    assert [t.removed for t in arrived.changes] == [["p1"]]
    next(steps)
    take_in()
    answered = feed.since(arrived.number)
    (touched,) = answered.changes
    assert touched.removed == ["b1"] and len(touched.messages or []) == 1
    # Whoever was away all the time is told the same, at once.
    assert Feed(archive).since(begun.number).changes[-1].messages == ids(archive, OWN)
    assert feed.since(answered.number).changes == []


def test_what_a_listener_knew_under_the_first_name_is_new_under_the_second(
    archive: Archive, home: Path, journal: Journal, take_in: TakeIn
) -> None:
    """The transcript is there first: the journal must not count as known in it."""
    finish(transcript(home))
    journal.start()
    journal.send("px", "Not in the transcript")
    take_in()
    number = archive.number()
    before = ids(archive, OWN)
    journal.write("session", source="claude-code", id=SESSION)
    take_in()
    changes = {t.conversation: t for t in Feed(archive).since(number).changes}
    assert changes[DRIVEN].kind == "removed"
    assert "px" in (changes[OWN].messages or []) and changes[OWN].removed == []
    earlier = read_at(archive, archive.find(OWN), number)
    assert earlier is not None and [m.id for m in earlier.messages()] == before


# ── versions, restoring, forgetting, searching ──


def test_every_earlier_version_comes_back(
    archive: Archive, home: Path, journal: Journal, take_in: TakeIn, clock: Clock
) -> None:
    seen: list[tuple[str, list[str]]] = []
    for some in (drive(journal), transcript(home)):
        for _ in some:
            take_in()
            (about,) = archive.conversations()
            seen.append((clock(), ids(archive, about.id)))
    for at, then in seen:
        assert ids(archive, OWN, at) == then


def test_the_pictures_of_both_come_back(
    archive: Archive, home: Path, journal: Journal, take_in: TakeIn
) -> None:
    finish(drive(journal), transcript(home))
    take_in()
    reading = read_conversation(archive, archive.find(OWN))
    (picture,) = [p for m in reading.messages() for p in m.parts if isinstance(p, Attachment)]
    assert picture.digest == sha256(PICTURE).hexdigest()
    assert reading.attachment(picture.digest) == PICTURE


def test_restoring_brings_both_files_back(
    archive: Archive, home: Path, journal: Journal, take_in: TakeIn, tmp_path: Path
) -> None:
    finish(drive(journal), transcript(home))
    take_in()
    files = restore(archive, archive.find(DRIVEN), tmp_path / "back")
    originals = {path.read_bytes() for path in home.rglob("*.jsonl")}
    assert {path.read_bytes() for path in files} == originals and len(files) == 2


def test_what_is_forgotten_stays_forgotten_under_every_name(
    archive: Archive, home: Path, journal: Journal, take_in: TakeIn
) -> None:
    steps = drive(journal)
    next(steps)
    take_in()
    forget(archive, archive.find(DRIVEN))
    finish(steps)
    take_in()
    assert {each.id for each in archive.headings()} == set() and list(archive.groups()) == []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweep, "BULK", 0)
        Journal(home, "another").send("p", "something else")
        take_in()
    assert {each.id for each in archive.headings()} == {"bridge/another"}


@pytest.mark.parametrize("bulk", [False, True])
def test_forgetting_the_joined_one_forgets_its_journal(
    bulk: bool, archive: Archive, home: Path, journal: Journal, take_in: TakeIn
) -> None:
    steps = drive(journal)
    next(steps)
    next(steps)
    finish(transcript(home))
    take_in()
    forget(archive, archive.find(DRIVEN))
    assert {each.id for each in archive.headings()} == set() and list(archive.groups()) == []
    finish(steps)
    if bulk:
        sql_of(archive).execute("DELETE FROM origin")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweep, "BULK", 0 if bulk else sweep.BULK)
        Journal(home, "another").send("p", "something else")
        take_in()
    assert {each.id for each in archive.headings()} == {"bridge/another"}
    assert [group.conversation for group in archive.groups()] == ["another"]
    remember(archive, SESSION)
    take_in()
    assert OWN in {each.id for each in archive.headings()} and "ask-1" in ids(archive, DRIVEN)


@pytest.mark.parametrize("indexed", [False, True])
def test_everything_in_it_is_found_once(
    indexed: bool, archive: Archive, home: Path, journal: Journal, take_in: TakeIn
) -> None:
    long = "quokka " * 300
    steps = drive(journal)
    next(steps)
    take_in()
    if indexed:
        catch_up(archive)
    finish(steps, transcript(home))
    journal.write("given", id="p3")
    journal.say("b9", f"only the journal has {long}")
    take_in()
    if indexed:
        catch_up(archive)
    with closing(Search(archive)) as search:
        for query, count in (("Removing", 1), ("quokka", 1), ('"One file"', 1), ("Remove", 1)):
            found = search.find(query, SearchOptions(limit=100, hits=100))
            assert {t.conversation.id for t in found.talks} == {OWN}
            assert found.messages == count, query


def test_a_journal_without_its_file_is_told_and_marked(
    archive: Archive, home: Path, journal: Journal, take_in: TakeIn
) -> None:
    finish(drive(journal), transcript(home))
    take_in()
    before = ids(archive, OWN)
    journal.file.unlink()
    take_in()
    told = story(archive, OWN)
    assert [m.id for m in told] == before
    # The agent has what is its own; that is what the word stands for.
    assert archive.find(OWN).conversation.upstream == "present"
    assert {m.id for m in told if m.upstream == "gone"} >= {"b3", "ask-1", "p3"}


def test_a_mistake_of_ours_costs_the_journal_and_never_the_transcript(
    archive: Archive, home: Path, journal: Journal, take_in: TakeIn
) -> None:
    finish(drive(journal), transcript(home))

    def fail(*_: object) -> None:
        raise ZeroDivisionError("ours")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(READER), "join", fail)
        take_in()
        (about,) = archive.conversations()
        assert "ZeroDivisionError" in about.troubles[0].message and about.turns == 2
    rebuild(archive)
    assert archive.find(DRIVEN).conversation.troubles == []


def test_the_list_and_its_counts_stay_right(archive: Archive, home: Path, take_in: TakeIn) -> None:
    lay_out("bridge", home)
    report = take_in()
    counts = {s.source: s.new_conversations for s in report.sources if s.new_conversations}
    assert counts == {"bridge": 1, "claude-code": 1}
    assert take_in().sources[0].read == 0
    assert {c.source for c in archive.conversations(Filter(source="claude-code"))} == {
        "claude-code"
    }


def test_a_journal_is_told_although_the_transcript_has_but_titles_for_others(
    archive: Archive, home: Path, journal: Journal, take_in: TakeIn
) -> None:
    finish(drive(journal))
    line = {"type": "summary", "summary": "Another talk", "leafUuid": "elsewhere"}
    lay(home, msgspec.json.encode(line) + b"\n")
    take_in()
    assert {each.id for each in archive.headings()} == {OWN}
    assert ids(archive, OWN)
    assert verify(archive) == []
