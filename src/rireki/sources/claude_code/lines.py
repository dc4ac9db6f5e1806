"""The lines of a session, from all its files: decoded, repaired, each once, sub-agents apart.

One bad line costs one trouble and never its neighbours. A session may lie in several folders (a live
file can move), hold a line twice (a flaw of compaction in some versions), or have been rewritten.
Knows uuids and parents, not what a line says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Struct, field
from msgspec.structs import force_setattr

from rireki.model.conversation import Trouble
from rireki.model.strand import Occurrence, Strand
from rireki.sources.claude_code.shapes import ContentItem, LineHead, loads, objects_in, text_of
from rireki.sources.claude_code.words import is_metadata
from rireki.sources.kit.jsonl import LANE

__all__ = ["TranscriptLine", "gather", "read_strand"]


_look = msgspec.json.Decoder(LineHead).decode
_STEP = re.compile(r"\.([^.\[`]+)|\[(\d+)\]")
#: A line whose fields keep having other types than ours is given up after so many corrections.
CORRECTIONS = 40
#: Lines from which on it is worth some time to hold them in less memory.
MANY = 10_000


class TranscriptLine(Struct, gc=False):
    """One object of a transcript and where it stood."""

    number: int
    data: bytes
    present: bool
    #: None when the line could not be understood at all.
    look: LineHead | None
    #: Where its bytes are kept. The unfinished end of a file is no record yet.
    strand: int = 0
    record: int | None = None
    #: The look was taken at a corrected copy, so that `data` alone says what stands there.
    mended: bool = False
    #: Counted from 1 on lines that the source has since replaced by another of the same uuid.
    version: int = 0


def read_strand(strand: Strand, troubles: list[Trouble]) -> list[TranscriptLine]:
    """Every line the file ever held, in order; what is wrong with them goes to `troubles`."""
    lines: list[TranscriptLine] = []
    add = lines.append
    number, name = 0, strand.id
    before = LineHead()
    for number, record in enumerate(strand.occurrences(LANE), 1):
        ordinal, data, present, _ = record
        try:
            look = _look(data)
            add(TranscriptLine(number, data, present, look, name, ordinal))
            if number > MANY:
                _share(look, before)
                before = look
        except (ValueError, RecursionError):
            lines.extend(_mend(strand, number, record, troubles))
    tail = strand.states[-1].tail if strand.states else b""
    if tail.strip():
        lines.extend(_read_tail(strand, number + 1, tail, troubles))
    return lines


def _share(look: LineHead, before: LineHead) -> None:
    """What a line has in common with the one before it is held once: a quarter of what a very long
    transcript would take besides its bytes."""
    if look.sessionId == before.sessionId:
        force_setattr(look, "sessionId", before.sessionId)
    if look.cwd == before.cwd:
        force_setattr(look, "cwd", before.cwd)
    if look.parentUuid == before.uuid:
        force_setattr(look, "parentUuid", before.uuid)


def _read_tail(
    strand: Strand, number: int, tail: bytes, troubles: list[Trouble]
) -> list[TranscriptLine]:
    """The last line has no newline: whole when its JSON is, otherwise still being written."""
    try:
        return [TranscriptLine(number, tail, strand.present, _look(tail))]
    except (ValueError, RecursionError):
        found = _look_leniently(tail)
    if found is not None:
        return [TranscriptLine(number, tail, strand.present, found, mended=True)]
    troubles.append(Trouble.of(f"{strand.place}: line {number}", "line-torn"))
    return []


def _mend(
    strand: Strand, number: int, record: Occurrence, troubles: list[Trouble]
) -> Iterator[TranscriptLine]:
    """The lines in a damaged one, and one trouble unless nothing was missing."""

    def line(data: bytes, look: LineHead | None) -> TranscriptLine:
        return TranscriptLine(
            number, data, record.present, look, strand.id, record.ordinal, mended=True
        )

    data = record.data
    if not data.strip():
        return
    if b"\0" not in data and (found := _look_leniently(data)) is not None:
        yield line(data, found)
        return
    lost = False
    pieces = 0
    for piece in objects_in(data):
        pieces += 1
        found = _look_leniently(piece)
        lost = lost or found is None
        yield line(piece, found)
    code = "line-taken-apart" if pieces > 1 else "line-repaired"
    if lost or not pieces:
        code = "line-unreadable"
    troubles.append(Trouble.of(f"{strand.place}: line {number}", code))


def _look_leniently(data: bytes) -> LineHead | None:
    """A look at a line with half a character in it, or with fields of unexpected types."""
    value = loads(data)
    if not isinstance(value, dict):
        return None
    for _ in range(CORRECTIONS):
        try:
            return _look(msgspec.json.encode(value))
        except msgspec.ValidationError as error:
            if not _drop(value, str(error)):
                return None
        except (ValueError, RecursionError):
            return None
    return None


def _drop(value: Any, complaint: str) -> bool:
    """Take out the one field that msgspec names (`… - at `$.message.content[2].id``)."""
    steps = _STEP.findall(complaint.rpartition(" - at `$")[2])
    try:
        for name, index in steps[:-1]:
            value = value[name or int(index)]
        name, index = steps[-1]
        del value[name or int(index)]
    except (LookupError, TypeError):
        return False
    return True


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
