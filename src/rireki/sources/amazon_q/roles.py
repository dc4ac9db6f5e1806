"""What a file or row is to its conversation: the words Amazon Q's and Kiro's strands go by."""

from __future__ import annotations

__all__ = [
    "BROKEN",
    "EXPORT",
    "LIVE",
    "LOG",
    "ROW",
    "SAVE",
    "SESSION",
    "SIDE",
    "TYPED",
    "V3_LOG",
    "V3_PREFIX",
    "V3_SESSION",
]

#: A row of a database, and one that could not be understood.
ROW, BROKEN = "row", "broken"
#: Files people wrote with `/save` and `/chat save`.
SAVE, EXPORT = "save", "export"
#: Kiro's second engine: the log, what is noted beside it, and the lines that were typed.
LOG, SESSION, TYPED = "log", "session", "typed"
#: Kiro's third engine, and whatever else lies in its folders.
V3_LOG, V3_SESSION, SIDE = "v3-log", "v3-session", "side"
#: How the names of its folders, which are its sessions, begin.
V3_PREFIX = "sess_"
#: What the agent itself works with; a file that a person saved is only a copy.
LIVE = (ROW, LOG, V3_LOG)
