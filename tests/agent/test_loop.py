"""Think, act, observe: until an answer, a limit or a stop, whatever the tools and the model do."""

from __future__ import annotations

import asyncio
import gc
import threading
from typing import Any

import msgspec
import pytest

from rireki import AsyncMessageHistory, MessageHistory
from rireki.agent import Agent, Event, Output, Scripted, ToolError
from rireki.errors import RirekiError
from tests.agent.conftest import calls, results


def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


def kinds(events: list[Event]) -> list[str]:
    return [msgspec.to_builtins(event)["kind"] for event in events]


def test_it_goes_on_until_an_answer_without_calls() -> None:
    llm = Scripted([calls(("c1", "add", {"a": 1, "b": 2}), text="Let me see."), "It is 3."])
    agent = Agent(llm, [add])
    events: list[Event] = []
    done = agent.run_sync("What is 1 + 2?", tell=events.append)
    assert (done.text, done.reason, done.steps) == ("It is 3.", "answer", 2)
    assert kinds(events) == ["text", "call", "result", "text", "done"]
    assert isinstance(agent.history, MessageHistory)
    assert agent.history.get_messages() == [
        {"role": "user", "content": "What is 1 + 2?"},
        calls(("c1", "add", {"a": 1, "b": 2}), text="Let me see."),
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "tool_name": "add", "content": "3"}
            ],
        },
        {"role": "assistant", "content": "It is 3."},
    ]
    # The model saw the result, in a form that its provider takes.
    assert llm.requests[1].messages[-1]["content"][0] == {
        "type": "tool_result",
        "tool_use_id": "c1",
        "content": "3",
    }


def test_calls_of_one_step_run_at_once_and_their_results_are_kept_in_order() -> None:
    both = threading.Barrier(3, timeout=20)
    last = threading.Event()

    def slow(name: str) -> str:
        both.wait()
        assert name != "first" or last.wait(20)
        if name == "third":
            last.set()
        return name

    async def aside(name: str) -> str:
        return await asyncio.to_thread(slow, name)

    step = calls(
        ("a", "slow", {"name": "first"}),
        ("b", "aside", {"name": "second"}),
        ("c", "slow", {"name": "third"}),
    )
    history = MessageHistory()
    Agent(Scripted([step, "done"]), [slow, aside], history).run_sync("go")
    assert len(history.messages) == 4
    assert results(history.messages[2]) == [
        ("a", "first", False),
        ("b", "second", False),
        ("c", "third", False),
    ]


def test_what_goes_wrong_in_a_tool_is_told_to_the_model() -> None:
    def broken() -> None:
        raise ValueError("no such thing")

    def polite() -> None:
        raise ToolError("The file is gone; list the folder first.")

    def leaves() -> None:
        raise SystemExit(3)

    step = calls(
        ("a", "broken", {}),
        ("b", "polite", {}),
        ("c", "leaves", {}),
        ("d", "unheard_of", {}),
        ("e", "add", {"a": "many"}),
        ("f", "add", {"b": 2}),
        ("g", "add", {"a": 1, "c": 2}),
        ("h", "add", {"a": "2", "b": 3.0}),
    )
    history = MessageHistory()
    agent = Agent(Scripted([step, "I see."]), [broken, polite, leaves, add], history)
    done = agent.run_sync("go")
    assert done.text == "I see."
    told = results(history.messages[2])
    assert told == [
        ("a", "Error: ValueError: no such thing", True),
        ("b", "The file is gone; list the folder first.", True),
        ("c", "Error: SystemExit: 3", True),
        (
            "d",
            "Error: there is no tool 'unheard_of'; there are: broken, polite, leaves, add",
            True,
        ),
        ("e", "Error: wrong arguments for add: Expected `int`, got `str` - at `$.a`", True),
        ("f", "Error: wrong arguments for add: Object missing required field `a`", True),
        ("g", "Error: wrong arguments for add: Object contains unknown field `c`", True),
        ("h", "5", False),
    ]


def test_arguments_that_were_never_finished_are_an_error_result() -> None:
    cut = {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "add", "arguments": '{"a": 1'}}
        ],
    }
    history = MessageHistory()
    Agent(Scripted([cut, "ok"], provider="openai"), [add], history).run_sync("go")
    assert results(history.messages[2]) == [
        ("c", "Error: the arguments of add are not a JSON object", True)
    ]


def test_what_tools_return_becomes_text_and_pictures() -> None:
    png = b"\x89PNG\r\n\x1a\n"

    def nothing() -> None:
        pass

    def several() -> dict[str, Any]:
        return {"日本": [1, None]}

    def picture() -> Output:
        return Output("a dot", [png])

    def five() -> Output:
        return Output(5)  # type: ignore[arg-type]

    tools = [nothing, several, picture, five]
    step = calls(*((tool.__name__, tool.__name__, {}) for tool in tools))
    history = MessageHistory()
    Agent(Scripted([step, "ok"]), tools, history).run_sync("go")
    none, some, shown, number = history.messages[2]["content"]
    assert none["content"] == "(no output)" and some["content"] == '{"日本":[1,null]}'
    assert number["content"] == "5"
    assert shown["content"][0] == {"type": "text", "text": "a dot"}
    assert shown["content"][1]["source"]["media_type"] == "image/png"


@pytest.mark.parametrize("wrong", [b"not an image", 5, ("image/png", "text")])
def test_a_picture_that_is_none_is_the_error_of_its_tool_alone(wrong: Any) -> None:
    def picture() -> Output:
        return Output("look", images=[wrong])

    step = calls(("c1", "picture", {}), ("c2", "add", {"a": 1}))
    agent = Agent(Scripted([step, "ok"]), [picture, add])
    assert agent.run_sync("go").text == "ok"
    failed, added = results(agent.history.messages[2])
    assert failed[1].startswith("Error: RirekiError: ") and failed[2]
    assert added == ("c2", "2", False)


def test_the_limit_of_steps_ends_a_run_that_can_go_on() -> None:
    more = [calls((f"c{n}", "add", {"a": n})) for n in range(3)]
    llm = Scripted([*more, "At last."])
    agent = Agent(llm, [add], max_steps=3)
    done = agent.run_sync("go")
    assert (done.reason, done.steps, len(llm.requests)) == ("limit", 3, 3)
    # What the model asked for last is there, so nothing has to be done again.
    assert results(agent.history.messages[-1]) == [("c2", "3", False)]
    assert agent.run_sync().text == "At last."


def test_stop_ends_the_run_before_the_next_step() -> None:
    def stopping() -> str:
        agent.stop()
        return "stopped"

    llm = Scripted([calls(("a", "stopping", {})), "gone on"])
    agent = Agent(llm, [stopping])
    assert agent.run_sync("go").reason == "stopped"
    assert len(llm.requests) == 1 and results(agent.history.messages[-1])[0][1] == "stopped"
    assert agent.run_sync("And now?").text == "gone on"


def test_stop_while_the_model_thinks_runs_no_tool() -> None:
    def asked(request: Any) -> Any:
        agent.stop()
        return calls(("a", "add", {"a": 1}))

    agent = Agent(Scripted([asked, "fine"]), [add])
    assert agent.run_sync("go").reason == "stopped"
    assert results(agent.history.messages[-1]) == [("a", "not run: the agent was stopped", True)]
    assert agent.run_sync().text == "fine"


def test_an_error_of_the_model_is_raised_and_the_run_can_go_on() -> None:
    agent = Agent(Scripted([OSError("no network"), "back again"]))
    events: list[Event] = []
    with pytest.raises(OSError, match="no network"):
        agent.run_sync("hello", tell=events.append)
    assert kinds(events) == ["error"]
    assert agent.run_sync().text == "back again"
    assert [m["role"] for m in agent.history.messages] == ["user", "assistant"]


def test_with_nothing_to_go_on_with_it_says_so() -> None:
    agent = Agent(Scripted(["hello"]), instructions="Be brief.")
    with pytest.raises(RirekiError, match="nothing to go on with"):
        agent.run_sync()
    agent.run_sync("hi")
    with pytest.raises(RirekiError, match="nothing to go on with"):
        agent.run_sync()
    assert agent.history.messages[0] == {"role": "system", "content": "Be brief."}


def test_cancelling_keeps_what_returned_and_says_what_did_not() -> None:
    async def story() -> None:
        begun = asyncio.Event()

        async def hangs() -> None:
            begun.set()
            await asyncio.Event().wait()

        step = calls(("a", "add", {"a": 1}), ("b", "hangs", {}))
        agent = Agent(Scripted([step, "ok"]), [add, hangs])
        returned = asyncio.Event()
        told: list[Event] = []

        def tell(event: Event) -> None:
            told.append(event)
            if kinds([event]) == ["result"]:
                returned.set()

        run = asyncio.ensure_future(agent.run("go", tell=tell))
        async with asyncio.timeout(20):
            await begun.wait()
            await returned.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        one, other = results(agent.history.messages[-1])
        assert one == ("a", "2", False)
        assert other[0] == "b" and other[1].startswith("interrupted") and other[2]
        assert (await agent.run()).text == "ok"

    asyncio.run(story())


def test_events_can_be_iterated_and_leaving_ends_the_run() -> None:
    async def story() -> None:
        agent = Agent(Scripted([calls(("a", "add", {"a": 1})), "two"]), [add])
        assert kinds([event async for event in agent.stream("go")]) == [
            "call",
            "result",
            "text",
            "done",
        ]
        never = threading.Event()

        def hangs() -> None:
            never.wait(20)

        agent = Agent(Scripted([calls(("a", "hangs", {})), "ok"]), [hangs])
        events = agent.stream("go")
        assert kinds([await anext(events)]) == ["call"]
        await events.aclose()  # type: ignore[attr-defined]
        never.set()
        assert results(agent.history.messages[-1])[0][1].startswith("interrupted")
        assert (await agent.run()).text == "ok"

    asyncio.run(story())


def test_the_iteration_raises_what_the_run_raised() -> None:
    async def story() -> None:
        seen: list[Event] = []
        with pytest.raises(OSError):
            async for event in Agent(Scripted([OSError("gone")])).stream("go"):
                seen.append(event)  # noqa: PERF401 - what came before the error counts
        assert kinds(seen) == ["error"]

    asyncio.run(story())


def test_leaving_after_the_error_leaves_no_error_behind(caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        events = Agent(Scripted([OSError("gone")])).stream("go")
        assert kinds([await anext(events)]) == ["error"]
        await events.aclose()  # type: ignore[attr-defined]

    asyncio.run(story())
    gc.collect()
    assert "never retrieved" not in caplog.text


def test_a_history_for_event_loops_serves_as_well() -> None:
    async def story() -> None:
        async with AsyncMessageHistory() as history:
            agent = Agent(Scripted([calls(("a", "add", {"a": 1})), "two"]), [add], history)
            assert (await agent.run("go")).text == "two"
            assert len(await history.get_messages()) == 4

    asyncio.run(story())


def test_a_model_may_be_a_coroutine_and_tell_its_answer_in_pieces() -> None:
    class Slow(Scripted):
        async def ask(self, request: Any, tools: Any, tell: Any) -> Any:
            from rireki.agent import TextDelta

            tell(TextDelta("two "))
            await asyncio.sleep(0)
            tell(TextDelta("pieces"))
            return super().ask(request, tools, tell)

    events: list[Event] = []
    Agent(Slow(["two pieces"])).run_sync("go", tell=events.append)
    assert [getattr(event, "text", "") for event in events] == ["two ", "pieces", "two pieces"]


def test_a_model_may_answer_with_several_messages() -> None:
    events: list[Event] = []
    several = [{"role": "assistant", "content": text} for text in ("One. ", "Two.")]
    agent = Agent(Scripted([several]))
    assert agent.run_sync("go", tell=events.append).text == "One. Two."
    assert kinds(events) == ["text", "text", "done"]


def test_one_run_at_a_time() -> None:
    async def story() -> None:
        async def again() -> str:
            with pytest.raises(RirekiError, match="running already"):
                await agent.run("me too")
            return "checked"

        agent = Agent(Scripted([calls(("a", "again", {})), "ok"]), [again])
        await agent.run("go")
        assert results(agent.history.messages[2]) == [("a", "checked", False)]

    asyncio.run(story())


def test_a_listener_that_fails_loses_no_result_and_leaves_nothing_running() -> None:
    async def story() -> None:
        ended: list[str] = []

        async def endless() -> None:
            try:
                await asyncio.sleep(600)
            finally:
                ended.append("endless")

        def listen(event: Event) -> None:
            if kinds([event]) == ["result"]:
                raise BrokenPipeError("nobody listens")

        step = calls(("a", "add", {"a": 1}), ("b", "endless", {}))
        agent = Agent(Scripted([step, "ok"]), [add, endless])
        with pytest.raises(BrokenPipeError):
            await agent.run("go", tell=listen)
        one, other = results(agent.history.messages[-1])
        assert one == ("a", "2", False), "what returned is kept"
        assert other[1].startswith("interrupted") and ended == ["endless"]
        assert (await agent.run()).text == "ok"

    asyncio.run(story())
