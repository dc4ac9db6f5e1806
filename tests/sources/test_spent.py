"""What sets the price of answers: how long the cache keeps tokens, what agents note, what counts instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rireki.archive.base import Archive
from rireki.model.conversation import Answer
from rireki.sources import registry
from tests.sources import test_aider as aider
from tests.sources import test_copilot as copilot
from tests.sources.transcripts import Transcript, tell
from tests.support.homes import lay_out
from tests.support.memory import Memory


def answers(home: Path, source: str) -> list[Answer]:
    memory = Memory(registry.reader(source))
    memory.import_home(home)
    return [answer for reading in memory.readings().values() for answer in reading.answers]


def answered(home: Path, **usage: Any) -> Answer:
    """An answer of Claude Code's with this in its usage."""
    transcript = Transcript()
    tokens = {"input_tokens": 10, "output_tokens": 20, "cache_creation_input_tokens": 100}
    message: dict[str, Any] = {
        "id": "m",
        "model": "claude-x",
        "role": "assistant",
        "stop_reason": "end_turn",
    }
    message["content"] = [{"type": "text", "text": "Yes."}]
    message["usage"] = tokens | usage
    transcript.add("assistant", message=message)
    (answer,) = tell(home, transcript).answers
    return answer


@pytest.mark.parametrize(
    ("stored", "hour"),
    [
        ({"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 0}, 0),
        ({"ephemeral_5m_input_tokens": 60, "ephemeral_1h_input_tokens": 40}, 40),
        # No more than went into the cache at all, and nothing that is no count.
        ({"ephemeral_1h_input_tokens": 500}, 100),
        ({"ephemeral_1h_input_tokens": -3}, 0),
        ({"ephemeral_1h_input_tokens": "many"}, 0),
        ("much", 0),
        (None, 0),
    ],
)
def test_what_the_cache_keeps_for_an_hour_is_told_apart(home: Path, stored: Any, hour: int) -> None:
    answer = answered(home, cache_creation=stored)
    assert (answer.cache_write_1h, answer.usage.cache_write_tokens) == (hour, 100)


@pytest.mark.parametrize(
    ("usage", "terms"),
    [
        ({"speed": "fast"}, ("fast",)),
        ({"speed": "fast", "inference_geo": "us"}, ("fast", "us")),
        ({"speed": "standard", "inference_geo": "not_available"}, ()),
        ({"speed": 3}, ()),
    ],
)
def test_terms_that_have_another_price(home: Path, usage: Any, terms: tuple[str, ...]) -> None:
    assert answered(home, **usage).terms == terms


@pytest.mark.parametrize(
    ("name", "source", "credits"),
    [
        ("kiro", "kiro", 0.49),
        ("kiro-ide-composed", "kiro", 1.25),
        ("kiro-ide-composed", "kiro-ide", 0.75),
    ],
)
def test_kiros_credits_are_those_of_its_files(
    home: Path, name: str, source: str, credits: float
) -> None:
    found = answers(lay_out(name, home), source)
    assert {answer.unit for answer in found} == {"credit"}
    assert sum(answer.amount for answer in found) == pytest.approx(credits)


def test_credits_alone_are_no_tokens(home: Path) -> None:
    memory = Memory(registry.reader("kiro"))
    memory.import_home(lay_out("kiro-ide-composed", home))
    with_credits = [one for one in memory.readings().values() if one.answers]
    assert with_credits and all(one.conversation.usage is None for one in with_credits)


@pytest.mark.parametrize(
    ("name", "source", "dollars"),
    [("cline-composed", "cline", 0.01), ("crush-composed", "crush", 0.04)],
)
def test_dollars_that_an_agent_noted(home: Path, name: str, source: str, dollars: float) -> None:
    found = answers(lay_out(name, home), source)
    assert sum(answer.cost or 0 for answer in found) == pytest.approx(dollars)


def test_a_cost_of_nothing_is_no_cost(home: Path) -> None:
    found = answers(lay_out("opencode-1.18.33", home), "opencode")
    assert found and all(answer.cost is None for answer in found)


@pytest.mark.parametrize(
    ("said", "cost"),
    [
        ("> Tokens: 2.3k sent, 7 received. Cost: $0.0071 message, $0.02 session.  \n", 0.0071),
        (
            "> Tokens: 2.3k sent, 1k cache write, 3k cache hit, 7 received. Cost: $1.25 message",
            1.25,
        ),
        ("> Tokens: 2.3k sent, 7 received.  \n", None),
        ("> Tokens: 2.3k sent, 7 received. Cost: $1.2.3 message, $2 session.", None),
    ],
)
def test_aiders_cost_of_a_message(
    archive: Archive, tmp_path: Path, said: str, cost: float | None
) -> None:
    (tmp_path / aider.CHAT).write_text(
        f"{aider.START}\n#### go\n\nYes.\n\n{said}", encoding="utf-8"
    )
    aider.take_in(archive, tmp_path)
    ((_, (answer,)),) = archive.answers()
    assert (answer.cost, answer.usage.output_tokens) == (cost, 7)


def test_copilots_premium_requests_of_each_process_are_added(archive: Archive, home: Path) -> None:
    ends = [copilot.event("session.shutdown", totalPremiumRequests=n) for n in (2, 0.33)]
    copilot.write(home, copilot.typed("a"), copilot.answered("b", model="m"), *ends)
    copilot.take_in(archive, home)
    found = [answer for _, some in archive.answers() for answer in some if answer.unit]
    assert {answer.unit for answer in found} == {"premium request"}
    assert sum(answer.amount for answer in found) == pytest.approx(2.33)


def test_totals_of_all_processes_are_not_added(archive: Archive, home: Path) -> None:
    used = copilot.event("session.usage_record", usage={"model": "m", "inputTokens": 5})
    ends = [copilot.event("session.shutdown", totalPremiumRequests=n) for n in (2, 5)]
    copilot.write(home, copilot.typed("a"), used, copilot.answered("b", model="m"), *ends)
    copilot.take_in(archive, home)
    found = [answer for _, some in archive.answers() for answer in some if answer.unit]
    assert [answer.amount for answer in found] == [5]


def test_a_refused_call_has_not_failed(home: Path) -> None:
    transcript = Transcript()
    transcript.user("Do it.")
    transcript.call("c1", "Bash")
    transcript.result("c1", "exit code 1", error=True)
    transcript.call("c2", "Bash")
    transcript.result("c2", "The user doesn't want to proceed with this tool use.", error=True)
    transcript.call("c3", "Edit")
    transcript.result("c3", "done")
    told = tell(home, transcript).conversation
    assert told.tools == {"Bash": 2, "Edit": 1}
    assert told.tool_errors == {"Bash": 1}
    assert len(told.turns_at) == told.turns == 1
