"""A driven conversation: every state, and everything a person can do with it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from rireki.drive import runner as runner_module
from rireki.drive.values import AskAnswer, Prompt, PromptImage
from rireki.errors import NotFound, RirekiError
from tests.drive.conftest import Desk, asked, reach, run, say, until

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not fetched yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_prompt_is_stored_then_given_then_answered(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.session() as session:
            assert session.state == "starting"
            given = await session.send(Prompt("p1", "echo good morning"), "web")
            assert not given.known
            assert archive_reader.kinds("prompt")[0]["n"] == given.number
            await until(lambda: archive_reader.kinds("turn_end"))
            await reach(session, "idle")
            assert session.conversation == f"claude-code/{session.book.log.native}"

    run(story())
    kinds = [entry["kind"] for entry in archive_reader.journal()]
    kept = [kind for kind in kinds if kind in ("prompt", "given", "text", "turn_end")]
    assert kept == ["prompt", "given", "text", "turn_end"]
    assert archive_reader.said() == "good morning"
    assert archive_reader.journal()[-1]["state"] == "ended"
    numbers = [entry["n"] for entry in archive_reader.journal()]
    assert numbers == sorted(set(numbers))


def test_the_same_id_runs_once_however_often_it_is_sent(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.session() as session:
            prompt = Prompt("p1", "echo once")
            all_given = await asyncio.gather(*(session.send(prompt, "web") for _ in range(5)))
            assert [given.known for given in all_given].count(False) == 1
            assert len({given.number for given in all_given}) == 1
            await until(lambda: archive_reader.kinds("turn_end"))
            assert (await session.send(prompt, "web")).known
            await reach(session, "idle")

    run(story())
    assert archive_reader.given_prompts() == ["echo once"]


def test_prompts_wait_in_order_and_can_be_edited_and_withdrawn(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.session() as session:
            await session.send(Prompt("a", "slow 1"), "web")
            await reach(session, "working")
            for id in "bcd":
                await session.send(Prompt(id, f"echo {id}"), "web")
            assert [queued.id for queued in session.status.queue] == ["b", "c", "d"]
            await session.edit("c", "echo changed", "web")
            await session.withdraw("b", "web")
            assert [queued.text for queued in session.status.queue] == ["echo changed", "echo d"]
            with pytest.raises(RirekiError, match="already"):
                await session.edit("a", "echo too late")
            with pytest.raises(RirekiError, match="already"):
                await session.withdraw("b")
            with pytest.raises(NotFound):
                await session.withdraw("nobody")
            await until(lambda: len(archive_reader.kinds("turn_end")) == 3)

    run(story())
    assert archive_reader.given_prompts() == ["slow 1", "echo changed", "echo d"]


@pytest.mark.parametrize(
    ("answer", "outcome", "told"),
    [
        (AskAnswer(option="allow"), "selected", "allow"),
        (AskAnswer(option="always"), "selected", "always"),
        (AskAnswer(option="reject"), "refused", "reject"),
        (AskAnswer(), "refused", "reject"),
    ],
)
def test_a_permission_is_asked_answered_and_recorded(
    archive_reader: Desk, answer: AskAnswer, outcome: str, told: str
) -> None:
    async def story() -> None:
        async with archive_reader.session() as session:
            await session.send(Prompt("p1", "permission"), "web")
            await reach(session, "permission")
            ask = await asked(session)
            assert (ask.what, ask.title, ask.detail) == (
                "permission",
                "rm -rf build",
                "rm -rf build",
            )
            assert ask.arguments == {"command": "rm -rf build", "description": "Remove the build"}
            assert ask.call in {call.id for call in session.status.calls}
            await session.answer(ask.id, answer, "phone")
            await reach(session, "idle")
            assert not session.status.asks and not session.status.calls

    run(story())
    (entry,) = archive_reader.kinds("answer")
    assert (entry["outcome"], entry["by"]) == (outcome, "phone")
    assert archive_reader.said() == f"I was told: {told}."
    assert archive_reader.kinds("result")[0]["status"] == (
        "ok" if outcome == "selected" else "error"
    )


def test_an_ask_is_answered_once_and_says_how_it_ended(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.session() as session:
            await session.send(Prompt("p1", "permission"), "web")
            ask = await asked(session)
            with pytest.raises(RirekiError, match="not among the options"):
                await session.answer(ask.id, AskAnswer(option="perhaps"), "web")
            given = await session.answer(ask.id, AskAnswer(option="allow"), "phone")
            again = await session.answer(ask.id, AskAnswer(option="allow"), "phone")
            assert again.known and again.number == given.number
            with pytest.raises(RirekiError, match="settled already: Allow, by phone"):
                await session.answer(ask.id, AskAnswer(option="reject"), "web")
            with pytest.raises(NotFound):
                await session.answer("ask-of-nobody", AskAnswer(option="allow"), "web")
            await reach(session, "idle")

    run(story())
    assert len(archive_reader.kinds("answer")) == 1
    assert archive_reader.said() == "I was told: allow."


def test_a_reason_reaches_the_agent_before_anything_else_that_waits(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.session() as session:
            await session.send(Prompt("p1", "permission"), "web")
            ask = await asked(session)
            await session.send(Prompt("p2", "echo later"), "web")
            await session.answer(ask.id, AskAnswer(option="reject", reason="echo use trash"), "web")
            await until(lambda: len(archive_reader.kinds("turn_end")) == 3)

    run(story())
    assert archive_reader.kinds("answer")[0]["reason"] == "echo use trash"
    assert archive_reader.given_prompts() == ["permission", "echo use trash", "echo later"]


def test_questions_come_with_their_options_and_the_answers_get_back(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.session() as session:
            await session.send(Prompt("p1", "question"), "web")
            await reach(session, "answer")
            ask = await asked(session)
            assert ask.what == "question" and not ask.options
            first, second = ask.questions
            assert (first.id, first.question, first.header) == (
                "question_0",
                "Which colour?",
                "Colour",
            )
            assert [(o.label, o.description) for o in first.options] == [
                ("Blue", "like the sky"),
                ("Red", ""),
            ]
            assert first.free and not first.multiple and second.multiple
            with pytest.raises(RirekiError, match="only one answer"):
                values = {"question_0": ["Blue", "Red"]}
                await session.answer(ask.id, AskAnswer(values=values), "web")
            values = {"question_0": ["Green"], "question_1": ["S", "L"]}
            await session.answer(ask.id, AskAnswer(values=values), "web")
            await reach(session, "idle")

    run(story())
    assert archive_reader.said() == (
        '{"action": "accept", "content": {"question_0_custom": "Green", "question_1": ["S", "L"]}}'
    )


def test_questions_can_be_refused(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.session() as session:
            await session.send(Prompt("p1", "question"), "web")
            await session.answer((await asked(session)).id, AskAnswer(), "web")
            await reach(session, "idle")

    run(story())
    assert archive_reader.said() == '{"action": "decline"}'


def test_a_plan_is_shown_whole_and_approved(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.session() as session:
            await session.send(Prompt("p1", "plan"), "web")
            await reach(session, "permission")
            ask = await asked(session)
            assert ask.what == "plan" and ask.detail == "# Plan\n\n1. Look\n2. Leap"
            await session.answer(ask.id, AskAnswer(option="default"), "web")
            await reach(session, "idle")

    run(story())
    assert archive_reader.kinds("plan")[0]["entries"][0]["content"] == "Look around"
    assert archive_reader.said() == "Plan: default."


def test_tools_and_thoughts_are_recorded_in_order(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.session() as session:
            await say(session, "think")
            await say(session, "tool")

    run(story())
    kinds = ("thought", "text", "call", "result")
    told = [
        (e["kind"], e.get("text") or e.get("output") or "") for e in archive_reader.kinds(*kinds)
    ]
    assert told == [
        ("thought", "Let me see."),
        ("text", "I see."),
        ("text", "I will look."),
        ("call", ""),
        ("call", ""),
        ("result", "1\tnothing to see here"),
        ("text", "There was nothing."),
    ]
    first, second = archive_reader.kinds("call")
    assert (first["name"], first["title"], first["tool"]) == ("Read", "Read notes.txt", "read")
    assert second["arguments"]["file_path"].endswith("notes.txt") and "name" not in second


def test_what_a_sub_agent_says_is_not_taken_for_the_agents_own(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.session() as session:
            await say(session, "helper")

    run(story())
    assert archive_reader.said() == "The helper is done."


def test_stop_ends_the_turn_and_holds_the_queue(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.session() as session:
            await session.send(Prompt("p1", "forever"), "web")
            await session.send(Prompt("p2", "echo afterwards"), "web")
            await until(lambda: session.status.blocks)
            await session.stop("web")
            await reach(session, "idle")
            assert session.status.held and [q.id for q in session.status.queue] == ["p2"]
            assert archive_reader.given_prompts() == ["forever"]
            await session.proceed()
            await until(lambda: len(archive_reader.kinds("turn_end")) == 2)
            assert not session.status.held

    run(story())
    assert [entry["reason"] for entry in archive_reader.kinds("turn_end")] == [
        "cancelled",
        "end_turn",
    ]
    assert archive_reader.said().startswith("and and ") or archive_reader.said().startswith("and ")
    assert archive_reader.said().endswith("afterwards")


def test_stop_ends_what_is_asked_everywhere(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.session() as session:
            await session.send(Prompt("p1", "permission"), "web")
            ask = await asked(session)
            await session.stop("web")
            await reach(session, "idle")
            with pytest.raises(RirekiError, match="settled already: cancelled"):
                await session.answer(ask.id, AskAnswer(option="allow"), "phone")

    run(story())
    assert [entry["outcome"] for entry in archive_reader.kinds("answer")] == ["cancelled"]
    assert archive_reader.kinds("turn_end")[0]["reason"] == "cancelled"


def test_an_agent_that_does_not_stop_can_be_killed(
    archive_reader: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner_module, "PATIENCE", 0.2)

    async def story() -> None:
        async with archive_reader.session() as session:
            await session.send(Prompt("p1", "forever deaf"), "web")
            await until(lambda: session.status.blocks)
            pid = archive_reader.kinds("process")[0]["pid"]
            await session.stop("web")
            await until(lambda: "can be killed" in session.status.detail)
            await reach(session, "stopping")
            assert alive(pid)
            await session.kill("web")
            assert session.state == "ended" and not alive(pid)
            # What it had said is kept, and a prompt starts it again.
            assert "and" in archive_reader.said()
            await say(session, "echo back again")
            await reach(session, "idle")

    run(story())
    assert [entry["reason"] for entry in archive_reader.kinds("turn_end")] == [
        "cancelled",
        "end_turn",
    ]
    assert archive_reader.said().endswith("back again")


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks at processes through /proc")
def test_kill_ends_what_the_agent_started_too(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.session() as session:
            await say(session, "child")
            child = int(archive_reader.said().split()[1])
            assert alive(child)
            await session.kill()
            await until(lambda: not alive(child))

    run(story())


def test_restart_goes_on_with_the_conversation(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.session() as session:
            await say(session, "echo before")
            native = session.book.log.native
            await session.send(Prompt("p2", "forever"), "web")
            await session.send(Prompt("p3", "echo after"), "web")
            await until(lambda: session.status.blocks)
            await session.restart("web")
            await until(lambda: len(archive_reader.kinds("turn_end")) == 3)
            await reach(session, "idle")
            assert session.book.log.native == native

    run(story())
    assert archive_reader.given_prompts() == ["echo before", "forever", "echo after"]
    assert len(archive_reader.kinds("process")) == 2
    assert archive_reader.said().startswith("before") and archive_reader.said().endswith("after")


def test_a_conversation_that_is_loaded_again_is_not_told_again(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.session(SCRIPT_CANNOT="resume") as session:
            await say(session, "echo before")
            await say(session, "tool")
            await session.restart()
            await say(session, "echo after")

    run(story())
    assert archive_reader.said() == "beforeI will look.There was nothing.after"
    assert len(archive_reader.kinds("call")) == 2


def test_an_agent_that_cannot_go_on_says_so_and_begins_anew(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.session(SCRIPT_CANNOT="load resume") as session:
            await say(session, "echo before")
            assert not session.status.can_continue
            await session.restart()
            await say(session, "echo after")

    run(story())
    (note,) = archive_reader.kinds("note")
    assert note["level"] == "warning" and "does not know what was said" in note["text"]
    assert len({entry["id"] for entry in archive_reader.kinds("session")}) == 2


def test_a_model_is_chosen_where_the_agent_offers_it(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.bridge() as bridge:
            session = await archive_reader.start(bridge, model="large")
            await reach(session, "idle")
            assert session.status.model == "large"
            assert [mode.id for mode in session.status.models] == ["small", "large"]
            other = await archive_reader.start(bridge, "two", model="huge")
            await reach(other, "idle")
            assert other.status.model == "small"

    run(story())
    (note,) = archive_reader.kinds("note", id="two")
    assert "does not take the model huge" in note["text"] and "small, large" in note["text"]


def test_images_and_mentions_reach_the_agent(archive_reader: Desk) -> None:
    (archive_reader.project / "notes.txt").write_text("n")
    image = PromptImage("image/png", PIXEL, "dot.png")

    async def story() -> None:
        async with archive_reader.session() as session:
            prompt = Prompt("p1", "image", [image], ["notes.txt"])
            await session.send(prompt, "web")
            await until(lambda: archive_reader.kinds("turn_end"))

    run(story())
    assert (
        archive_reader.said()
        == f"Seen: {(archive_reader.project / 'notes.txt').as_uri()}, image/png"
    )
    assert archive_reader.kinds("prompt")[0]["images"][0]["data"] == PIXEL


def test_images_are_refused_before_anything_is_stored(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.session(SCRIPT_CANNOT="image") as session:
            with pytest.raises(RirekiError, match="does not take images"):
                await session.send(Prompt("p1", "image", [PromptImage("image/png", PIXEL)]), "web")
            assert not archive_reader.kinds("prompt")
            await say(session, "echo fine", "p1")

    run(story())
    assert archive_reader.said() == "fine"


@pytest.mark.parametrize(
    ("prompt", "why"),
    [
        (Prompt("p 1", "x"), "cannot be the id"),
        (Prompt("-p", "x"), "cannot be the id"),
        (Prompt("p1", "  \n"), "empty"),
        (Prompt("p1", "x", [PromptImage("text/html", PIXEL)]), "no image"),
        (Prompt("p1", "x", [PromptImage("image/png", "no base64!")]), "no image"),
        (Prompt("p1", "x", [], ["missing.txt"]), "no file missing.txt"),
        (Prompt("p1", "x", [], ["../outside.txt"]), "does not lie in"),
        (Prompt("p1", "x", [], ["/etc/hostname"]), "does not lie in|no file"),
    ],
)
def test_prompts_that_cannot_be_meant_are_refused(
    archive_reader: Desk, prompt: Prompt, why: str
) -> None:
    (archive_reader.folder / "outside.txt").write_text("o")

    async def story() -> None:
        async with archive_reader.session() as session:
            with pytest.raises(RirekiError, match=why):
                await session.send(prompt, "web")

    run(story())
    assert not archive_reader.kinds("prompt")


def test_an_agent_with_nothing_to_do_is_ended_and_started_again(archive_reader: Desk) -> None:
    async def story() -> None:
        async with archive_reader.bridge(idle_after=0.4) as bridge:
            session = await archive_reader.start(bridge)
            await say(session, "echo one")
            await reach(session, "ended")
            assert archive_reader.journal()[-1]["detail"] == "it had nothing to do"
            # Another process may take it up now; here a prompt does.
            session = bridge.session("one")
            await say(session, "echo two")
            await reach(session, "idle", "ended")

    run(story())
    assert archive_reader.said() == "onetwo"
    assert len({entry["id"] for entry in archive_reader.kinds("session")}) == 1


def test_secrets_of_ours_are_not_passed_on(
    archive_reader: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RIREKI_TOKEN", "open-sesame")

    async def story() -> None:
        async with archive_reader.session() as session:
            await reach(session, "idle")
            pid = archive_reader.kinds("process")[0]["pid"]
            environment = Path(f"/proc/{pid}/environ").read_bytes()
            assert b"open-sesame" not in environment and b"SCRIPT_TRANSCRIPTS" in environment
            assert b"open-sesame" not in Path(f"/proc/{pid}/cmdline").read_bytes()

    if not Path("/proc/self/environ").exists():
        pytest.skip("looks at processes through /proc")
    run(story())
