"""Questions to the person: answered at once, another day, or not at all."""

from __future__ import annotations

import asyncio
import os
import pty
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from rireki import MessageHistory
from rireki.agent import (
    CANCELLED,
    Agent,
    Answered,
    Event,
    Later,
    Question,
    Scripted,
    in_terminal,
    later,
)
from rireki.agent.threads import LOOK
from rireki.errors import RirekiError
from tests.agent.conftest import calls, question, results


def test_answered_at_once() -> None:
    asked: list[Question] = []

    def ask(question: Question) -> str:
        asked.append(question)
        return "blue"

    events: list[Event] = []
    agent = Agent(Scripted([question("q", "Which?", ["red", "blue"]), "Blue it is."]), ask=ask)
    assert agent.run_sync("paint", tell=events.append).text == "Blue it is."
    assert asked == [Question("q", "Which?", ["red", "blue"])]
    assert results(agent.history.messages[2]) == [("q", "blue", False)]
    assert [type(event).__name__ for event in events] == [
        "Question",
        "Answered",
        "TextDelta",
        "Done",
    ]


def test_an_answer_that_is_no_text_is_told_as_json() -> None:
    events: list[Event] = []
    llm = Scripted([question("q", "How many?"), "ok"])
    agent = Agent(llm, ask=lambda question: 5)  # type: ignore[arg-type, return-value]
    agent.run_sync("paint", tell=events.append)
    assert results(agent.history.messages[2]) == [("q", "5", False)]
    assert events[1] == Answered("q", "5")


def test_answered_by_a_coroutine() -> None:
    async def story() -> None:
        page: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()

        async def ask(question: Question) -> str | None:
            return await page

        agent = Agent(Scripted([question("q", "Which?"), "ok"]), ask=ask)
        run = asyncio.ensure_future(agent.run("paint"))
        async with asyncio.timeout(20):
            while not await agent.questions():
                await asyncio.sleep(0)
        with pytest.raises(RirekiError, match="running"):
            await agent.answer("q", "green")
        page.set_result("green")
        assert (await run).text == "ok"
        assert results(agent.history.messages[2]) == [("q", "green", False)]

    asyncio.run(story())


def test_answered_after_a_restart(place: Path) -> None:
    """The program ends while the question is open; another one brings the answer."""
    code = f"""
from rireki import MessageHistory
from rireki.agent import Agent, Scripted, later

def look(): return "seen"

step = {{"role": "assistant", "content": [
    {{"type": "tool_use", "id": "l", "name": "look", "input": {{}}}},
    {{"type": "tool_use", "id": "q", "name": "ask_user", "input": {{"question": "Which?"}}}},
]}}
history = MessageHistory.open("x", archive={str(place)!r})
print(Agent(Scripted([step]), [look], history, ask=later).run_sync("paint").reason, flush=True)
import os; os._exit(9)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ran.stdout, ran.returncode) == ("waiting\n", 9), ran.stderr
    with MessageHistory.open("x", archive=place) as history:
        llm = Scripted(["Green it is."])
        agent = Agent(llm, [look], history, ask=later)
        assert history.repair() == [], (
            "neither a question that waits is broken, nor what waits for it"
        )
        assert asyncio.run(agent.questions()) == [Question("q", "Which?")]
        assert agent.run_sync().reason == "waiting"
        assert llm.requests == []
        with pytest.raises(RirekiError, match="no open question 'other' is in the history x"):
            asyncio.run(agent.answer("other", "green"))
        asyncio.run(agent.answer("q", "green"))
        assert agent.run_sync().text == "Green it is."
        sent = llm.requests[0].messages[-1]["content"]
        assert [(b["tool_use_id"], b["content"]) for b in sent] == [("l", "seen"), ("q", "green")]


def test_a_history_that_knows_no_questions_learns_of_it(place: Path) -> None:
    with MessageHistory.open("x", archive=place, questions=()) as history:
        Agent(Scripted([question("q", "Which?")]), history=history, ask=later).run_sync("paint")
    with MessageHistory.open("x", archive=place, questions=()) as history:
        agent = Agent(Scripted(["ok"]), history=history, ask=later)
        assert agent.run_sync().reason == "waiting"
        asyncio.run(agent.answer("q", "red"))
        assert agent.run_sync().text == "ok"


def test_asked_again_after_a_restart(place: Path) -> None:
    with MessageHistory.open("x", archive=place) as history:
        Agent(Scripted([question("q", "Which?")]), history=history, ask=later).run_sync("paint")
    with MessageHistory.open("x", archive=place) as history:
        agent = Agent(Scripted(["ok"]), history=history, ask=lambda asked: f"{asked.question} red")
        assert agent.run_sync().text == "ok"
        assert results(history.messages[2]) == [("q", "Which? red", False)]


@pytest.mark.parametrize("way", [EOFError(), KeyboardInterrupt(), None])
def test_cancelled(way: BaseException | None) -> None:
    def ask(question: Question) -> str | None:
        if way is not None:
            raise way
        return None

    agent = Agent(Scripted([question("q", "Which?"), "As you like."]), ask=ask)
    assert agent.run_sync("paint").text == "As you like."
    assert results(agent.history.messages[2]) == [("q", "[User cancelled the question]", False)]


def test_saying_something_else_declines_an_open_question() -> None:
    agent = Agent(Scripted([question("q", "Which?"), "Never mind."]), ask=later)
    agent.run_sync("paint")
    assert agent.run_sync("Stop painting.").text == "Never mind."
    assert results(agent.history.messages[2]) == [("q", CANCELLED, False)]
    assert agent.history.messages[3] == {"role": "user", "content": "Stop painting."}


def test_of_two_questions_one_may_wait() -> None:
    def ask(question: Question) -> str:
        if question.id == "b":
            raise Later
        return "now"

    two = calls(
        ("b", "ask_user", {"question": "B?"}),
        ("a", "ask_user", {"question": "A?"}),
    )
    agent = Agent(Scripted([two, "ok"]), ask=ask)
    assert agent.run_sync("go").reason == "waiting"
    assert [q.id for q in asyncio.run(agent.questions())] == ["b"]
    asyncio.run(agent.answer("b", None))
    assert agent.run_sync().text == "ok"
    assert [results(m)[0][:2] for m in agent.history.messages[2:4]] == [
        ("a", "now"),
        ("b", CANCELLED),
    ]


def test_questions_of_models_without_call_ids() -> None:
    def asks(text: str) -> dict[str, Any]:
        asked = {"function": {"name": "ask_user", "arguments": {"question": text}}}
        return {"role": "assistant", "content": "", "tool_calls": [asked]}

    llm = Scripted([asks("Which?"), asks("Sure?"), "ok"], provider="ollama")
    agent = Agent(llm, ask=later)
    agent.run_sync("paint")
    asyncio.run(agent.answer("", "red"))
    assert agent.run_sync().reason == "waiting"
    asyncio.run(agent.answer("", "yes"))
    assert agent.run_sync().text == "ok"
    told = [m for m in llm.requests[-1].messages if m["role"] == "tool"]
    assert [m["content"] for m in told] == ["red", "yes"]


def gemini(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def gemini_call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": arguments}}


TWO = [
    ("gemini", gemini(*(gemini_call("ask_user", question=q) for q in ("A?", "B?")))),
    ("anthropic", calls(*(("x", "ask_user", {"question": q}) for q in ("A?", "B?")))),
]


@pytest.mark.parametrize(("provider", "two"), TWO)
def test_questions_that_cannot_be_told_apart_are_answered_in_order(
    provider: str, two: dict[str, Any], place: Path
) -> None:
    """An answer to the second one would be taken for one to the first."""

    def not_a(question: Question) -> str:
        if question.question == "A?":
            raise Later
        return "to B"

    with MessageHistory.open("x", archive=place) as history:
        agent = Agent(Scripted([two], provider=provider), history=history, ask=not_a)
        assert agent.run_sync("go").reason == "waiting"
    with MessageHistory.open("x", archive=place) as history:
        llm = Scripted([{"role": "assistant", "content": "ok"}], provider="anthropic")
        agent = Agent(llm, history=history, ask=not_a)
        (open_one,) = asyncio.run(agent.questions())
        assert open_one.question == "A?"
        asyncio.run(agent.answer(open_one.id, "to A"))
        (open_one,) = asyncio.run(agent.questions())
        assert open_one.question == "B?"
        assert agent.run_sync().text == "ok"
    asked, answered = llm.requests[0].messages[-2:]
    by_id = {block["tool_use_id"]: block["content"] for block in answered["content"]}
    told = [(b["input"]["question"], by_id[b["id"]]) for b in asked["content"]]
    assert told == [("A?", "to A"), ("B?", "to B")]


def test_a_tool_behind_a_question_of_its_id_runs_after_it() -> None:
    both = calls(("x", "ask_user", {"question": "A?"}), ("x", "look", {}), ("y", "look", {}))
    agent = Agent(Scripted([both, "ok"]), [look], ask=lambda question: "to A")
    assert agent.run_sync("go").text == "ok"
    assert [results(message) for message in agent.history.messages[2:4]] == [
        [("x", "to A", False)],
        [("x", "seen", False), ("y", "seen", False)],
    ]


def look() -> str:
    return "seen"


def test_a_question_that_is_none_is_an_error_result() -> None:
    llm = Scripted([calls(("q", "ask_user", {"options": ["a"]})), "Sorry."])
    agent = Agent(llm, ask=lambda question: pytest.fail("there is no question"))
    assert agent.run_sync("go").text == "Sorry."
    assert results(agent.history.messages[2])[0][2]
    assert asyncio.run(agent.questions()) == []


def test_an_open_question_that_is_none_is_not_listed() -> None:
    history = MessageHistory()
    history.add_user_message("go")
    history.add_raw_message(calls(("q", "ask_user", {"options": ["a"]})))
    agent = Agent(Scripted(["Sorry."]), history=history, ask=later)
    assert asyncio.run(agent.questions()) == []
    assert agent.run_sync().text == "Sorry."


def test_a_call_that_was_marked_as_waiting_is_not_run(place: Path) -> None:
    def deploy(env: str) -> str:
        pytest.fail("nobody allowed it")

    with MessageHistory.open("x", archive=place) as history:
        history.add_user_message("go")
        history.add_raw_message(calls(("d", "deploy", {"env": "prod"}), ("l", "look", {})))
        history.waiting("d")
    with MessageHistory.open("x", archive=place) as history:
        llm = Scripted([calls(("l2", "look", {})), "Deployed."])
        agent = Agent(llm, [deploy, look], history, ask=lambda question: "yes")
        assert agent.run_sync().reason == "waiting"
        assert llm.requests == []
        assert asyncio.run(agent.questions()) == [Question("d", 'deploy {"env":"prod"}')]
        asyncio.run(agent.answer("d", "done by hand"))
        assert agent.run_sync().text == "Deployed."
        assert results(history.messages[3]) == [("d", "done by hand", False)]


def test_without_anybody_to_ask_the_model_has_no_such_tool() -> None:
    agent = Agent(Scripted(["hello"]))
    assert agent.tools == {}


@pytest.mark.parametrize(
    ("typed", "answer"),
    [("2", "blue"), ("blue-ish", "blue-ish"), ("3", "3"), ("0", "0"), ("９", "９"), (" 1 ", "red")],
)
def test_in_the_terminal_a_number_chooses(
    typed: str, answer: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("builtins.input", lambda prompt: typed)
    assert in_terminal(Question("q", "Which\x1b[2J?", ["red", "blue"])) == answer
    assert capsys.readouterr().out == "\n? Which\ufffd[2J?\n  1. red\n  2. blue\n"


TERMINAL = """
import fcntl, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from rireki.agent import Agent, Scripted, in_terminal
step = {"role": "assistant", "content": [
    {"type": "tool_use", "id": "q", "name": "ask_user", "input": {"question": "Which?"}}]}
agent = Agent(Scripted([step, "over"]), ask=in_terminal)
print("END", agent.run_sync("go").text, agent.history.messages[2]["content"][0]["content"])
"""


@pytest.mark.parametrize("key", [b"\x03", b"\x04"])
def test_ctrl_c_and_ctrl_d_at_the_prompt_decline(key: bytes) -> None:
    """In a real terminal, because the event loop has a handler of its own for Ctrl-C."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", TERMINAL]
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    )
    os.close(theirs)
    seen, pressed, deadline = b"", 0, time.monotonic() + 60
    with os.fdopen(ours, "r+b", buffering=0) as terminal:
        try:
            while b"question]" not in seen and time.monotonic() < deadline:
                if select.select([terminal], [], [], 1.0)[0]:
                    seen += terminal.read(4096)
                if b"> " in seen and not pressed:
                    pressed = terminal.write(key)
        finally:
            process.kill()
            process.wait()
    assert b"END over [User cancelled the question]" in seen


BUSY = """
import signal, sys, time
# Whoever runs the tests in the background has it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
from rireki import MessageHistory
from rireki.agent import Agent, Scripted

def hangs():
    print("in the tool", flush=True)
    time.sleep(600)

step = {"role": "assistant", "content": [
    {"type": "tool_use", "id": "c", "name": "hangs", "input": {}}]}
with MessageHistory.open("x", archive=sys.argv[1]) as history:
    agent = Agent(Scripted([step, "on I go"]), [hangs], history)
    try:
        agent.run_sync("go")
    except KeyboardInterrupt:
        print(agent.run_sync().text)
"""


def test_ctrl_c_leaves_a_history_that_goes_on(place: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", BUSY, str(place)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "in the tool\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == "on I go\n"
    assert process.returncode == 0, "it does not wait for the tool either"
    with MessageHistory.open("x", archive=place, read_only=True) as history:
        assert results(history.messages[2])[0][1].startswith("interrupted")


def test_ctrl_c_that_comes_before_the_loop_waits_is_heard() -> None:
    """As one that another thread got: it interrupts nothing."""
    over, returned = threading.Event(), []

    def hangs() -> None:
        time.sleep(3 * LOOK)
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        returned.append(over.wait(20))

    step = calls(("c", "hangs", {}))
    with pytest.raises(KeyboardInterrupt):
        Agent(Scripted([step]), [hangs]).run_sync("go")
    assert returned == []
    over.set()


def both() -> dict[str, Any]:
    """A question, and a call that the answer may make pointless, in one step."""
    content = [
        {"type": "tool_use", "id": "d", "name": "delete", "input": {"path": "a"}},
        {"type": "tool_use", "id": "q", "name": "ask_user", "input": {"question": "Really?"}},
    ]
    return {"role": "assistant", "content": content}


def deleting(done: list[str]) -> Any:
    def delete(path: str) -> str:
        """Delete a file."""
        done.append(path)
        return "deleted"

    return delete


def test_other_calls_of_a_step_wait_until_the_question_is_answered() -> None:
    done: list[str] = []

    def ask(question: Question) -> str:
        assert done == [], "it was run before the person answered"
        return "yes"

    agent = Agent(Scripted([both(), "ok"]), [deleting(done)], ask=ask)
    assert agent.run_sync("clean up").text == "ok"
    assert done == ["a"]
    assert results(agent.history.messages[2]) == [("q", "yes", False)]
    assert results(agent.history.messages[3]) == [("d", "deleted", False)]


def test_they_run_beside_it_where_that_is_wanted() -> None:
    done: list[str] = []

    def ask(question: Question) -> str:
        assert done == ["a"]
        return "yes"

    llm = Scripted([both(), "ok"])
    agent = Agent(llm, [deleting(done)], ask=ask, run_beside_questions=True)
    assert agent.run_sync("clean up").text == "ok"


@pytest.mark.parametrize("answer", ["later", "other words", "killed"])
def test_they_wait_over_restarts_and_run_once(place: Path, answer: str) -> None:
    """The question is answered another day; or the person says something else; or a kill comes."""
    done: list[str] = []
    with MessageHistory.open("x", archive=place) as history:
        agent = Agent(Scripted([both()]), [deleting(done)], history, ask=later)
        assert agent.run_sync("clean up").reason == "waiting"
        assert done == []
    with MessageHistory.open("x", archive=place) as history:
        agent = Agent(Scripted(["ok"]), [deleting(done)], history, ask=later)
        assert [question.id for question in asyncio.run(agent.questions())] == ["q"]
        if answer == "other words":
            assert agent.run_sync("No, leave it.").text == "ok"
            assert done == []
            assert "not run" in str(history.render("anthropic").messages)
            return
        asyncio.run(agent.answer("q", "yes"))
        if answer == "killed":
            # As a run does it before it begins what it held back.
            asyncio.run(agent._hold([]))
            assert agent.run_sync().text == "ok"
            assert done == [], "what may have run is not run again"
            assert "interrupted" in str(history.render("anthropic").messages)
            return
        assert agent.run_sync().text == "ok"
        assert done == ["a"]
        assert history.validate("anthropic") == []
