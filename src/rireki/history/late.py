"""Modules that a history in memory does not need before it is asked for more than its messages.

`import rireki` must be cheap for programs that only collect messages: providers' rules, the files of
a history on disk and the archive are imported by the first use of a name of theirs. This is the one
place where that is said; type checkers see the modules themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rireki.late import LateModule

__all__ = [
    "archived",
    "base64",
    "copy",
    "database",
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


if TYPE_CHECKING:
    import base64
    import copy
    import json

    from rireki import home, providers
    from rireki.history import archived, database, importing, journal, sharing, store, window
    from rireki.providers import loose, prefix
else:
    base64, copy, json = map(LateModule, ("base64", "copy", "json"))
    providers = LateModule("rireki.providers")
    loose = LateModule("rireki.providers.loose")
    prefix = LateModule("rireki.providers.prefix")
    home = LateModule("rireki.home")
    archived = LateModule("rireki.history.archived")
    database = LateModule("rireki.history.database")
    importing = LateModule("rireki.history.importing")
    journal = LateModule("rireki.history.journal")
    sharing = LateModule("rireki.history.sharing")
    store = LateModule("rireki.history.store")
    window = LateModule("rireki.history.window")
