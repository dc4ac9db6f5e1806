"""Messages that no provider ever wrote: kept, told and rendered all the same, on disk as in memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rireki import MessageHistory
from rireki.errors import RirekiError
from rireki.providers import PROVIDERS
from rireki.providers.kit import names as split

_NAMES = sorted(
    split("""role content type text parts output message choices candidates id call_id name input
arguments functionCall functionResponse toolUse toolResult tool_calls function tool_use_id
tool_call_id thinking signature summary object stop_reason images thought response tool_call
is_error action operation status args image source""")
)
_WORDS = sorted(
    split("""user assistant system tool model developer function text tool_use tool_result
function_call function_call_output custom_tool_call custom_tool_call_output shell_call
shell_call_output apply_patch_call reasoning message response thinking image a b ls {} {"a":1}
compaction 日本""")
)

leaves = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from([*_WORDS, "", "\ud83d"])
)
names = st.sampled_from(_NAMES)
values: st.SearchStrategy[Any] = st.recursive(
    leaves,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=5)),
    max_leaves=14,
)
messages = st.one_of(
    st.dictionaries(names, values, min_size=1, max_size=6),
    st.lists(st.dictionaries(names, values, max_size=4), max_size=3),
    st.builds(lambda role, content: {"role": role, "content": content}, values, values),
    st.builds(
        lambda kind, more: {"type": kind, "call_id": "a", **more},
        st.sampled_from([word for word in _WORDS if "_call" in word]),
        st.dictionaries(names, values, max_size=3),
    ),
)


@given(st.lists(messages, min_size=1, max_size=5))
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_anything_can_be_kept_and_rendered(
    tmp_path_factory: pytest.TempPathFactory, given: list[Any]
) -> None:
    place = tmp_path_factory.mktemp("kept") / "archive.sqlite3"
    memory, disk = MessageHistory(), MessageHistory.open("x", archive=place)
    for history in (memory, disk):
        history.add_user_message("go")
        for message in given:
            try:
                history.add_raw_message(message)
            except RirekiError as error:
                assert "cannot keep" in error.message
    check_the_same(memory, disk)
    for history in (memory, disk):
        history.repair()
        assert history.repair() == []
        history.trim(turns=1)
        history.compact("so far", keep_turns=1)
    check_the_same(memory, disk)
    disk.close()
    check_the_same(memory, reopened(place))


def reopened(place: Path) -> MessageHistory:
    return MessageHistory.open("x", archive=place, read_only=True)


def check_the_same(one: MessageHistory, other: MessageHistory) -> None:
    assert one.get_messages() == other.get_messages()
    assert one.turns() == other.turns()
    assert one.pending_calls() == other.pending_calls()
    for provider in PROVIDERS:
        assert one.render(provider, report=True) == other.render(provider, report=True)
        assert one.validate(provider) == other.validate(provider)


def deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


def cyclic() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize("value", [deep(5000), deep(250), cyclic()])
def test_what_nests_without_end_is_refused_when_it_is_added(value: list[Any], place: Path) -> None:
    message = {"role": "user", "content": [{"type": "text", "text": "x", "more": value}]}
    with MessageHistory.open(archive=place) as disk:
        for history in (MessageHistory(), disk):
            history.add_user_message("first")
            adding: list[Callable[[], None]] = [
                lambda h=history: h.add_raw_message(message),  # type: ignore[misc]
                lambda h=history: h.add_raw_message([message]),  # type: ignore[misc]
                lambda h=history: h.add_user_message(value),  # type: ignore[misc]
                lambda h=history: h.add_tool_result("c", value),  # type: ignore[misc]
                lambda h=history: h.add_note("n", value),  # type: ignore[misc]
            ]
            for add in adding:
                with pytest.raises(RirekiError, match="nested more than 200 deep"):
                    add()
            assert len(history.get_messages()) == 1
    changed = MessageHistory()
    changed.messages.append(message)
    with pytest.raises(RirekiError, match="nested more than 200 deep"):
        changed.render("openai")


def test_what_is_no_json_is_refused_on_disk(place: Path) -> None:
    with MessageHistory.open("x", archive=place) as history:
        history.add_user_message("first")
        with pytest.raises(RirekiError, match="object"):
            history.add_note("n", object())
        with pytest.raises(RirekiError, match="object"):
            history.compact(object())  # type: ignore[arg-type]
        history.add_user_message("second")
    assert len(reopened(place).messages) == 2
