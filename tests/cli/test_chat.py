"""`rireki chat`, as it is used: at a real terminal and in a pipe, with agents that are programs."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pty = pytest.importorskip("pty")

SUPPORT = Path(__file__).parents[1] / "support"
WAIT = 60.0
Start = Callable[..., "Typist"]


class Place:
    """A home with two agents in it."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.project = folder / "プロジェクト"
        self.archive = self.home / "kept" / "archive.sqlite3"
        self.project.mkdir(parents=True)
        self.archive.parent.mkdir(parents=True)
        transcripts = self.home / ".claude" / "projects" / "p"
        transcripts.mkdir(parents=True)
        self.config(
            self.agent("scripted", "acp_agent.py", SCRIPT_TRANSCRIPTS=str(folder / "its-own")),
            self.agent(
                "claude-code",
                "acp_agent.py",
                source="claude-code",
                SCRIPT_TRANSCRIPTS=str(transcripts),
            ),
            self.agent("amazon-q", "q_program.py", "chat", protocol="q", source="amazon-q"),
        )

    def agent(
        self,
        name: str,
        program: str,
        *arguments: str,
        source: str = "",
        protocol: str = "acp",
        **environment: str,
    ) -> str:
        command = json.dumps([sys.executable, str(SUPPORT / program), *arguments])
        more = f'source = "{source}"\n' if source else ""
        pairs = ", ".join(f"{key} = {json.dumps(value)}" for key, value in environment.items())
        return (
            f'[[agents]]\nname = "{name}"\ncommand = {command}\nprotocol = "{protocol}"\n'
            f"{more}environment = {{ {pairs} }}\n"
        )

    def config(self, *agents: str) -> None:
        file = self.home / ".local" / "share" / "rireki" / "config.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(agents), encoding="utf-8")

    @property
    def environment(self) -> dict[str, str]:
        kept = {
            key: value for key, value in os.environ.items() if key in ("PATH", "LANG", "LC_ALL")
        }
        more = {"HOME": str(self.home), "RIREKI_ARCHIVE": str(self.archive), "NO_COLOR": "1"}
        return {**kept, **more, "TERM": "xterm", "PYTHONUTF8": "1"}

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "rireki", *arguments]

    def run(self, *arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments),
            input=typed,
            capture_output=True,
            text=True,
            encoding="utf-8",
            env=self.environment,
            cwd=self.project,
            timeout=2 * WAIT,
            check=False,
        )

    def entries(self) -> list[dict[str, Any]]:
        """Every line of every journal."""
        files = sorted((self.archive.parent / "bridge").glob("*.jsonl"))
        return [json.loads(line) for file in files for line in file.read_bytes().splitlines()]

    def kind(self, kind: str) -> list[dict[str, Any]]:
        return [entry for entry in self.entries() if entry["kind"] == kind]

    def wait_for_prompts(self, count: int) -> None:
        """Until the agent has got so many of them."""
        end = time.monotonic() + WAIT
        while len(self.kind("given")) < count:
            assert time.monotonic() < end
            time.sleep(0.05)


class Typist:
    """Somebody at a terminal who reads before typing."""

    def __init__(self, place: Place, *arguments: str, **environment: str) -> None:
        self.ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            place.command("chat", *arguments),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**place.environment, **environment},
            cwd=place.project,
            start_new_session=True,
            preexec_fn=_take_terminal,
        )
        os.close(theirs)
        self.shown = ""
        self._seen = 0

    def expect(self, pattern: str) -> str:
        """Read on until it is shown; what was shown up to it."""
        end = time.monotonic() + WAIT
        while not (found := re.search(pattern, self.shown[self._seen :])):
            assert time.monotonic() < end, f"{pattern!r} was not shown, but: {self.shown!r}"
            assert self._read(), f"it ended without {pattern!r}: {self.shown!r}"
        part = self.shown[self._seen : self._seen + found.end()]
        self._seen += found.end()
        return part

    def ready(self) -> str:
        """Read on until a prompt can be typed."""
        return self.expect(r"\x1b\[\?2004h(?:\x1b\[[\d;]*m)?> ?")

    def type(self, text: str) -> None:
        os.write(self.ours, text.encode())

    def leave(self) -> int:
        self.type("\x04")
        return self.ended()

    def interrupt(self) -> None:
        self.type("\x03")

    def ended(self) -> int:
        end = time.monotonic() + WAIT
        while self._read():
            assert time.monotonic() < end, f"it does not end: {self.shown!r}"
        return self.process.wait(WAIT)

    def _read(self) -> bool:
        ready, _, _ = select.select([self.ours], [], [], 1.0)
        if not ready:
            return self.process.poll() is None
        try:
            piece = os.read(self.ours, 65536)
        except OSError:  # Linux says so when the other end is closed.
            return False
        self.shown += piece.decode("utf-8", "replace")
        return bool(piece)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.ours)


def _take_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def start(place: Place) -> Iterator[Start]:
    typists: list[Typist] = []

    def begin(*arguments: str, **environment: str) -> Typist:
        typists.append(Typist(place, *arguments, **environment))
        return typists[-1]

    yield begin
    for typist in typists:
        typist.close()


# ── in a pipe ──


def test_in_a_pipe_every_line_is_a_prompt_and_the_answers_come_out(place: Place) -> None:
    ran = place.run("chat", "--agent", "scripted", typed="echo one\necho 二\\\nand on\n")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == ["one", "二", "and on"]
    assert "rireki chat --continue bridge/" in ran.stderr
    assert [entry["text"] for entry in place.kind("prompt")] == ["echo one", "echo 二\nand on"]
    assert {entry["by"] for entry in place.kind("prompt")} == {"terminal"}


def test_what_was_said_is_in_the_archive_when_it_ends_and_goes_on(place: Place) -> None:
    first = place.run("chat", "--agent", "claude-code", typed="echo one\n")
    (id,) = set(re.findall(r"--continue (claude-code/\S+)", first.stderr))
    again = place.run("chat", "--continue", id.partition("/")[2][:8], typed="echo two\n")
    assert again.returncode == 0 and again.stdout == "two\n", again.stderr
    shown = place.run("show", id).stdout
    assert [shown.count(words) for words in ("echo one", "echo two")] == [2, 1], "the title, too"
    assert len(place.run("list", "--json").stdout.splitlines()) == 1


def test_a_conversation_that_only_rireki_knows_goes_on(place: Place) -> None:
    first = place.run("chat", "--agent", "scripted", typed="echo one\n")
    (id,) = set(re.findall(r"--continue (bridge/\S+)", first.stderr))
    again = place.run("chat", "--continue", id, typed="echo two\n")
    assert again.stdout == "two\n", again.stderr
    shown = place.run("show", id).stdout
    assert "echo one" in shown and "echo two" in shown


def test_programs_get_events_as_lines_of_json(place: Place) -> None:
    ran = place.run("chat", "--agent", "scripted", "--json", typed="echo one\n")
    events = [json.loads(line) for line in ran.stdout.splitlines()]
    assert {event["event"] for event in events} >= {"status", "delta", "settled", "end"}
    told = "".join(event["text"] for event in events if event["event"] == "delta")
    assert told == "one"
    kinds = [event["kind"] for event in events if event["event"] == "entry"]
    assert kinds[0] == "start" and {"prompt", "given", "text", "turn_end"} <= set(kinds)
    numbers = [event["n"] for event in events if event["event"] in ("status", "delta", "settled")]
    assert numbers == sorted(numbers)
    assert events[-1]["conversation"].startswith("bridge/")


def test_in_a_pipe_nothing_is_allowed(place: Place) -> None:
    ran = place.run("chat", "--agent", "scripted", typed="permission\nquestion\n")
    assert ran.returncode == 0
    assert ran.stderr.count("nobody is there to ask") == 2
    assert [entry["outcome"] for entry in place.kind("answer")] == ["refused", "refused"]


def test_an_agent_that_crashes_is_told_and_makes_the_command_fail(place: Place) -> None:
    ran = place.run("chat", "--agent", "scripted", typed="crash\n")
    assert ran.returncode == 1
    assert "the agent failed" in ran.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--agent", "nobody"], "no agent is called 'nobody'"),
        (["no-such-directory"], "no directory"),
        (["--continue", "nothing"], "nothing"),
        (["--agent", "scripted", "--model=--option"], "cannot be the name of a model"),
    ],
)
def test_what_cannot_be_is_refused_in_two_lines(
    place: Place, arguments: list[str], words: str
) -> None:
    place.run("import")
    ran = place.run("chat", *arguments)
    assert ran.returncode == 1 and ran.stdout == ""
    error, hint = ran.stderr.splitlines()
    assert error.startswith("error:") and words in error and hint.startswith("hint:")


def test_without_any_agent_it_says_how_to_get_one(place: Place) -> None:
    place.config()
    ran = place.run("chat")
    assert ran.returncode == 1
    assert "no agent is there" in ran.stderr and "claude-agent-acp" in ran.stderr


# ── at a terminal ──


def test_prompts_answers_and_how_to_go_on(start: Start, place: Place) -> None:
    person = start("--agent", "scripted")
    person.expect(r"scripted in .*プロジェクト")
    person.ready()
    person.type("echo 日本語で\\\n")
    person.expect("… ")
    person.type("二行目\n")
    person.expect(r"日本語で\s+二行目")
    person.ready()
    person.type("think\n")
    person.ready()
    person.type("tool\n")
    person.expect(r"I will look\.\s+● \w[^\n]*\s+There was nothing\.")
    person.ready()
    assert person.leave() == 0
    assert "rireki chat --continue bridge/" in person.shown
    assert "\x1b[3" not in person.shown, "no colours where they are not wanted"
    assert len(place.kind("turn_end")) == 3


def test_colours_where_they_are_wanted(start: Start) -> None:
    person = start("--agent", "scripted", NO_COLOR="")
    person.ready()
    assert person.leave() == 0
    assert "\x1b[1m" in person.shown


def test_a_permission_is_given_by_its_number(start: Start, place: Place) -> None:
    person = start("--agent", "scripted")
    person.ready()
    person.type("permission\n")
    card = person.expect("words to refuse with:")
    assert "May it?" in card and "1. " in card
    person.type("yes\n")
    person.ready()
    assert person.leave() == 0
    (answer,) = place.kind("answer")
    assert answer["outcome"] == "selected" and answer["by"] == "terminal"


def test_choices_stand_in_the_order_of_the_browser_whatever_the_agent_has(
    start: Start, place: Place
) -> None:
    """The scripted agent offers "always" first."""
    person = start("--agent", "scripted")
    person.ready()
    person.type("permission\n")
    card = person.expect("words to refuse with:")
    assert re.findall(r"\d\. [^\r\n]*", card) == [
        "1. Allow once",
        "2. Always allow (Always allow rm)",
        "3. Refuse",
        "4. Refuse with a reason",
    ]
    person.type("1\n")
    person.ready()
    person.type("permission\n")
    person.expect("words to refuse with:")
    person.type("3\n")
    person.ready()
    person.type("permission\n")
    person.expect("words to refuse with:")
    person.type("4\n")
    person.expect(r"Why\?")
    person.type("77 times no\n")
    person.ready()
    assert person.leave() == 0
    told = [(each["option"], each.get("reason")) for each in place.kind("answer")]
    assert told == [("allow", None), ("reject", None), ("reject", "77 times no")]


def test_the_list_and_the_heading_say_that_it_waits(start: Start, place: Place) -> None:
    person = start("--agent", "scripted")
    person.ready()
    person.type("permission\n")
    person.expect("words to refuse with:")
    place.run("import")
    listed = place.run("list").stdout
    assert "waits for your permission · permission" in listed
    shown = place.run("show", listed.split()[0]).stdout
    assert "waits for your permission: rm -rf build" in shown
    person.type("1\n")
    person.ready()
    assert "waits" not in place.run("list").stdout
    assert person.leave() == 0


def test_a_permission_is_refused_in_words(start: Start, place: Place) -> None:
    person = start("--agent", "scripted")
    person.ready()
    person.type("permission\n")
    person.expect("words to refuse with:")
    person.type("77\n")
    person.expect("words to refuse with:")
    person.type("use make instead\n")
    person.ready()
    assert person.leave() == 0
    (answer,) = place.kind("answer")
    assert (answer["outcome"], answer["reason"]) == ("refused", "use make instead")


def test_questions_and_plans_are_answered(start: Start, place: Place) -> None:
    person = start("--agent", "scripted")
    person.ready()
    person.type("question\n")
    person.expect(r"(A number|Numbers)[^\n]*:")
    person.type("1\n")
    person.expect(r"(A number|Numbers|Your answer)[^\n]*:")
    person.type("1\n")
    person.ready()
    person.type("plan\n")
    person.expect("The plan:")
    person.expect("words to refuse with:")
    person.type("1\n")
    person.ready()
    assert person.leave() == 0
    assert [entry["outcome"] for entry in place.kind("answer")] == ["answered", "selected"]


def test_ctrl_c_stops_the_turn_and_twice_leaves(start: Start, place: Place) -> None:
    person = start("--agent", "scripted")
    person.ready()
    person.type("forever\n")
    place.wait_for_prompts(1)
    person.interrupt()
    person.expect("Stopping")
    person.ready()
    assert place.kind("turn_end")[0]["reason"] == "cancelled"
    person.type("forever deaf\n")
    place.wait_for_prompts(2)
    person.interrupt()
    person.expect("Stopping")
    # Leaving takes a while: the agent is deaf. A third one would not wait for it.
    person.interrupt()
    assert person.ended() == 0
    assert place.kind("turn_end")[-1]["reason"] in ("cancelled", "interrupted")


def test_ctrl_c_at_the_prompt_asks_once_more(start: Start) -> None:
    person = start("--agent", "scripted")
    person.ready()
    person.type("half a lin")
    person.expect("half a lin")
    person.interrupt()
    person.expect("Once more to leave")
    person.ready()
    person.interrupt()
    assert person.ended() == 0


def test_a_paste_of_several_lines_is_one_prompt(start: Start, place: Place) -> None:
    person = start("--agent", "scripted")
    person.ready()
    person.type("\x1b[200~echo one\ntwo\nthree\x1b[201~\r")
    person.ready()
    person.leave()
    assert [entry["text"] for entry in place.kind("prompt")] == ["echo one\ntwo\nthree"]


def test_what_the_agent_says_cannot_steer_the_terminal(start: Start) -> None:
    person = start("--agent", "scripted")
    person.ready()
    person.type("echo a\x16\x1b[2Jb\n")
    person.ready()
    person.leave()
    assert "\x1b[2J" not in person.shown
    assert re.search(r"[\r\n]ab\s", person.shown)


def test_what_another_process_drives_is_not_touched(start: Start, place: Place) -> None:
    person = start("--agent", "claude-code")
    person.ready()
    person.type("echo one\n")
    person.ready()
    assert place.run("import").returncode == 0
    (listed,) = place.run("list", "--json").stdout.splitlines()
    ran = place.run("chat", "--continue", json.loads(listed)["id"], typed="echo two\n")
    assert ran.returncode == 1 and "is being driven by process" in ran.stderr
    assert [entry["text"] for entry in place.kind("prompt")] == ["echo one"]
    assert person.leave() == 0


def test_amazon_q_says_what_it_will_replace(start: Start, place: Place) -> None:
    place.run("chat", "--agent", "amazon-q", typed="echo one\n")
    person = start("--agent", "amazon-q")
    person.expect("keeps one conversation per directory")
    person.ready()
    person.type("tool touch made.txt\n")
    person.expect("words to refuse with:")
    person.type("1\n")
    person.expect("It ran.")
    person.ready()
    assert person.leave() == 0
    assert (place.project / "made.txt").exists()
    assert len(place.run("list", "--json").stdout.splitlines()) == 2


def test_a_closed_terminal_ends_the_agent_and_keeps_the_prompt(start: Start, place: Place) -> None:
    person = start("--agent", "scripted")
    person.ready()
    person.type("forever\n")
    place.wait_for_prompts(1)
    os.killpg(person.process.pid, signal.SIGHUP)
    person.ended()
    assert [entry["text"] for entry in place.kind("prompt")] == ["forever"]
