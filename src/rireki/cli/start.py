"""The first step of every command and its last: imports nothing yet, and leaves at once.

So a short command stays short.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
from typing import NoReturn

from rireki.python_path import leave_current_directory

__all__ = ["main"]


def main() -> NoReturn:
    # Importing makes many objects and little garbage: looking for it costs a tenth of a short command.
    gc.set_threshold(50_000)
    _open_closed()
    leave_current_directory()
    # Imported late: not before the current directory is off the path.
    from rireki.cli.main import run

    _leave(run(sys.argv[1:]))


def _open_closed() -> None:
    """What was closed before we started (`2>&-`) leads nowhere, and its number to no other file."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode)  # noqa: SIM115
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)


def _leave(code: int) -> NoReturn:
    """Everything is closed by now; taking the interpreter apart would cost a short command a seventh."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        # Whoever read our output is gone: Python knows how to end then.
        sys.exit(code)
    if threading.active_count() > 1:
        sys.exit(code)
    atexit._run_exitfuncs()
    os._exit(code)
