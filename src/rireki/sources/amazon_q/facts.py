"""From the messages in order to the conversation as lists see it: numbers, times, title, ties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, NamedTuple

from rireki.model.clusters import beginning
from rireki.model.conversation import Answer, Conversation, LinkToken, Trouble
from rireki.model.message import Message
from rireki.model.parts import Text
from rireki.model.strand import Ref, Strand
from rireki.model.tally import total_usage
from rireki.model.times import from_iso, from_ms, to_datetime
from rireki.sources.amazon_q.blocks import KiroSession
from rireki.sources.amazon_q.files import LIVE, V3_LOG, V3_PREFIX, V3_SESSION
from rireki.sources.amazon_q.pending import REDACTED, TASK, PictureStore, SavedMessage
from rireki.sources.kit.pending import conversation_of, count, make_unique, upstream_of

__all__ = ["InterpretedConversation", "RowFacts", "conclude"]

_TITLE = 150
#: More rows than this are not told apart where it was not noted how many there were.
_ROWS = 10_000
#: How many answers, from each end, are compared with other conversations.
_SHARED = 3


@dataclass(slots=True)
class RowFacts:
    """What is known about a conversation besides its messages."""

    conversation: str
    strands: Sequence[Strand]
    pictures: PictureStore = field(default_factory=PictureStore)
    entries: int = 0
    directories: list[str] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    times: list[str] = field(default_factory=list)
    title: str = ""
    sessions: list[KiroSession] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)
    #: It began with the summary of another conversation.
    continues: bool = False
    #: How the transcript begins, with its directory: a compaction carries it on.
    openings: list[str] = field(default_factory=list)
    #: Nothing but typed lines is left.
    prompts_only: bool = False

    @property
    def native_id(self) -> str:
        """As the agent names it. A session of Kiro's third engine is its folder, `sess_…`; it is filed
        by the shorter form, as it was before it was known that this is part of its name."""
        if any(one.role in LIVE and one.role != V3_LOG for one in self.strands):
            return self.conversation
        folders = [_folder(one.place) for one in self.strands if one.role in (V3_LOG, V3_SESSION)]
        named = (name for name in folders if name == V3_PREFIX + self.conversation)
        return next(named, self.conversation)

    @property
    def is_subagent(self) -> bool:
        return any(session.is_subagent for session in self.sessions)

    def note_directory(self, directory: str | None) -> None:
        if directory and directory not in self.directories:
            self.directories.append(directory)

    def note_model(self, model: str | None) -> None:
        if model and model not in self.models:
            self.models.append(model)

    def note_time(self, moment: object) -> None:
        known = from_iso(moment)
        if known:
            self.times.append(known)


class InterpretedConversation(NamedTuple):
    """A conversation, completely understood."""

    conversation: Conversation
    messages: list[Message]
    answers: list[Answer]
    link_tokens: list[LinkToken]
    pictures: dict[str, bytes]
    #: The records of each message, by its id.
    records: dict[str, list[Ref]]


def conclude(
    facts: RowFacts, flow: list[SavedMessage], live: Sequence[Strand]
) -> InterpretedConversation:
    make_unique(flow)
    conversation = _conversation(facts, flow, live)
    answers = [answer for one in facts.sessions for answer in one.answers(facts.conversation)]
    conversation.usage = total_usage(answers)
    return InterpretedConversation(
        conversation,
        [draft.message for draft in flow],
        answers,
        _ties(facts, flow),
        facts.pictures.found,
        {draft.message.id: draft.refs for draft in flow},
    )


def _conversation(
    facts: RowFacts, flow: Sequence[SavedMessage], live: Sequence[Strand]
) -> Conversation:
    source = "amazon-q" if any(one.source == "amazon-q" for one in facts.strands) else "kiro"
    for draft in flow:
        facts.note_time(draft.message.at)
    if not facts.directories:
        facts.note_directory(next((d.directory for d in flow if d.directory), None))
    times = facts.times or _filed(facts.strands)
    observed = [] if times else _observed(facts.strands)
    return conversation_of(
        source,
        facts.native_id,
        count(flow, facts.entries),
        times or observed,
        project=facts.directories[0] if facts.directories else None,
        trail=facts.directories[1:],
        title=facts.title or _title(flow),
        times_from="rireki" if observed else "source",
        upstream=upstream_of(
            any(strand.present for strand in live), (draft.message for draft in flow)
        ),
        troubles=facts.troubles,
        models=facts.models,
        nature=_nature(facts),
        held_by=sorted({one.source for one in live if one.present and one.role in LIVE}),
    )


def _nature(facts: RowFacts) -> Literal["conversation", "subagent", "prompts"]:
    if facts.is_subagent:
        return "subagent"
    return "prompts" if facts.prompts_only else "conversation"


def _filed(strands: Sequence[Strand]) -> list[str]:
    """The times beside Kiro's rows. A migration stamped the rows it copied: both alike, in seconds."""
    times: list[str | None] = []
    for strand in strands:
        created, updated = _noted(strand, "created_at"), _noted(strand, "updated_at")
        times += [from_ms(updated)] if updated and not _is_stamp(created, updated) else []
        times += [from_ms(created)] if created and created % 1000 else []
    return [time for time in times if time]


def _is_stamp(created: int, updated: int) -> bool:
    return created == updated and updated % 1000 == 0


def _noted(strand: Strand, name: str) -> int:
    value = strand.cursor.get(name) if isinstance(strand.cursor, dict) else None
    return value if isinstance(value, int) else 0


def _observed(strands: Sequence[Strand]) -> list[str]:
    """For sources without clocks: when we first saw it, and when we saw it change."""
    seen = [_first_seen(one) for one in strands]
    return [time for time in seen if time] + [
        after.at
        for strand in strands
        for before, after in pairwise(strand.states)
        if (before.runs, before.tail) != (after.runs, after.tail)
    ]


def _first_seen(strand: Strand) -> str | None:
    """The rows of a database are all seen at once, in the order in which they were last saved: each
    counts as seen a millisecond before the next, so that lists have them in that order."""
    moment = to_datetime(strand.first_seen)
    if moment is None or "rowid" not in (strand.cursor or ()):
        return strand.first_seen
    later = strand.cursor.get("later")
    if not isinstance(later, int):
        # Taken in before the rows behind it were counted.
        later = max(_ROWS - _noted(strand, "rowid"), 0)
    return from_ms(moment.timestamp() * 1000 - later)


def _title(flow: Sequence[SavedMessage]) -> str:
    """The first line of the story that a person typed, even if only the transcript still has it.

    A sub-agent is named after the task it was given.
    """
    for message in (draft.message for draft in flow):
        asks = message.author == "person" or (message.entry and message.entry.rule == TASK)
        if asks and message.display == "bubble" and not message.replaced_by:
            line = _first_line(message)
            if line and not line.endswith(REDACTED):
                return beginning(line, _TITLE)
    return ""


def _first_line(message: Message) -> str:
    text = next((part.text for part in message.parts if isinstance(part, Text)), "")
    return next((line.strip() for line in text.split("\n") if line.strip()), "")


def _aliases(facts: RowFacts) -> list[LinkToken]:
    """The shorter form of a name still finds it, wherever it was noted down."""
    if facts.native_id == facts.conversation:
        return []
    return [
        LinkToken("alias", "offer", facts.conversation),
        LinkToken("alias", "offer", f"kiro/{facts.conversation}"),
    ]


def _folder(place: str) -> str:
    return place.replace("\\", "/").split("/")[-2] if "/" in place.replace("\\", "/") else ""


def _ties(facts: RowFacts, flow: Sequence[SavedMessage]) -> list[LinkToken]:
    said = list(dict.fromkeys(draft.answer for draft in flow if draft.answer))
    ends = dict.fromkeys([*said[:_SHARED], *said[-_SHARED:]])
    link_tokens = [
        LinkToken("subagent", "offer", f"session:{facts.conversation}"),
        *_aliases(facts),
    ]
    link_tokens += [
        LinkToken("continuation" if facts.continues else "fork", "share", f"answer:{answer}")
        for answer in ends
    ]
    link_tokens += [
        LinkToken("continuation", "want" if facts.continues else "offer", f"opening:{opening}")
        for opening in facts.openings
    ]
    link_tokens += [
        LinkToken("subagent", "want", f"session:{session.parent_session_id}")
        for session in facts.sessions
        if session.is_subagent
    ]
    return link_tokens
