"""Histories of every provider, for every provider: read back untouched, or accepted by another."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from rireki.providers import (
    INTERRUPTED,
    PROVIDERS,
    Call,
    Media,
    NeutralText,
    Note,
    Part,
    Result,
    Turn,
    decode,
    encode,
)
from tests.providers.rules_of import complaints
from tests.providers.scripts import Script, scripts, spell
from tests.providers.types_of import checker

each = pytest.mark.parametrize("provider", PROVIDERS)
#: Families whose rules differ from those of their provider.
MODELS = {
    "gemini": ["", "gemini-3-pro"],
    "bedrock": ["", "us.meta.llama3-3-70b-instruct-v1:0", "anthropic.claude-sonnet-4"],
}
calm = settings(
    max_examples=40,
    deadline=None,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow],
    database=None,
)


def accepted(provider: str, turns: list[Turn], model: str = "") -> list[Any]:
    """The messages for the provider, after its types and its rules have said yes."""
    request = encode(provider, turns, model or None, nudge="go on")
    checker(provider)(request)
    assert complaints(provider, request.messages, model) == []
    return request.messages


@each
@calm
@given(scripts)
def test_same_provider_gives_the_raw_form_back(provider: str, script: Script) -> None:
    raw = spell(provider, script)
    assert complaints(provider, raw) == []
    before = copy.deepcopy(raw)
    report: list[Note] = []
    assert (
        encode(provider, decode(provider, raw), report=report).as_json().messages == raw == before
    )
    assert report == []


@each
@calm
@given(scripts)
def test_every_other_provider_accepts_it(provider: str, script: Script) -> None:
    turns = decode(provider, spell(provider, script))
    for target in PROVIDERS:
        for model in MODELS.get(target, [""]):
            accepted(target, turns, model)


@each
@calm
@given(scripts)
def test_what_was_said_and_done_is_carried_over(provider: str, script: Script) -> None:
    turns = decode(provider, spell(provider, script))
    for target in PROVIDERS:
        assert essence(decode(target, accepted(target, turns))) == essence(turns)


@each
@calm
@given(scripts)
def test_what_was_rendered_is_rendered_again_as_it_is(provider: str, script: Script) -> None:
    for source in PROVIDERS:
        once = encode(provider, decode(source, spell(source, script))).messages
        assert encode(provider, decode(provider, once)).messages == once


@each
@calm
@given(scripts, st.randoms(use_true_random=False))
def test_a_damaged_history_is_accepted_all_the_same(
    provider: str, script: Script, chance: Any
) -> None:
    raw = spell(provider, script)
    for _ in range(chance.randint(1, 3)):
        harm = chance.choice([_lose, _cut_start, _cut_end, _double, _swap])
        raw = harm(raw, chance)
    turns = decode(provider, raw)
    for target in PROVIDERS:
        for model in MODELS.get(target, [""]):
            accepted(target, turns, model)


def _lose(raw: list[Any], chance: Any) -> list[Any]:
    gone = chance.randrange(len(raw) + 1)
    return [message for index, message in enumerate(raw) if index != gone]


def _cut_start(raw: list[Any], chance: Any) -> list[Any]:
    return raw[chance.randrange(len(raw) + 1) :]


def _cut_end(raw: list[Any], chance: Any) -> list[Any]:
    return raw[: chance.randrange(len(raw) + 1)]


def _double(raw: list[Any], chance: Any) -> list[Any]:
    at = chance.randrange(len(raw) + 1)
    return raw[:at] + raw[max(0, at - 2) :]


def _swap(raw: list[Any], chance: Any) -> list[Any]:
    at = chance.randrange(len(raw) + 1)
    return raw[:at] + raw[at + 1 : at + 2] + raw[at : at + 1] + raw[at + 2 :]


def essence(turns: list[Turn]) -> list[Any]:
    """What was said, called and returned, without ids, thoughts, marks of failure and pictures.

    Results in the order of their calls: providers keep different orders.
    """
    told: list[Any] = []
    for turn in turns:
        results = sorted(
            ("result", _plain(part)) for part in turn.parts if isinstance(part, Result)
        )
        if results and told and told[-1][0] == "result":
            results = sorted([*results, *_tail(told)])
        told += results
        told += [said for part in turn.parts for said in _said(turn.role, part)]
    return told


def _tail(told: list[Any]) -> list[Any]:
    """The results at the end, taken off."""
    end = len(told)
    while end and told[end - 1][0] == "result":
        end -= 1
    tail = told[end:]
    del told[end:]
    return tail


def _plain(result: Result) -> str:
    texts = [inner.text for inner in result.content if isinstance(inner, NeutralText)]
    text = "\n".join(texts).removesuffix("\n[image: shown after the results]")
    assert INTERRUPTED not in text
    return text.removeprefix("Error: ")


def _said(role: str, part: Part) -> list[Any]:
    if isinstance(part, NeutralText):
        marks = ("<thinking>", "[image that")
        # Ollama and Responses join the texts of one answer, thoughts included.
        text = part.text.split("</thinking>\n\n")[-1]
        return [] if text.startswith(marks) else [(role, text)]
    if isinstance(part, Call):
        return [("call", part.name, part.arguments)]
    return []


@each
@calm
@given(scripts.filter(lambda script: any(exchange.steps for exchange in script)))
def test_the_checker_sees_a_call_without_its_result(provider: str, script: Script) -> None:
    """Otherwise it would prove nothing above."""
    raw = spell(provider, script)
    at = next(at for at, turn in enumerate(decode(provider, raw)) if _has_result(turn))
    found = complaints(provider, raw[:at] + raw[at + 1 :])
    assert found or provider == "ollama"


def _has_result(turn: Turn) -> bool:
    return any(isinstance(part, Result) for part in turn.parts)


def test_pictures_are_carried_over() -> None:
    from tests.providers.scripts import PNG, Exchange, Step, Use

    script = [Exchange("look", "seen", [Step([Use("read", {}, "here", picture=True)])], True)]
    turns = decode("anthropic", spell("anthropic", script))
    for target in PROVIDERS:
        back = decode(target, accepted(target, turns))
        found = [
            media.data
            for turn in back
            for part in turn.parts
            for media in ([part] if isinstance(part, Media) else getattr(part, "content", ()))
            if isinstance(media, Media)
        ]
        assert found == [PNG, PNG], target
