"""The line between a browser and its server, which can be cut and mended."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

__all__ = ["Cable"]


class Cable:
    """Listens on a port of its own and passes everything on, until it is cut."""

    def __init__(self, to: int) -> None:
        self.to = to
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._open: list[socket.socket] = []
        self._whole = True
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Every connection breaks in the middle of whatever it says, and no new one is let through."""
        with self._lock:
            self._whole = False
            broken, self._open = self._open, []
        for end in broken:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def mend(self) -> None:
        self._whole = True

    def close(self) -> None:
        self.cut()
        self._listening.close()

    def _accept(self) -> None:
        while True:
            try:
                here, _ = self._listening.accept()
            except OSError:
                return
            self._connect(here)

    def _connect(self, here: socket.socket) -> None:
        try:
            if not self._whole:
                raise ConnectionRefusedError
            there = socket.create_connection(("127.0.0.1", self.to))
        except OSError:
            here.close()
            return
        with self._lock:
            self._open += [here, there]
        for ends in ((here, there), (there, here)):
            threading.Thread(target=_pass_on, args=ends, daemon=True).start()


def _pass_on(one: socket.socket, other: socket.socket) -> None:
    with suppress(OSError):
        while data := one.recv(65536):
            other.sendall(data)
    for end in (one, other):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()
