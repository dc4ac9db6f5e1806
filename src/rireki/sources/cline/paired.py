"""Which call that the person saw is which one that the model made: no record says it.

Both are in order, but either may have some that the other lacks: a call that failed was not shown, a
patch was shown for every file. So first those are paired that name the same path or command, then, between
them, those of one tool, then what is left over where that comes out even.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from rireki.sources.cline.blocks import Sent

__all__ = ["Seen", "pairs"]

#: How many calls may have been made that were not shown, one after another.
_AHEAD = 32
_EDITS = ("editedExistingFile", "newFileCreated", "fileDeleted", "appliedDiff")
_EDITING = ("write", "replace", "edit", "diff", "patch", "insert", "new_rule")
_OTHERS = {
    "listFilesTopLevel": "list_files",
    "listFilesRecursive": "list_files",
    "viewSourceCodeDefinitions": "list_code_definition_names",
    "use_mcp_tool": "access_mcp_resource",
}


class Seen(NamedTuple):
    """A call as it was shown."""

    tool: str
    #: All texts in it.
    told: Sequence[str]
    held: bool


def pairs(seen: Sequence[Seen], sent: Sequence[Sent]) -> list[int | None]:
    """For each call that was shown, the number of the one that was made."""
    found: list[int | None] = [None] * len(seen)
    _walk(found, seen, sent, 0, len(seen), 0, len(sent), _is_about)
    _between(found, seen, sent, _is_tool)
    _between(found, seen, sent, None)
    return found


def _between(
    found: list[int | None],
    seen: Sequence[Seen],
    sent: Sequence[Sent],
    same: Callable[[Seen, Sent], bool] | None,
) -> None:
    """Pair what lies between two pairs; without `same`, where there are as many on both sides."""
    start = first = 0
    paired = [(n, at) for n, at in enumerate(found) if at is not None]
    for number, at in [*paired, (len(seen), len(sent))]:
        left = [one for one in range(first, at) if not sent[one].is_said]
        if same is not None:
            _walk(found, seen, sent, start, number, first, at, same)
        elif [one.held for one in seen[start:number]] == [sent[one].held for one in left]:
            found[start:number] = left
        start, first = number + 1, at + 1


def _walk(
    found: list[int | None],
    seen: Sequence[Seen],
    sent: Sequence[Sent],
    start: int,
    end: int,
    first: int,
    last: int,
    same: Callable[[Seen, Sent], bool],
) -> None:
    for number in range(start, end):
        for at in range(first, min(last, first + _AHEAD)):
            if seen[number].held == sent[at].held and same(seen[number], sent[at]):
                found[number], first = at, at + 1
                break


def _is_about(seen: Seen, sent: Sent) -> bool:
    name = re.split(r"[/\\]", sent.about.rstrip("/\\"))[-1]
    return bool(name) and _is_tool(seen, sent) and any(name in text for text in seen.told)


def _is_tool(seen: Seen, sent: Sent) -> bool:
    if seen.tool in _EDITS and any(word in sent.name for word in _EDITING):
        return True
    if seen.tool == "use_mcp_tool" and "mcp" in sent.name:
        return True
    usual = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", seen.tool).lower()
    return sent.name in (usual, _OTHERS.get(seen.tool))
