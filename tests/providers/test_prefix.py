"""A history that grows is rendered as if it were rendered whole each time, at the cost of what is new."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rireki.providers import PROVIDERS, Call, NeutralText, Result, Turn, decode, encode
from rireki.providers.encoder import Encoder
from rireki.providers.prefix import PrefixRenderer, copied_json
from tests.providers.scripts import Script, scripts, spell

MODELS: dict[str, list[str | None]] = {
    "anthropic": [None, "claude-opus-4-6"],
    "gemini": [None, "gemini-3-pro"],
    "bedrock": [None, "anthropic.claude-x", "meta.llama3"],
}
each = pytest.mark.parametrize("provider", PROVIDERS)
calm = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


def check(provider: str, turns: Sequence[Turn], model: str | None = None) -> None:
    """Rendered after every turn, it is what it would be if it were rendered for the first time."""
    renderer = PrefixRenderer(provider, model)
    for count in range(len(turns) + 1):
        assert renderer.render(turns[:count], 0) == encode(provider, turns[:count], model), count


@each
@pytest.mark.parametrize("origin", PROVIDERS)
@calm
@given(scripts)
def test_a_growing_history_of_any_provider(provider: str, origin: str, script: Script) -> None:
    turns = decode(origin, spell(origin, script))
    for model in MODELS.get(provider, [None]):
        check(provider, turns, model)


@each
@calm
@given(st.data())
def test_a_growing_history_with_messages_lost_doubled_and_moved(
    provider: str, data: st.DataObject
) -> None:
    mixed: list[Any] = []
    for origin in data.draw(st.lists(st.sampled_from(PROVIDERS), min_size=1, max_size=3)):
        messages = spell(origin, data.draw(scripts))
        mixed += [turn for message in messages for turn in decode(origin, [message])]
    places = data.draw(st.lists(st.integers(0, len(mixed) - 1), max_size=2 * len(mixed)))
    for model in MODELS.get(provider, [None]):
        check(provider, [mixed[place] for place in places], model)


parts = st.one_of(
    st.sampled_from([NeutralText("words"), NeutralText(""), NeutralText(" ")]),
    st.builds(Call, st.sampled_from([None, "a", "b", "c.d", "x" * 70]), st.sampled_from("fg")),
    st.builds(
        Result,
        st.sampled_from([None, "a", "b", "c.d"]),
        st.sampled_from([None, "f", "g"]),
        st.just([NeutralText("out")]),
    ),
)
turns = st.lists(
    st.builds(
        Turn,
        st.sampled_from(["user", "assistant", "user", "assistant", "system"]),
        st.lists(parts, max_size=3),
        st.sampled_from([None, "anthropic", "openai"]),
    ),
    max_size=12,
)


@each
@settings(max_examples=150, deadline=None)
@given(turns)
def test_a_growing_history_of_anything(provider: str, turns: list[Turn]) -> None:
    for model in MODELS.get(provider, [None]):
        check(provider, turns, model)


@each
def test_only_what_is_new_is_rendered(provider: str) -> None:
    """Of a chat and of an agent that works for long without a word of the user."""
    said = [
        {"role": role, "content": "words"} for _ in range(200) for role in ("user", "assistant")
    ]
    use = {"type": "tool_use", "name": "f", "input": {}}
    result = {"type": "tool_result", "content": "out"}
    worked: list[Any] = [{"role": "user", "content": "go"}]
    for number in range(200):
        worked.append({"role": "assistant", "content": [{**use, "id": f"c{number}"}]})
        worked.append({"role": "user", "content": [{**result, "tool_use_id": f"c{number}"}]})
    for messages in (said, worked):
        turns = decode("anthropic", messages)
        renderer = PrefixRenderer(provider)
        renderer.render(turns[:-2], 0)
        with patch.object(Encoder, "fit", autospec=True, side_effect=Encoder.fit) as fit:
            renderer.render(turns, 0)
        assert sum(len(call.args[1]) for call in fit.call_args_list) <= 4


@each
def test_who_changes_a_request_does_not_change_the_next_one(provider: str) -> None:
    turns = [
        Turn("user", [NeutralText("a")]),
        Turn("assistant", [NeutralText("b")]),
        Turn("user", [NeutralText("c")]),
    ]
    renderer = PrefixRenderer(provider)
    first = renderer.render(turns, 0)
    first.messages[0]["cache_control"] = {"type": "ephemeral"}
    for value in first.messages[0].values():
        if isinstance(value, list):
            value.clear()
    assert renderer.render(turns, 0) == encode(provider, turns)


def test_copies_keep_every_value() -> None:
    value = [{"a": [1, 2**70, 1.5, None, True, b"\x89", {"b": "\ud800"}]}]
    copy = copied_json(value)
    assert copy == value and copy[0] is not value[0] and copy[0]["a"][6] is not value[0]["a"][6]
