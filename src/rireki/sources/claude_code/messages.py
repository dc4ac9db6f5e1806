"""Messages before their parts are decoded: their order, branches, and what a model still gets.

Results come after calls, old versions are tied to new ones; where the last word was said decides
which branch is live and whether the conversation is finished."""

from __future__ import annotations

from collections.abc import Container, Sequence
from hashlib import sha256
from typing import Any, Literal, TypeAlias

from msgspec import Struct, field

from rireki.sources.claude_code.classify import AuthorRule
from rireki.sources.claude_code.lines import TranscriptLine
from rireki.sources.claude_code.shapes import ContentItem, loads
from rireki.sources.kit.fields import get

__all__ = [
    "TranscriptMessage",
    "Tree",
    "What",
    "is_finished",
    "line_id",
    "mark_branches",
    "name_successors",
    "results_after_calls",
    "results_of",
    "shown",
]


What: TypeAlias = Literal[
    "prompt",
    "context",
    "answer",
    "result",
    "said",
    "divider",
    "attachment",
    "system",
    "queued",
    "strange",
]


class TranscriptMessage(Struct, gc=False):
    """The lines that make up a message, who said it and how it is shown: all that counting needs."""

    id: str
    what: What
    line: TranscriptLine
    rule: AuthorRule
    turn: int | None
    #: Further lines of the same message.
    more: list[TranscriptLine] | None = None
    #: The agent said something in words.
    spoke: bool = False
    abandoned: bool = False
    replaced_by: str | None = None

    @property
    def lines(self) -> list[TranscriptLine]:
        return [self.line, *self.more] if self.more else [self.line]

    @property
    def cut(self) -> bool:
        """The answer was stopped while it was coming in."""
        return any(line.look is not None and line.look.isAbortedMidStream for line in self.lines)

    @property
    def uuid(self) -> str | None:
        return self.line.look.uuid if self.line.look is not None else None

    @property
    def present(self) -> bool:
        return self.line.present or any(line.present for line in self.more or ())


def line_id(line: TranscriptLine) -> str:
    """A line's own id, or one made of its bytes: stable wherever the line stands."""
    if line.look is not None and line.look.uuid:
        return line.look.uuid
    return f"line-{sha256(line.data.strip()).hexdigest()[:16]}"


#: Stands above the first prompt of a session. An unknown parent is None instead.
TOP = ""


class Tree(Struct):
    #: Parent of every line, in file order; TOP for a root, None for an unknown parent.
    parents: dict[str, str | None] = field(default_factory=dict)
    #: Lines a person would not see as steps, and what they hang on.
    skipped: dict[str, str | None] = field(default_factory=dict)
    #: Prompts by the step they follow.
    prompts: dict[str, list[str]] = field(default_factory=dict)

    def add(self, uuid: str, parent: str | None, logical: str | None) -> None:
        """A line below `parent`, or, across a compaction, below its logical parent.

        A parent that comes later in the file is not followed: forks of compacted
        sessions hold such circles.
        """
        above = parent or logical or TOP
        self.parents[uuid] = above if above == TOP or above in self.parents else None

    def step(self, uuid: str) -> str | None:
        """The nearest step above a line; where there is none, the topmost line above it."""
        above = self.parents[uuid]
        while above in self.skipped:
            higher = self.skipped[above]
            if not higher:
                break
            above = higher
        return above

    def skip(self, uuid: str) -> None:
        self.skipped[uuid] = self.parents[uuid]

    def prompt(self, uuid: str, *, local: bool) -> None:
        """Something a person typed. Commands that the program answers itself may begin anywhere."""
        above = self.step(uuid)
        if above is not None and not (local and above == TOP):
            self.prompts.setdefault(above, []).append(uuid)

    def forks(self) -> list[list[str]]:
        """Prompts that a person chose between.

        At the top only what was answered counts: a file whose lines do not say what
        they follow is no file full of rewinds.
        """
        followed = set(self.parents.values())
        choices = dict(self.prompts)
        if tops := choices.get(TOP):
            choices[TOP] = [uuid for uuid in tops[:-1] if uuid in followed] + tops[-1:]
        return [uuids for uuids in choices.values() if len(uuids) > 1]

    def abandoned(self, spoken: set[str]) -> set[str]:
        """Every line on a branch that was left: all but the one that was spoken on last.

        `spoken` are the lines that say something: the last of them is where the person is now.
        """
        forks = self.forks()
        if not forks:
            return set()
        last = self._last_words(spoken)
        losers: set[str] = set()
        for uuids in forks:
            kept = max(uuids, key=lambda uuid: last.get(uuid, -1))
            losers.update(uuid for uuid in uuids if uuid != kept)
        left: set[str] = set()
        for uuid, parent in self.parents.items():
            if uuid in losers or parent in left:
                left.add(uuid)
        return left

    def _last_words(self, spoken: set[str]) -> dict[str, int]:
        """For every line, the place of the last thing said below it."""
        last: dict[str, int] = {}
        places = {uuid: place for place, uuid in enumerate(self.parents)}
        for uuid, parent in reversed(list(self.parents.items())):
            own = places[uuid] if uuid in spoken else -1
            last[uuid] = max(last.get(uuid, -1), own)
            if parent:
                last[parent] = max(last.get(parent, -1), last[uuid])
        return last


#: Lines of people, agents and tools: where the last of them stands, the person is.
_SPOKEN = frozenset(("prompt", "answer", "result"))


def calls_of(draft: TranscriptMessage) -> list[str]:
    """The tool calls in an answer."""
    contents = (
        line.look.message.content
        for line in draft.lines
        if line.look is not None and line.look.message is not None
    )
    return [
        block.id or ""
        for content in contents
        if isinstance(content, list)
        for block in content
        if block.type.endswith("tool_use")
    ]


def results_of(draft: TranscriptMessage) -> list[ContentItem]:
    """The outcomes of tools in an entry."""
    look = draft.line.look
    content = look.message.content if look is not None and look.message is not None else None
    blocks = content if isinstance(content, list) else []
    return [block for block in blocks if block.type == "tool_result"]


def results_after_calls(
    drafts: list[TranscriptMessage], early: dict[str, list[TranscriptMessage]]
) -> list[TranscriptMessage]:
    """Move results that were written before their call (`early`) to just after it."""
    if not early:
        return drafts
    moved = {id(draft) for group in early.values() for draft in group}
    placed: set[int] = set()
    ordered: list[TranscriptMessage] = []
    for draft in drafts:
        if id(draft) in moved:
            continue
        ordered.append(draft)
        for call in calls_of(draft) if draft.what == "answer" else ():
            late = [result for result in early.get(call, ()) if id(result) not in placed]
            placed.update(map(id, late))
            ordered.extend(late)
    return ordered + [draft for draft in drafts if id(draft) in moved - placed]


def name_successors(drafts: list[TranscriptMessage]) -> None:
    """A replaced line points to the message that holds its new version."""
    if not any(draft.replaced_by for draft in drafts):
        return
    holders = {
        line_id(line): draft.id
        for draft in drafts
        if draft.replaced_by is None and draft.what not in ("said", "context")
        for line in draft.lines
    }
    for draft in drafts:
        if draft.replaced_by is not None:
            draft.replaced_by = holders.get(draft.replaced_by, draft.replaced_by)


def mark_branches(drafts: list[TranscriptMessage], tree: Tree) -> set[str]:
    """Mark messages on branches that were left; returns the uuids of their lines."""
    if not tree.forks():
        return set()
    words = [d for d in drafts if d.what in _SPOKEN or d.rule.row == "A1"]
    left = tree.abandoned({line_id(line) for draft in words for line in draft.lines})
    for draft in drafts:
        draft.abandoned = draft.uuid in left
    return left


def is_finished(drafts: list[TranscriptMessage], results: Container[str]) -> bool:
    """Whether the agent had the last word on the branch the person is on.

    Commands the program answers itself, notices and prompts never sent say nothing about it.
    `results` are the calls that have one. What the source no longer has counts only where it has
    nothing at all any more.
    """
    held = any(draft.present for draft in drafts)
    for draft in reversed(drafts):
        rule = draft.rule
        if draft.abandoned or draft.replaced_by is not None or rule.row in ("A3", "filler"):
            continue
        if held and not draft.present:
            continue
        if draft.what == "answer":
            open_calls = [call for call in calls_of(draft) if call not in results]
            return rule.row == "answer" and draft.spoke and not open_calls and not draft.cut
        if draft.what in ("result", "said") or rule.act in ("turn", "act"):
            return False
    # Nobody asked the agent anything, unless it was never sent.
    return not any(draft.rule.row == "A3" for draft in drafts)


def shown(drafts: Sequence[TranscriptMessage]) -> list[str]:
    """Ids of messages in the order a model gets them; all of them without a compaction."""
    last = next((d for d in reversed(drafts) if d.what == "divider" and not d.abandoned), None)
    if last is None:
        return [draft.id for draft in drafts]
    at = drafts.index(last)
    before = [draft.id for draft in _kept_by(last, drafts[:at])]
    return [last.id, *before, *(draft.id for draft in drafts[at + 1 :])]


def _kept_by(
    divider: TranscriptMessage, before: Sequence[TranscriptMessage]
) -> list[TranscriptMessage]:
    """A compaction may spare the last few messages: they follow its summary as they were.

    It names all of them, or the first and the last.
    """
    kept: dict[str, TranscriptMessage] = {}
    for line in divider.lines:
        metadata = get(loads(line.data), "compactMetadata")
        named = get(metadata, "preservedMessages", "allUuids")
        listed = named if isinstance(named, list) else []
        uuids = {uuid for uuid in listed if isinstance(uuid, str)}
        found = [draft for draft in before if uuids & _uuids(draft)]
        segment = get(metadata, "preservedSegment")
        for draft in found or _between(before, segment):
            kept[draft.id] = draft
    return list(kept.values())


def _between(drafts: Sequence[TranscriptMessage], segment: Any) -> Sequence[TranscriptMessage]:
    ends = {str(get(segment, name)) for name in ("headUuid", "tailUuid")}
    places = [at for at, draft in enumerate(drafts) if _uuids(draft) & ends]
    return drafts[places[0] : places[-1] + 1] if places else []


def _uuids(draft: TranscriptMessage) -> set[str]:
    return {line.look.uuid for line in draft.lines if line.look is not None and line.look.uuid}
