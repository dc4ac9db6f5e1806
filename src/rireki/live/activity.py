"""What agents are doing right now: as they or their journals say, else as their last words show.

An agent that called a tool and has no result yet is taken to be at work, if it
spoke a few minutes ago. What was found out is remembered until the conversation
changes, for this is asked every second.
"""

from __future__ import annotations

from collections import OrderedDict
from datetime import datetime, timedelta, timezone
from threading import Lock

import msgspec

from rireki.archive.base import Archive, Heading
from rireki.errors import NotFound
from rireki.intake.interpret import read_conversation
from rireki.live.driven import driven_activities
from rireki.model.activity import Activity
from rireki.model.message import Message
from rireki.model.parts import ToolCall, ToolResult
from rireki.sources import registry
from rireki.sources.kit.places import Places

__all__ = ["activities", "stated_activities"]

#: An agent that said nothing for so long is not taken to be at work.
RECENT = timedelta(minutes=10)
#: So many conversations are remembered as they were last read.
REMEMBERED = 256

_calls: OrderedDict[tuple[str, str, int], str | None] = OrderedDict()
_calls_lock = Lock()


def activities(archive: Archive, places: Places) -> dict[str, Activity]:
    """What is being done, by conversation. Conversations in which nothing happens are left out."""
    said = stated_activities(places)
    found = dict(said)
    since = (datetime.now(timezone.utc) - RECENT).isoformat(timespec="milliseconds")
    for heading in archive.headings(since=since[:23] + "Z"):
        status = said.get(heading.id)
        if status is None or (status.state == "working" and not status.detail):
            tool = _open_call(archive, heading)
            if tool is not None:
                found[heading.id] = _at_work(heading, status, tool)
    return found


def stated_activities(places: Places) -> dict[str, Activity]:
    """What the agents themselves say, and the journals of those that are driven."""
    found: list[Activity] = []
    for reader in registry.readers():
        tell = getattr(reader, "activity", None)
        if tell is not None:
            found += tell(places)
    # Last: who drives an agent knows better than the agent's own status what it waits for.
    found += driven_activities(places.bridge_folders())
    return {each.conversation: each for each in found}


def _at_work(heading: Heading, status: Activity | None, tool: str) -> Activity:
    if status is not None:
        return msgspec.structs.replace(status, detail=tool)
    return Activity(heading.source, heading.id, "working", tool, heading.updated_at)


def _open_call(archive: Archive, heading: Heading) -> str | None:
    """The tool whose result an agent waits for, if it waits for one."""
    key = (archive.address, heading.id, heading.changed)
    with _calls_lock:
        if key in _calls:
            _calls.move_to_end(key)
            return _calls[key]
    tool = _read_open_call(archive, heading.id)
    with _calls_lock:
        _calls[key] = tool
        while len(_calls) > REMEMBERED:
            _calls.popitem(last=False)
    return tool


def _read_open_call(archive: Archive, id: str) -> str | None:
    conversation = archive.pick([id]).get(id)
    if conversation is None or conversation.seen_once or not conversation.calls_without_result:
        return None
    try:
        return _last_call(read_conversation(archive, archive.find(id)).messages())
    except NotFound:
        # Forgotten in this very moment.
        return None


def _last_call(messages: list[Message]) -> str | None:
    """The newest call without a result, unless somebody typed or the agent spoke after it."""
    # Not `results_by_call`: only what came after a call answers it here, and it ends at the first.
    answered: set[str] = set()
    for message in reversed(messages):
        if message.author == "harness" or message.display == "hidden":
            continue
        answered |= {part.call_id for part in message.parts if isinstance(part, ToolResult)}
        calls = [part for part in message.parts if isinstance(part, ToolCall)]
        waiting = [call.name for call in calls if call.call_id not in answered]
        if waiting:
            return waiting[-1]
        if not calls and message.author != "tool":
            return None
    return None
