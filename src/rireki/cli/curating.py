"""What the commands share that add to conversations: what they print, and how they list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from rireki.archive.base import Filter
from rireki.cli.archive import opened
from rireki.cli.output import StandardOutput
from rireki.errors import RirekiError
from rireki.show.catalogue import say
from rireki.show.safe import one_line
from rireki.show.width import pad, truncate

if TYPE_CHECKING:
    from rireki.archive.base import Archive, Found
    from rireki.model.conversation import Conversation

__all__ = ["as_told", "change_each", "ensure_named", "list_those", "told_of"]


def ensure_named(names: Sequence[str]) -> None:
    if not names:
        raise RirekiError("no-id-given")


def as_told(conversation: Conversation) -> dict[str, Any]:
    """For a program: the conversation, and all that was added to it."""
    nothing: dict[str, Any] = {
        "title": None,
        "tags": [],
        "starred": False,
        "hidden": False,
        "notes": 0,
    }
    whole = nothing | msgspec.to_builtins(conversation.added)
    return {"id": conversation.id, "title": conversation.title, "added": whole}


def told_of(conversation: Conversation) -> str:
    return one_line(conversation.title) or say("(no title)")


def change_each(
    names: Sequence[str],
    change: Callable[[Archive, Found], bool],
    words: Callable[[Conversation], str],
    as_json: bool,
) -> None:
    """Add to each of these conversations, and say what came of it. All are looked up first."""
    ensure_named(names)
    screen = StandardOutput()
    with opened(write=True) as archive:
        found = [archive.find(name) for name in names]
        for each in found:
            change(archive, each)
        now = [archive.find(each.conversation.id).conversation for each in found]
    screen.give(as_json, map(as_told, now), map(words, now))


def list_those(wanted: Filter, as_json: bool, nothing: str) -> None:
    """The conversations that have it, as short lines."""
    screen = StandardOutput()
    with opened() as archive:
        found = list(archive.conversations(wanted))
        names = archive.short_ids([each.id for each in found])
    longest = max(map(len, names.values()), default=0)
    lines: Iterable[str] = (
        screen.style.cyan(pad(one_line(names[each.id]), longest))
        + "  "
        + truncate(told_of(each), max(screen.columns - longest - 2, 10))
        for each in found
    )
    screen.give(as_json, map(as_told, found), lines if found else [nothing])
