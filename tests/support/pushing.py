"""One archive told to another, and what has to be equal afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from rireki.archive.base import Archive, Filter, Found
from rireki.archive.delta import Delta
from rireki.errors import NotFound, RirekiError
from rireki.intake.interpret import read_conversation
from rireki.intake.pending import interpret_pending
from rireki.intake.progress import Silent
from rireki.intake.restore import restore
from rireki.show.figures import figures

LIMIT = 20_000


def deltas(source: Archive, target: Archive, limit: int = LIMIT) -> Iterator[Delta]:
    """Everything that the one does not know of the other yet. Whoever gets a delta may keep it or not."""
    stream, _ = target.stream(source.identity(), "laptop")
    while True:
        _, reached = target.stream(source.identity(), "laptop")
        delta = source.delta(reached, limit, partial(target.held, stream))
        if delta.is_empty:
            return
        yield delta


def push(source: Archive, target: Archive, limit: int = LIMIT) -> list[Delta]:
    """Returns what was told."""
    stream, _ = target.stream(source.identity(), "laptop")
    told = []
    for delta in deltas(source, target, limit):
        assert target.take(stream, delta) in (delta.upto, 0)
        told.append(delta)
        assert len(told) < 10_000, "it goes on for ever"
    understand(target)
    return told


def understand(archive: Archive) -> None:
    for _ in interpret_pending(archive, Silent()):
        pass


def told(archive: Archive, folder: Path) -> dict[str, Any]:
    """Everything about the conversations of an archive that does not depend on where they were read."""
    known = {c.id: c for c in archive.conversations(Filter(subagents=True))}
    for conversation in known.values():
        # Which machines there are is said where there are several.
        conversation.machines = msgspec.UNSET
    return {
        "conversations": {id: msgspec.to_builtins(known[id]) for id in sorted(known)},
        "answers": dict(archive.answers()),
        "forgotten": sorted(archive.forgotten()),
        "figures": figures(archive),
        "read": {id: said(archive, archive.find(id), folder) for id in sorted(known)},
    }


def said(archive: Archive, found: Found, folder: Path) -> dict[str, Any]:
    """What one conversation says, now and at earlier moments, and the files it comes to."""
    strands = archive.strands(found.family, found.grouping)
    moments = sorted({state.at for strand in strands for state in strand.states})
    read: dict[str, Any] = {}
    for moment in {None: 0, moments[0]: 0, moments[len(moments) // 2]: 0}:
        try:
            messages = read_conversation(archive, found, moment).messages()
            read[str(moment)] = msgspec.to_builtins(messages)
        except NotFound as error:
            read[str(moment)] = error.code
        read[f"files {moment}"] = restored(archive, found, folder / str(moment), moment)
    return read


def restored(
    archive: Archive, found: Found, to: Path, as_of: str | None = None
) -> dict[str, bytes] | str:
    to = to / found.conversation.id.replace("/", "_")[-100:]
    try:
        paths = restore(archive, found, to, as_of)
    except RirekiError as error:
        return error.code
    return {str(path.relative_to(to)): path.read_bytes() for path in paths}
