"""A store and its users."""

from __future__ import annotations

from pathlib import Path

import pytest

# First of all: it keeps quiet about what ChatKit warns of when it is imported.
import rireki.chatkit  # noqa: F401
from tests.support.databases import database, durable, postgres

__all__ = ["database", "durable", "postgres"]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where the archive will be; the store lies beside it."""
    return tmp_path / "kept" / "archive.sqlite3"
