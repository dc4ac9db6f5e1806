"""An agent that was driven from here, and the transcript it leaves: one conversation, each prompt once."""

from __future__ import annotations

from pathlib import Path

import pytest

from rireki.archive.base import Archive, Filter
from rireki.archive.open import open_archive
from rireki.intake.interpret import read_conversation
from rireki.intake.sweep import import_history
from rireki.model.conversation import Conversation
from rireki.model.message import Message
from rireki.model.parts import Text
from rireki.sources.kit.places import Places
from tests.support.driven import Journal
from tests.support.homes import lay_out


def taken_in(archive: Archive, home: Path) -> list[Conversation]:
    import_history(archive, places=Places.at(home))
    return list(archive.conversations(Filter()))


def told(archive: Archive, id: str) -> list[Message]:
    return read_conversation(archive, archive.find(id)).messages()


def typed(messages: list[Message]) -> list[str]:
    return [_text(m) for m in messages if m.author == "person" and m.display == "bubble"]


def answered(messages: list[Message]) -> list[str]:
    return [_text(m) for m in messages if m.author == "agent" and _text(m)]


def _text(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if isinstance(part, Text))


@pytest.mark.parametrize(
    "name", ["opencode-1.2.27", "codex-0.150.0", "copilot-cli-1.0.24", "cline-3.0.65"]
)
def test_a_driven_session_and_its_transcript_are_one_conversation(
    name: str, archive: Archive, home: Path, tmp_path: Path
) -> None:
    lay_out(name, home)
    alone = open_archive(tmp_path / "alone.sqlite3", create=True)
    found = max(taken_in(alone, home), key=lambda each: (each.finished, each.turns, each.id))
    before = told(alone, found.id)
    alone.close()
    prompt, answer = typed(before)[0], answered(before)[0]
    journal = Journal(home)
    journal.start(found.source)
    journal.write("session", source=found.source, id=found.native_id)
    journal.send("p1", prompt)
    journal.say("b1", answer)
    journal.end("p1")
    assert not [each for each in taken_in(archive, home) if each.source == "bridge"]
    after = told(archive, found.id)
    assert typed(after) == typed(before)
    assert answered(after).count(answer) == answered(before).count(answer)
