"""Terminal colours and the like in what programs printed: no reader sees them, no search asks for them."""

from __future__ import annotations

import re

__all__ = ["without_colours"]

_COLOURS = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


def without_colours(text: str) -> str:
    return _COLOURS.sub("", text) if "\x1b" in text else text
