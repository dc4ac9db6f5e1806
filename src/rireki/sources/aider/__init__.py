"""Aider: histories in Markdown that lie in the projects themselves."""

from rireki.sources.aider.reader import READER

__all__ = ["READER"]
