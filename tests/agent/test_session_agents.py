"""A history as a session of the OpenAI Agents SDK: as their own does it, and in a real run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, Model, ModelResponse, Runner, Session, SQLiteSession, Usage, function_tool
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from rireki import MessageHistory
from rireki.errors import RirekiError
from rireki.history.adapters.agents import HistorySession
from tests.agent.conftest import calls
from tests.providers.rules_of import complaints

ITEMS: list[Any] = [
    {"role": "user", "content": "こんにちは"},
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed"},
    {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{}"},
    {
        "type": "function_call_output",
        "call_id": "c1",
        "output": [{"type": "input_text", "text": "seen"}],
    },
    {"type": "web_search_call", "id": "ws_1", "status": "completed"},
    {"type": "compaction", "id": "cmp_1", "encrypted_content": "sealed"},
    {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "hi", "annotations": []}],
    },
]


async def story(session: Any) -> list[Any]:
    """Everything a session can do; what it returned."""
    told: list[Any] = [await session.get_items(), await session.pop_item()]
    await session.add_items([])
    await session.add_items(ITEMS[:2])
    await session.add_items(ITEMS[2:])
    told += [await session.get_items(limit=n) for n in (None, 0, 1, 3, 100)]
    told += [await session.pop_item(), await session.pop_item(), await session.get_items()]
    await session.add_items(ITEMS[:1])
    told += [await session.get_items(), await session.clear_session(), await session.get_items()]
    await session.add_items(ITEMS[:1])
    return [*told, await session.get_items()]


def test_it_does_what_the_sdks_own_session_does(place: Path) -> None:
    theirs = SQLiteSession("x", ":memory:")
    expected = asyncio.run(story(theirs))
    theirs.close()
    assert asyncio.run(story(HistorySession())) == expected
    with MessageHistory.open("x", archive=place) as history:
        session = HistorySession(history)
        assert isinstance(session, Session) and session.session_id == "x"
        assert asyncio.run(story(session)) == expected


#: Items that look like another provider's, and a call without a result.
ODD: list[Any] = [
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x/y.png"}}]},
    {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{}"},
]


async def back_and_forth(session: Any) -> list[Any]:
    await session.add_items(ODD)
    return [await session.get_items(), *[await session.pop_item() for _ in range(4)]]


def test_whatever_was_added_comes_back_as_it_was(place: Path) -> None:
    theirs = SQLiteSession("x", ":memory:")
    expected = asyncio.run(back_and_forth(theirs))
    theirs.close()
    assert asyncio.run(back_and_forth(HistorySession())) == expected
    with MessageHistory.open("x", archive=place) as history:
        assert asyncio.run(back_and_forth(HistorySession(history))) == expected


def test_an_item_of_its_own_is_taken_back_as_it_was_from_anothers_history() -> None:
    history = MessageHistory()
    history.add_raw_message(calls(("c1", "add", {"a": 1}), text="Well."))

    async def told() -> None:
        session = HistorySession(history)
        await session.add_items(ODD[2:])
        assert await session.pop_item() == ODD[2]
        # Nobody's by its shape, and told as the others are.
        history.add_raw_message({"role": "assistant", "content": [{"type": "text", "text": "x"}]})
        assert await session.pop_item() == {"role": "assistant", "content": "x"}
        taken = await session.pop_item()
        assert taken is not None and taken["type"] == "function_call"
        assert history.messages == []

    asyncio.run(told())


class Scripted(Model):
    def __init__(self, outputs: list[Any]) -> None:
        self.outputs = outputs
        self.inputs: list[Any] = []

    async def get_response(self, system_instructions: Any, input: Any, *a: Any, **k: Any) -> Any:
        self.inputs.append(input)
        return ModelResponse(output=[self.outputs.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


def says(text: str) -> ResponseOutputMessage:
    said = ResponseOutputText(text=text, type="output_text", annotations=[])
    return ResponseOutputMessage(
        id="msg_1", content=[said], role="assistant", status="completed", type="message"
    )


def test_a_run_with_the_real_package_goes_on_after_a_restart(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")

    @function_tool
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    call = ResponseFunctionToolCall(
        arguments='{"a": 1, "b": 2}', call_id="c1", name="add", type="function_call"
    )
    model = Scripted([call, says("Three."), says("You are welcome.")])
    agent = Agent(name="adder", model=model, tools=[add])
    for said, answer in (("1 + 2?", "Three."), ("Thanks.", "You are welcome.")):
        with MessageHistory.open("x", archive=place) as history:
            ran = asyncio.run(Runner.run(agent, said, session=HistorySession(history)))
            assert ran.final_output == answer
    assert [item.get("type") or item["role"] for item in model.inputs[2]] == [
        "user",
        "function_call",
        "function_call_output",
        "message",
        "user",
    ]
    with MessageHistory.open("x", archive=place) as history:
        assert complaints("anthropic", history.render("anthropic").messages) == []
        (hit,) = history.search("Three")
        assert hit.author == "agent"


def test_a_history_of_another_provider_is_told_in_items() -> None:
    history = MessageHistory()
    history.add_user_message("add")
    history.add_raw_message(calls(("c1", "add", {"a": 1}), text="Well."))
    history.add_tool_result("c1", "2", "add")

    async def told() -> None:
        session = HistorySession(history)
        items = await session.get_items()
        assert [item.get("type", "message") for item in items] == [
            "message",
            "message",
            "function_call",
            "function_call_output",
        ]
        assert await session.pop_item() == items[-1]
        assert len(history.messages) == 2

    asyncio.run(told())


def test_an_item_is_not_taken_back_over_a_repair() -> None:
    async def told() -> None:
        session = HistorySession()
        await session.add_items(ITEMS[:1])
        await session.history.compact("They said hello.", keep_turns=1)
        with pytest.raises(RirekiError, match="cannot be taken back"):
            await session.pop_item()

    asyncio.run(told())
