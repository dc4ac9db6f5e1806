"""Goose: sessions of its terminal and its app."""

from rireki.sources.goose.reader import READER

__all__ = ["READER"]
