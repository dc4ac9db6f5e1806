"""A bad value in the journal of a driven agent costs its entry, not the conversation."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from rireki.archive.base import Archive, Filter
from rireki.drive.reduce import SessionLog
from rireki.intake.interpret import read_conversation
from rireki.intake.sweep import import_history
from rireki.intake.verify import verify
from rireki.journals.session_entry import parse
from rireki.sources.kit.places import Places
from tests.support.homes import FIXTURES, lay_out

FOLDER = Path(".local") / "share" / "rireki" / "bridge"
JOURNALS = sorted((FIXTURES / "bridge" / FOLDER).glob("*.jsonl"))
BAD = [
    7,
    -1.5,
    True,
    None,
    "",
    "ｘ",
    [],
    [7],
    [None],
    {},
    {"a": 1},
    [[["x"]]],
    [{"text": 7}],
    1 << 70,
]


@pytest.mark.parametrize("seed", range(60))
def test_a_bad_value_costs_its_entry_and_not_the_conversation(
    seed: int, archive: Archive, home: Path
) -> None:
    chance = random.Random(seed)
    lay_out("bridge", home)
    file = home / FOLDER / JOURNALS[0].name
    lines = file.read_bytes().splitlines()
    number = chance.randrange(len(lines))
    entry = json.loads(lines[number])
    names = [name for name in entry if name not in ("v", "n", "at", "kind")] or ["text"]
    entry[chance.choice(names)] = chance.choice(BAD)
    lines[number] = json.dumps(entry).encode()
    file.write_bytes(b"\n".join(lines) + b"\n")
    import_history(archive, places=Places.at(home))
    conversation = _with(archive, file)
    told = read_conversation(archive, archive.find(conversation)).messages()
    assert [
        t for t in archive.find(conversation).conversation.troubles if "could not" in t.message
    ] == []
    assert len(told) >= _told_before() - 3
    log = SessionLog()
    for line in lines:
        if (read := parse(line)) is not None:
            log.add(read)
    assert verify(archive) == []


def _with(archive: Archive, file: Path) -> str:
    for conversation in archive.conversations(Filter(subagents=True)):
        found = archive.find(conversation.id)
        places = {s.place for s in archive.strands(found.family, found.grouping)}
        if str(file) in places:
            return conversation.id
    raise AssertionError("it is no conversation at all")


def _told_before() -> int:
    from rireki.model.strand import Ref
    from rireki.sources.bridge.lines import BridgeJournal, BridgeLine
    from rireki.sources.bridge.messages import BridgeTranscript

    journal = BridgeJournal("x")
    for number, line in enumerate(JOURNALS[0].read_bytes().splitlines()):
        entry = parse(line)
        assert entry is not None
        journal.lines[line] = BridgeLine(entry, Ref(1, "lines", number), True)
    return len(BridgeTranscript([journal]).messages)
