"""The interactive finder: keys, the query box, the state, what is drawn; and all of it on a real terminal."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rireki.cli.finder import worker as worker_module
from rireki.cli.finder.draw import Frame, draw
from rireki.cli.finder.input import Box
from rireki.cli.finder.keys import Key, Keys
from rireki.cli.finder.state import STEP, Action, FinderAnswer, Finding
from rireki.cli.finder.worker import Close, FinderQuery, FinderWorker
from rireki.errors import RirekiError
from rireki.search.results import Hit, Neighbour, Results, SearchOptions
from rireki.show.hits import HitsView
from rireki.show.safe import Style
from rireki.show.width import width
from tests.cli.conftest import TALK, Rireki, said, write
from tests.show.test_hits import hit, results, talk

NOW = datetime(2026, 11, 16, tzinfo=timezone.utc)


# ── keys ──


def keys(*pieces: bytes) -> list[Key]:
    reader = Keys()
    return [key for piece in pieces for key in reader.feed(piece)]


def names(*pieces: bytes) -> list[str]:
    return [key.name for key in keys(*pieces)]


def test_text_and_control_keys() -> None:
    assert keys(b"ab c\r") == [Key("text", "ab c"), Key("enter")]
    assert names(b"\x01\x05\x15\x17\x12\x03\t\x7f\x08") == [
        *("ctrl-a", "ctrl-e", "ctrl-u", "ctrl-w", "ctrl-r", "ctrl-c"),
        *("tab", "backspace", "backspace"),
    ]


def test_a_character_that_arrives_in_several_pieces() -> None:
    data = "会話".encode()
    assert keys(*(data[i : i + 1] for i in range(len(data)))) == [
        Key("text", "会"),
        Key("text", "話"),
    ]
    assert keys(b"\xff") == [Key("text", "�")]


def test_sequences_of_all_kinds_of_terminals() -> None:
    assert names(b"\x1b[A\x1b[B\x1bOA\x1bOB\x1b[5~\x1b[6~\x1b[3~") == [
        *("up", "down", "up", "down", "page-up", "page-down", "delete"),
    ]
    assert names(b"\x1b[H\x1b[F\x1b[1~\x1b[4~\x1bOH\x1bOF") == ["home", "end"] * 3
    assert names(b"\x1b[1;5D\x1b[1;3C\x1bb\x1bf\x1b\x7f") == [
        *("word-left", "word-right", "word-left", "word-right", "ctrl-w"),
    ]


def test_what_we_do_not_know_is_passed_over() -> None:
    assert keys(b"\x1b[15~\x1b[[A\x1b[?1;2c\x1bxy") == [Key("text", "y")]


def test_an_escape_waits_for_what_may_follow_it() -> None:
    reader = Keys()
    assert reader.feed(b"\x1b") == [] and 0 < reader.patience < 0.2
    assert reader.feed(b"[") == []
    assert reader.feed(b"A") == [Key("up")] and reader.patience == 0
    reader.feed(b"\x1b")
    assert reader.flush() == [Key("esc")] and reader.flush() == []
    assert names(b"\x1b\x1b[A") == ["esc", "up"]


def test_a_paste_is_one_text_though_it_has_lines() -> None:
    reader = Keys()
    assert reader.feed(b"\x1b[200~one\ntw") == [] and reader.patience > 1
    assert reader.feed(b"o\x03\x1b[201~x") == [Key("text", "one\ntwo\x03"), Key("text", "x")]
    reader.feed(b"\x1b[200~half")
    assert reader.flush() == [Key("text", "half")]


@given(st.lists(st.binary(max_size=8), max_size=8))
def test_no_bytes_trip_the_reader(pieces: list[bytes]) -> None:
    reader = Keys()
    for piece in pieces:
        reader.feed(piece)
    reader.flush()
    assert reader.patience == 0


# ── the query box ──


def typed(box: Box, *pressed: str) -> str:
    """The text with the cursor in it; what is no name of a key is typed."""
    for key in pressed:
        if not box.press(Key(key)):
            box.press(Key("text", key))
    return f"{box.text[: box.at]}|{box.text[box.at :]}"


def test_moving_and_erasing_by_what_looks_like_one_character() -> None:
    flag = "\N{REGIONAL INDICATOR SYMBOL LETTER J}"
    family = "👨\u200d👩\u200d👧"
    assert typed(Box("会話"), "backspace") == "会|"
    assert typed(Box(f"a{family}b"), "left", "left") == f"a|{family}b"
    assert typed(Box(f"a{family}b"), "left", "backspace") == "a|b"
    assert typed(Box("e\u0301x"), "home", "delete") == "|x"
    assert typed(Box("a"), "left", "left", "right", "right", "backspace", "backspace") == "|"
    assert typed(Box(flag)) == f"{flag}|"


def test_keys_as_in_a_shell() -> None:
    assert typed(Box("one two"), "ctrl-a", "x") == "x|one two"
    assert typed(Box("one two"), "home", "end", "!") == "one two!|"
    assert typed(Box("one two  "), "ctrl-w") == "one |"
    assert typed(Box("one two"), "word-left", "ctrl-u") == "|two"
    assert typed(Box("one two"), "word-left", "ctrl-k") == "one |"
    assert typed(Box("one two"), "ctrl-a", "word-right", "delete") == "one|two"


def test_lines_and_controls_of_a_paste_become_spaces() -> None:
    assert typed(Box(), "a\n\tb\x1bc") == "a b c|"


def test_a_long_query_shows_what_is_around_the_cursor() -> None:
    box = Box("会話" * 100)
    for _ in range(12):
        text, column = box.shown(21)
        assert width(text) <= 21 and column <= 20 and text.startswith("…")
        box.press(Key("left"))
    box.press(Key("home"))
    assert box.shown(21) == ("会話" * 5, 0)


# ── the state ──


def found(*hits: Hit, query: str = "", more: bool = False, **facts: Any) -> Results:
    return results(talk(*hits, **facts), query=query, more=more)


def ready(*texts: str, query: str = "", **facts: Any) -> Finding:
    """A finder with these hits in one conversation."""
    state = Finding()
    hits = [hit(text, message=f"m{place}") for place, text in enumerate(texts)]
    state.take(FinderAnswer(1, found(*hits, query=query, **facts)))
    return state


def press(state: Finding, *pressed: str) -> Action:
    """What the last key asks for; what has no name is typed."""
    action: Action = ""
    for key in pressed:
        name = key if len(key) > 1 and key.isascii() else "text"
        action = state.press(Key(name, "" if name != "text" else key))
    return action


def test_typing_asks_for_a_search_and_late_answers_are_dropped() -> None:
    state = Finding()
    assert press(state, "会") == "search" and press(state, "話") == "search"
    assert state.box.text == "会話" and state.is_searching
    state.take(FinderAnswer(state.ticket - 1, found(hit("old"), query="会")))
    assert state.items == [] and state.is_searching
    state.take(FinderAnswer(state.ticket, found(hit("new"), query="会話")))
    assert len(state.items) == 1 and not state.is_searching


def test_moving_the_cursor_searches_nothing() -> None:
    state = ready("a")
    assert press(state, "x") == "search"
    assert press(state, "left") == "" and press(state, "home") == ""


def test_an_error_leaves_the_last_results_alone() -> None:
    state = ready("a", "b")
    press(state, "(")
    state.take(FinderAnswer(state.ticket, None, {}, "the ( is never closed"))
    assert state.trouble and len(state.items) == 2 and not state.is_searching
    assert press(state, "enter") == "show"
    press(state, "backspace")
    state.take(FinderAnswer(state.ticket, found(hit("c"))))
    assert state.trouble == ""


def test_down_goes_into_the_list_and_up_comes_back() -> None:
    state = ready("a", "b", "c")
    assert press(state, "down") == "" and (state.focus, state.chosen) == ("list", 0)
    press(state, "down", "down", "down", "down")
    assert state.chosen == 2
    press(state, "up", "up")
    assert (state.focus, state.chosen) == ("list", 0)
    press(state, "up")
    assert state.focus == "box"


def test_choosing_without_leaving_the_box() -> None:
    state = ready("a", "b", "c")
    press(state, "ctrl-n", "ctrl-n", "ctrl-p")
    assert (state.focus, state.chosen) == ("box", 1)


def test_pages_and_ends() -> None:
    state = ready(*map(str, range(50)))
    state.page = 20
    press(state, "page-down")
    assert (state.focus, state.chosen) == ("list", 20)
    press(state, "page-down", "page-down")
    assert state.chosen == 49
    press(state, "page-up")
    assert state.chosen == 29
    press(state, "home")
    assert state.chosen == 0
    press(state, "end")
    assert state.chosen == 49


def test_letters_are_commands_in_the_list_only() -> None:
    state = ready("a")
    press(state, "r", "q")
    assert state.box.text == "rq" and state.focus == "box"
    state.take(FinderAnswer(state.ticket, found(hit("a"), query="rq")))
    press(state, "tab")
    assert press(state, "r") == "resume" and press(state, "q") == "quit"
    assert press(state, "x") == "search"
    assert (state.box.text, state.focus) == ("rqx", "box")


def test_ways_back_to_the_box() -> None:
    for key in ("/", "tab", "esc", "left", "ctrl-a"):
        state = ready("a")
        press(state, "down", key)
        assert (state.focus, state.box.text) == ("box", "")
    state = ready("a")
    press(state, "x")
    state.take(FinderAnswer(state.ticket, found(hit("a"), query="x")))
    assert press(state, "down", "backspace") == "search" and state.box.text == ""


def test_leaving() -> None:
    assert press(ready("a"), "ctrl-c") == "interrupt"
    assert press(ready("a"), "ctrl-d") == "quit"
    assert press(ready("a"), "esc") == "" and press(ready("a"), "esc", "esc") == "quit"
    assert press(ready("a"), "esc", "down", "esc") == ""
    assert press(ready("a"), "ctrl-z") == "suspend"


def test_enter_behind_fast_typing_waits_for_its_own_results() -> None:
    state = ready("an older hit")
    assert press(state, "x", "enter") == ""
    assert state.take(FinderAnswer(state.ticket, found(hit("x"), query="x"))) == "show"
    assert press(state, "y", "ctrl-r") == ""
    assert press(state, "z") == "search"
    assert state.take(FinderAnswer(state.ticket, found(hit("x"), query="xyz"))) == ""
    press(state, "!", "enter")
    assert state.take(FinderAnswer(state.ticket, results(query="xyz!"))) == ""


def test_nothing_to_choose() -> None:
    state = Finding()
    state.take(FinderAnswer(1, results(query="x")))
    state.box = Box("x")
    for key in ("enter", "ctrl-r", "down", "up", "page-down", "tab"):
        assert press(state, key) == "" and state.focus == "box"


def test_the_end_of_the_list_asks_for_more_and_stays_where_it_is() -> None:
    state = ready("a", "b", more=True)
    press(state, "down", "down")
    assert press(state, "down") == "more" and state.limit == 2 * STEP
    assert press(state, "down") == ""
    state.take(FinderAnswer(state.ticket, found(hit("a"), hit("b"), hit("c"))))
    assert state.chosen == 1 and len(state.items) == 3
    press(state, "x")
    assert state.limit == STEP


def test_a_conversation_without_hits_can_be_chosen_itself() -> None:
    state = Finding()
    state.take(FinderAnswer(1, found()))
    assert state.item is not None and state.item.name == "toy/0001"
    assert press(state, "enter") == "show"


# ── what is drawn ──


def drawn(state: Finding, columns: int = 80, rows: int = 24, colour: bool = False) -> Frame:
    return draw(state, columns, rows, HitsView(NOW, style=Style(colour)))


def test_the_screen_is_full_and_nothing_is_wider() -> None:
    long = "長い文章です。" * 30
    near = Neighbour(message="n", author="person", at=None, text=long)
    state = Finding()
    state.box = Box(long)
    hits = [hit(long, (100, 104), tools=["工具"] * 9, before=[near], after=[near, near])] * 9
    state.take(FinderAnswer(1, found(*hits, title=long, project=long)))
    for key in ("tab", "tab"):
        press(state, key)
        for columns in (10, 20, 40, 59, 79, 80, 99, 100, 101, 120, 200):
            for rows in (1, 2, 3, 4, 8, 14, 15, 24, 60):
                frame = drawn(state, columns, rows)
                assert len(frame.lines) == rows
                assert all(width(line) <= columns for line in frame.lines)
                if frame.cursor:
                    assert frame.cursor[0] < rows and frame.cursor[1] < columns


def test_the_chosen_hit_is_always_on_the_screen() -> None:
    state = ready(*(f"number {n} here" for n in range(60)))
    for _ in range(60):
        for columns, rows in ((80, 24), (120, 24), (80, 8), (60, 12)):
            lines = drawn(state, columns, rows).lines
            (chosen,) = (line for line in lines if line.startswith("▸"))
            assert f"number {state.chosen} here" in chosen
        press(state, "down")


def test_the_preview_stands_beside_or_below() -> None:
    near = Neighbour(message="n", author="person", at=None, text="what was asked")
    state = Finding()
    state.take(FinderAnswer(1, found(hit("the word is here", (4, 8), before=[near]))))
    wide = "\n".join(drawn(state, 120).lines)
    assert re.search(r"│ you: what was asked\n", wide) and re.search(
        r"│   the word is here\n", wide
    )
    narrow = drawn(state, 80).lines
    assert "you: what was asked" in narrow and "  the word is here" in narrow
    assert not any("asked" in line for line in drawn(state, 80, 10).lines)


def test_neighbours_arrive_later() -> None:
    state = ready("the word is here")
    assert state.item and "asked" not in "\n".join(drawn(state).lines)
    near = Neighbour(message="n", author="person", at=None, text="what was asked")
    state.seen[state.item.name] = hit("the word is here", before=[near])
    assert "you: what was asked" in drawn(state).lines


def test_the_match_is_painted_wherever_it_is_shown() -> None:
    state = Finding()
    state.take(FinderAnswer(1, found(hit("a word", (2, 6)), hit("a word", (2, 6)))))
    lines = drawn(state, 80, colour=True).lines
    assert sum("\x1b[33mword" in line for line in lines) == 3
    press(state, "down")
    lines = drawn(state, 80, colour=True).lines
    assert sum("\x1b[7;1;33mword" in line for line in lines) == 1
    assert not any("\x1b" in line for line in drawn(state, 80, colour=False).lines)


def test_the_status_line() -> None:
    state = ready("a", query="a")
    assert "3 messages in 1 conversation, 8 ms" in drawn(state).lines[-1]
    assert "^R resume" in drawn(state).lines[-1]
    press(state, "down")
    assert "r resume" in drawn(state).lines[-1] and drawn(state).cursor is None
    state.trouble = "the ( at character 5 is never closed"
    assert drawn(state).lines[-1].startswith("the ( at character 5 is never closed")
    state.progress = "indexing … 40%"
    assert drawn(state).lines[-1].startswith("indexing … 40%")
    assert "newest of 19 conversations" in drawn(ready("a")).lines[-1]


def test_nothing_found_says_what_was_searched() -> None:
    state = Finding()
    state.take(FinderAnswer(1, results(query="xyz", near=["xyzzy"])))
    text = "\n".join(drawn(state).lines)
    assert "nothing found for xyz" in text and "Did you mean: xyzzy" in text
    assert "searched 19 conversations" in text


def test_a_hostile_transcript_steers_nothing() -> None:
    bad = "a\x1b]0;owned\x07b\x1b[2J\x9b2Jc\r\u202e\n"
    near = Neighbour(message="n", author="person", at=None, text=bad)
    state = Finding()
    state.box = Box(bad)
    state.note = bad
    state.take(
        FinderAnswer(1, found(hit(bad, (1, 3), tools=[bad], after=[near]), title=bad, project=bad))
    )
    for columns in (80, 120):
        lines = drawn(state, columns).lines
        assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202e]", "".join(lines))


# ── the searching thread ──


class FakeSearch:
    """Answers when it is let, and notes what it was asked."""

    asked: list[str]
    go: threading.Event

    def __init__(self, *_: object) -> None:
        pass

    def find(self, text: str, wish: SearchOptions = SearchOptions(), now: object = None) -> Results:  # noqa: B008
        self.asked.append(text)
        self.go.wait(5)
        if text == "(":
            raise RirekiError("never closed", "Close it.")
        if text == "crash":
            raise ZeroDivisionError
        return found(hit("x", message="m1"), query=text)

    def close(self) -> None:
        pass


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> type[FakeSearch]:
    FakeSearch.asked, FakeSearch.go = [], threading.Event()
    monkeypatch.setattr(worker_module, "Search", FakeSearch)
    return FakeSearch


def answers(worker: FinderWorker, woken: threading.Event) -> list[FinderAnswer | Close]:
    assert woken.wait(5)
    woken.clear()
    return worker.answers()


def test_only_what_was_asked_last_is_searched(
    imported: Rireki, tmp_path: Path, fake: type[FakeSearch]
) -> None:
    woken = threading.Event()
    with FinderWorker(tmp_path / "archive.sqlite3", woken.set) as worker:
        worker.ask(FinderQuery(1, "a", SearchOptions()))
        while not fake.asked:
            time.sleep(0.01)
        for ticket, text in ((2, "ab"), (3, "abc")):
            worker.ask(FinderQuery(ticket, text, SearchOptions()))
        fake.go.set()
        got: list[FinderAnswer | Close] = []
        while len(got) < 2:
            got += answers(worker, woken)
    assert [answer.ticket for answer in got] == [1, 3] and fake.asked == ["a", "abc"]


def test_errors_are_answers_and_mistakes_are_raised(
    imported: Rireki, tmp_path: Path, fake: type[FakeSearch]
) -> None:
    woken = threading.Event()
    fake.go.set()
    with FinderWorker(tmp_path / "archive.sqlite3", woken.set) as worker:
        worker.ask(FinderQuery(1, "(", SearchOptions()))
        (answer,) = answers(worker, woken)
        assert isinstance(answer, FinderAnswer) and answer.trouble == "never closed. Close it."
        worker.ask(FinderQuery(2, "crash", SearchOptions()))
        with pytest.raises(ZeroDivisionError):
            answers(worker, woken)


def test_nobody_is_woken_after_leaving(
    imported: Rireki, tmp_path: Path, fake: type[FakeSearch], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_module, "PATIENCE", 0.01)
    woken = threading.Event()
    with FinderWorker(tmp_path / "archive.sqlite3", woken.set) as worker:
        worker.ask(FinderQuery(1, "slow", SearchOptions()))
        while not fake.asked:
            time.sleep(0.01)
    fake.go.set()
    worker._thread.join(5)
    assert not worker._thread.is_alive() and not woken.is_set()


def test_making_the_index_is_told_and_stops_when_nobody_waits(
    imported: Rireki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Indexing(FakeSearch):
        def __init__(self, _: object, progress: Any) -> None:
            self.progress = progress

        def find(
            self,
            text: str,
            wish: SearchOptions = SearchOptions(),  # noqa: B008 - it is frozen
            now: object = None,
        ) -> Results:
            self.progress.start("indexing", 1_000_000)
            while True:
                self.progress.advance(1_000)
                time.sleep(0.01)

    monkeypatch.setattr(worker_module, "Search", Indexing)
    woken = threading.Event()
    with FinderWorker(tmp_path / "archive.sqlite3", woken.set) as worker:
        worker.ask(FinderQuery(1, "x", SearchOptions()))
        while not worker.progress.endswith("%"):
            answers(worker, woken)
        assert re.fullmatch(r"indexing … \d+%", worker.progress)
    assert not worker._thread.is_alive()


def test_an_empty_query_lists_the_newest_and_a_hit_has_its_neighbours(
    imported: Rireki, tmp_path: Path
) -> None:
    woken = threading.Event()
    with FinderWorker(tmp_path / "archive.sqlite3", woken.set) as worker:
        worker.ask(FinderQuery(1, " ", SearchOptions()))
        (answer,) = answers(worker, woken)
        assert isinstance(answer, FinderAnswer) and answer.results is not None
        titles = [talk.conversation.title for talk in answer.results.talks]
        assert titles == ["Other talk", "設定ファイルを読む"]
        assert answer.names[f"toy/{TALK}"] == "aaaa1111"
        worker.ask(FinderQuery(2, "読みました", SearchOptions(), f"toy/{TALK}#m5"))
        close: list[FinderAnswer | Close] = []
        while not close:
            close = answers(worker, woken)
        assert isinstance(close[0], Close)
        assert [near.message for near in close[0].hit.before] == ["m1", "m2", "m3"]


# ── on a terminal ──

pty = pytest.importorskip("pty")
termios = pytest.importorskip("termios")
fcntl = pytest.importorskip("fcntl")

START = (
    "import sys; from rireki.sources import registry;"
    "registry._addresses = lambda: {'toy': 'tests.cli.toy:READER'};"
    "BEFORE\n"
    "from rireki.cli.main import run; sys.exit(run(sys.argv[1:]))"
)
#: A shell with job control, as far as Ctrl-Z needs one.
SHELL = """
import fcntl, os, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
job = os.fork()
if not job:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execv(sys.executable, [sys.executable, "-c", sys.argv[1], "search"])
stopped = os.WIFSTOPPED(os.waitpid(job, os.WUNTRACED)[1])
os.tcsetpgrp(0, os.getpgrp())
print("stopped", stopped, "lines", bool(termios.tcgetattr(0)[3] & termios.ICANON), flush=True)
os.tcsetpgrp(0, job)
os.kill(job, signal.SIGCONT)
print("ended", os.waitstatus_to_exitcode(os.waitpid(job, 0)[1]), flush=True)
"""


class Person:
    """Somebody at a terminal, who types and waits for what is to be seen."""

    def __init__(self, *program: str, columns: int = 80, rows: int = 24, **environment: str):
        self.ours, self.theirs = pty.openpty()
        self.resize(columns, rows)
        self.modes = termios.tcgetattr(self.theirs)
        self.shown = ""
        settings = {"TERM": "xterm", "NO_COLOR": "1", "PAGER": "cat", "LANG": "C.UTF-8"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", *program],
            stdin=self.theirs,
            stdout=self.theirs,
            stderr=self.theirs,
            env={**os.environ, **settings, **environment},
            start_new_session=True,
        )

    def resize(self, columns: int, rows: int) -> None:
        size = rows.to_bytes(2, sys.byteorder) + columns.to_bytes(2, sys.byteorder) + bytes(4)
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, size)

    def type(self, text: str) -> None:
        os.write(self.ours, text.encode())

    def sees(self, *words: str, within: float = 20.0) -> str:
        """Everything up to where the words stand, each behind the one before."""
        import select

        pattern = re.compile(".*?".join(map(re.escape, words)), re.DOTALL)
        end = time.monotonic() + within
        while not (found := pattern.search(self.shown)):
            ready, _, _ = select.select([self.ours], [], [], max(end - time.monotonic(), 0))
            assert ready, f"{words} is not to be seen in {self.shown!r}"
            self.shown += os.read(self.ours, 65536).decode(errors="replace")
        seen, self.shown = self.shown[: found.end()], self.shown[found.end() :]
        return seen

    def leaves(self) -> tuple[int, str]:
        """The exit code, and everything to be seen until then; the terminal is as it was before."""
        import select

        end = time.monotonic() + 20
        while self.process.poll() is None or select.select([self.ours], [], [], 0)[0]:
            assert time.monotonic() < end, self.shown
            if select.select([self.ours], [], [], 0.05)[0]:
                self.shown += os.read(self.ours, 65536).decode(errors="replace")
        assert termios.tcgetattr(self.theirs) == self.modes
        return self.process.returncode, self.shown

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.ours)
        os.close(self.theirs)


@pytest.fixture
def person(imported: Rireki) -> Any:
    people: list[Person] = []

    def sit_down(before: str = "", **facts: Any) -> Person:
        people.append(Person(START.replace("BEFORE", before), "search", **facts))
        return people[-1]

    yield sit_down
    for each in people:
        each.close()


LEFT = "\x1b[?1049l"


def test_type_see_choose_read_and_come_back(person: Any) -> None:
    me = person()
    me.sees("\x1b[?1049h", "› ", "Other talk", "newest of 3 conversations")
    me.type("読みました")
    me.sees("› 読みました", "▸", "読みました", "1 message in 1 conversation")
    me.type("\x1b[B")
    me.sees("r resume")
    me.type("\r")
    read = me.sees(LEFT, "読みました", "Enter goes back")
    assert "設定を読んで" not in read.rpartition(LEFT)[2]
    me.type("\r")
    me.sees("\x1b[?1049h", "› 読みました", "1 message")
    me.type("q")
    code, shown = me.leaves()
    assert code == 0 and shown.endswith(LEFT)


def test_the_neighbours_come_into_the_preview(person: Any) -> None:
    me = person(columns=120)
    me.sees("newest of")
    me.type("読みました")
    me.sees("│ you: 設定を読んで", "│ tool: one")
    me.type("\x03")
    me.leaves()


def test_r_in_the_list_prints_the_command_that_goes_on(person: Any) -> None:
    me = person()
    me.sees("newest of")
    me.type("読みました")
    me.sees("1 message in")
    me.type("\x1b[B")
    me.sees("r resume")
    me.type("r")
    code, shown = me.leaves()
    # As `rireki resume` does, which knows that this invented directory is not there.
    assert code == 1
    assert "the directory /w/api is not there any more" in shown.rpartition(LEFT)[2]


def test_ctrl_r_does_so_while_typing(person: Any) -> None:
    me = person()
    me.sees("newest of")
    me.type("読みました\x12")
    code, shown = me.leaves()
    assert code == 1 and f"rireki show toy/{TALK}" in shown.rpartition(LEFT)[2]


def test_ctrl_c_and_escape(person: Any) -> None:
    me = person()
    me.sees("newest of")
    me.type("\x03")
    assert me.leaves()[0] == 130
    me = person()
    me.sees("newest of")
    me.type("\x1b")
    me.sees("Esc again quits")
    me.type("\x1b")
    assert me.leaves()[0] == 0


def test_a_query_error_is_said_and_the_results_stay(person: Any) -> None:
    me = person()
    me.sees("newest of")
    me.type("hello")
    me.sees("1 message in 1 conversation")
    me.type(" (")
    drawn = me.sees("is never closed")
    assert "nothing found" not in drawn
    me.type("\r")
    me.sees("hello", "Enter goes back")
    me.type("\r")
    me.sees("\x1b[?1049h", "› hello (")
    me.type("\x03")
    me.leaves()


def test_japanese_that_arrives_byte_by_byte_and_is_erased(person: Any) -> None:
    me = person()
    me.sees("newest of")
    for byte in "会話設定".encode():
        os.write(me.ours, bytes([byte]))
        time.sleep(0.005)
    me.sees("nothing found for 会話設定")
    me.type("\x01\x1b[3~\x1b[3~")
    me.sees("› 設定", "設定を読んで")
    me.type("\x03")
    me.leaves()


def test_a_paste_with_lines_is_one_query(person: Any) -> None:
    me = person()
    me.sees("\x1b[?2004h", "newest of")
    me.type("\x1b[200~設定\n読んで\x1b[201~")
    me.sees("› 設定 読んで", "1 message in")
    me.type("\x03")
    me.leaves()


def test_a_new_size_draws_anew(person: Any) -> None:
    me = person(columns=80)
    assert "│" not in me.sees("newest of")
    me.resize(120, 30)
    me.process.send_signal(signal.SIGWINCH)
    me.sees("\x1b[2J", "─" * 120, "│", "newest of")
    me.resize(60, 10)
    me.process.send_signal(signal.SIGWINCH)
    assert "│" not in me.sees("\x1b[2J", "newest of")
    me.type("\x03")
    me.leaves()


def test_being_ended_from_outside_gives_the_terminal_back(person: Any) -> None:
    for number in (signal.SIGTERM, signal.SIGHUP):
        me = person()
        me.sees("newest of")
        me.process.send_signal(number)
        code, shown = me.leaves()
        assert code == 128 + number and LEFT in shown


def test_a_mistake_of_ours_gives_the_terminal_back_before_it_is_told(person: Any) -> None:
    crash = (
        "import rireki.cli.finder.state as s;"
        "s.Finding._type = lambda self, key: 1 / 0"  # as a bug would
    )
    me = person(before=crash)
    me.sees("newest of")
    me.type("x")
    code, shown = me.leaves()
    assert code == 1 and "ZeroDivisionError" in shown.rpartition(LEFT)[2]


def test_a_mistake_in_the_search_does_so_too(person: Any) -> None:
    crash = "import rireki.search.search as f; f.Search.find = lambda *_: 1 / 0"
    me = person(before=crash)
    me.sees("newest of")
    me.type("x")
    code, shown = me.leaves()
    assert code == 1 and "ZeroDivisionError" in shown.rpartition(LEFT)[2]


def test_a_slow_search_does_not_hold_up_the_typing(person: Any) -> None:
    slow = (
        "import time, rireki.search.search as f; find = f.Search.find\n"
        "f.Search.find = lambda *a: (time.sleep(1.5), find(*a))[1]"
    )
    me = person(before=slow)
    me.sees("newest of")
    me.type("h")
    time.sleep(0.3)
    before = time.monotonic()
    me.type("ello")
    me.sees("› hello")
    assert time.monotonic() - before < 1.0
    me.sees("searching …")
    me.sees("1 message in 1 conversation")
    me.type("\x03")
    me.leaves()


def test_ctrl_z_and_back(imported: Rireki) -> None:
    me = Person(SHELL, START.replace("BEFORE", ""))
    try:
        me.sees("newest of")
        me.type("hello")
        me.sees("1 message in")
        me.type("\x1a")
        me.sees(LEFT, "stopped True lines True")
        me.sees("\x1b[?1049h", "› hello", "1 message in")
        me.type("\x1b[B")
        me.sees("q quit")
        me.type("q")
        me.sees(LEFT, "ended 0")
        me.leaves()
    finally:
        me.close()


def test_a_terminal_that_can_show_nothing_is_told_what_to_do(person: Any) -> None:
    me = person(TERM="dumb")
    code, shown = me.leaves()
    assert code == 1 and "rireki search WORDS" in shown and "\x1b[?1049h" not in shown


def test_no_archive_is_said_before_the_screen_is_taken(person: Any, tmp_path: Path) -> None:
    me = person(RIREKI_ARCHIVE=str(tmp_path / "none.sqlite3"))
    code, shown = me.leaves()
    assert code == 1 and "there is no archive" in shown and "\x1b[?1049h" not in shown


def test_a_conversation_that_cannot_go_on_says_why(person: Any, home: Path, rireki: Rireki) -> None:
    write(home, "dddd4444", [{"about": {"title": "lost"}}, said("d", "person", "needle", 20)])
    rireki("import", "--home", str(home))
    (home / ".toy" / "dddd4444.jsonl").unlink()
    rireki("import", "--home", str(home))
    me = person()
    me.sees("newest of")
    me.type("needle")
    me.sees("1 message in")
    me.type("\x12")
    code, shown = me.leaves()
    assert code == 1 and "rireki restore" in shown.rpartition(LEFT)[2]
