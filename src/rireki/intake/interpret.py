"""From kept records to readings: the archive's strands handed to the reader that knows them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TypeAlias

import msgspec

from rireki.archive.base import Archive, Found
from rireki.errors import ArchiveTrouble, NotFound, RirekiError, Wording
from rireki.intake.memory import HEAVY, free
from rireki.model.conversation import Answer, Conversation, LinkToken, Reading, Trouble
from rireki.model.message import Message
from rireki.model.strand import Strand
from rireki.sources import registry

__all__ = [
    "UNREADABLE",
    "as_readings",
    "interpret",
    "is_for_lack_of_memory",
    "read_at",
    "read_conversation",
    "with_subagents",
    "losses",
]

Join: TypeAlias = Callable[[str, Sequence[Strand], Sequence[Reading]], list[Reading]]

#: The title of a conversation whose reader could not make anything of it.
UNREADABLE = "(could not be interpreted)"
#: Bytes of memory that a long conversation takes for each of its own: to be interpreted, and
#: besides that to have all of its messages made.
TIMES, MORE_TIMES = 3.0, 1.5

_LOST = "of its records cannot be read: the archive is damaged"


def interpret(conversation: str, strands: list[Strand]) -> list[Reading]:
    """What a group of strands means. A reader's own mistake costs the meaning, never the bytes; so
    does a lack of memory."""
    readings = _interpret_all(conversation, strands)
    if readings:
        readings[0].conversation.troubles += _too_large(strands)
    return readings


def _lack(place: str, weight: int, times: float) -> Trouble | None:
    """Says that the memory there is will not do, before the system ends us for trying."""
    left = free() if weight >= HEAVY else None
    if left is None or times * weight <= left:
        return None
    needed, left = int(times * weight) >> 20, max(left, 0) >> 20
    return Trouble.of(place, "too-little-memory", needed=needed, left=left)


def is_for_lack_of_memory(trouble: Trouble) -> bool:
    """Whether it says that something could be read, with more memory."""
    return trouble.hint == Wording("no-memory").hint


def _too_large(strands: list[Strand]) -> list[Trouble]:
    """What is kept in pieces because of its size, and so no reader saw."""
    return [
        Trouble.of(strand.place, "part-too-large")
        for strand in strands
        if strand.states[-1].in_pieces
    ]


def _interpret_all(conversation: str, strands: list[Strand]) -> list[Reading]:
    """Of several sources, one may have kept a journal of what another one did: both are one story."""
    sources = {strand.source for strand in strands}
    if len(sources) > 1:
        for reader in filter(None, map(registry.find, sorted(sources))):
            if join := getattr(reader, "join", None):
                theirs = [strand for strand in strands if strand.source == reader.name]
                others = [strand for strand in strands if strand.source != reader.name]
                return _join(join, conversation, theirs, _interpret(conversation, others))
    return _interpret(conversation, strands)


def _interpret(conversation: str, strands: list[Strand]) -> list[Reading]:
    if not strands:
        return []
    weight = sum(strand.weight() for strand in strands)
    lack = _lack(strands[0].place, weight, TIMES)
    if lack is not None:
        return [_unreadable(conversation, strands[0], lack)]
    try:
        readings = registry.reader(strands[0].source).interpret(conversation, strands)
    except ArchiveTrouble:
        return _interpret_readable(conversation, strands)
    except RirekiError as error:
        # Its reader is not installed any more, cannot be used, or is a stranger's and failed.
        hint = Wording("records-kept", first=error.hint)
        trouble = Trouble.of(strands[0].place, error, hint)
        return [_unreadable(conversation, strands[0], trouble)]
    except MemoryError:
        return [_unreadable(conversation, strands[0], _out_of_memory(strands[0]))]
    except Exception as error:  # noqa: BLE001 - one conversation must not stop all others
        return [_unreadable(conversation, strands[0], _mistake(strands[0], error))]
    return [_lenient(reading, conversation, strands, weight) for reading in readings]


def _lenient(reading: Reading, conversation: str, strands: list[Strand], weight: int) -> Reading:
    """The same reading; of a damaged archive, the messages that can be read."""
    whole, stream = reading.messages, reading.stream

    def messages() -> list[Message]:
        lack = _lack(strands[0].place, weight, MORE_TIMES)
        if lack is not None:
            raise _as_error(lack)
        try:
            return whole()
        except ArchiveTrouble as trouble:
            return rest(trouble)
        except MemoryError as error:
            lack = _out_of_memory(strands[0])
            raise _as_error(lack) from error

    def rest(trouble: ArchiveTrouble) -> list[Message]:
        for other in _interpret_readable(conversation, strands):
            if other.conversation.id == reading.conversation.id:
                return other.messages()
        raise trouble

    def in_turn() -> Iterator[Message]:
        assert stream is not None
        try:
            yield from stream()
        except ArchiveTrouble as trouble:
            given: set[str] = set()
            with suppress(ArchiveTrouble):
                given.update(message.id for message in stream())
            yield from (message for message in rest(trouble) if message.id not in given)

    reading.messages = messages
    reading.stream = in_turn if stream is not None else None
    return reading


def _interpret_readable(conversation: str, strands: list[Strand]) -> list[Reading]:
    """What is left of a conversation, some of whose records are damaged."""
    left = [strand.readable() for strand in strands]
    lost = _loss(strands[0], sum(number for _, number in left))
    try:
        reader = registry.reader(strands[0].source)
        readings = reader.interpret(conversation, [strand for strand, _ in left])
        for reading in readings:
            reading.conversation.troubles.append(lost)
            # Now, while its failure can be told from a mistake of ours.
            reading.messages()
    except Exception:  # noqa: BLE001 - what is left makes no sense to the reader, and need not
        readings = []
    return readings or [_unreadable(conversation, strands[0], lost)]


def _join(
    join: Join, conversation: str, journals: list[Strand], readings: list[Reading]
) -> list[Reading]:
    try:
        return join(conversation, journals, readings)
    except ArchiveTrouble:
        left = [journal.readable()[0] for journal in journals]
        return _join(join, conversation, left, readings) if left != journals else readings
    except Exception as error:  # noqa: BLE001 - what the agent itself has is told in any case
        for reading in readings[:1]:
            reading.conversation.troubles.append(_mistake(journals[0], error))
        trouble = _mistake(journals[0], error)
        return readings or [_unreadable(conversation, journals[0], trouble)]


def as_readings(
    summaries: Sequence[tuple[Conversation, list[Answer], list[LinkToken]]],
) -> list[Reading]:
    """Readings that another process made; their messages stayed there."""
    return [
        Reading(conversation=conversation, messages=list, answers=answers, link_tokens=link_tokens)
        for conversation, answers, link_tokens in summaries
    ]


def read_conversation(archive: Archive, found: Found, as_of: str | None = None) -> Reading:
    """One conversation with its messages, as it is or as it was at a time.

    What was not yet archived then is told by the messages' own times.
    """
    strands = archive.strands(found.family, found.grouping, as_of)
    if as_of is not None and not strands:
        first = min(s.first_seen for s in archive.strands(found.family, found.grouping))
        return _until(_pick(archive.strands(found.family, found.grouping, first), found), as_of)
    return _pick(strands, found)


def read_at(archive: Archive, found: Found, number: int) -> Reading | None:
    """One conversation as its records were at a number of the feed; None before it began."""
    strands = archive.strands(found.family, found.grouping, number=number)
    try:
        return _pick(strands, found)
    except NotFound:
        return None


def _pick(strands: list[Strand], found: Found) -> Reading:
    for reading in interpret(found.grouping, strands):
        if _is_called(reading, found.conversation):
            reading.conversation.links = found.conversation.links
            reading.conversation.title = found.conversation.title
            return reading
    raise NotFound("conversation-unreadable", id=found.conversation.id)


def _is_called(reading: Reading, conversation: Conversation) -> bool:
    """Whether it is this conversation, or what this one has just turned out to be."""
    known_as = {tie.token for tie in reading.link_tokens if tie.kind == "alias"}
    about = reading.conversation
    same = about.native_id == conversation.native_id and about.nature != "titles"
    return same or conversation.id in known_as


def _until(reading: Reading, as_of: str) -> Reading:
    """Only what was said by then."""
    messages = [m for m in reading.messages() if m.at is not None and m.at <= as_of]
    if not messages:
        conversation = reading.conversation
        raise NotFound(
            "not-begun-yet",
            id=conversation.id,
            when=as_of,
            start=conversation.started_at or "an unknown time",
        )
    return msgspec.structs.replace(reading, messages=lambda: messages, stream=None)


def with_subagents(archive: Archive, found: Found) -> list[Found]:
    """A conversation and the sub-agents that worked for it, and theirs; and its plan."""
    everything = {found.conversation.id: found}
    waiting = [found]
    while waiting:
        for link in waiting.pop().conversation.links:
            ours = link.kind in ("subagent", "plan") and link.side == "child"
            if ours and link.id not in everything:
                everything[link.id] = archive.find(link.id)
                waiting.append(everything[link.id])
    return list(everything.values())


def _unreadable(conversation: str, strand: Strand, trouble: Trouble) -> Reading:
    return Reading(
        conversation=Conversation(
            id=f"{strand.source}/{conversation}",
            source=strand.source,
            native_id=conversation,
            project=strand.project,
            title=UNREADABLE,
            troubles=[trouble],
            upstream="present" if strand.present else "gone",
        ),
        messages=list,
    )


def losses(conversation: Conversation) -> list[Trouble]:
    """What of a conversation the archive itself has lost."""
    return [trouble for trouble in conversation.troubles if trouble.message.endswith(_LOST)]


def _loss(strand: Strand, lost: int) -> Trouble:
    return Trouble.of(strand.place, "records-lost", n=lost)


def _out_of_memory(strand: Strand) -> Trouble:
    return Trouble.of(strand.place, "no-memory")


def _mistake(strand: Strand, error: Exception) -> Trouble:
    return Trouble.of(strand.place, "not-interpreted", kind=type(error).__name__, why=error)


def _as_error(lack: Trouble) -> RirekiError:
    why = Wording(lack.message)
    return RirekiError("trouble-at", hint=lack.hint, place=lack.place, why=why)
