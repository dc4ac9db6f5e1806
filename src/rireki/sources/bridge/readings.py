"""What journals are read as: a conversation of their own, or what they add to the agent's.

The counts of a joined conversation are the agent's own, and what was added to them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

import msgspec

from rireki.model.clusters import beginning
from rireki.model.conversation import Conversation, ConversationUpstream, Reading, Tie, Trouble
from rireki.model.message import Message
from rireki.model.parts import Text, ToolCall, ToolResult
from rireki.model.strand import Strand
from rireki.model.tally import pattern_of
from rireki.model.times import from_iso
from rireki.sources import registry
from rireki.sources.bridge import lines
from rireki.sources.bridge.drafts import picture
from rireki.sources.bridge.entry import BridgeEntry
from rireki.sources.bridge.filing import name_in, named
from rireki.sources.bridge.join import Joined, join
from rireki.sources.bridge.lines import BridgeJournal
from rireki.sources.bridge.messages import BridgeTranscript
from rireki.sources.bridge.words import rule_of
from rireki.sources.kit.places import BRIDGE

__all__ = ["join_readings", "read_journals"]

TITLE = 200
#: Kinds that are news of a conversation; in others the program speaks about itself.
_NEWS = {
    *("start", "prompt", "edit", "withdraw", "given", "turn_end"),
    *("text", "thought", "call", "result", "plan", "ask", "answer"),
}


def read_journals(conversation: str, strands: Sequence[Strand]) -> list[Reading]:
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
    named = about.native_id == conversation or Tie("alias", "offer", conversation) in reading.ties
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
    upstream = _upstream(strands, story.messages)
    found = Conversation(
        id=f"{source}/{conversation}",
        source=source,
        native_id=conversation,
        project=_said(entries, "project") or None,
        title=_title(entries, story.messages),
        upstream=upstream,
        held_by=[BRIDGE] if source == BRIDGE and upstream != "gone" else [],
        troubles=troubles,
        models=list(filter(None, [_said(entries, "model")])),
    )
    _date(found, entries)
    story.tally.entries = len(entries)
    story.tally.fill(found)
    return Reading(
        conversation=found,
        messages=lambda: story.messages,
        ties=_aliases(found, journals),
        attachment=partial(_attachment, entries),
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
    _date(about, entries)
    _count(about, transcript, joined, story)
    refs = {name: story.records[there] for name, there in joined.names.items()}
    return Reading(
        conversation=about,
        messages=lambda: joined.messages,
        answers=reading.answers,
        ties=[*reading.ties, *_aliases(about, journals)],
        attachment=lambda digest: reading.attachment(digest) or _attachment(entries, digest),
        records=lambda: {**reading.records(), **refs},
    )


def _count(
    about: Conversation, transcript: Sequence[Message], joined: Joined, story: BridgeTranscript
) -> None:
    """Add what only the journals have."""
    about.messages += len(joined.kept)
    about.turns += sum(1 for one in joined.kept if one.entry and "given" in one.entry.flags)
    calls, results = _calls(transcript), _results(transcript)
    all_calls, all_results = _calls(joined.kept) | calls, results | _results(joined.kept)
    about.tool_calls += len(all_calls) - len(calls)
    fresh = Counter(tool for call, tool in all_calls.items() if call not in calls)
    about.tools = dict(Counter(about.tools) + fresh)
    about.tool_results += len(all_results) - len(results)
    about.calls_without_result += len(all_calls.keys() - all_results) - len(calls.keys() - results)
    about.results_without_call += len(all_results - all_calls.keys()) - len(results - calls.keys())
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


def _calls(messages: Sequence[Message]) -> dict[str, str]:
    return {p.call_id: p.name for m in messages for p in m.parts if isinstance(p, ToolCall)}


def _results(messages: Sequence[Message]) -> set[str]:
    return {p.call_id for m in messages for p in m.parts if isinstance(p, ToolResult)}


def _source(conversation: str, journals: Sequence[BridgeJournal]) -> str:
    """Whose conversation it is: what a journal says, or, before it knew, what its agent leaves."""
    for journal in journals:
        if source := named(journal.entries).get(conversation):
            return source
    if any(journal.id == conversation for journal in journals):
        return BRIDGE
    left = _said([entry for journal in journals for entry in journal.entries], "source")
    return left if left in registry.names() else BRIDGE


def _aliases(about: Conversation, journals: Sequence[BridgeJournal]) -> list[Tie]:
    """The names under which it was known before its own was."""
    names: dict[str, None] = {}
    for journal in journals:
        names[f"{BRIDGE}/{journal.id}"] = None
        names |= {f"{source}/{id}": None for id, source in named(journal.entries).items()}
    own = {about.id, f"{_source(about.native_id, journals)}/{about.native_id}"}
    return [Tie("alias", "offer", name) for name in names if name not in own]


def _said(entries: Sequence[BridgeEntry], name: str) -> str:
    """What the newest beginning says of it."""
    said = [entry.text(name) for entry in entries if entry.kind == "start"]
    return next((text for text in reversed(said) if text), "")


def _title(entries: Sequence[BridgeEntry], messages: Sequence[Message]) -> str:
    if title := _said(entries, "title"):
        return title
    typed = [m for m in messages if rule_of(m) == "prompt" and m.label != "withdrawn"]
    for message in typed:
        for part in message.parts:
            if isinstance(part, Text) and part.text.strip():
                return beginning(" ".join(part.text.split()), TITLE)
    return ""


def _date(about: Conversation, entries: Sequence[BridgeEntry]) -> None:
    times = [at for entry in entries if entry.kind in _NEWS and (at := from_iso(entry.at))]
    about.started_at = min([*filter(None, [about.started_at]), *times], default=None)
    about.updated_at = max([*filter(None, [about.updated_at]), *times], default=None)


def _upstream(strands: Sequence[Strand], messages: Sequence[Message]) -> ConversationUpstream:
    if not any(strand.present for strand in strands):
        return "gone"
    return "changed" if any(message.upstream == "gone" for message in messages) else "present"


def _attachment(entries: Sequence[BridgeEntry], digest: str) -> bytes | None:
    for entry in entries:
        images = entry.more.get("images")
        for image in images if isinstance(images, list) else ():
            made = picture(image)
            if made is not None and made[0].digest == digest:
                return made[1]
    return None
