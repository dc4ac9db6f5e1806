"""A conversation as lists and statistics see it, and what a reader found out about it.

`Conversation` is the JSON contract. `Reading` is what an interpreter returns:
the conversation, its messages on demand, and the facts that tie it to others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from rireki.errors import Wording
from rireki.model.message import Message, Usage
from rireki.model.parts import Part, ToolCall, ToolResult
from rireki.model.strand import Ref

__all__ = [
    "Answer",
    "Conversation",
    "ConversationUpstream",
    "Curation",
    "Link",
    "LinkKind",
    "LinkToken",
    "Pattern",
    "Reading",
    "Tally",
    "Trouble",
    "pattern_of",
    "total_usage",
]

LinkKind: TypeAlias = Literal["fork", "subagent", "continuation", "supersedes", "plan"]
ConversationUpstream: TypeAlias = Literal["present", "changed", "gone"]
Pattern: TypeAlias = Literal["simple", "single tool", "several tools"]


class Link(msgspec.Struct, frozen=True):
    """Another conversation and what it is to this one: the `parent` it came from, or its `child`."""

    kind: LinkKind
    id: str
    side: Literal["parent", "child"] = msgspec.field(name="is")
    #: The tool call that started a sub-agent, where there was one.
    call_id: str | None = None


class Trouble(msgspec.Struct, frozen=True):
    """Something that could not be read, where it stands, and what to do about it."""

    place: str
    message: str
    hint: str = ""

    @classmethod
    def of(cls, place: str, code: str | Wording, hint: object = "", **values: object) -> Trouble:
        """Worded from the catalogue of errors, or from an error; stored in English."""
        worded = code if isinstance(code, Wording) else Wording(code, **values)
        message, advice = worded.lines()
        return cls(place, message, str(hint) or advice)


class Answer(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """The tokens of one model answer, keyed by the id the provider gave it, and what sets its price."""

    key: str
    model: str
    usage: Usage
    at: str | None = None
    #: Of the tokens that went into the cache, those that are kept there for an hour.
    cache_write_1h: int = 0
    #: How it was answered, where that has another price: "fast", "us".
    terms: tuple[str, ...] = ()
    #: US dollars, where the agent itself noted what it cost.
    cost: float | None = None
    #: What its provider counts besides tokens, or instead, and how much of it: credits, premium requests.
    unit: str = ""
    amount: float = 0.0

    @property
    def has_tokens(self) -> bool:
        """Whether its tokens were counted, not only what its provider counts instead."""
        return not self.unit or self.usage != Usage()


class LinkToken(msgspec.Struct, frozen=True):
    """A token that two conversations may share; equal tokens become links, or hand over a title.

    `offer` and `want` meet: a sub-agent wants its parent's call, a parent offers it.
    `share` meets itself: two conversations that hold the same answer have one ancestry.
    An `alias` is a name under which a conversation is found as well.
    """

    kind: LinkKind | Literal["title", "alias"]
    role: Literal["offer", "want", "share"]
    token: str
    #: What is handed over: the call that started a sub-agent, or the title one file has for another.
    detail: str | None = None


class Curation(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a person added to a conversation."""

    #: Their title, which comes before the one that its source has.
    title: str | None = None
    tags: tuple[str, ...] = ()
    starred: bool = False
    #: Left out of lists until it is asked for.
    hidden: bool = False
    #: How many notes there are, on the conversation and on its messages.
    notes: int = 0
    #: It is about to be forgotten: nothing lists or finds it any more.
    leaving: bool = False


_NOTHING = Curation()


class Conversation(msgspec.Struct, kw_only=True):
    id: str
    source: str
    native_id: str
    project: str | None = None
    title: str = ""
    started_at: str | None = None
    updated_at: str | None = None
    messages: int = 0
    turns: int = 0
    finished: bool = False
    tool_calls: int = 0
    tool_results: int = 0
    calls_without_result: int = 0
    results_without_call: int = 0
    pattern: Pattern = "simple"
    upstream: ConversationUpstream = "present"
    links: list[Link] = msgspec.field(default_factory=list)
    troubles: list[Trouble] = msgspec.field(default_factory=list)
    usage: Usage | None = None
    #: History entries as the source counts them (lines that are messages, pairs, log entries).
    entries: int = 0
    models: list[str] = msgspec.field(default_factory=list)
    #: Working directories after the first, in the order the agent moved through them.
    trail: list[str] = msgspec.field(default_factory=list)
    #: How often each flag stood on a user-role entry (Claude Code's census).
    flags: dict[str, int] = msgspec.field(default_factory=dict)
    #: How often each tool was called here, by its name as the source writes it: what a fork took over
    #: counts where it was done.
    tools: dict[str, int] = msgspec.field(default_factory=dict)
    #: How many of those calls failed; what a person refused or stopped did not fail.
    tool_errors: dict[str, int] = msgspec.field(default_factory=dict)
    #: When its turns began, as far as the source says.
    turns_at: list[str] = msgspec.field(default_factory=list)
    #: The agents whose own store still has it, so that they can go on with it.
    held_by: list[str] = msgspec.field(default_factory=list)
    #: What kind of conversation this is: a person's, a sub-agent's, or only the prompts that survived.
    #: Notes are none, but read like one: an agent's plan, what it remembers of a project.
    #: Records that have but titles for others are none: what is read of them is not stored as one.
    nature: Literal["conversation", "subagent", "prompts", "titles", "notes"] = "conversation"
    #: Whose clock `started_at` and `updated_at` are of. Some sources keep no times at all: then they
    #: say when rireki first saw the conversation, and when it last saw it change.
    times_from: Literal["source", "rireki"] = "source"

    #: What a person added; UNSET where nobody did, and in what was read of the records.
    curation: Curation | UnsetType = UNSET

    #: The machines it was read on, where the archive has what several read; UNSET elsewhere.
    machines: list[str] | UnsetType = UNSET

    @property
    def added(self) -> Curation:
        """What a person added, be it nothing."""
        return self.curation or _NOTHING

    @property
    def unfinished(self) -> bool:
        """Whether somebody asked and got no answer; of surviving prompts alone nobody can tell."""
        return not self.finished and self.nature != "prompts"

    @property
    def seen_once(self) -> bool:
        """Whether nothing tells when it happened but that it was there when rireki looked."""
        return self.times_from == "rireki" and self.started_at == self.updated_at


class Reading(msgspec.Struct, kw_only=True):
    """What an interpreter makes of the records of one conversation."""

    conversation: Conversation
    #: The whole story in order. Built only when asked for: import needs the summary alone.
    messages: Callable[[], list[Message]]
    #: The same one by one, where the reader can: for who does not keep them all.
    stream: Callable[[], Iterator[Message]] | None = None
    answers: list[Answer] = msgspec.field(default_factory=list)
    link_tokens: list[LinkToken] = msgspec.field(default_factory=list)
    #: The bytes of an attachment, by its digest.
    attachment: Callable[[str], bytes | None] = lambda digest: None
    #: The records each message was made of, by message id; what is shown of it stands in them.
    records: Callable[[], dict[str, list[Ref]]] = dict
    #: Ids of the messages that a model would be shown now, in that order; None: all of the story.
    shown: Callable[[], list[str]] | None = None
    #: The document that it was read from, where that is one of a format in which it is also given away.
    original: Callable[[], bytes | None] | None = None


# ── Counting ──


def pattern_of(calls: int) -> Pattern:
    """What kind of conversation so many tool calls make."""
    if not calls:
        return "simple"
    return "single tool" if calls == 1 else "several tools"


def total_usage(answers: Sequence[Answer]) -> Usage | None:
    """The tokens of all answers together; None when no tokens were counted."""
    parts = [answer.usage for answer in answers if answer.has_tokens]
    if not parts:
        return None
    return Usage(
        input_tokens=sum([part.input_tokens for part in parts]),
        output_tokens=sum([part.output_tokens for part in parts]),
        cache_read_tokens=sum([part.cache_read_tokens for part in parts]),
        cache_write_tokens=sum([part.cache_write_tokens for part in parts]),
        lower_bound=any(part.lower_bound for part in parts),
    )


class Tally:
    """Counts a conversation while it is being read: the same rules for every source.

    Calls and results are counted by distinct call id, over the whole story. A turn is something a
    person typed. A conversation is finished when the agent spoke last and every call of that last
    answer has its result, or when nobody ever asked it anything. Whether it is finished says
    nothing about its pattern.
    """

    def __init__(self) -> None:
        self.messages = 0
        self.turns = 0
        self.entries = 0
        #: The tool behind each call.
        self.calls: dict[str, str] = {}
        #: The calls that were made in the conversation this one was forked from.
        self.copied: set[str] = set()
        self.results: dict[str, None] = {}
        #: The calls that failed.
        self.failed: set[str] = set()
        self.turns_at: list[str] = []
        self.finished = True
        self.gone = False

    def typed(self, at: str | None = None) -> int:
        """A person typed something that starts a turn; returns its number."""
        self.turns += 1
        if at:
            self.turns_at.append(at)
        self.finished = False
        return self.turns

    def asked(self, call_id: str, tool: str) -> None:
        self.calls.setdefault(call_id, tool)
        self.finished = False

    def resulted(self, call_id: str, failed: bool = False) -> None:
        self.results.setdefault(call_id)
        if failed:
            self.failed.add(call_id)
        self.finished = False

    def note(self, parts: Iterable[Part], *, copied: bool = False) -> None:
        """The calls and results among the parts of a message."""
        for part in parts:
            if isinstance(part, ToolCall):
                if copied:
                    self.copied.add(part.call_id)
                self.asked(part.call_id, part.name)
            elif isinstance(part, ToolResult):
                self.resulted(part.call_id, part.status == "error")

    def answered(self) -> None:
        """The agent said something that ends a turn unless a call follows."""
        self.finished = True

    def interrupted(self) -> None:
        self.finished = False

    @property
    def errors(self) -> dict[str, int]:
        """How many calls of each tool failed."""
        return self._by_tool(call for call in self.calls if call in self.failed)

    def _by_tool(self, calls: Iterable[str]) -> dict[str, int]:
        """How many of these calls of each tool were made here."""
        tools = (self.calls.get(call) for call in calls if call not in self.copied)
        return dict(Counter(filter(None, tools)))

    @property
    def unanswered(self) -> set[str]:
        """Calls without a result."""
        return self.calls.keys() - self.results.keys()

    @property
    def unasked(self) -> set[str]:
        """Results without a call."""
        return self.results.keys() - self.calls.keys()

    def fill(self, conversation: Conversation) -> None:
        """Write the counts into the conversation."""
        conversation.messages = self.messages
        conversation.turns = self.turns
        conversation.entries = self.entries
        conversation.finished = self.finished
        conversation.tool_calls = len(self.calls)
        conversation.tools = self._by_tool(self.calls)
        conversation.tool_errors = self.errors
        conversation.turns_at = self.turns_at
        conversation.tool_results = len(self.results)
        conversation.calls_without_result = len(self.unanswered)
        conversation.results_without_call = len(self.unasked)
        conversation.pattern = pattern_of(len(self.calls))
