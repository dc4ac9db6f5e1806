"""Property 21: what ChatKit's own server does to a store, with a script in place of a model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, TypeAlias

import chatkit.types as kinds
from chatkit.server import ChatKitServer, StreamingResult
from chatkit.store import Store
from chatkit.types import (
    AssistantMessageItem,
    ClientToolCallItem,
    ThreadItem,
    ThreadItemAddedEvent,
    ThreadItemDoneEvent,
    ThreadItemUpdatedEvent,
    ThreadMetadata,
    ThreadStreamEvent,
    UserMessageItem,
    WorkflowItem,
)

from rireki.faces.chatkit.conformance.case import Case, Property, collect, expect

__all__ = ["PROPERTIES"]

PROPERTIES: list[Property] = []
PLACEHOLDER = "__fake_id__"
#: More than ChatKit's server loads at once.
MANY = 25
PATIENCE = 60.0

#: One answer of the model, in the events that it makes.
Turn: TypeAlias = Callable[[ThreadMetadata], AsyncIterator[ThreadStreamEvent]]


class _Scripted(ChatKitServer[Any]):
    """Answers with one turn after the other, whatever is asked."""

    def __init__(self, store: Store[Any], turns: Sequence[Turn]) -> None:
        super().__init__(store)
        self.turns = list(turns)

    def respond(
        self, thread: ThreadMetadata, input_user_message: UserMessageItem | None, context: Any
    ) -> AsyncIterator[ThreadStreamEvent]:
        return self.turns.pop(0)(thread)


class _Talk:
    """Requests of a browser, and what the server answers."""

    def __init__(self, case: Case, *turns: Turn) -> None:
        self.case = case
        self.server = _Scripted(case.store, turns)
        self.thread = ""

    async def ask(self, type: str, **params: Any) -> list[dict[str, Any]]:
        events = [event async for event in self.stream(type, **params)]
        wrong = [event for event in events if event["type"] == "error"]
        expect(not wrong, f"{type}: the store's error looks to people as if the model failed")
        return events

    async def stream(self, type: str, **params: Any) -> AsyncIterator[dict[str, Any]]:
        if self.thread:
            params["thread_id"] = self.thread
        request = json.dumps({"type": type, "params": params}).encode()
        result = await self.server.process(request, self.case.alice)
        expect(isinstance(result, StreamingResult), f"{type} was not answered with a stream")
        assert isinstance(result, StreamingResult)
        async for line in result.json_events:
            event = json.loads(line.removeprefix(b"data: "))
            if event["type"] == "thread.created":
                self.thread = event["thread"]["id"]
            yield event

    async def items(self) -> list[ThreadItem]:
        return await self.case.walk(thread=self.thread, limit=4)

    async def types(self) -> list[str]:
        return [item.type for item in await self.items()]


def _typed(text: str) -> dict[str, Any]:
    content = [{"type": "input_text", "text": text}]
    return {"content": content, "attachments": [], "inference_options": {}}


def _reply(thread: ThreadMetadata, id: str, text: str, after: int = 0) -> AssistantMessageItem:
    value = {"id": id, "thread_id": thread.id, "created_at": _now(after)}
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return AssistantMessageItem.model_validate(value | {"content": content})


def _now(after: int = 0) -> datetime:
    """Later than anything so far: clocks that stand still are the matter of other properties."""
    return datetime.now() + timedelta(milliseconds=after)


def _texts(items: Sequence[ThreadItem]) -> list[str]:
    return [item.content[0].text for item in items if isinstance(item, AssistantMessageItem)]


def _saying(*replies: tuple[str, str]) -> Turn:
    async def turn(thread: ThreadMetadata) -> AsyncIterator[ThreadStreamEvent]:
        for number, (id, text) in enumerate(replies):
            yield ThreadItemDoneEvent(item=_reply(thread, id, text, number))

    return turn


@collect(PROPERTIES, "21.1")
async def client_tool(case: Case) -> None:
    """A client tool that is called after reasoning is answered, and the reply is kept"""

    def workflow(thread: ThreadMetadata, tasks: int) -> WorkflowItem:
        value = {"id": "wf_0000000a", "thread_id": thread.id, "created_at": _now()}
        thoughts = [{"type": "thought", "content": f"thought {n}"} for n in range(tasks)]
        return WorkflowItem.model_validate(
            value | {"workflow": {"type": "reasoning", "tasks": thoughts}}
        )

    async def call(thread: ThreadMetadata) -> AsyncIterator[ThreadStreamEvent]:
        # ChatKit keeps an open workflow so, to go on with it when the tool has answered.
        await case.store.add_thread_item(thread.id, workflow(thread, 1), case.alice)
        value = {"id": "fc_0000000a", "thread_id": thread.id, "created_at": _now(1)}
        value |= {"call_id": "call_1", "name": "where", "arguments": {}}
        yield ThreadItemDoneEvent(item=ClientToolCallItem.model_validate(value))

    async def answer(thread: ThreadMetadata) -> AsyncIterator[ThreadStreamEvent]:
        yield ThreadItemDoneEvent(item=workflow(thread, 2))
        yield ThreadItemDoneEvent(item=_reply(thread, "msg_0000000a", "here", 2))

    talk = _Talk(case, call, answer)
    await talk.ask("threads.create", input=_typed("where?"))
    await talk.ask("threads.add_client_tool_output", result={"place": "here"})
    types = await talk.types()
    wanted = ["user_message", "workflow", "client_tool_call", "assistant_message"]
    expect(types == wanted, f"the thread holds {types}")
    items = await talk.items()
    tool, steps = items[2], items[1]
    expect(isinstance(tool, ClientToolCallItem) and tool.status == "completed", "the call is open")
    expect(isinstance(steps, WorkflowItem) and len(steps.workflow.tasks) == 2, "a thought is lost")


@collect(PROPERTIES, "21.2")
async def retry(case: Case) -> None:
    """A retry removes everything after the message, also beyond the first page"""
    first = [(f"msg_1{n:07x}", f"first {n}") for n in range(MANY)]
    talk = _Talk(case, _saying(*first), _saying(("msg_20000000", "second")))
    await talk.ask("threads.create", input=_typed("say it"))
    message = (await talk.items())[0]
    await talk.ask("threads.retry_after_item", item_id=message.id)
    items = await talk.items()
    expect(items[0].id == message.id, "the message that was tried again is gone")
    expect(_texts(items) == ["second"], f"the replies are {_texts(items)}")


@collect(PROPERTIES, "21.3")
async def cancel(case: Case) -> None:
    """A reply that was cancelled is kept as far as it came"""
    said = asyncio.Event()

    async def slowly(thread: ThreadMetadata) -> AsyncIterator[ThreadStreamEvent]:
        item = _reply(thread, "msg_0000000a", "")
        yield ThreadItemAddedEvent(item=item)
        delta = {"type": "assistant_message.content_part.text_delta"}
        delta |= {"content_index": 0, "delta": "half a"}  # type: ignore[dict-item]
        yield ThreadItemUpdatedEvent.model_validate({"item_id": item.id, "update": delta})
        said.set()
        await asyncio.Event().wait()

    talk = _Talk(case, slowly)
    asking = asyncio.create_task(talk.ask("threads.create", input=_typed("slowly")))
    await asyncio.wait_for(said.wait(), PATIENCE)
    asking.cancel()
    with suppress(asyncio.CancelledError):
        await asking
    items = await talk.items()
    expect(_texts(items) == ["half a"], f"of the reply is kept {_texts(items)}")
    types = sorted(item.type for item in items)
    expect("sdk_hidden_context" in types, f"the note of the cancelling is not kept: {types}")


async def structured(case: Case) -> None:
    """Answers to a structured input replace the questions in their place"""
    question = {"type": "freeform", "id": "q", "question": "Why?"}

    async def ask(thread: ThreadMetadata) -> AsyncIterator[ThreadStreamEvent]:
        value = {"id": "si_0000000a", "thread_id": thread.id, "created_at": _now()}
        item = kinds.StructuredInputItem.model_validate(value | {"inputs": [question]})
        yield ThreadItemDoneEvent(item=item)

    talk = _Talk(case, ask, _saying(("msg_0000000a", "I see")))
    await talk.ask("threads.create", input=_typed("ask me"))
    answers = {"status": "answered", "answers": {"q": {"values": ["because"]}}}
    await talk.ask("threads.add_structured_input", item_id="si_0000000a", input=answers)
    types = await talk.types()
    wanted = ["user_message", "structured_input", "assistant_message"]
    expect(types == wanted, f"the thread holds {types}")
    item: Any = (await talk.items())[1]
    expect(item.inputs[0].answer.values == ["because"], "the answer is not kept")


if hasattr(kinds, "StructuredInputItem"):
    collect(PROPERTIES, "21.4")(structured)


@collect(PROPERTIES, "21.5")
async def placeholders(case: Case) -> None:
    """Replies that all have the id __fake_id__ are all kept"""
    one, two = (_saying((PLACEHOLDER, text)) for text in ("first", "second"))
    talk = _Talk(case, one, two)
    await talk.ask("threads.create", input=_typed("one"))
    await talk.ask("threads.add_user_message", input=_typed("two"))
    items = await talk.items()
    expect(_texts(items) == ["first", "second"], f"the replies are {_texts(items)}")
    ids = [item.id for item in items]
    expect(len(set(ids)) == 4, f"two items have the same id: {ids}")
