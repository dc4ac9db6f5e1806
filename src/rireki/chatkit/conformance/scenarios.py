"""Property 21: what ChatKit's own server does to a store, with a scripted model and no network."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

import chatkit.types as kinds
from agents import FunctionTool
from chatkit.agents import AgentContext, ClientToolCall
from chatkit.server import StreamingResult
from chatkit.types import (
    AssistantMessageItem,
    ClientToolCallItem,
    ThreadItem,
    ThreadItemDoneEvent,
    WorkflowItem,
)

from rireki.chatkit.conformance.case import ConformanceCase, Property, collect, expect
from rireki.chatkit.conformance.model import ScriptedServer, Step, called, said, thought, tool

__all__ = ["PROPERTIES"]

PROPERTIES: list[Property] = []
PLACEHOLDER = "__fake_id__"
#: More than ChatKit's server loads at once.
MANY = 25
PATIENCE = 60.0


class _Talk:
    """Requests of a browser, and what the server answers."""

    def __init__(
        self, case: ConformanceCase, *turns: Sequence[Step], tools: Sequence[FunctionTool] = ()
    ) -> None:
        self.case = case
        self.server = ScriptedServer(case.store, turns, tools)
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


def _texts(items: Sequence[ThreadItem]) -> list[str]:
    return [item.content[0].text for item in items if isinstance(item, AssistantMessageItem)]


@collect(PROPERTIES, "21.1")
async def client_tool(case: ConformanceCase) -> None:
    """A client tool that is called after reasoning is answered, and the reply is kept"""

    async def where(context: AgentContext[Any]) -> None:
        context.client_tool_call = ClientToolCall(name="where", arguments={})

    talk = _Talk(
        case,
        [thought("rs_1", "where could it be"), called("fc_1", "where")],
        [thought("rs_2", "there it is"), said("msg_1", "here")],
        tools=[tool("where", where)],
    )
    await talk.ask("threads.create", input=_typed("where?"))
    await talk.ask("threads.add_client_tool_output", result={"place": "here"})
    types = await talk.types()
    wanted = ["user_message", "workflow", "client_tool_call", "assistant_message"]
    expect(types == wanted, f"the thread holds {types}")
    _, steps, call, _ = await talk.items()
    expect(isinstance(call, ClientToolCallItem) and call.status == "completed", "the call is open")
    thoughts = steps.workflow.tasks if isinstance(steps, WorkflowItem) else []
    told = " ".join(str(getattr(task, "content", "")) for task in thoughts)
    expect(
        "where could it be" in told and "there it is" in told, f"of the thoughts is kept {told!r}"
    )


@collect(PROPERTIES, "21.2")
async def retry(case: ConformanceCase) -> None:
    """A retry removes everything after the message, also beyond the first page"""
    first = [said(f"msg_1{n:07x}", f"first {n}") for n in range(MANY)]
    talk = _Talk(case, first, [said("msg_20000000", "second")])
    await talk.ask("threads.create", input=_typed("say it"))
    items = await talk.items()
    expect(len(items) == 1 + MANY, f"of {MANY} replies are kept {len(items) - 1}")
    await talk.ask("threads.retry_after_item", item_id=items[0].id)
    again = await talk.items()
    expect(again[0].id == items[0].id, "the message that was tried again is gone")
    expect(_texts(again) == ["second"], f"the replies are {_texts(again)}")


@collect(PROPERTIES, "21.3")
async def cancel(case: ConformanceCase) -> None:
    """A reply that was cancelled is kept as far as it came"""
    waiting, never = asyncio.Event(), asyncio.Event()

    async def pause() -> None:
        waiting.set()
        await never.wait()

    talk = _Talk(case, [said("msg_1", "half a", pause)])
    heard = asyncio.Event()

    async def listen() -> None:
        async for event in talk.stream("threads.create", input=_typed("slowly")):
            if "half a" in json.dumps(event):
                heard.set()

    listening = asyncio.create_task(listen())
    await asyncio.wait_for(heard.wait(), PATIENCE)
    await asyncio.wait_for(waiting.wait(), PATIENCE)
    listening.cancel()
    with suppress(asyncio.CancelledError):
        await listening
    items = await talk.items()
    expect(_texts(items) == ["half a"], f"of the reply is kept {_texts(items)}")
    types = sorted(item.type for item in items)
    expect("sdk_hidden_context" in types, f"the note of the cancelling is not kept: {types}")


async def structured(case: ConformanceCase) -> None:
    """Answers to a structured input replace the questions in their place"""

    async def question(context: AgentContext[Any]) -> None:
        value = {"id": "si_0000000a", "thread_id": context.thread.id, "created_at": datetime.now()}
        value["inputs"] = [{"type": "freeform", "id": "q", "question": "Why?"}]
        item = kinds.StructuredInputItem.model_validate(value)
        await context.stream(ThreadItemDoneEvent(item=item))

    talk = _Talk(
        case,
        [called("fc_1", "question")],
        [said("msg_1", "I see")],
        tools=[tool("question", question)],
    )
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
async def placeholders(case: ConformanceCase) -> None:
    """Replies that all have the id __fake_id__ are all kept"""
    talk = _Talk(case, [said(PLACEHOLDER, "first")], [said(PLACEHOLDER, "second")])
    await talk.ask("threads.create", input=_typed("one"))
    await talk.ask("threads.add_user_message", input=_typed("two"))
    items = await talk.items()
    expect(_texts(items) == ["first", "second"], f"the replies are {_texts(items)}")
    ids = [item.id for item in items]
    expect(len(set(ids)) == 4, f"two items have the same id: {ids}")
