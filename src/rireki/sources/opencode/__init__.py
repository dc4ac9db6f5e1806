"""opencode, and Kilo, which is made from it."""

from rireki.sources.opencode.reader import KILO, READER

__all__ = ["KILO", "READER"]
