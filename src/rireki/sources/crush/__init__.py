"""Crush: sessions in the directories it worked in."""

from rireki.sources.crush.reader import READER

__all__ = ["READER"]
