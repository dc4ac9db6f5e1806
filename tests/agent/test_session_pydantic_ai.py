"""pydantic-ai's conversations in histories: as their own store in memory does it, and for good."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.conversation import Conversation
from pydantic_ai.conversation_store import (
    ConversationConflict,
    ConversationStore,
    InMemoryConversationStore,
)
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import (
    BinaryImage,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from rireki import MessageHistory
from rireki.history.adapters.pydantic_ai import HistoryConversationStore
from tests.history.test_sharing import other_writer
from tests.providers.rules_of import complaints


def made() -> list[ModelMessage]:
    png = BinaryImage(data=b"\x89PNG", media_type="image/png")
    return [
        ModelRequest(parts=[SystemPromptPart("Be brief."), UserPromptPart(["絵は?", png])]),
        ModelResponse(
            parts=[
                ThinkingPart("Hm."),
                ToolCallPart("look", '{"at": 1}', tool_call_id="c1"),
                ToolCallPart("look", {"at": 2}, tool_call_id="c2"),
            ]
        ),
        ModelRequest(
            parts=[
                ToolReturnPart("look", {"seen": True}, tool_call_id="c1"),
                ToolReturnPart("look", "Again.", tool_call_id="c2", outcome="retried"),
            ]
        ),
        ModelResponse(parts=[TextPart("A dot.")]),
    ]


#: Made once: they carry their time.
MESSAGES = made()


async def story(store: ConversationStore) -> list[Any]:
    """Saving, going on, rewriting, branching, forking, listing, deleting; what came of each."""
    told: list[Any] = [await store.load("a"), await store.list_conversations()]
    first = Conversation(conversation_id="a", messages=MESSAGES[:1])
    stale = Conversation(conversation_id="a", messages=MESSAGES[:1])
    told.append(len(await store.save(first, scope="mine")))
    with pytest.raises(ConversationConflict):
        await store.save(stale)
    first.messages.extend(MESSAGES[1:])
    told.append(len(await store.save(first)))
    told.append(len(await store.save(first)))
    loaded = await store.load("a", scope="mine")
    assert loaded is not None
    told += [loaded.messages == MESSAGES, await store.load("a", scope="other")]
    window = await store.load("a", limit=2)
    assert window is not None
    told.append(window.messages == MESSAGES[2:])
    branched = await store.branch("a", at=1, expected_revision=loaded.revision)
    branched.messages.append(ModelResponse(parts=[TextPart("Otherwise.")]))
    await store.save(branched)
    with pytest.raises(ConversationConflict):
        await store.save(first)
    (record,) = await store.list_conversations(scope="mine")
    told += [len(branched.messages), len(record.branches)]
    back = await store.branch(
        "a", from_entry=record.branches[0], expected_revision=branched.revision
    )
    told.append(back.messages == MESSAGES)
    forked = await store.fork("a", at=2, new_conversation_id="b/ユニ")
    forked.messages.append(ModelResponse(parts=[TextPart("In a fork.")]))
    told.append(len(await store.save(forked)))
    await store.delete("a")
    told += [await store.load("a"), [r.conversation_id for r in await store.list_conversations()]]
    kept = await store.load("b/ユニ")
    assert kept is not None
    told += [len(kept.messages), kept.messages[:2] == MESSAGES[:2]]
    with pytest.raises(ConversationConflict):
        await store.save(back)
    with pytest.raises(UserError):
        await store.fork("a")
    anew = Conversation(conversation_id="a", messages=MESSAGES[:1])
    return [*told, len(await store.save(anew))]


def test_it_does_what_their_own_store_does(place: Path) -> None:
    expected = asyncio.run(story(InMemoryConversationStore()))
    assert asyncio.run(story(HistoryConversationStore(place))) == expected


def test_ids_that_look_alike_are_conversations_of_their_own(place: Path) -> None:
    async def story() -> None:
        store = HistoryConversationStore(place)
        ids = ["x", "rireki/x", "rireki/rireki/x", "a/x"]
        for count, id in enumerate(ids, 1):
            await store.save(Conversation(conversation_id=id, messages=list(MESSAGES[:count])))
        for count, id in enumerate(ids, 1):
            loaded = await store.load(id)
            assert loaded is not None and loaded.messages == MESSAGES[:count]

    asyncio.run(story())


def test_while_somebody_else_writes_it_is_a_conflict_and_then_it_is_not(place: Path) -> None:
    store = HistoryConversationStore(place)
    conversation = Conversation(conversation_id="x", messages=MESSAGES[:1])
    with other_writer(place, 60) as other:
        with pytest.raises(ConversationConflict):
            asyncio.run(store.save(conversation))
        other.kill()
    assert len(asyncio.run(store.save(conversation))) == 1


def test_what_was_left_stays_hidden_in_the_history(place: Path) -> None:
    async def story() -> None:
        store = HistoryConversationStore(place)
        await store.save(Conversation(conversation_id="x", messages=list(MESSAGES)))
        loaded = await store.load("x")
        assert loaded is not None
        branched = await store.branch("x", at=1, expected_revision=loaded.revision)
        branched.messages.append(ModelResponse(parts=[TextPart("Otherwise.")]))
        await store.save(branched)

    asyncio.run(story())
    with MessageHistory.open("x", archive=place, read_only=True) as history:
        assert [m["role"] for m in history.messages] == ["system", "user", "assistant"]
        assert history.messages[-1]["content"] == [{"type": "text", "text": "Otherwise."}]
        assert "A dot." in (place.parent / "histories" / "x.jsonl").read_text("utf-8")


def test_a_run_with_the_real_package_goes_on_after_a_restart(place: Path) -> None:
    seen: list[int] = []

    def answer(history: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append(len(history))
        if len(history) == 1:
            return ModelResponse(parts=[ToolCallPart("add", {"a": 1, "b": 2}, tool_call_id="c1")])
        return ModelResponse(parts=[TextPart("Three.")])

    agent = Agent(FunctionModel(answer))

    @agent.tool_plain
    def add(a: int, b: int) -> int:
        return a + b

    async def once(said: str) -> None:
        store = HistoryConversationStore(place)
        conversation = await store.load("x") or Conversation(conversation_id="x")
        await store.save(await agent.run(said, conversation=conversation))

    asyncio.run(once("What is 1 + 2?"))
    asyncio.run(once("Thanks."))
    assert seen == [1, 3, 5]
    with MessageHistory.open("x", archive=place, read_only=True) as history:
        assert [m["role"] for m in history.messages] == ["user", "assistant"] * 3
        for provider in ("anthropic", "openai", "gemini"):
            sent = history.render(provider).messages
            assert complaints(provider, sent, ends=False) == []
        assert [hit.author for hit in history.search("Three")] == ["agent", "agent"]
