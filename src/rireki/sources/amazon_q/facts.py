"""From the messages in order to the conversation as lists see it: numbers, times, title, ties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from rireki.model.clusters import beginning
from rireki.model.conversation import LinkToken, Reading
from rireki.model.message import Message
from rireki.model.parts import Text
from rireki.model.strand import Strand
from rireki.model.times import from_ms, to_datetime
from rireki.sources.amazon_q.blocks import KiroSession
from rireki.sources.amazon_q.files import LIVE, V3_LOG, V3_PREFIX, V3_SESSION, V3_SUB
from rireki.sources.amazon_q.messages import shown
from rireki.sources.amazon_q.pending import REDACTED, TASK, SavedMessage
from rireki.sources.amazon_q.third import V3Session
from rireki.sources.kit.files import stem_of
from rireki.sources.kit.pending import ConversationBuilder

__all__ = ["RowFacts", "conclude", "folder_of"]

_TITLE = 150
#: More rows than this are not told apart where it was not noted how many there were.
_ROWS = 10_000
#: How many answers, from each end, are compared with other conversations.
_SHARED = 3


@dataclass(slots=True)
class RowFacts(ConversationBuilder):
    """A conversation of Amazon Q or Kiro; until it is concluded, `native_id` is what it is filed under."""

    #: The strands that the agent itself works with.
    live: Sequence[Strand] = ()
    sessions: list[KiroSession] = field(default_factory=list)
    #: It began with the summary of another conversation.
    continues: bool = False
    #: How the transcript begins, with its directory: a compaction carries it on.
    openings: list[str] = field(default_factory=list)
    #: Nothing but typed lines is left.
    prompts_only: bool = False
    #: What Kiro's third engine notes beside its messages, and the sub-agents it started, with the calls.
    thirds: list[V3Session] = field(default_factory=list)
    children: dict[str, str | None] = field(default_factory=dict)
    #: Another folder of the same name holds another talk.
    apart: bool = False
    #: The first run of a chat of the editor's first versions.
    chat: str = ""
    #: What was told from the files of the editor.
    old: list[SavedMessage] = field(default_factory=list)
    #: Runs of the editor that are sub-agents' of this conversation, by strand; whether it is one itself.
    agents: dict[int, str] = field(default_factory=dict)
    is_agent: bool = False
    #: The run it begins with, where no session names it: another conversation's may have started it.
    first_run: str = ""

    def own_id(self) -> str:
        """As the agent names it. A session of Kiro's third engine is its folder, `sess_…`; it is filed
        by the shorter form, as it was before it was known that this is part of its name."""
        if any(one.role in LIVE and one.role != V3_LOG for one in self.strands):
            if all(one.role == V3_SUB for one in self.strands):
                # Its own name may be another session's sub-agent's, too.
                return stem_of(self.strands[0].place)
            return self.chat or self.native_id
        logs = [one.place for one in self.strands if one.role in (V3_LOG, V3_SESSION)]
        named = (name for name in map(_folder, logs) if name == V3_PREFIX + self.native_id)
        own = next(named, self.native_id)
        return f"{own}@{_folder(folder_of(logs[0]))}" if self.apart else own

    @property
    def is_subagent(self) -> bool:
        return (
            self.is_agent
            or any(session.is_subagent for session in self.sessions)
            or any(third.reason == "subagent" for third in self.thirds)
            or (bool(self.strands) and all(one.role == V3_SUB for one in self.strands))
        )

    @property
    def present(self) -> bool:
        return any(strand.present for strand in self.live)

    def held_by(self) -> list[str]:
        return sorted({one.source for one in self.live if one.present and one.role in LIVE})


def conclude(facts: RowFacts, flow: list[SavedMessage]) -> Reading:
    """The reading of a conversation whose messages are all in order."""
    filed = facts.native_id
    facts.flow += flow
    facts.native_id = facts.own_id()
    if facts.native_id != filed and all(one.role == V3_SUB for one in facts.strands):
        facts.name = filed
    facts.answers += [answer for one in facts.sessions for answer in one.answers(filed)]
    facts.link_tokens = _ties(facts, filed, flow)
    if not facts.directories:
        facts.note_directory(next((d.directory for d in flow if d.directory), None))
    if not facts.times and not any(draft.message.at for draft in flow):
        facts.times = _filed(facts.strands)
        if not facts.times:
            facts.times, facts.times_from = _observed(facts.strands), "rireki"
    facts.title = facts.title or _title(flow)
    facts.nature = _nature(facts)
    return facts.reading(lambda: shown([draft.message for draft in flow]))


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


def _aliases(facts: RowFacts, filed: str) -> list[LinkToken]:
    """The shorter form of a name still finds it, wherever it was noted down."""
    if facts.native_id == filed or facts.name:
        return []
    return [LinkToken("alias", "offer", filed), LinkToken("alias", "offer", f"kiro/{filed}")]


def folder_of(place: str) -> str:
    """The folder that a file lies in."""
    return place.replace("\\", "/").rpartition("/")[0]


def _folder(place: str) -> str:
    return folder_of(place).rpartition("/")[2]


def _ties(facts: RowFacts, filed: str, flow: Sequence[SavedMessage]) -> list[LinkToken]:
    said = list(dict.fromkeys(draft.answer for draft in flow if draft.answer))
    ends = dict.fromkeys([*said[:_SHARED], *said[-_SHARED:]])
    link_tokens = [
        LinkToken("subagent", "offer", f"session:{filed}"),
        *_aliases(facts, filed),
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
    return link_tokens + _ties_of_third(facts, filed)


def _ties_of_third(facts: RowFacts, filed: str) -> list[LinkToken]:
    """Forks name their parent; a sub-agent is named by the line that started it."""
    tokens = [
        LinkToken("subagent", "offer", f"agent:{child}", call)
        for child, call in facts.children.items()
    ]
    tokens += [
        LinkToken("subagent", "want", f"agent:{filed}")
        for one in facts.strands[:1]
        if one.role == V3_SUB or facts.is_agent
    ]
    if facts.first_run:
        tokens.append(LinkToken("subagent", "want", f"agent:{facts.first_run}"))
    if facts.thirds:
        tokens.append(LinkToken("fork", "offer", f"third:{filed}"))
    for third in facts.thirds:
        parent = (third.parent or "").removeprefix(V3_PREFIX)
        if parent and third.reason == "subagent":
            tokens.append(LinkToken("subagent", "want", f"session:{parent}"))
        elif parent:
            tokens.append(LinkToken("fork", "want", f"third:{parent}"))
    return tokens
