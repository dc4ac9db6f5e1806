"""What happens to a conversation at its source, and that its owner finds the old text again."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from rireki.archive.base import Archive
from rireki.archive.forgetting import remember
from rireki.errors import NotFound
from rireki.intake.forget import forget
from rireki.intake.interpret import read_conversation
from rireki.intake.restore import restore
from rireki.intake.sweep import Report
from rireki.intake.verify import verify
from rireki.model.message import Message
from rireki.model.parts import Text
from tests.support.engine import sql_of

pytestmark = pytest.mark.usefixtures("plain_source")
TakeIn = Callable[[], Report]


def note(number: int, text: str, who: str = "me", **more: str) -> str:
    return json.dumps({"id": f"m{number}", "who": who, "text": text, **more}) + "\n"


@pytest.fixture
def notes(home: Path) -> Path:
    folder = home / "notes"
    folder.mkdir()
    return folder


def story(archive: Archive, name: str = "talk", as_of: str | None = None) -> list[Message]:
    return read_conversation(archive, archive.find(name), as_of).messages()


def told(messages: list[Message]) -> list[tuple[str, str]]:
    return [
        (part.text, message.upstream)
        for message in messages
        for part in message.parts
        if isinstance(part, Text)
    ]


def report(of: Report) -> tuple[int, int, int, int]:
    (plain,) = [each for each in of.sources if each.source == "plain"]
    return plain.new_conversations, plain.changed_conversations, plain.vanished, plain.moved


def test_a_file_that_grew_is_read_on(archive: Archive, notes: Path, take_in: TakeIn) -> None:
    file = notes / "talk.jsonl"
    file.write_text(note(1, "hello"))
    assert report(take_in()) == (1, 0, 0, 0)
    with file.open("a") as more:
        more.write(note(2, "hi", "bot"))
    assert report(take_in()) == (0, 1, 0, 0)
    assert told(story(archive)) == [("hello", "present"), ("hi", "present")]
    assert archive.find("talk").conversation.upstream == "present"


def test_an_unfinished_line_waits_for_its_end(
    archive: Archive, notes: Path, take_in: TakeIn, tmp_path: Path
) -> None:
    file = notes / "talk.jsonl"
    whole = note(1, "hello") + note(2, "a longer line", "bot")
    for cut in (len(whole) - 20, len(whole) - 10, len(whole)):
        file.write_text(whole[:cut])
        take_in()
        (restored,) = restore(archive, archive.find("talk"), tmp_path / f"to-{cut}")
        assert restored.read_text() == whole[:cut]
    assert told(story(archive)) == [("hello", "present"), ("a longer line", "present")]


def test_a_rewritten_file_keeps_both_versions(
    archive: Archive, notes: Path, take_in: TakeIn
) -> None:
    file = notes / "talk.jsonl"
    file.write_text(note(1, "one") + note(2, "two") + note(3, "three"))
    take_in()
    file.write_text(note(1, "one") + note(2, "zwei") + note(3, "three"))
    take_in()
    messages = story(archive)
    assert ("two", "gone") in told(messages)
    assert ("zwei", "present") in told(messages)
    (old,) = [message for message in messages if message.replaced_by]
    assert old.replaced_by == "m2"
    assert archive.find("talk").conversation.upstream == "changed"
    assert archive.find("talk").conversation.messages == 3


def test_a_truncated_file_loses_nothing(archive: Archive, notes: Path, take_in: TakeIn) -> None:
    file = notes / "talk.jsonl"
    file.write_text(note(1, "one") + note(2, "two"))
    take_in()
    file.write_text(note(1, "one"))
    take_in()
    assert told(story(archive)) == [("one", "present"), ("two", "gone")]
    file.write_text("")
    take_in()
    assert told(story(archive)) == [("one", "gone"), ("two", "gone")]
    file.write_text(note(1, "one") + note(2, "two") + note(3, "three"))
    take_in()
    assert [state for _, state in told(story(archive))] == ["present"] * 3


def test_what_was_added_after_a_rewrite_follows_it(
    archive: Archive, notes: Path, take_in: TakeIn, tmp_path: Path
) -> None:
    file = notes / "talk.jsonl"
    file.write_text(note(1, "one") + note(2, "two") + note(3, "three"))
    take_in()
    file.write_text(note(1, "one") + note(3, "three"))
    take_in()
    with file.open("a") as more:
        more.write(note(4, "four"))
    take_in()
    assert told(story(archive)) == [
        ("one", "present"),
        ("two", "gone"),
        ("three", "present"),
        ("four", "present"),
    ]
    (restored,) = restore(archive, archive.find("talk"), tmp_path / "to")
    assert restored.read_bytes() == file.read_bytes()


def test_a_deleted_file_is_a_fact_with_a_time(
    archive: Archive, notes: Path, take_in: TakeIn, tmp_path: Path
) -> None:
    file = notes / "talk.jsonl"
    file.write_text(note(1, "do not lose me"))
    take_in()
    content = file.read_bytes()
    file.unlink()
    assert report(take_in()) == (0, 1, 1, 0)
    assert archive.find("talk").conversation.upstream == "gone"
    assert told(story(archive)) == [("do not lose me", "gone")]
    (restored,) = restore(archive, archive.find("talk"), tmp_path / "to")
    assert restored.read_bytes() == content
    number = sql_of(archive).execute("SELECT value FROM meta").get
    assert report(take_in()) == (0, 0, 0, 0), "it is noted once"
    assert sql_of(archive).execute("SELECT value FROM meta").get == number, "and not written again"
    file.write_bytes(content)
    take_in()
    assert told(story(archive)) == [("do not lose me", "present")]


def test_a_folder_that_is_gone_altogether_takes_nothing_with_it(
    archive: Archive, notes: Path, take_in: TakeIn
) -> None:
    (notes / "talk.jsonl").write_text(note(1, "one"))
    take_in()
    shutil.rmtree(notes)
    assert report(take_in())[2] == 1
    assert told(story(archive)) == [("one", "gone")]


def test_a_moved_file_is_the_same_conversation(
    archive: Archive, notes: Path, take_in: TakeIn
) -> None:
    file = notes / "talk.jsonl"
    file.write_text(note(1, "one"))
    take_in()
    (notes / "elsewhere").mkdir()
    moved = notes / "elsewhere" / "talk.jsonl"
    file.rename(moved)
    with moved.open("a") as more:
        more.write(note(2, "two"))
    assert report(take_in()) == (0, 1, 0, 1)
    assert told(story(archive)) == [("one", "present"), ("two", "present")]
    assert len(list(archive.conversations())) == 1
    assert len(archive.strands("plain", "talk")) == 1


def test_another_home_does_not_make_this_one_vanish(
    archive: Archive, notes: Path, take_in: TakeIn, tmp_path: Path
) -> None:
    from rireki.intake.sweep import import_history
    from rireki.sources.kit.places import Places

    (notes / "talk.jsonl").write_text(note(1, "one"))
    take_in()
    other = tmp_path / "backup" / "notes"
    other.mkdir(parents=True)
    (other / "old.jsonl").write_text(note(1, "from the backup"))
    import_history(archive, places=Places.at(other.parent))
    assert archive.find("talk").conversation.upstream == "present"
    assert archive.find("old").conversation.upstream == "present"


def test_as_of_a_time_only_what_was_there_then(
    archive: Archive, notes: Path, take_in: TakeIn
) -> None:
    file = notes / "talk.jsonl"
    file.write_text(note(1, "one") + note(2, "two"))
    take_in()
    then = archive.clock()
    file.write_text(note(1, "one") + note(3, "three"))
    take_in()
    assert told(story(archive, as_of=then)) == [("one", "present"), ("two", "present")]
    assert ("two", "gone") in told(story(archive))


def test_as_of_a_time_before_the_first_import_the_messages_own_times_count(
    archive: Archive, notes: Path, take_in: TakeIn
) -> None:
    early, late = "2025-05-01T00:00:00.000Z", "2025-06-01T00:00:00.000Z"
    (notes / "talk.jsonl").write_text(note(1, "in May", at=early) + note(2, "in June", at=late))
    take_in()
    assert told(story(archive, as_of="2025-05-15T00:00:00.000Z")) == [("in May", "present")]
    with pytest.raises(NotFound, match="had not begun"):
        story(archive, as_of="2025-01-01T00:00:00.000Z")


def test_a_rewrite_that_keeps_size_and_time_is_noticed(
    archive: Archive, notes: Path, take_in: TakeIn
) -> None:
    file = notes / "talk.jsonl"
    file.write_text(note(1, "one"))
    take_in()
    times = file.stat()
    file.write_text(note(1, "two"))
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    take_in()
    assert ("two", "present") in told(story(archive))
    assert ("one", "gone") in told(story(archive))


def test_what_is_forgotten_is_gone_for_good_and_stays_away(
    archive: Archive, notes: Path, take_in: TakeIn
) -> None:
    secret = "correct horse battery staple"
    (notes / "talk.jsonl").write_text(note(1, secret))
    (notes / "other.jsonl").write_text(note(1, "harmless"))
    take_in()
    forget(archive, archive.find("talk"))
    assert [c.native_id for c in archive.conversations()] == ["other"]
    with (notes / "talk.jsonl").open("a") as more:
        more.write(note(2, "more"))
    take_in()
    assert [c.native_id for c in archive.conversations()] == ["other"]
    assert verify(archive) == []
    assert remember(archive, "talk")
    with (notes / "talk.jsonl").open("a") as more:
        more.write(note(3, "and more"))
    take_in()
    assert told(story(archive))[0] == (secret, "present")


def test_one_bad_line_costs_itself_alone(archive: Archive, notes: Path, take_in: TakeIn) -> None:
    (notes / "talk.jsonl").write_bytes(
        note(1, "one").encode() + b"\xff\x00{not json\n" + note(2, "two").encode()
    )
    take_in()
    assert [text for text, _ in told(story(archive))] == ["one", "two"]
    (trouble,) = archive.find("talk").conversation.troubles
    assert trouble.place.endswith("talk.jsonl: line 2")


def test_a_directory_tells_what_was_held_in_it_and_what_still_is(
    archive: Archive, notes: Path, take_in: TakeIn
) -> None:
    (notes / "old.jsonl").write_text(note(1, "one", project="/w/app"))
    (notes / "new.jsonl").write_text(note(1, "two", project="/w/app"))
    (notes / "deep.jsonl").write_text(note(1, "three", project="/w/app/deep"))
    take_in()
    (notes / "old.jsonl").unlink()
    take_in()
    held = {s.conversation.native_id: s.current for s in archive.sightings("/w/app")}
    assert held == {"old": False, "new": True}
    assert {s.directory for s in archive.sightings("/w", below=True)} == {"/w/app", "/w/app/deep"}
    assert archive.sightings("/w/ap", below=True) == []


def test_both_wordings_of_a_line_stay_when_its_file_is_deleted(
    archive: Archive, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line of a Claude Code transcript was written anew, then the transcript was deleted."""
    monkeypatch.undo()
    from rireki.intake.sweep import import_history
    from rireki.sources.kit.places import Places
    from tests.sources.transcripts import SESSION, Transcript, lay, words

    transcript = Transcript()
    transcript.user("the first wording")
    transcript.answer({"type": "text", "text": "fine"})
    file = lay(home, transcript.bytes())
    import_history(archive, places=Places.at(home))
    file.write_bytes(transcript.bytes().replace(b"first wording", b"other wording"))
    import_history(archive, places=Places.at(home))
    file.unlink()
    import_history(archive, places=Places.at(home))
    told_now = {words(message) for message in story(archive, SESSION)}
    assert told_now == {"the first wording", "the other wording", "fine"}
