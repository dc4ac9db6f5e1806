"""Zed: threads of its own agent."""

from rireki.sources.zed.reader import READER

__all__ = ["READER"]
