"""An archive's path to keep histories beside, and an agent's usual messages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rireki import MessageHistory
from tests.support.databases import database, durable, postgres

__all__ = ["calls", "database", "durable", "exchange", "postgres", "says"]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where the archive will be; the histories lie beside it."""
    return tmp_path / "kept" / "archive.sqlite3"


def calls(*ids: str, name: str = "read", text: str = "") -> dict[str, Any]:
    """An answer that calls a tool so many times."""
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    blocks += [{"type": "tool_use", "id": id, "name": name, "input": {"of": id}} for id in ids]
    return {"role": "assistant", "content": blocks}


def says(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def exchange(history: MessageHistory, number: int) -> None:
    """A prompt, two calls with their results, an answer."""
    history.add_user_message(f"prompt {number}")
    history.add_raw_message(calls(f"a{number}", f"b{number}"))
    history.add_tool_result(f"a{number}", f"result a{number}", "read")
    history.add_tool_result(f"b{number}", f"result b{number}", "read")
    history.add_raw_message(says(f"answer {number}"))
