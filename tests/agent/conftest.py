"""Answers of a scripted model, and where histories are kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where the archive will be; the histories lie beside it."""
    return tmp_path / "kept" / "archive.sqlite3"


def calls(*asked: tuple[str, str, Any], text: str = "") -> dict[str, Any]:
    """An answer that calls tools: (id, name, arguments)."""
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    for id, name, arguments in asked:
        blocks.append({"type": "tool_use", "id": id, "name": name, "input": arguments})
    return {"role": "assistant", "content": blocks}


def question(id: str, text: str, options: list[str] | None = None) -> dict[str, Any]:
    asked = {"question": text} if options is None else {"question": text, "options": options}
    return calls((id, "ask_user", asked))


def results(message: Any) -> list[tuple[str, str, bool]]:
    """(id, text, failed) of the results in a message."""
    return [
        (block["tool_use_id"], block["content"], bool(block.get("is_error")))
        for block in message["content"]
    ]
