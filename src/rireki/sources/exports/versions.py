"""One conversation out of every export it was in: the newest says what is there, the others what was."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from rireki.errors import Wording
from rireki.model.conversation import Trouble
from rireki.model.strand import Ref, State, Strand, expand
from rireki.sources.exports.container import CHAT, FILE, LANE
from rireki.sources.kit.decode import NotReadable, load
from rireki.sources.kit.fields import items
from rireki.sources.kit.records import DecodedLine
from rireki.sources.kit.rows import ROWS

__all__ = ["Chat", "Version", "read_versions"]


class Version(NamedTuple):
    """A conversation as one export has it."""

    value: Any
    present: bool
    refs: list[Ref]
    #: As it is written there.
    data: Callable[[], bytes] = bytes


class Chat(NamedTuple):
    """A conversation, the newest version last, and what its files are called."""

    versions: list[Version]
    #: The bytes of the files that came with it, by name.
    files: Mapping[str, Callable[[], bytes]]

    @property
    def newest(self) -> Any:
        return self.versions[-1].value

    def merged(self, nodes: Callable[[Any], Mapping[str, Any]]) -> dict[str, DecodedLine]:
        """Every message of every version by its id, in the newest form that there is of it."""
        found: dict[str, DecodedLine] = {}
        for version in self.versions:
            is_newest = version is self.versions[-1]
            for id, value in nodes(version.value).items():
                held = is_newest and version.present
                found[id] = DecodedLine(value, 0, is_newest, held, version.refs)
        order = [*nodes(self.newest), *found]
        return {id: found[id]._replace(position=n) for n, id in enumerate(dict.fromkeys(order), 1)}


def read_versions(
    strands: Sequence[Strand], changed: Callable[[Any], float], troubles: list[Trouble]
) -> Chat | None:
    """None where nothing can be read. `changed` says when a version was last changed."""
    found: list[tuple[float, bool, str, Version]] = []
    for strand in strands:
        if strand.role in (CHAT, ROWS):
            for state in strand.states:
                value = _value(strand, state, troubles)
                if isinstance(value, dict):
                    present = strand.present and state is strand.states[-1]
                    read = partial(strand.document, state)
                    version = Version(value, present, _refs(strand, state), read)
                    found.append((changed(value), present, state.at, version))
                elif value is not None:
                    what = type(value).__name__
                    troubles.append(Trouble.of(strand.place, "not-a-conversation", what=what))
    found.sort(key=lambda one: one[:3])
    files = {_file_name(strand): strand.document for strand in strands if strand.role == FILE}
    return Chat([version for *_, version in found], files) if found else None


def _value(strand: Strand, state: State, troubles: list[Trouble]) -> Any:
    try:
        if state.in_pieces:
            raise NotReadable("too-large-to-read")
        value = load(strand.document(state))
        # A row of a database lies in the list of its table.
        return next(iter(items(value, "chat")), None) if strand.role == ROWS else value
    except NotReadable as error:
        troubles.append(Trouble.of(strand.place, error, Wording("kept-as-found")))
        return None


def _refs(strand: Strand, state: State) -> list[Ref]:
    lanes = (LANE, "chat")
    runs = [run for run in state.runs if run.lane in lanes]
    return [Ref(strand.id, run.lane, n) for run in runs for n in expand(run.records)]


def _file_name(strand: Strand) -> str:
    try:
        key = load(strand.key.encode())
    except NotReadable:
        return strand.key
    return str(key[1]) if isinstance(key, list) and len(key) > 1 else strand.key
