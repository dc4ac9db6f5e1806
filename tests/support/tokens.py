"""Tokens of an answer by their numbers, in one order."""

from __future__ import annotations

from rireki.model.message import Usage

__all__ = ["tally"]


def tally(read: int = 0, written: int = 0, cache_read: int = 0, cache_write: int = 0) -> Usage:
    return Usage(read, written, cache_read, cache_write)
