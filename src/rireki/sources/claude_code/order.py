"""What the order of messages tells, and the last touches to it.

Results come after calls, old versions are tied to new ones; where the last word
was said decides which branch is live and whether the conversation is finished.
"""

from __future__ import annotations

from collections.abc import Container

from rireki.sources.claude_code.drafts import Draft, line_id
from rireki.sources.claude_code.shapes import ContentItem
from rireki.sources.claude_code.tree import Tree

__all__ = [
    "calls_of",
    "is_finished",
    "mark_branches",
    "name_successors",
    "results_after_calls",
    "results_of",
]

#: Lines of people, agents and tools: where the last of them stands, the person is.
_SPOKEN = frozenset(("prompt", "answer", "result"))


def calls_of(draft: Draft) -> list[str]:
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


def results_of(draft: Draft) -> list[ContentItem]:
    """The outcomes of tools in an entry."""
    look = draft.line.look
    content = look.message.content if look is not None and look.message is not None else None
    blocks = content if isinstance(content, list) else []
    return [block for block in blocks if block.type == "tool_result"]


def results_after_calls(drafts: list[Draft], early: dict[str, list[Draft]]) -> list[Draft]:
    """Move results that were written before their call (`early`) to just after it."""
    if not early:
        return drafts
    moved = {id(draft) for group in early.values() for draft in group}
    placed: set[int] = set()
    ordered: list[Draft] = []
    for draft in drafts:
        if id(draft) in moved:
            continue
        ordered.append(draft)
        for call in calls_of(draft) if draft.what == "answer" else ():
            late = [result for result in early.get(call, ()) if id(result) not in placed]
            placed.update(map(id, late))
            ordered.extend(late)
    return ordered + [draft for draft in drafts if id(draft) in moved - placed]


def name_successors(drafts: list[Draft]) -> None:
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


def mark_branches(drafts: list[Draft], tree: Tree) -> set[str]:
    """Mark messages on branches that were left; returns the uuids of their lines."""
    if not tree.forks():
        return set()
    words = [d for d in drafts if d.what in _SPOKEN or d.rule.row == "A1"]
    left = tree.abandoned({line_id(line) for draft in words for line in draft.lines})
    for draft in drafts:
        draft.abandoned = draft.uuid in left
    return left


def is_finished(drafts: list[Draft], results: Container[str]) -> bool:
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
