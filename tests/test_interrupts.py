"""Ctrl-C, heard also when it comes a moment before the wait: as one that another thread got."""

from __future__ import annotations

import queue
import signal
import threading
import time

import pytest

from rireki.interrupts import heard_at_once


def _press() -> None:
    time.sleep(0.2)
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)


def test_a_signal_that_interrupted_nothing_is_heard() -> None:
    threading.Thread(target=_press, daemon=True).start()
    with heard_at_once(), pytest.raises(KeyboardInterrupt):
        queue.SimpleQueue[None]().get(timeout=20)


def test_what_was_done_about_that_signal_before_is_done_again() -> None:
    with heard_at_once():
        pass
    assert signal.getsignal(signal.SIGURG) == signal.SIG_DFL


def test_beside_the_main_thread_it_does_nothing() -> None:
    done: list[bool] = []

    def work() -> None:
        with heard_at_once():
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]
