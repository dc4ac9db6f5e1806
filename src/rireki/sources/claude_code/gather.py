"""The lines of a session from all its files: each once, older versions marked, sub-agents apart.

A session may lie in several folders (a live file can move), hold a line twice (a
flaw of compaction in some versions), or have been rewritten. Knows uuids and
parents, not what a line says.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from rireki.sources.claude_code.entries import text_of
from rireki.sources.claude_code.kinds import is_metadata
from rireki.sources.claude_code.lines import TranscriptLine
from rireki.sources.claude_code.shapes import ContentItem

__all__ = ["Gathered", "gather"]


class Gathered(Struct):
    """The main line, and the sub-agents that older versions wrote into the same file."""

    main: list[TranscriptLine] = field(default_factory=list)
    #: By the uuid of their first line.
    sidechains: dict[str, list[TranscriptLine]] = field(default_factory=dict)


def gather(files: Iterable[list[TranscriptLine]], *, split: bool) -> Gathered:
    """One list out of several files. `split` takes inline sub-agents out of it."""
    gathered = Gathered()
    known: dict[str, TranscriptLine] = {}
    unnamed: dict[bytes, TranscriptLine] = {}
    roots: dict[str, str] = {}
    #: Lines that stand where another stood, by the identity of that one.
    instead: dict[int, TranscriptLine] = {}
    keep = gathered.main.append
    for lines in files:
        for line in lines:
            look = line.look
            if look is None or not look.uuid:
                if _is_copy(line, unnamed):
                    continue
            elif look.uuid not in known:
                known[look.uuid] = line
            elif _is_settled(line, known, look.uuid, instead):
                continue
            if split and look is not None and look.isSidechain:
                _sidechain(line, roots, gathered.sidechains)
            else:
                keep(line)
    if instead:
        gathered.main = _with_newer(gathered.main, instead)
        chains = gathered.sidechains.items()
        gathered.sidechains = {root: _with_newer(chain, instead) for root, chain in chains}
    return gathered


def _with_newer(
    lines: list[TranscriptLine], instead: dict[int, TranscriptLine]
) -> list[TranscriptLine]:
    """Each line followed by what took its place, and by what took the place of that."""
    found: list[TranscriptLine] = []
    for line in lines:
        newer: TranscriptLine | None = line
        while newer is not None:
            found.append(newer)
            newer = instead.get(id(newer))
    return found


def _is_settled(
    line: TranscriptLine,
    known: dict[str, TranscriptLine],
    uuid: str,
    instead: dict[int, TranscriptLine],
) -> bool:
    """Whether a line needs no place of its own: it says nothing new, or has that of an older one.

    Of two that differ, the one the source still has counts, else the later; the other is
    kept as an earlier version of it.
    """
    first = known[uuid]
    if first.data.strip() == line.data.strip():
        first.present = first.present or line.present
        return True
    if first.present == line.present and _says(first) == _says(line):
        # A second compaction writes lines again, hung up elsewhere in the tree.
        return True
    older, newer = (line, first) if first.present else (first, line)
    older.version = 1 + _versions(known, uuid)
    known[f"{uuid}~{older.version}"] = older
    known[uuid] = newer
    if newer is line:
        instead[id(older)] = line
    return newer is line


def _says(line: TranscriptLine) -> object:
    """What a line has to say, apart from where it stands."""
    look = line.look
    if look is None:
        return line.data
    spoken = look.message
    if spoken is not None and _is_text(spoken.content):
        # The same words stand there as a string, or as a block of text.
        return text_of(spoken.content), look.attachment
    return spoken.content if spoken else bytes(look.content), look.attachment


def _is_text(content: str | list[ContentItem] | None) -> bool:
    if isinstance(content, list):
        return all(block.type == "text" for block in content)
    return content is not None


def _versions(known: dict[str, TranscriptLine], uuid: str) -> int:
    count = 0
    while f"{uuid}~{count + 1}" in known:
        count += 1
    return count


def _is_copy(line: TranscriptLine, unnamed: dict[bytes, TranscriptLine]) -> bool:
    """Whether a line without uuid is a copy of one we have.

    Known metadata may repeat, its last word counts; the rest becomes messages and must not.
    So may a queued prompt: it is one if it was never sent.
    """
    look = line.look
    if look is not None and is_metadata(look.type) and look.operation != "enqueue":
        return False
    first = unnamed.setdefault(line.data.strip(), line)
    first.present = first.present or line.present
    return first is not line


def _sidechain(
    line: TranscriptLine, roots: dict[str, str], chains: dict[str, list[TranscriptLine]]
) -> None:
    """Put a line to the sub-agent it belongs to: the one its parent belongs to, else a new one."""
    assert line.look is not None
    uuid = line.look.uuid or ""
    root = roots.get(line.look.parentUuid or "", uuid)
    roots[uuid] = root
    chains.setdefault(root, []).append(line)
