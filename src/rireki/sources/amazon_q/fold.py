"""What all the strands of one conversation mean: the interpreter of Amazon Q and Kiro.

A conversation may lie in two databases, in an event log and in exported files
at once; it is told once, the richest copy first. Pure: no disk, no clock, and
nothing here raises for what a source wrote.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from rireki.model.conversation import Reading, Trouble
from rireki.model.strand import Ref, Strand
from rireki.model.times import from_iso
from rireki.sources.amazon_q.blocks import KiroSession, open_session
from rireki.sources.amazon_q.facts import InterpretedConversation, RowFacts, conclude
from rireki.sources.amazon_q.files import (
    DATABASE,
    EXPORT,
    LIVE,
    LOG,
    ROW,
    SAVE,
    SESSION,
    TYPED,
    V3_LOG,
    V3_SESSION,
    open_export,
)
from rireki.sources.amazon_q.join import TranscriptNote, add_typed, join, not_typed
from rireki.sources.amazon_q.log import Replay, Telling, open_v3_session
from rireki.sources.amazon_q.messages import SavedStory, shown
from rireki.sources.amazon_q.pending import SavedMessage, make_task, short_hash
from rireki.sources.amazon_q.rows import directory_of, is_left_behind
from rireki.sources.amazon_q.versions import Chronicle, chronicle
from rireki.sources.kit.decode import NotReadable, load, text_of
from rireki.sources.kit.document import LANE as WHOLE
from rireki.sources.kit.jsonl import LANE

__all__ = ["interpret"]
_TELLING = (*LIVE, SAVE, EXPORT, SESSION, V3_SESSION, TYPED)


def interpret(conversation: str, strands: Sequence[Strand]) -> list[Reading]:
    strands = [_as_row(one) for one in strands if one.states]
    strands = [one for one in strands if one.role in _TELLING]
    if not strands:
        return []
    told = _tell(conversation, strands)
    return [
        Reading(
            conversation=told.conversation,
            messages=lambda: told.messages,
            answers=told.answers,
            link_tokens=told.link_tokens,
            attachment=told.pictures.get,
            records=lambda: told.records,
            shown=lambda: shown(told.messages),
        )
    ]


def _as_row(strand: Strand) -> Strand:
    """Where a damaged archive has lost what a strand was, it is called what its file is."""
    return msgspec.structs.replace(strand, role=ROW) if strand.role == DATABASE else strand


def _tell(conversation: str, strands: Sequence[Strand]) -> InterpretedConversation:
    live = [one for one in strands if one.role in LIVE and not _is_stale(one, strands)] or strands
    facts = RowFacts(conversation, strands)
    flow = _saved(facts, live)
    for one in _of(strands, LOG):
        _join(facts, flow, *_replayed(facts, one))
    for one in _of(strands, V3_LOG):
        _join(facts, flow, *_told(facts, one))
    for one in _of(strands, EXPORT):
        _join(facts, flow, *_exported(facts, one, one in live))
    _open_sessions(facts)
    _date_answers(facts, flow)
    typed = [_typed(one) for one in _of(strands, TYPED)]
    if facts.is_subagent:
        # A person can look over a sub-agent's shoulder and join in: those lines are noted as typed.
        for draft in not_typed(flow, [line for lines in typed for line in lines]):
            make_task(draft)
    for lines in typed:
        add_typed(flow, lines)
    facts.prompts_only = all(one.role == TYPED for one in strands)
    return conclude(facts, flow, live)


def _is_stale(one: Strand, strands: Sequence[Strand]) -> bool:
    return is_left_behind(one.key, [other.key for other in strands if other.place == one.place])


def _of(strands: Sequence[Strand], *roles: str) -> list[Strand]:
    return [one for one in strands if one.role in roles]


def _saved(facts: RowFacts, live: Sequence[Strand]) -> list[SavedMessage]:
    """The rows and `/save` files, as one story."""
    chronicles = [chronicle(one) for one in _of(facts.strands, ROW, SAVE)]
    if not chronicles:
        return []
    chronicles.sort(key=lambda one: (one.strand in live, *_richness(one)), reverse=True)
    story = SavedStory(chronicles, [one for one in chronicles if one.strand in live])
    flow = story.tell(facts.pictures)
    facts.entries = story.entries
    facts.continues = story.born_compacted
    for one in chronicles:
        facts.note_directory(one.strand.project or directory_of(one.strand.key))
        facts.openings += _opening(one)
        facts.troubles += one.troubles
    for draft in flow:
        facts.note_model(draft.message.model)
    if not facts.models:
        facts.note_model(chronicles[0].newest.head.model_name)
    return flow


def _opening(one: Chronicle) -> list[str]:
    """The first prompt and answer that were shown in a directory."""
    lines = [noted.text for noted in one.transcript[:2]]
    return [f"{one.strand.project}:{short_hash(text_of(lines))}"] if len(lines) == 2 else []


def _richness(one: Chronicle) -> tuple[bool, int, str]:
    """A row before a saved file, the longer history before the shorter, then the newer."""
    return one.strand.role == ROW, len(one.newest.history), one.strand.last_seen


def _replayed(facts: RowFacts, strand: Strand) -> tuple[list[SavedMessage], int]:
    replay = Replay(strand.place, facts.pictures)
    for line, position, held, refs in _lines(strand):
        replay.feed_line(line, position, held, refs)
    _feed_tail(strand, replay)
    facts.troubles += replay.troubles
    return replay.finish(strand.present), replay.entries


def _told(facts: RowFacts, strand: Strand) -> tuple[list[SavedMessage], int]:
    telling = Telling(strand.place)
    for line, position, held, refs in _lines(strand):
        telling.feed_line(line, position, held and strand.present, refs)
    _feed_tail(strand, telling)
    facts.troubles += telling.troubles
    return telling.drafts, telling.entries


def _exported(facts: RowFacts, strand: Strand, live: bool) -> tuple[list[SavedMessage], int]:
    replay = Replay(strand.place, facts.pictures)
    try:
        export = open_export(_bytes(strand))
    except NotReadable as error:
        facts.troubles.append(Trouble(strand.place, str(error)))
        return [], 0
    facts.sessions.append(open_session(export.metadata))
    refs = [Ref(strand.id, WHOLE, n) for ns in strand.states[-1].ordinals(WHOLE) for n in ns]
    for position, entry in enumerate(export.entries, 1):
        # A line out of a zip stands in no record as it is.
        if isinstance(entry, bytes):
            replay.feed_line(entry, position)
        else:
            replay.feed(entry, position, refs=refs)
    facts.troubles += replay.troubles
    return replay.finish(live and strand.present), replay.entries


def _lines(strand: Strand) -> Iterator[tuple[bytes, int, bool, list[Ref]]]:
    """Every line the file ever had, its number, whether the file has it still, and its record."""
    newest = [n for numbers in strand.states[-1].ordinals(LANE) for n in numbers]
    places = {ordinal: place for place, ordinal in enumerate(newest, 1)}
    for count, line in enumerate(strand.story(LANE), 1):
        refs = [Ref(strand.id, LANE, line.ordinal)]
        yield line.data, places.get(line.ordinal, count), line.ordinal in places, refs


def _feed_tail(strand: Strand, teller: Replay | Telling) -> None:
    """A last line without its newline: whole, or torn off in the middle."""
    tail = strand.states[-1].tail
    if not tail.strip():
        return
    position = sum(map(len, strand.states[-1].ordinals(LANE))) + 1
    try:
        load(tail)
    except NotReadable:
        hint = "It is kept; if the agent is still writing, the next import brings the rest."
        place = f"{strand.place}:{position}"
        teller.troubles.append(Trouble(place, "the last line is unfinished", hint))
    else:
        teller.feed_line(tail, position)


def _join(
    facts: RowFacts, flow: list[SavedMessage], drafts: list[SavedMessage], entries: int
) -> None:
    """Add what a log has beyond what is told already."""
    alone = not flow
    added = join(flow, drafts)
    groups = {draft.group for draft in added if draft.group}
    facts.entries += entries if alone else len(groups)


def _open_sessions(facts: RowFacts) -> None:
    """What the files beside the logs say about the conversation as a whole."""
    for strand in _of(facts.strands, SESSION):
        value = _document(facts, strand)
        facts.sessions.insert(0, open_session(value))
    for session in facts.sessions:
        _note_session(facts, session)
    for strand in _of(facts.strands, V3_SESSION):
        third = open_v3_session(_document(facts, strand))
        facts.title = facts.title or third.title or ""
        facts.note_model(third.model)
        for directory in third.workspace_paths or ():
            facts.note_directory(directory)
        facts.note_time(third.created_at)
        facts.note_time(third.modified_at)


def _note_session(facts: RowFacts, session: KiroSession) -> None:
    facts.title = facts.title or session.title or ""
    facts.note_directory(session.cwd)
    facts.note_time(session.updated_at)
    # An export from the first engine is stamped with the moment of the export.
    if not session.exported_from_v1:
        facts.note_time(session.created_at)


def _bytes(strand: Strand) -> bytes:
    if strand.states[-1].in_pieces:
        raise NotReadable("too large to be read")
    return strand.document()


def _document(facts: RowFacts, strand: Strand) -> Any:
    try:
        return load(_bytes(strand))
    except NotReadable as error:
        hint = "It is kept as it was found."
        facts.troubles.append(Trouble(strand.place, str(error), hint))
        return None


def _date_answers(facts: RowFacts, flow: Sequence[SavedMessage]) -> None:
    """Answers in a log carry no time and often no model; the session file knows both."""
    ended = {turn.answer: turn.end_timestamp for one in facts.sessions for turn in one.turns}
    model = next((one.model for one in facts.sessions if one.model), None)
    for draft in flow:
        message = draft.message
        if message.at is None and draft.answer in ended and draft.answer:
            message.at = from_iso(ended[draft.answer])
        facts.note_model(message.model)
    if not facts.models:
        facts.note_model(model)


def _typed(strand: Strand) -> list[TranscriptNote]:
    return [
        TranscriptNote(
            line.data.decode("utf-8", "replace").rstrip("\r\n"),
            line.present,
            [Ref(strand.id, LANE, line.ordinal)],
        )
        for line in strand.story(LANE)
    ]
