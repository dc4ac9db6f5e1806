"""Amp: the threads that it keeps beside its server's copy."""

from rireki.sources.amp.reader import READER

__all__ = ["READER"]
