"""A model that says what a script tells it, in the events of OpenAI's Responses, and its server.

Everything between it and the store is genuine: the agent's runner, ChatKit's translation of its
events, ChatKit's server. Knows no network.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from functools import cache
from typing import Any, TypeAlias

from agents import Agent, FunctionTool, ModelResponse, RunConfig, Runner
from agents.models.interface import Model
from chatkit.agents import AgentContext, stream_agent_response
from chatkit.server import ChatKitServer
from chatkit.store import Store
from chatkit.types import ThreadMetadata, ThreadStreamEvent, UserMessageItem
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

__all__ = ["Pause", "ScriptedServer", "Step", "called", "said", "thought", "tool"]

Event: TypeAlias = dict[str, Any]
#: Awaited where the model makes a pause.
Pause: TypeAlias = Callable[[], Awaitable[Any]]
#: One output of a model, event by event.
Step: TypeAlias = Sequence[Event | Pause]

NAME = "scripted"


def thought(id: str, text: str) -> Step:
    """A summary of reasoning."""
    summary = {"item_id": id, "summary_index": 0}
    return [
        _added({"type": "reasoning", "id": id, "summary": []}),
        {"type": "response.reasoning_summary_text.delta", "delta": text[:3], **summary},
        {"type": "response.reasoning_summary_text.done", "text": text, **summary},
        _done({"type": "reasoning", "id": id, "summary": [{"type": "summary_text", "text": text}]}),
    ]


def said(id: str, text: str, pause: Pause | None = None) -> Step:
    """A message; with a pause between its words and its end."""
    message = {"type": "message", "id": id, "role": "assistant"}
    part = {"type": "output_text", "annotations": []}
    place = {"item_id": id, "content_index": 0}
    begun: list[Event | Pause] = [
        _added(message | {"status": "in_progress", "content": []}),
        {"type": "response.content_part.added", "part": part | {"text": ""}, **place},
        {"type": "response.output_text.delta", "delta": text, "logprobs": [], **place},
    ]
    return [
        *begun,
        *([pause] if pause else []),
        {"type": "response.output_text.done", "text": text, "logprobs": [], **place},
        _done(message | {"status": "completed", "content": [part | {"text": text}]}),
    ]


def called(id: str, name: str) -> Step:
    """A call of a tool."""
    call = {"type": "function_call", "id": id, "call_id": f"call_{id}", "name": name}
    call |= {"arguments": "{}", "status": "completed"}
    return [_added(call), _done(call)]


def _added(item: Event) -> Event:
    return {"type": "response.output_item.added", "item": item}


def _done(item: Event) -> Event:
    return {"type": "response.output_item.done", "item": item}


def tool(name: str, run: Callable[[AgentContext[Any]], Awaitable[None]]) -> FunctionTool:
    """A tool of the agent that ends its turn."""

    async def invoke(context: Any, arguments: str) -> str:
        await run(context.context)
        return ""

    schema = {"type": "object", "properties": {}, "additionalProperties": False, "required": []}
    return FunctionTool(name=name, description="", params_json_schema=schema, on_invoke_tool=invoke)


class _Model(Model):
    """Says the steps of one turn."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = steps

    async def get_response(self, *_: Any, **__: Any) -> ModelResponse:
        raise NotImplementedError("ChatKit streams")

    async def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        output: list[Event] = []
        for place, step in enumerate(self.steps):
            for event in step:
                if callable(event):
                    await event()
                    continue
                if event["type"] == "response.output_item.done":
                    output.append(event["item"])
                yield _event(event | {"output_index": place})
        yield _event({"type": "response.completed", "response": _response(output)})


def _response(output: list[Event]) -> Event:
    value: Event = {"id": "resp_0", "object": "response", "created_at": 0, "model": NAME}
    value |= {"output": output, "parallel_tool_calls": False, "tools": [], "tool_choice": "auto"}
    return value


@cache
def _events() -> TypeAdapter[Any]:
    return TypeAdapter(ResponseStreamEvent)


def _event(event: Event) -> Any:
    return _events().validate_python(event | {"sequence_number": 0})


class ScriptedServer(ChatKitServer[Any]):
    """Answers with one turn after the other, whatever is asked."""

    def __init__(
        self, store: Store[Any], turns: Sequence[Sequence[Step]], tools: Sequence[FunctionTool] = ()
    ) -> None:
        super().__init__(store)
        self.turns: Iterator[Sequence[Step]] = iter(turns)
        self.tools = list(tools)

    async def respond(
        self, thread: ThreadMetadata, input_user_message: UserMessageItem | None, context: Any
    ) -> AsyncIterator[ThreadStreamEvent]:
        agent = Agent[AgentContext[Any]](
            name=NAME,
            model=_Model(next(self.turns)),
            tools=list(self.tools),
            tool_use_behavior={"stop_at_tool_names": [tool.name for tool in self.tools]},
        )
        about = AgentContext(thread=thread, store=self.store, request_context=context)
        quiet = RunConfig(tracing_disabled=True)
        result = Runner.run_streamed(agent, "go on", context=about, run_config=quiet)
        async for event in stream_agent_response(about, result):
            yield event
