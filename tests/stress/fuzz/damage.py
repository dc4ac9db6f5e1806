"""Ways to damage a record: in its structure where it is JSON, else in its bytes."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

__all__ = ["damage_bytes", "damage_json", "damage_record"]

#: Texts that something may trip over: halves of pairs, controls, directions, markup, names of ids.
TEXTS = [
    *(
        "",
        " ",
        "\n",
        "\x00",
        "\x1b]52;c;AAAA\x07",
        "\x9b31m",
        "\u202e",
        "\ud800",
        "\udfff\ud800",
        "\ufeff",
    ),
    *(
        "<script>",
        "&amp;",
        "```",
        "`" * 70,
        "[" * 300,
        "> " * 200,
        "|a|b|\n|-|-|\n",
        "*" * 400,
        "\u2028",
    ),
    *(
        "é" * 50,
        "👩‍👩‍👧",
        "a" * 5000,
        "0",
        "-1",
        "null",
        "true",
        "1e400",
        "../../etc/passwd",
        "file:///x",
    ),
    *(
        "2026-01-01T00:00:00Z",
        "9999-12-31T23:59:59.999Z",
        "0000-00-00",
        "2026-13-45T99:99:99Z",
        "NaN",
    ),
    *("user", "assistant", "system", "tool", "summary", "text", "image", "tool_use", "tool_result"),
    *(
        "data:image/png;base64,AAAA",
        "AAAA",
        "====",
        "<command-name>/x</command-name>",
        "<system-reminder>",
    ),
]
NUMBERS = [
    *(0, 1, -1, 2**31, 2**53 + 1, 2**63, -(2**64), 10**30, 10**400, 0.1, 1e308, -0.0, 1e-320),
    *(float("nan"), float("inf"), float("-inf"), 253402300800, 1e18, 0x110000),
]
VALUES: list[Any] = [None, True, False, [], {}, [[]], [None], [{}], {"": {}}, {"type": "text"}]
#: Deeper than Python's own limit on recursion, put in as text.
DEEP = "\x01deep\x01"
DEPTH = 100_000


def damage_record(chance: Random, data: bytes, others: list[Any]) -> bytes:
    """One record, damaged once to four times; `others` are values of other records to mix in."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return damage_bytes(chance, data)
    for _ in range(chance.choice((1, 1, 2, 4))):
        value = damage_json(chance, value, others)
    text = json.dumps(value, ensure_ascii=chance.random() < 0.5)
    text = _duplicate_key(chance, text) if chance.random() < 0.05 else text
    data = _deepen(chance, text).encode("utf-8", "surrogatepass")
    return damage_bytes(chance, data) if chance.random() < 0.1 else data


def damage_bytes(chance: Random, data: bytes) -> bytes:
    at, end = sorted((chance.randint(0, len(data)), chance.randint(0, len(data))))
    way = chance.randrange(6)
    if way == 0:
        return data[:at]
    if way == 1:
        return data[:at] + data[end:]
    if way == 2:
        return data[:end] + data[at:]
    if way == 3:
        junk = (
            b"\xff",
            b"\xc3",
            b"\xed\xa0\x80",
            b"\x00",
            b"\r",
            b"\xf4\x90\x80\x80",
            b"\xef\xbb\xbf",
        )
        return data[:at] + chance.choice(junk) + data[at:]
    if way == 4 and data:
        at = chance.randrange(len(data))
        return data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 :]
    return chance.choice(
        (b"", b"{}", b"[]", b"null", b'""', b"0", b"{", b"[" * 2000, chance.randbytes(30))
    )


def damage_json(chance: Random, value: Any, others: list[Any]) -> Any:
    """The value with one thing about it changed, somewhere inside."""
    spots = _spots(value)
    if not spots:
        return _junk(chance, others)
    holder, key = chance.choice(spots)
    way = chance.choice(WAYS)
    way(chance, holder, key, others)
    return value


def _junk(chance: Random, others: list[Any]) -> Any:
    kind = chance.randrange(12)
    if kind < 4:
        return chance.choice(TEXTS)
    if kind < 7:
        return chance.choice(NUMBERS)
    if kind < 10 or not others:
        return json.loads(json.dumps(chance.choice(VALUES)))
    if kind == 10 and chance.random() < 0.03:
        return DEEP
    return json.loads(json.dumps(_inside(chance, chance.choice(others))))


def _inside(chance: Random, value: Any) -> Any:
    spots = _spots(value)
    if not spots:
        return value
    holder, key = chance.choice(spots)
    return holder[key]


def _spots(value: Any) -> list[tuple[Any, Any]]:
    """Every place in a value that holds another: its holder, and its key there."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting and len(found) < 150:
        holder = waiting.pop()
        keys = (
            list(holder)
            if isinstance(holder, dict)
            else range(len(holder))
            if isinstance(holder, list)
            else ()
        )
        for key in keys:
            found.append((holder, key))
            waiting.append(holder[key])
    return found


def _replace(chance: Random, holder: Any, key: Any, others: list[Any]) -> None:
    holder[key] = _junk(chance, others)


def _remove(chance: Random, holder: Any, key: Any, others: list[Any]) -> None:
    del holder[key]


def _rename(chance: Random, holder: Any, key: Any, others: list[Any]) -> None:
    if isinstance(holder, dict):
        held = holder.pop(key)
        holder[
            chance.choice(
                (key.upper(), f"{key}s", key[:-1], "type", "content", "id", *holder, "\ud800")
            )
        ] = held


def _wrap(chance: Random, holder: Any, key: Any, others: list[Any]) -> None:
    held = holder[key]
    holder[key] = chance.choice(
        ([held], {"value": held}, {"type": "text", "text": held}, [held, held], str(held))
    )


def _exchange(chance: Random, holder: Any, key: Any, others: list[Any]) -> None:
    other = chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    holder[key], holder[other] = holder[other], holder[key]


def _borrow(chance: Random, holder: Any, key: Any, others: list[Any]) -> None:
    """The value another record has under this name: ids twice, parents in a circle."""
    found = [h[k] for h, k in _spots(chance.choice(others)) if k == key] if others else []
    holder[key] = json.loads(json.dumps(chance.choice(found))) if found else None


def _spoil(chance: Random, holder: Any, key: Any, others: list[Any]) -> None:
    held = holder[key]
    if isinstance(held, str):
        at = chance.randint(0, len(held))
        holder[key] = held[:at] + chance.choice(TEXTS) + held[at:]
    elif isinstance(held, bool | int | float):
        holder[key] = chance.choice(NUMBERS)
    elif isinstance(held, list) and held:
        chance.shuffle(held) if chance.random() < 0.5 else held.extend(held[:50])
    else:
        holder[key] = _junk(chance, others)


WAYS: list[Callable[[Random, Any, Any, list[Any]], None]] = [
    *(
        _replace,
        _replace,
        _replace,
        _remove,
        _remove,
        _rename,
        _wrap,
        _exchange,
        _borrow,
        _borrow,
        _spoil,
        _spoil,
    )
]


def _duplicate_key(chance: Random, text: str) -> str:
    """The first key of some object once more, with another value."""
    at = text.find('{"', chance.randint(0, len(text)))
    end = text.find('":', at)
    if at < 0 or end < 0:
        return text
    return f"{text[: at + 1]}{text[at + 1 : end + 2]}{json.dumps(chance.choice(NUMBERS))},{text[at + 1 :]}"


def _deepen(chance: Random, text: str) -> str:
    mark = json.dumps(DEEP)
    if mark not in text:
        return text
    depth = chance.choice((100, 900, 5000, DEPTH))
    opening, closing = chance.choice((("[", "]"), ('{"a":', "}")))
    return text.replace(mark, opening * depth + "0" + closing * depth)
