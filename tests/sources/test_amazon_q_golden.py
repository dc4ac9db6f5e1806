"""What the fixtures of Amazon Q and Kiro mean, message by message, as files beside them.

`python -m tests.sources.test_amazon_q_golden` makes the files anew; read the difference.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rireki.sources.amazon_q.kiro import READER as KIRO
from rireki.sources.amazon_q.reader import READER as AMAZON_Q
from tests.support.memory import Memory

FIXTURES = Path(__file__).parents[1] / "fixtures" / "amazon-q"
STORES = ("q-1.12", "q-1.19", "kiro-1.23", "kiro-2.2", "exports")
_LONG = 2000


def golden_of(store: str) -> str:
    """Every conversation of a store, in a form that people can compare."""
    memory = Memory(KIRO if store.startswith("kiro") else AMAZON_Q)
    readers = (AMAZON_Q, KIRO) if store == "exports" else (memory.reader,)
    for reader in readers:
        for origin in reader.recognise(FIXTURES / store):
            memory.take(origin)
    readings = sorted(memory.readings().items())
    value = [
        {"conversation": reading.conversation, "messages": reading.messages()}
        for _, reading in readings
    ]
    plain = _shortened(msgspec.to_builtins(value))
    text = json.dumps(plain, ensure_ascii=False, indent=1)
    return text.replace(f"{FIXTURES}/", "") + "\n"


def _shortened(value: Any) -> Any:
    if isinstance(value, str) and len(value) > _LONG:
        return f"<{len(value)} characters, {sha256(value.encode()).hexdigest()[:16]}>"
    if isinstance(value, list):
        return [_shortened(item) for item in value]
    if isinstance(value, dict):
        return {name: _shortened(item) for name, item in value.items()}
    return value


def golden_file(store: str) -> Path:
    return FIXTURES / f"{store}.golden.json"


@pytest.mark.parametrize("store", STORES)
def test_the_fixtures_mean_what_they_meant(store: str) -> None:
    assert golden_of(store) == golden_file(store).read_text(encoding="utf-8")
