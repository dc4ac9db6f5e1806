"""Modules that are imported by the first use of one of their names.

For what is slow to import and seldom needed. It stands at the top of a file like any import; type
checkers are shown the module itself:

    if TYPE_CHECKING:
        import tantivy
    else:
        tantivy = LateModule("tantivy")
"""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["LateModule"]


class LateModule:
    """Looks like a module, and imports it when somebody asks for one of its names."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        # Not importlib, which is a package of its own to import.
        __import__(self._name)
        value = getattr(sys.modules[self._name], name)
        # The next time it is an attribute like any other.
        self.__dict__[name] = value
        return value
