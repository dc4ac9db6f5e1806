"""ChatKit's values as JSON and back, so that nothing is lost on the way.

What this version of ChatKit does not know (an item of a later one, a field that it would drop)
stays in the stored JSON. Knows no tables.
"""

from __future__ import annotations

import json
from datetime import datetime, timezone
from functools import cache
from typing import Any, Literal, NamedTuple, TypeAlias

from chatkit.types import Attachment, HiddenContextItem, ThreadItem, ThreadMetadata
from pydantic import BaseModel, TypeAdapter, ValidationError

__all__ = [
    "ItemValue",
    "Unknown",
    "attachment_of",
    "given",
    "is_typed",
    "item_of",
    "moment_of",
    "renamed",
    "same_type",
    "stand_in",
    "thread_data",
    "thread_of",
    "with_unknown",
]

#: What becomes of an item that this version of ChatKit cannot read: passed over, or hidden.
Unknown: TypeAlias = Literal["skip", "hidden"]
#: The mark of an item that stands for one that cannot be read.
_STANDS_FOR = "rireki_unreadable_item"


class ItemValue(NamedTuple):
    """An item as it was handed over; what the app does to its object later has no effect."""

    id: str
    data: str
    created_at: datetime
    #: The ids of the files that came with it.
    files: tuple[str, ...]


@cache
def _items() -> TypeAdapter[ThreadItem]:
    return TypeAdapter(ThreadItem)


@cache
def _attachments() -> TypeAdapter[Attachment]:
    return TypeAdapter(Attachment)


def given(item: ThreadItem) -> ItemValue:
    files = tuple(file.id for file in getattr(item, "attachments", None) or ())
    return ItemValue(item.id, item.model_dump_json(), item.created_at, files)


def renamed(item: ItemValue, id: str) -> ItemValue:
    """The same under another id."""
    return item._replace(id=id, data=_spelled({**json.loads(item.data), "id": id}))


def same_type(one: str, other: str) -> bool:
    """Whether two items are, say, both messages."""
    return bool(json.loads(one)["type"] == json.loads(other)["type"])


def is_typed(data: str) -> bool:
    """Whether it is an item that a person wrote."""
    return bool(json.loads(data).get("type") == "user_message")


def item_of(data: str) -> ThreadItem | None:
    """None when this version of ChatKit cannot read it."""
    try:
        return _items().validate_json(data)
    except ValidationError:
        return None


def stand_in(data: str) -> HiddenContextItem:
    """A hidden item that holds one that cannot be read."""
    raw = json.loads(data)
    return HiddenContextItem(
        id=raw["id"],
        thread_id=str(raw.get("thread_id", "")),
        created_at=raw["created_at"],
        content={_STANDS_FOR: raw},
    )


def attachment_of(data: str) -> Attachment:
    return _attachments().validate_json(data)


def thread_of(data: str) -> ThreadMetadata:
    return ThreadMetadata.model_validate_json(data)


def thread_data(thread: ThreadMetadata) -> str:
    """A `Thread` has its items with it: they are kept by themselves."""
    return thread.model_dump_json(exclude={"items"})


def moment_of(time: datetime) -> str:
    """In UTC, such that texts compare like moments. ChatKit's times are local where it runs."""
    try:
        moment = time.astimezone(timezone.utc)
    except (OverflowError, ValueError, OSError):
        # The first or last day that there is: any moment will do.
        moment = time.replace(tzinfo=timezone.utc)
    return moment.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def with_unknown(stored: str, new: str) -> str:
    """New JSON with what the old had and this version of ChatKit does not know."""
    old, value = json.loads(stored), json.loads(new)
    known = _known(stored, value)
    if known is None:
        # Only the app's own stand-in is sure not to mean anything else.
        content = value.get("content")
        stands = isinstance(content, dict) and _STANDS_FOR in content
        return stored if stands else new
    return _spelled(value) if _keep(old, known, value) else new


def _known(stored: str, value: Any) -> Any:
    """What of a stored value this version reads, as it would write it; None if it cannot."""
    read: BaseModel | None
    if "created_at" not in value:
        read = attachment_of(stored)
    else:
        read = item_of(stored) if "type" in value else thread_of(stored)
    return None if read is None else read.model_dump(mode="json")


def _keep(old: Any, known: Any, new: Any) -> bool:
    """Put into `new` what is in `old` and not in `known`; whether there was any."""
    found = False
    if isinstance(old, dict) and isinstance(known, dict) and isinstance(new, dict):
        for name, value in old.items():
            if name not in known:
                found = name not in new or found
                new.setdefault(name, value)
            elif name in new:
                found = _keep(value, known[name], new[name]) or found
    elif isinstance(old, list) and isinstance(known, list) and isinstance(new, list):
        # Of lists that grew or shrank nobody can tell which belongs to which.
        alike = len(old) == len(known) == len(new)
        for one, other, third in zip(old, known, new, strict=True) if alike else ():
            found = _keep(one, other, third) or found
    return found


def _spelled(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
