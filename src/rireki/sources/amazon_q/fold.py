"""What all the strands of one conversation mean: the interpreter of Amazon Q and Kiro.

A conversation may lie in two databases, in an event log and in exported files
at once; it is told once, the richest copy first. Pure: no disk, no clock, and
nothing here raises for what a source wrote.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from rireki.model.conversation import Reading, Trouble
from rireki.model.strand import Ref, Strand
from rireki.model.times import from_iso
from rireki.sources.amazon_q.blocks import KiroSession, open_session
from rireki.sources.amazon_q.chats import tell_chats
from rireki.sources.amazon_q.facts import RowFacts, conclude, folder_of
from rireki.sources.amazon_q.files import (
    DATABASE,
    EXPORT,
    LISTED,
    LIVE,
    LOG,
    ROW,
    SAVE,
    SESSION,
    TYPED,
    V3_LOG,
    V3_SESSION,
    V3_SUB,
    agent_of,
    open_export,
    session_of,
)
from rireki.sources.amazon_q.ide import tell_sessions
from rireki.sources.amazon_q.join import TranscriptNote, add_typed, join, not_typed
from rireki.sources.amazon_q.log import Replay
from rireki.sources.amazon_q.messages import SavedStory
from rireki.sources.amazon_q.pending import SavedMessage, make_task, short_hash
from rireki.sources.amazon_q.rows import directory_of, is_left_behind
from rireki.sources.amazon_q.third import Telling, V3Session, open_v3_session
from rireki.sources.amazon_q.versions import Chronicle, chronicle
from rireki.sources.kit.decode import NotReadable, load, text_of
from rireki.sources.kit.document import LANE as WHOLE
from rireki.sources.kit.fields import string
from rireki.sources.kit.jsonl import LANE
from rireki.sources.kit.records import KEPT, document_of, records_of

__all__ = ["interpret"]
#: Whose a conversation is that several have.
_SOURCES = ("amazon-q", "kiro", "kiro-ide")
_TELLING = (*LIVE, SAVE, EXPORT, SESSION, V3_SESSION, TYPED, LISTED)


def interpret(source: str, conversation: str, strands: Sequence[Strand]) -> list[Reading]:
    strands = [_as_row(one) for one in strands if one.states]
    strands = [one for one in strands if one.role in _TELLING]
    if all(one.role in (V3_SESSION, LISTED) for one in strands):
        # A folder without messages, or a name in a list: nothing was said there.
        return []
    first, *others = _apart(strands)
    found = _read(conversation, first)
    return [*found, *(one for some in others for one in _read(conversation, some, apart=True))]


def _apart(strands: Sequence[Strand]) -> list[list[Strand]]:
    """Folders of the third engine with one name and different talks; mostly, all strands are one talk."""
    kept: dict[str, list[str]] = {}
    for one in _of(strands, V3_LOG):
        ids = [string(line.value, "id") for line in records_of(one, [])]
        if not any(_goes_on(ids, known) for known in kept.values()):
            kept[folder_of(one.place)] = ids
    if len(kept) < 2:
        return [list(strands)]
    others = list(kept)[1:]
    apart = [[one for one in strands if folder_of(one.place) == folder] for folder in others]
    return [[one for one in strands if folder_of(one.place) not in others], *apart]


def _goes_on(ids: Sequence[str], known: Sequence[str]) -> bool:
    """Whether one list is the beginning of the other."""
    shared = min(len(ids), len(known))
    return ids[:shared] == known[:shared]


def _as_row(strand: Strand) -> Strand:
    """Where a damaged archive has lost what a strand was, it is called what its file is."""
    return msgspec.structs.replace(strand, role=ROW) if strand.role == DATABASE else strand


def _read(conversation: str, strands: Sequence[Strand], *, apart: bool = False) -> list[Reading]:
    """The conversation, and the sub-agents that files of the editor have beside it."""
    live = [one for one in strands if one.role in LIVE and not _is_stale(one, strands)] or strands
    source = next(name for name in _SOURCES if any(one.source == name for one in strands))
    facts = RowFacts(source, conversation, strands, live=live)
    facts.apart = apart
    facts.thirds = _thirds(facts)
    flow = _saved(facts, live)
    for one in _of(strands, LOG):
        _join(facts, flow, *_replayed(facts, one))
    facts.old = [*tell_sessions(facts), *tell_chats(facts)]
    flow += facts.old
    for one in _of(strands, V3_LOG, V3_SUB):
        drafts, entries = _told(facts, one)
        _join(facts, flow, _without_copies(facts, drafts), entries)
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
    reading = conclude(facts, flow)
    agents = [(one, facts.agents[one.id]) for one in strands if one.id in facts.agents]
    return [reading, *(_read_agent(facts, run, one) for one, run in agents)]


def _read_agent(parent: RowFacts, run: str, strand: Strand) -> Reading:
    facts = RowFacts(parent.source, run, [strand], live=[strand], is_agent=True)
    flow = tell_sessions(facts)
    for directory in parent.directories[:1]:
        facts.note_directory(directory)
    return conclude(facts, flow)


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
        facts.note_model(chronicles[0].newest.model)
    return flow


def _opening(one: Chronicle) -> list[str]:
    """The first prompt and answer that were shown in a directory."""
    lines = [noted.text for noted in one.transcript[:2]]
    return [f"{one.strand.project}:{short_hash(text_of(lines))}"] if len(lines) == 2 else []


def _richness(one: Chronicle) -> tuple[bool, int, str]:
    """A row before a saved file, the longer history before the shorter, then the newer."""
    return one.strand.role == ROW, len(one.newest.history), one.strand.last_seen


def _replayed(facts: RowFacts, strand: Strand) -> tuple[list[SavedMessage], int]:
    replay = Replay(facts.pictures)
    for line in records_of(strand, facts.troubles):
        replay.feed(line.value, line.position, line.held, line.refs)
    return replay.finish(strand.present), replay.entries


def _told(facts: RowFacts, strand: Strand) -> tuple[list[SavedMessage], int]:
    forked = next((one.forked_at for one in facts.thirds if one.forked_at), None)
    telling = Telling(forked, strand.role == V3_SUB or facts.is_subagent)
    telling.feed_all(list(records_of(strand, facts.troubles)))
    facts.answers += telling.credits
    session = session_of(strand.place) if telling.children else ""
    facts.children |= {agent_of(session, id): call for id, call in telling.children.items()}
    return telling.drafts, telling.entries


def _without_copies(facts: RowFacts, drafts: list[SavedMessage]) -> list[SavedMessage]:
    """A session that was migrated goes on in its new folder: the turns that the editor's old files
    have, with more detail, are told once."""
    known = [one for one in facts.old if one.typed]
    starts = [number for number, one in enumerate(drafts) if one.typed]
    shared = 0
    for number, one in zip(starts, known, strict=False):
        if drafts[number].witness != one.witness:
            break
        one.message.at = one.message.at or drafts[number].message.at
        shared += 1
    if not shared:
        return drafts
    return drafts[starts[shared] if shared < len(starts) else len(drafts) :]


def _thirds(facts: RowFacts) -> list[V3Session]:
    """What `session.json` says; without those of folders that were made and never used."""
    used = {folder_of(one.place) for one in _of(facts.strands, V3_LOG)}
    strands = [one for one in _of(facts.strands, V3_SESSION) if folder_of(one.place) in used]
    return [open_v3_session(document_of(one, facts.troubles)) for one in strands]


def _exported(facts: RowFacts, strand: Strand, live: bool) -> tuple[list[SavedMessage], int]:
    replay = Replay(facts.pictures)
    try:
        export = open_export(_bytes(strand))
    except NotReadable as error:
        facts.troubles.append(Trouble.of(strand.place, error))
        return [], 0
    facts.sessions.append(open_session(export.metadata))
    refs = [Ref(strand.id, WHOLE, n) for ns in strand.states[-1].ordinals(WHOLE) for n in ns]
    for position, entry in enumerate(export.entries, 1):
        # A line out of a zip stands in no record as it is.
        packed = isinstance(entry, bytes)
        try:
            if not packed or entry.strip():
                value, held = (load(entry), []) if packed else (entry, refs)
                replay.feed(value, position, refs=held)
        except NotReadable as error:
            place = f"{strand.place}: line {position}"
            facts.troubles.append(Trouble.of(place, error, KEPT))
    return replay.finish(live and strand.present), replay.entries


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
        value = document_of(strand, facts.troubles)
        facts.sessions.insert(0, open_session(value))
    for session in facts.sessions:
        _note_session(facts, session)
    for third in facts.thirds:
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
        raise NotReadable("too-large-to-read")
    return strand.document()


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
