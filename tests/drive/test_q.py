"""Amazon Q at a terminal of its own: a program that behaves like it, driven by the real driver."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.open import open_archive
from rireki.drive.agents import AgentProgram
from rireki.drive.driver import AgentError, AgentGone, AgentTask, Level, Reply
from rireki.drive.q.driver import QDriver, typed
from rireki.drive.q.store import QStore
from rireki.drive.values import Ask, AskAnswer, Mode, Prompt, PromptImage
from rireki.intake.interpret import read_conversation
from rireki.intake.sweep import import_history
from rireki.sources.kit.places import Places
from tests.support.q_rows import Client, said, talk

pytest.importorskip("pty")

PROGRAM = Path(__file__).parents[1] / "support" / "q_program.py"
WAIT = 30.0
Chosen = Callable[[Ask], Reply]


def agent() -> AgentProgram:
    command = (sys.executable, str(PROGRAM), "chat")
    return AgentProgram("amazon-q", "Amazon Q", command, "q", "amazon-q", found=True)


@pytest.fixture
def work(tmp_path: Path, home: Path) -> AgentTask:
    project = tmp_path / "project"
    project.mkdir()
    archive = tmp_path / "kept" / "archive.sqlite3"
    places = Places(home, {"HOME": str(home)}).beside(archive)
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
    return AgentTask("d1", agent(), project, None, archive, places, environment, (project,))


class Recorder:
    """A sink that remembers, and answers asks as it was told to."""

    def __init__(self, choose: Chosen | None = None) -> None:
        self.choose = choose
        self.texts: list[str] = []
        self.asks: list[Ask] = []
        self.calls: list[tuple[str, Any]] = []
        self.results: list[tuple[str, str, str]] = []
        self.sessions: list[str] = []
        self.notes: list[str] = []
        self.gone_with: list[tuple[int | None, str]] = []
        self.pids: list[int] = []
        self.asked = asyncio.Event()
        self.spoke = asyncio.Event()
        self.settled = 0

    @property
    def text_so_far(self) -> str:
        return "".join(self.texts)

    def text(self, text: str, *, message: str | None = None, provisional: bool = False) -> None:
        assert provisional, "its row is what counts"
        self.texts.append(text)
        self.spoke.set()

    def thought(self, text: str, *, message: str | None = None) -> None:
        raise AssertionError("a terminal does not tell thoughts")

    def replaced(self) -> None:
        self.settled += 1

    def call(self, id: str, **more: Any) -> None:
        self.calls.append((id, more["arguments"]))

    def result(self, id: str, status: str, output: str) -> None:
        self.results.append((id, status, output))

    def plan(self, entries: list[dict[str, Any]]) -> None:
        raise AssertionError("it has no plans")

    async def ask(self, ask: Ask) -> Reply:
        self.asks.append(ask)
        self.asked.set()
        if self.choose is None:
            await asyncio.Event().wait()
        assert self.choose is not None
        return self.choose(ask)

    def session(self, id: str, *, resumable: bool = False, images: bool | None = None) -> None:
        assert resumable and images is False
        self.sessions.append(id)

    def usage(self, usage: dict[str, Any]) -> None: ...

    def models(self, models: list[Mode], current: str | None) -> None: ...

    def modes(self, modes: list[Mode], current: str | None) -> None: ...

    def note(self, text: str, level: Level = "info") -> None:
        self.notes.append(text)

    def process(self, pid: int) -> None:
        self.pids.append(pid)

    def gone(self, code: int | None, printed: str) -> None:
        self.gone_with.append((code, printed))


@asynccontextmanager
async def driven(
    work: AgentTask, sink: Recorder, continues: str | None = None
) -> AsyncIterator[QDriver]:
    driver = QDriver(work, sink)
    await asyncio.wait_for(driver.start(continues), WAIT)
    try:
        yield driver
    finally:
        await driver.close()


async def ask(driver: QDriver, text: str) -> str:
    end = await asyncio.wait_for(driver.prompt(Prompt(id="p", text=text)), WAIT)
    return end.reason


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 3 * WAIT))


def prompts(work: AgentTask) -> list[str]:
    """What the row says the person typed, in order."""
    held = QStore(work).held()
    assert held is not None
    found = []
    for entry in held.entries:
        content = entry["user"]["content"]
        found += [side["prompt"] for side in content.values() if side.get("prompt")]
    return found


def test_an_answer_is_shown_as_it_comes_and_settled_by_its_row(work: AgentTask) -> None:
    async def story() -> None:
        sink = Recorder()
        async with driven(work, sink) as driver:
            assert sink.texts == [] and sink.sessions == []
            assert await ask(driver, "stream 30") == "end_turn"
        assert sink.text_so_far.split() == [f"word{n}" for n in range(30)]
        assert len(sink.texts) > 3, "not all at once"
        held = QStore(work).held()
        assert held is not None and sink.sessions == [held.conversation]
        assert sink.settled == 1 and sink.notes == [] and sink.gone_with == []

    run(story())


@pytest.mark.parametrize(
    "text",
    [
        "echo one\n\ttwo\n\nthree",
        "echo ```\ncode\n```",
        "echo 日本語 ✓ \U0001f600",
        "--resume is an option\n- so is this",
        "@file and $HOME `id` \"quoted\" 'too'",
        "echo " + "long " * 4_000,
    ],
)
def test_what_is_typed_arrives_as_it_is(work: AgentTask, text: str) -> None:
    async def story() -> None:
        async with driven(work, Recorder()) as driver:
            assert await ask(driver, text) == "end_turn"
        assert prompts(work) == [text.strip()]

    run(story())


def test_no_key_hides_in_a_prompt(work: AgentTask) -> None:
    async def story() -> None:
        async with driven(work, Recorder()) as driver:
            await ask(driver, "echo a\x1b[201~\r!touch never.txt\r\x03b")
        assert prompts(work) == ["echo a[201~\n!touch never.txt\nb"]
        assert not (work.project / "never.txt").exists()

    run(story())


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("!touch never.txt", "shell"),
        ("  !touch never.txt", "shell"),
        ("/home/u/file is broken", "slash"),
        ("/usage\nand more", "slash"),
        ("/editor", "slash"),
        ("echo ```open", "rest"),
        ("echo more \\", "rest"),
        (" \x07 ", "nothing"),
    ],
)
def test_what_would_not_be_words_is_refused(text: str, why: str) -> None:
    with pytest.raises(AgentError, match=why):
        typed(Prompt(id="p", text=text))


def test_pictures_are_refused() -> None:
    with pytest.raises(AgentError, match="no pictures"):
        typed(Prompt(id="p", text="look", images=[PromptImage("image/png", "AAAA")]))


def test_a_command_of_its_own_ends_without_a_row(work: AgentTask) -> None:
    async def story() -> None:
        sink = Recorder()
        async with driven(work, sink) as driver:
            assert await ask(driver, "/usage") == "end_turn"
        assert "usage: done" in sink.text_so_far
        assert sink.sessions == [] and sink.notes == []

    run(story())


def test_a_tool_asks_first_with_its_exact_arguments(work: AgentTask) -> None:
    async def story() -> None:
        sink = Recorder(lambda ask: Reply("selected", AskAnswer("y")))
        async with driven(work, sink) as driver:
            assert await ask(driver, "tool touch 'a b.txt'") == "end_turn"
            assert await ask(driver, "tool echo again") == "end_turn"
        assert (work.project / "a b.txt").exists()
        first, second = sink.asks
        assert first.what == "permission" and first.title == "execute_bash"
        assert first.arguments == {"command": "touch 'a b.txt'"}
        assert "touch 'a b.txt'" in first.detail and "Allow this action" not in first.detail
        assert [option.kind for option in first.options] == [
            "allow_once",
            "allow_always",
            "reject_once",
        ]
        assert [call for call, _ in sink.calls] == [first.call, second.call]
        assert sink.results == [(first.call, "ok", ""), (second.call, "ok", "again\n")]
        assert "Allow this action" not in sink.text_so_far and "It ran." in sink.text_so_far

    run(story())


def test_a_tool_that_is_always_allowed_asks_once(work: AgentTask) -> None:
    async def story() -> None:
        sink = Recorder(lambda ask: Reply("selected", AskAnswer("t")))
        async with driven(work, sink) as driver:
            await ask(driver, "tool touch one.txt")
            await ask(driver, "tool touch two.txt")
        assert len(sink.asks) == 1 and (work.project / "two.txt").exists()

    run(story())


@pytest.mark.parametrize(
    ("reason", "kept"),
    [
        (None, "I deny this tool request."),
        ("use make clean instead\nplease", "use make clean instead\nplease"),
        ("y", "No: y"),
        ("/quit", "No: /quit"),
        ("!touch never.txt", "No: !touch never.txt"),
    ],
)
def test_a_refusal_reaches_the_agent_with_its_reason(
    work: AgentTask, reason: str | None, kept: str
) -> None:
    async def story() -> None:
        sink = Recorder(lambda ask: Reply("refused", AskAnswer(reason=reason)))
        async with driven(work, sink) as driver:
            assert await ask(driver, "tool touch never.txt") == "end_turn"
        assert not (work.project / "never.txt").exists()
        assert prompts(work)[-1].startswith(kept)
        assert [status for _, status, _ in sink.results] == ["cancelled"]

    run(story())


def test_stopping_an_answer_keeps_the_program(work: AgentTask) -> None:
    async def story() -> None:
        sink = Recorder()
        async with driven(work, sink) as driver:
            turn = asyncio.create_task(ask(driver, "forever"))
            await asyncio.wait_for(sink.spoke.wait(), WAIT)
            await driver.cancel()
            assert await asyncio.wait_for(turn, WAIT) == "cancelled"
            assert sink.sessions == [], "nothing of it was saved"
            assert await ask(driver, "echo on") == "end_turn"
        assert prompts(work) == ["echo on"] and sink.gone_with == []

    run(story())


def test_stopping_a_tool_and_stopping_at_a_question(work: AgentTask) -> None:
    async def story() -> None:
        sink = Recorder(lambda ask: Reply("selected", AskAnswer("y")))
        async with driven(work, sink) as driver:
            turn = asyncio.create_task(ask(driver, "tool sleep 60"))
            await asyncio.wait_for(sink.asked.wait(), WAIT)
            await asyncio.sleep(0.3)
            await driver.cancel()
            assert await asyncio.wait_for(turn, WAIT) == "cancelled"
            assert prompts(work)[-1] == "The user interrupted the tool execution."
            sink.choose = lambda ask: Reply("cancelled", AskAnswer())
            assert await ask(driver, "tool touch never.txt") == "cancelled"
            assert await ask(driver, "echo on") == "end_turn"
        assert not (work.project / "never.txt").exists() and sink.gone_with == []

    run(story())


def test_an_answer_that_was_not_saved_is_said_to_be_here_only(work: AgentTask) -> None:
    async def story() -> None:
        sink = Recorder()
        async with driven(work, sink) as driver:
            assert await ask(driver, "unsaved words") == "end_turn"
        assert sink.sessions == [] and sink.settled == 0
        assert any("did not save" in note for note in sink.notes)

    run(story())


def test_a_crash_is_told_with_what_it_printed(work: AgentTask) -> None:
    async def story() -> None:
        sink = Recorder()
        async with driven(work, sink) as driver:
            with pytest.raises(AgentGone, match="3"):
                await ask(driver, "crash")
            with pytest.raises(AgentGone):
                await ask(driver, "echo still there?")
        ((code, printed),) = sink.gone_with
        assert code == 3 and "panicked" in printed

    run(story())


def test_killing_it_ends_the_program_at_once(work: AgentTask) -> None:
    async def story() -> None:
        sink = Recorder()
        async with driven(work, sink) as driver:
            turn = asyncio.create_task(ask(driver, "forever"))
            await asyncio.wait_for(sink.spoke.wait(), WAIT)
            driver.kill()
            with pytest.raises(AgentGone):
                await asyncio.wait_for(turn, WAIT)
        with pytest.raises(ProcessLookupError):
            os.kill(sink.pids[0], 0)
        assert sink.gone_with == [], "it did not end by itself"

    run(story())


def test_a_program_that_shows_no_prompt_is_not_waited_for_when_it_ends(work: AgentTask) -> None:
    async def story() -> None:
        sink = Recorder()
        broken = AgentProgram("amazon-q", "Amazon Q", (sys.executable, str(PROGRAM), "login"), "q")
        from msgspec.structs import replace

        with pytest.raises(AgentGone) as error:
            await QDriver(replace(work, agent=broken), sink).start(None)
        assert "only `chat` is known here" in error.value.hint

    run(story())


def test_going_on_keeps_the_conversation_and_asks_for_no_summary(work: AgentTask) -> None:
    async def story() -> None:
        first, again = Recorder(), Recorder()
        async with driven(work, first) as driver:
            await ask(driver, "echo one")
        (id,) = first.sessions
        async with driven(work, again, continues=id) as driver:
            assert again.sessions == [id]
            await ask(driver, "echo two")
        assert prompts(work) == ["echo one", "echo two"]
        assert again.sessions == [id, id] and again.notes == []

    run(story())


def test_going_on_with_what_the_directory_does_not_hold_is_refused(work: AgentTask) -> None:
    async def story() -> None:
        async with driven(work, Recorder()) as driver:
            await ask(driver, "echo one")
        with pytest.raises(AgentError, match="another conversation"):
            await QDriver(work, Recorder()).start("11111111-0000-4000-8000-000000000000")

    run(story())


def test_the_row_that_a_new_chat_replaces_is_archived_before(work: AgentTask, home: Path) -> None:
    old = "00000000-0000-4000-8000-000000000001"
    Client(home).save(talk(old, said("m1", "An old question", "An old answer")), str(work.project))

    async def story() -> None:
        sink = Recorder()
        async with driven(work, sink) as driver:
            (warning,) = sink.notes
            assert f"amazon-q/{old}" in warning and "replaces" in warning
            with closing(open_archive(work.archive)) as archive:
                assert archive.find(f"amazon-q/{old}").conversation.turns == 1
            await ask(driver, "echo new")
            assert sink.sessions != [old]

    run(story())
    with closing(open_archive(work.archive)) as archive:
        import_history(archive, places=work.places, sources=["amazon-q"])
        found = archive.find(f"amazon-q/{old}")
        texts = [
            getattr(part, "text", "")
            for message in read_conversation(archive, found).messages()
            for part in message.parts
        ]
        assert "An old question" in texts and "An old answer" in texts
        assert archive.count() == 2


def test_the_classic_chat_of_kiro_is_driven_the_same_way(work: AgentTask, tmp_path: Path) -> None:
    from msgspec.structs import replace

    program = tmp_path / "kiro_program.py"
    program.write_bytes(PROGRAM.read_bytes())
    kiro = AgentProgram("kiro", "Kiro CLI", (sys.executable, str(program), "chat"), "q", "kiro")
    work = replace(work, agent=kiro)

    async def story() -> None:
        first, second, again = Recorder(), Recorder(), Recorder()
        async with driven(work, first) as driver:
            await ask(driver, "echo one")
        async with driven(work, second) as driver:
            await ask(driver, "echo two")
        assert first.sessions != second.sessions and second.notes == [], "it replaces nothing"
        async with driven(work, again, continues=second.sessions[0]) as driver:
            await ask(driver, "echo three")
        assert prompts(work) == ["echo two", "echo three"]

    run(story())


def test_a_model_that_looks_like_an_option_is_refused(work: AgentTask) -> None:
    from msgspec.structs import replace

    async def story() -> None:
        with pytest.raises(AgentError, match="no name of a model"):
            await QDriver(replace(work, model="--trust-all-tools"), Recorder()).start(None)

    run(story())


def test_the_terminal_is_hung_up_when_the_program_does_not_leave(work: AgentTask) -> None:
    async def story() -> None:
        sink = Recorder()
        async with driven(work, sink) as driver:
            turn = asyncio.create_task(ask(driver, "slow 600"))
            while driver._ready.is_set():
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.2)
            os.kill(sink.pids[0], signal.SIGCONT)
        with pytest.raises(AgentGone):
            await turn
        with pytest.raises(ProcessLookupError):
            os.kill(sink.pids[0], 0)

    run(story())
