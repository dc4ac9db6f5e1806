"""Things to put into a store: an item of every type that the installed ChatKit knows."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import chatkit.types as kinds
from chatkit.types import AssistantMessageItem, Attachment, ThreadItem, ThreadMetadata
from pydantic import TypeAdapter

__all__ = ["FutureItem", "attachment", "every_item", "moment", "reply", "thread", "typed"]

#: Naive, as ChatKit writes them.
START = datetime(2026, 3, 2, 9, 30)
TEXT = 'naïve café, 履歴, 👩‍👩‍👧, \u2028, <b>&amp;</b>, \\ " \t'


class FutureItem(kinds.ThreadItemBase):
    """Of a ChatKit that does not exist yet."""

    type: str = "hologram"
    beam: dict[str, Any]


def moment(number: float) -> datetime:
    return START + timedelta(seconds=number)


def thread(id: str = "thr_0000000a", **more: Any) -> ThreadMetadata:
    return ThreadMetadata.model_validate({"id": id, "created_at": START, **more})


def reply(number: int, at: datetime | None = None, **more: Any) -> AssistantMessageItem:
    value = {
        "id": f"msg_{number:08x}",
        "thread_id": "thr_0000000a",
        "created_at": at or moment(number),
        "content": [{"type": "output_text", "text": f"answer {number}", "annotations": []}],
    }
    return AssistantMessageItem.model_validate(value | more)


def typed(number: int, files: tuple[Attachment, ...] = (), **more: Any) -> kinds.UserMessageItem:
    value = {
        "id": f"msg_{number:08x}",
        "thread_id": "thr_0000000a",
        "created_at": moment(number),
        "content": [{"type": "input_text", "text": f"question {number}"}],
        "attachments": [file.model_dump() for file in files],
        "inference_options": {},
    }
    return kinds.UserMessageItem.model_validate(value | more)


def attachment(id: str = "atc_0000000a", **more: Any) -> Attachment:
    value = {"type": "file", "id": id, "name": "notes.txt", "mime_type": "text/plain"}
    made: Attachment = TypeAdapter(Attachment).validate_python(value | more)
    return made


def every_item() -> Iterator[list[ThreadItem]]:
    """One of each type and more, with texts and gaps of every kind: naive, in UTC, and elsewhere."""
    adapter: TypeAdapter[ThreadItem] = TypeAdapter(ThreadItem)
    values = [value for value in _values() if _class(value["type"]) in vars(kinds)]
    elsewhere = timezone(timedelta(hours=9, minutes=30))
    common: dict[str, Any] = {"thread_id": "thr_0000000a"}
    starts = (
        START,
        START.replace(tzinfo=timezone.utc),
        START.replace(tzinfo=elsewhere, microsecond=5),
    )
    for which, start in enumerate(starts):
        yield [
            adapter.validate_python(
                common
                | {"id": f"itm_{which}{n:07x}", "created_at": start + timedelta(seconds=n)}
                | value
            )
            for n, value in enumerate(values)
        ]


def _class(type: str) -> str:
    special = {
        "hidden_context_item": "HiddenContextItem",
        "sdk_hidden_context": "SDKHiddenContextItem",
    }
    return special.get(type) or "".join(part.title() for part in type.split("_")) + "Item"


def _values() -> list[dict[str, Any]]:
    url = {"type": "url", "title": TEXT, "url": "https://example.org/?a=b&c=%20"}
    note = {"type": "annotation", "source": url, "index": 3}
    tag = {"type": "input_tag", "id": "t", "text": "@x", "data": {"k": [1, None]}}
    task = {"type": "thought", "title": None, "content": TEXT}
    choice = {"type": "multiple_choice", "id": "q", "question": TEXT, "options": [{"value": "a"}]}
    answered = {"type": "freeform", "id": "f", "question": "?", "answer": {"values": [TEXT]}}
    message = {"type": "user_message", "inference_options": {"tool_choice": None, "model": "m"}}
    call = {"type": "client_tool_call", "call_id": "c", "name": "n"}
    workflow: dict[str, Any] = {"type": "reasoning", "tasks": [task]}
    card = {"type": "Card", "children": [{"type": "Text", "value": TEXT, "id": "x"}]}
    return [
        message | {"content": [{"type": "input_text", "text": TEXT}, tag], "quoted_text": ""},
        message | {"content": [], "attachments": [attachment().model_dump()], "quoted_text": None},
        {
            "type": "assistant_message",
            "content": [{"type": "output_text", "text": TEXT, "annotations": [note]}],
        },
        {"type": "assistant_message", "content": []},
        call | {"arguments": {"deep": {"none": None, "list": []}}},
        call | {"arguments": {}, "status": "completed", "output": {"text": TEXT}},
        {"type": "widget", "widget": card, "copy_text": None},
        {"type": "generated_image", "image": {"id": "i", "url": "data:image/png;base64,AAAA"}},
        {"type": "generated_image", "image": None},
        {"type": "structured_input", "inputs": [choice, answered]},
        {"type": "workflow", "workflow": workflow | {"summary": {"duration": 3}}},
        {"type": "task", "task": {"type": "custom", "title": TEXT, "content": None}},
        {"type": "hidden_context_item", "content": {"any": [1, "2", None]}},
        {"type": "sdk_hidden_context", "content": TEXT},
        {"type": "end_of_turn"},
    ]
