"""A history that grows is rendered as if it were rendered whole each time, at the cost of what is new."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable, Sequence
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rireki import MessageHistory
from rireki.providers import PROVIDERS, Call, NeutralText, Request, Result, Turn, decode, encode
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
    made = copied_json(value)
    assert made == value and made[0] is not value[0] and made[0]["a"][6] is not value[0]["a"][6]


def _taken_out() -> list[tuple[str, Callable[[list[Any]], Any]]]:
    """Every way in which a program gets hold of the messages of a request."""
    return [
        ("index", lambda messages: messages[0]),
        ("slice", lambda messages: messages[:1][0]),
        ("iterate", lambda messages: next(iter(messages))),
        ("reversed", lambda messages: [*reversed(messages)][-1]),
        ("unpack", lambda messages: [*messages][0]),  # noqa: RUF015
        ("list", lambda messages: list(messages)[0]),  # noqa: RUF015
        ("tuple", lambda messages: tuple(messages)[0]),  # noqa: RUF015
        ("add", lambda messages: (messages + [])[0]),  # noqa: RUF005
        ("added to", lambda messages: ([] + messages)[0]),  # noqa: RUF005
        ("extend", lambda messages: _extended(messages)[0]),
        ("times", lambda messages: (messages * 1)[0]),
        ("copy", lambda messages: messages.copy()[0]),
        ("shallow copy", lambda messages: copy.copy(messages)[0]),
        ("deep copy", lambda messages: copy.deepcopy(messages)[0]),
        ("pickle", lambda messages: pickle.loads(pickle.dumps(messages))[0]),
        ("pop", lambda messages: messages.pop(0)),
        ("sort", lambda messages: _sorted_by(messages)),
        ("sorted", lambda messages: sorted(messages, key=str)[0]),
        ("map", lambda messages: next(map(dict.copy, messages))),
        ("as json", lambda messages: Request(messages).as_json().messages[0]),
    ]


def _extended(messages: list[Any]) -> list[Any]:
    made: list[Any] = []
    made += messages
    return made


def _sorted_by(messages: list[Any]) -> Any:
    seen: list[Any] = []
    messages.sort(key=lambda message: seen.append(message) or 0)  # type: ignore[func-returns-value]
    return seen[0]


@pytest.mark.parametrize(("way", "taken"), _taken_out())
def test_what_a_program_takes_out_of_a_request_and_changes_is_in_no_other_request(
    way: str, taken: Callable[[list[Any]], Any]
) -> None:
    history = MessageHistory()
    history.add_user_message("hello")
    history.add_raw_message({"role": "assistant", "content": [{"type": "text", "text": "hi"}]})
    history.add_user_message("again")
    clean = list(history.render("anthropic").messages)
    message = taken(history.render("anthropic").messages)
    message["role"] = "mine"
    for block in message["content"] if isinstance(message["content"], list) else []:
        block["text"] = "mine"
    assert history.render("anthropic").messages == clean
    assert history.get_messages()[0] == {"role": "user", "content": "hello"}


def test_a_request_stays_as_it_was_when_the_history_changes_afterwards() -> None:
    history = MessageHistory()
    for text in ("one", "two", "three"):
        history.add_user_message(text)
        history.add_raw_message({"role": "assistant", "content": text})
    request = history.render("anthropic")
    history.messages[0]["content"] = "changed"
    history.messages[-1]["content"] = "changed"
    assert "changed" not in json.dumps(request.messages)
    assert "changed" in json.dumps(history.render("anthropic").messages)
