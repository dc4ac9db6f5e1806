"""Cline, and Roo Code and Kilo Code, which were made from it."""

from rireki.sources.cline.reader import KILO_CODE, READER, ROO_CODE

__all__ = ["KILO_CODE", "READER", "ROO_CODE"]
