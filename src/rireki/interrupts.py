"""Ctrl-C at once: also one that comes a moment before the main thread begins to wait.

Python looks for signals when the call in which it waits is interrupted. One that comes between
the last look and that call interrupts nothing, and was heard with the next key only.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["heard_at_once"]

#: Seconds after which a signal that interrupted nothing is heard.
SOON = 0.1


@contextmanager
def heard_at_once() -> Iterator[None]:
    """Whatever the main thread waits for inside, a line or a queue, it looks for signals meanwhile."""
    # On Windows Ctrl-C is no signal that interrupts a call.
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        yield
        return
    main, over = threading.get_ident(), threading.Event()

    def nudge() -> None:
        while not over.wait(SOON):
            signal.pthread_kill(main, signal.SIGURG)

    # Nobody misses it: it is ignored unless somebody asks for it.
    before = signal.signal(signal.SIGURG, lambda number, frame: None)
    thread = threading.Thread(target=nudge, name="rireki-nudge", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        signal.signal(signal.SIGURG, before)
