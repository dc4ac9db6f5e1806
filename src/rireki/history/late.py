"""Modules that a history in memory does not need before it is asked for more than its messages.

`import rireki` must be cheap for programs that only collect messages: providers' rules, the files of
a history on disk and the archive are imported by the first use of a name of theirs. This is the one
place where that is said; type checkers see the modules themselves.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

__all__ = [
    "archived",
    "base64",
    "copy",
    "home",
    "importing",
    "journal",
    "json",
    "loose",
    "prefix",
    "providers",
    "sharing",
    "store",
    "window",
]


class _LateModule:
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


if TYPE_CHECKING:
    import base64
    import copy
    import json

    from rireki import home, providers
    from rireki.history import archived, importing, journal, sharing, store, window
    from rireki.providers import loose, prefix
else:
    base64, copy, json = map(_LateModule, ("base64", "copy", "json"))
    providers = _LateModule("rireki.providers")
    loose = _LateModule("rireki.providers.loose")
    prefix = _LateModule("rireki.providers.prefix")
    home = _LateModule("rireki.home")
    archived = _LateModule("rireki.history.archived")
    importing = _LateModule("rireki.history.importing")
    journal = _LateModule("rireki.history.journal")
    sharing = _LateModule("rireki.history.sharing")
    store = _LateModule("rireki.history.store")
    window = _LateModule("rireki.history.window")
