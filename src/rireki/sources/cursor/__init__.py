"""Cursor: conversations of its editor, which are rows of a database of keys and values."""

from rireki.sources.cursor.reader import READER

__all__ = ["READER"]
