"""`render` keeps what it rendered before, whatever is done to the history in between."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rireki import MessageHistory
from rireki.providers import PROVIDERS, decode, encode
from rireki.providers.encoder import Encoder


def check(history: MessageHistory) -> None:
    turns = [turn for message in history.messages for turn in decode(None, [message])]
    for provider in PROVIDERS:
        assert history.render(provider) == encode(provider, turns), provider


def grow(history: MessageHistory, number: int) -> None:
    use = {"type": "tool_use", "id": f"c{number}", "name": "read", "input": {"n": number}}
    history.add_user_message(f"question {number}")
    history.add_raw_message({"role": "assistant", "content": [use]})
    check(history)
    history.add_tool_result(f"c{number}", f"result {number}", "read")
    history.add_raw_message({"role": "assistant", "content": f"answer {number}"})
    check(history)


@pytest.mark.parametrize("on_disk", [False, True])
def test_the_rendered_history_follows_everything_that_is_done_to_it(
    on_disk: bool, tmp_path: Path
) -> None:
    history = MessageHistory()
    if on_disk:
        history = MessageHistory.open(archive=tmp_path / "archive.sqlite3")
    history.add_system_message("Be brief.")
    for number in range(3):
        grow(history, number)
    here = history.checkpoint()
    history.pop_message()
    check(history)
    history.add_raw_message({"role": "assistant", "content": [{"type": "text", "text": "else"}]})
    check(history)
    history.branch(here)
    check(history)
    history.trim(turns=2)
    check(history)
    use = {"type": "tool_use", "id": "open", "name": "read", "input": {}}
    history.add_raw_message({"role": "assistant", "content": [use]})
    history.add_user_message("and?")
    check(history)
    history.repair()
    check(history)
    history.compact("before", keep_turns=1)
    check(history)
    history.clear()
    check(history)
    grow(history, 9)
    history.close()


def test_messages_that_a_program_changes_in_memory_are_rendered_as_they_are() -> None:
    history = MessageHistory()
    for number in range(2):
        grow(history, number)
    history.messages[0]["content"] = "changed"
    check(history)
    history.messages.insert(0, {"role": "system", "content": "first"})
    check(history)
    del history.messages[1:3]
    check(history)


def test_a_message_more_costs_one_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    history = MessageHistory.open(archive=tmp_path / "archive.sqlite3")
    for number in range(50):
        grow(history, number)
    fitted: list[int] = []
    fit = Encoder.fit

    def counted(self: Encoder, turns: Any, start: int) -> Any:
        fitted.append(len(turns))
        return fit(self, turns, start)

    monkeypatch.setattr(Encoder, "fit", counted)
    history.add_user_message("one more")
    history.render("anthropic")
    assert fitted and sum(fitted) <= 4
    history.close()
