"""What journals are read as: a conversation of their own, or what they add to the agent's.

The counts of a joined conversation are the agent's own, and what was added to them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from rireki.home import BRIDGE
from rireki.journals.session_entry import BridgeEntry
from rireki.model.conversation import Conversation, LinkToken, Reading, Tally, Trouble, pattern_of
from rireki.model.message import Message
from rireki.model.strand import Strand
from rireki.model.times import from_iso
from rireki.sources import registry
from rireki.sources.bridge import lines
from rireki.sources.bridge.filing import name_in, named
from rireki.sources.bridge.join import Joined, join
from rireki.sources.bridge.lines import BridgeJournal
from rireki.sources.bridge.matching import rule_of
from rireki.sources.bridge.messages import BridgeTranscript
from rireki.sources.kit.pending import conversation_of, first_words, upstream_of

__all__ = ["interpret", "join_readings"]

#: Kinds that are news of a conversation; in others the program speaks about itself.
_NEWS = {
    *("start", "prompt", "edit", "withdraw", "given", "turn_end"),
    *("text", "thought", "call", "result", "plan", "ask", "answer"),
}


def interpret(source: str, conversation: str, strands: Sequence[Strand]) -> list[Reading]:
    """Journals without any transcript."""
    troubles: list[Trouble] = []
    journals = lines.read_journals(strands, troubles)
    if not troubles and not any(journal.lines for journal in journals):
        return []
    return [_alone(conversation, journals, strands, troubles)]


def join_readings(
    conversation: str, strands: Sequence[Strand], readings: Sequence[Reading]
) -> list[Reading]:
    """The readings of an agent's own records, with what journals have beyond them."""
    troubles: list[Trouble] = []
    journals = lines.read_journals(strands, troubles)
    # As they are now, all of them say so; as they were, some may not yet have known.
    journals = [one for one in journals if name_in(one.entries, conversation) is not None]
    if not journals:
        return list(readings)
    mine = [one for one in readings if _is_told(one, conversation)]
    if not mine:
        return [*readings, _alone(conversation, journals, strands, troubles)]
    joined = _joined(mine[0], journals, troubles)
    return [joined if one is mine[0] else one for one in readings]


def _is_told(reading: Reading, conversation: str) -> bool:
    about = reading.conversation
    named = (
        about.native_id == conversation
        or LinkToken("alias", "offer", conversation) in reading.link_tokens
    )
    return named and about.nature != "titles"


def _alone(
    conversation: str,
    journals: Sequence[BridgeJournal],
    strands: Sequence[Strand],
    troubles: list[Trouble],
) -> Reading:
    story = BridgeTranscript(journals)
    entries = [entry for journal in journals for entry in journal.entries]
    named_by = (name_in(journal.entries, conversation) for journal in journals)
    conversation = next(filter(None, named_by), conversation)
    source = _source(conversation, journals)
    upstream = upstream_of(any(strand.present for strand in strands), story.messages)
    story.tally.entries = len(entries)
    found = conversation_of(
        source,
        conversation,
        story.tally,
        _times(entries),
        project=_said(entries, "project") or None,
        title=_title(entries, story.messages),
        upstream=upstream,
        held_by=[BRIDGE] if source == BRIDGE and upstream != "gone" else [],
        troubles=troubles,
        models=list(filter(None, [_said(entries, "model")])),
    )
    return Reading(
        conversation=found,
        messages=lambda: story.messages,
        link_tokens=_aliases(found, journals),
        attachment=story.pictures.bytes_of,
        records=lambda: story.records,
    )


def _joined(
    reading: Reading, journals: Sequence[BridgeJournal], troubles: list[Trouble]
) -> Reading:
    story = BridgeTranscript(journals)
    entries = [entry for journal in journals for entry in journal.entries]
    transcript = reading.messages()
    joined = join(transcript, story.messages, story.running)
    about = msgspec.structs.replace(reading.conversation)
    about.troubles = [*about.troubles, *troubles]
    about.project = about.project or _said(entries, "project") or None
    about.title = about.title or _title(entries, story.messages)
    times = [time for time in (about.started_at, about.updated_at) if time] + _times(entries)
    about.started_at, about.updated_at = min(times, default=None), max(times, default=None)
    _count(about, transcript, joined, story)
    refs = {name: story.records[there] for name, there in joined.names.items()}
    return Reading(
        conversation=about,
        messages=lambda: joined.messages,
        answers=reading.answers,
        link_tokens=[*reading.link_tokens, *_aliases(about, journals)],
        attachment=lambda digest: reading.attachment(digest) or story.pictures.bytes_of(digest),
        records=lambda: {**reading.records(), **refs},
    )


def _count(
    about: Conversation, transcript: Sequence[Message], joined: Joined, story: BridgeTranscript
) -> None:
    """Add what only the journals have."""
    about.messages += len(joined.kept)
    given = [one for one in joined.kept if one.entry and "given" in one.entry.flags]
    about.turns += len(given)
    about.turns_at = sorted([*about.turns_at, *(one.at for one in given if one.at)])
    told, both = Tally(), Tally()
    for message in transcript:
        told.note(message.parts)
    for message in (*joined.kept, *transcript):
        both.note(message.parts)
    about.tool_calls += len(both.calls) - len(told.calls)
    fresh = Counter(tool for call, tool in both.calls.items() if call not in told.calls)
    about.tools = dict(Counter(about.tools) + fresh)
    failed = Counter(both.errors) - Counter(told.errors)
    about.tool_errors = dict(Counter(about.tool_errors) + failed)
    about.tool_results += len(both.results) - len(told.results)
    about.calls_without_result += len(both.unanswered) - len(told.unanswered)
    about.results_without_call += len(both.unasked) - len(told.unasked)
    about.finished = _finished(about, joined, story)
    about.pattern = pattern_of(about.tool_calls)


def _finished(about: Conversation, joined: Joined, story: BridgeTranscript) -> bool:
    """As the journals say, if they have the last word; as the agent's own records say, if they do."""
    if any(message.label == "queued" for message in joined.kept):
        return False
    kept = {message.id for message in joined.kept}
    spoken = (m for m in reversed(joined.messages) if m.display != "hidden")
    last = next(spoken, None)
    return story.tally.finished if last is not None and last.id in kept else about.finished


def _source(conversation: str, journals: Sequence[BridgeJournal]) -> str:
    """Whose conversation it is: what a journal says, or, before it knew, what its agent leaves."""
    for journal in journals:
        if source := named(journal.entries).get(conversation):
            return source
    if any(journal.id == conversation for journal in journals):
        return BRIDGE
    left = _said([entry for journal in journals for entry in journal.entries], "source")
    return left if left in registry.names() else BRIDGE


def _aliases(about: Conversation, journals: Sequence[BridgeJournal]) -> list[LinkToken]:
    """The names under which it was known before its own was."""
    names: dict[str, None] = {}
    for journal in journals:
        names[f"{BRIDGE}/{journal.id}"] = None
        names |= {f"{source}/{id}": None for id, source in named(journal.entries).items()}
    own = {about.id, f"{_source(about.native_id, journals)}/{about.native_id}"}
    return [LinkToken("alias", "offer", name) for name in names if name not in own]


def _said(entries: Sequence[BridgeEntry], name: str) -> str:
    """What the newest beginning says of it."""
    said = [entry.text(name) for entry in entries if entry.kind == "start"]
    return next((text for text in reversed(said) if text), "")


def _title(entries: Sequence[BridgeEntry], messages: Sequence[Message]) -> str:
    if title := _said(entries, "title"):
        return title
    return first_words(m for m in messages if rule_of(m) == "prompt" and m.label != "withdrawn")


def _times(entries: Sequence[BridgeEntry]) -> list[str]:
    return [at for entry in entries if entry.kind in _NEWS and (at := from_iso(entry.at))]
