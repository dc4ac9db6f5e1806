"""Whatever is done to a history, in whatever order: pairs stay together, providers accept it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rireki import MessageHistory
from rireki.errors import RirekiError
from rireki.history.store import JournalStore
from rireki.providers import PROVIDERS, decode, problems
from rireki.providers.pairing import pair
from tests.history.conftest import calls, exchange, says

#: What only the next message can put right, and what it may end with while a call waits.
OPEN_ENDED = {"ends-with-assistant"}

steps = st.one_of(
    st.just(("user",)),
    st.just(("says",)),
    st.just(("system",)),
    st.tuples(st.just("calls"), st.integers(1, 3), st.sampled_from(["read", "ask_user"])),
    st.tuples(st.just("nameless"), st.sampled_from(["ls", "ask_user"])),
    st.tuples(st.just("result"), st.integers(0, 3)),
    st.just(("results",)),
    st.just(("repair",)),
    st.just(("mark",)),
    st.tuples(st.just("branch"), st.integers(0, 5)),
    st.tuples(st.just("compact"), st.integers(0, 2)),
    st.tuples(st.just("trim"), st.integers(1, 3)),
    st.tuples(st.just("fit"), st.integers(1, 300)),
    st.just(("clear",)),
    st.just(("fork",)),
)


class Player:
    """Does to a history what a list of steps says, as far as it can be done."""

    def __init__(self, history: MessageHistory) -> None:
        self.history = history
        self.count = 0
        self.marks = [history.checkpoint()]

    def play(self, script: list[tuple[Any, ...]]) -> None:
        for name, *arguments in script:
            self.count += 1
            getattr(self, name)(*arguments)

    def user(self) -> None:
        self.history.add_user_message(f"prompt {self.count}")

    def says(self) -> None:
        self.history.add_raw_message(says(f"answer {self.count}"))

    def system(self) -> None:
        self.history.add_system_message(f"rule {self.count}")

    def calls(self, number: int, name: str) -> None:
        ids = [f"c{self.count}_{index}" for index in range(number)]
        self.history.add_raw_message(calls(*ids, name=name))

    def nameless(self, name: str) -> None:
        call = {"name": name, "arguments": {"n": self.count}}
        self.history.add_raw_message({"role": "assistant", "content": {"tool_call": call}})

    def result(self, index: int) -> None:
        waiting = self.history.pending_calls()
        if waiting:
            call = waiting[index % len(waiting)]
            self.history.add_tool_result(call.id or "", f"result {self.count}", call.name)

    def results(self) -> None:
        found = self.history.pending_calls()
        self.history.add_tool_results([(call.id or "", "all", call.name) for call in found])

    def repair(self) -> None:
        self.history.repair()
        assert self.history.repair() == []
        assert all(call.waiting for call in self.history.pending_calls())

    def mark(self) -> None:
        self.marks.append(self.history.checkpoint())

    def branch(self, index: int) -> None:
        self.history.branch(self.marks[index % len(self.marks)])

    def compact(self, turns: int) -> None:
        before = self._pairs()
        self.history.compact(f"summary {self.count}", turns)
        self._check(before)

    def trim(self, turns: int) -> None:
        before = self._pairs()
        self.history.trim(turns=turns)
        self._check(before)

    def fit(self, tokens: int) -> None:
        before = self._pairs()
        self.history.trim(max_tokens=tokens, counter=lambda message: 10)
        self._check(before)

    def clear(self) -> None:
        self.history.clear()
        assert self.history.messages == []

    def fork(self) -> None:
        other = self.history.fork()
        assert other.get_messages() == self.history.get_messages()
        assert other.pending_calls() == self.history.pending_calls()
        other.close()

    def _pairs(self) -> tuple[int, list[Any]]:
        return self._orphans(), self.history.pending_calls()

    def _orphans(self) -> int:
        return len(pair(decode(None, self.history.get_messages())).orphans)

    def _check(self, before: tuple[int, list[Any]]) -> None:
        """No result lost its call, and no call that is still open went away."""
        assert self._orphans() <= before[0]
        assert self.history.pending_calls() == before[1]


@given(st.lists(steps, max_size=25))
@settings(max_examples=150, deadline=None)
def test_every_provider_accepts_what_is_rendered(script: list[tuple[Any, ...]]) -> None:
    history = MessageHistory()
    Player(history).play(script)
    for provider in PROVIDERS:
        request = history.render(provider)
        again = decode(provider, request.messages, request.system)
        found = {problem.code for problem in problems(provider, again)} - OPEN_ENDED
        assert not found, (provider, request.messages)


@given(st.lists(steps, max_size=15))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_reopened_history_is_the_same(script: list[tuple[Any, ...]]) -> None:
    memory = MessageHistory()
    Player(memory).play(script)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "archive.sqlite3"
        # Without its archive, which other tests look at: this is about the journal.
        disk = MessageHistory.open("x", archive=place)
        player = Player(disk)
        player.fork = lambda: None  # type: ignore[method-assign]
        player.play(script)
        disk.add_user_message("end")
        memory.add_user_message("end")
        again = MessageHistory.open("x", archive=place, read_only=True)
        assert again.get_messages() == disk.get_messages() == memory.get_messages()
        assert again.pending_calls() == memory.pending_calls()
        for provider in PROVIDERS:
            assert again.render(provider) == memory.render(provider)
        assert isinstance(disk._store, JournalStore)
        disk._store._taken = True
        disk.close()


def test_trim_keeps_whole_turns_and_what_stands_on_top() -> None:
    history = MessageHistory()
    history.add_system_message("be brief")
    for number in range(5):
        exchange(history, number)
    assert history.trim(turns=2) == 15
    assert [m["role"] for m in history.messages[:2]] == ["system", "user"]
    assert history.messages[1]["content"] == "prompt 3"
    assert history.trim(turns=7) == 0 and len(history) == 11
    assert history.trim(max_tokens=60, counter=lambda message: 10) == 5
    assert len(history) == 6
    # One turn stays, although it does not fit.
    assert history.trim(max_tokens=1) == 0
    with pytest.raises(RirekiError, match="max_tokens or turns"):
        history.trim()


def test_a_result_in_a_later_turn_keeps_its_call() -> None:
    history = MessageHistory()
    history.add_user_message("one")
    history.add_raw_message(calls("a", name="slow"))
    history.add_user_message("two")
    history.add_user_message("three")
    assert history.trim(turns=1) == 0
    history.add_tool_result("a", "late", "slow")
    history.add_user_message("four")
    assert history.trim(turns=1) == 5
    assert [m["content"] for m in history.messages] == ["four"]


def test_compacting_hides_and_keeps_what_is_asked() -> None:
    history = MessageHistory()
    history.add_system_message("be brief")
    for number in range(3):
        exchange(history, number)
    here = history.checkpoint()
    assert history.compact("they said hello", keep_turns=1) == 10
    assert history.messages[1] == {"role": "user", "content": "[summary]\nthey said hello"}
    assert history.messages[2]["content"] == "prompt 2"
    history.add_user_message("and now?")
    assert history.compact("all of it") == 7
    assert [m["role"] for m in history.messages] == ["system", "user"]
    history.branch(here)
    assert len(history) == 16


def test_the_estimate_is_on_the_safe_side() -> None:
    from rireki.history.window import estimate

    assert estimate({"role": "user", "content": "word " * 100}) >= 100
    assert estimate({"role": "user", "content": "履歴" * 100}) >= 200
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}}
    assert 1000 < estimate({"role": "user", "content": [picture]}) < 3000


def test_turns_are_what_a_person_began() -> None:
    history = MessageHistory()
    history.add_system_message("be brief")
    exchange(history, 1)
    exchange(history, 2)
    turns = history.turns()
    assert [len(turn) for turn in turns] == [1, 5, 5]
    turns[1][0]["content"] = "changed"
    assert history.messages[1]["content"] == "prompt 1"


def test_a_repair_stands_behind_its_call() -> None:
    history = MessageHistory()
    history.add_user_message("go")
    history.add_raw_message(calls("a", "b"))
    history.add_tool_result("a", "done", "read")
    history.add_user_message("what happened?")
    assert [problem.code for problem in history.validate("anthropic")] == ["call-interrupted"]
    assert [call.id for call in history.repair()] == ["b"]
    block = history.messages[3]["content"][0]
    assert block == {
        "type": "tool_result",
        "tool_use_id": "b",
        "tool_name": "read",
        "content": "interrupted: no result was recorded",
        "is_error": True,
    }
    assert history.repair() == [] and len(history) == 5
    assert history.validate("anthropic") == []


def test_rendering_changes_nothing_and_shares_nothing() -> None:
    history = MessageHistory()
    history.add_raw_message(calls("a"))
    before = history.get_messages()
    request, notes = history.render("anthropic", report=True)
    assert {note.code for note in notes} == {"call-interrupted", "starts-with-assistant"}
    said: Any = request.messages[1]["content"]
    said.append("mine")
    assert history.get_messages() == before


def test_an_unknown_checkpoint_is_named() -> None:
    with pytest.raises(RirekiError, match="'abc' is no checkpoint of this history"):
        MessageHistory().branch("abc")


def test_a_call_under_the_id_of_one_that_waited_and_was_hidden_does_not_wait() -> None:
    history = MessageHistory()
    history.add_raw_message(calls("t1", name="ask"))
    history.waiting("t1")
    history.add_tool_result("t1", "yes", "ask")
    history.add_raw_message(calls("t1", name="ask"))
    before = history.pending_calls()
    history.compact("what was asked", 0)
    assert history.pending_calls() == before
    assert not before[0].waiting
