"""Pairing codes: good for minutes, once, and for few tries; and who may try how often.

Knows nothing of HTTP, nor of what a device is let in to.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections import deque
from collections.abc import Callable

import msgspec

from rireki.errors import RirekiError

__all__ = ["PAIR", "Pairing", "PairingCode"]

#: Where a device that is not known yet gives its code.
PAIR = "/pair"

#: Seconds a code can be used.
GOOD_FOR = 300.0
#: Wrong codes after which the right one opens nothing any more.
TRIES = 5
#: How often may be tried within that many seconds: by one address, and by all.
PERIOD, PER_ADDRESS, IN_ALL = 300.0, 10, 60
#: No letter that looks like another one, or like a digit; 8 of 31 are 39 bits.
LETTERS = "23456789ABCDEFGHJKLMNPQRSTVWXYZ"
LENGTH = 8


class PairingCode(msgspec.Struct, frozen=True):
    value: str
    #: On the clock of this module.
    until: float
    #: Whether the device will only be able to read.
    read_only: bool

    @property
    def spelled(self) -> str:
        return f"{self.value[:4]}-{self.value[4:]}"


class Pairing:
    """One code at a time; used in the event loop alone."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._code: PairingCode | None = None
        self._wrong = 0
        #: When which address tried, the latest last.
        self._tried: deque[tuple[float, str]] = deque()

    @property
    def code(self) -> PairingCode | None:
        """The one that is good just now."""
        if self._code is not None and self._code.until <= self._clock():
            self._code = None
        return self._code

    @property
    def seconds(self) -> int:
        """How long it still is."""
        return int(self._code.until - self._clock()) if self._code is not None else 0

    def new(self, *, read_only: bool) -> PairingCode:
        """Another one; the one before opens nothing any more."""
        value = "".join(secrets.choice(LETTERS) for _ in range(LENGTH))
        self._code = PairingCode(value, self._clock() + GOOD_FOR, read_only)
        self._wrong = 0
        return self._code

    def cancel(self) -> None:
        self._code = None

    def redeem(self, given: str, address: str) -> PairingCode:
        """The code, which is used now. Raises RirekiError, which does not say what was wrong with it."""
        self._count(address)
        code = self.code
        typed = "".join(letter for letter in given.upper() if letter in LETTERS)
        # Also without a code something is compared: the answer takes as long.
        right = code.value if code is not None else "?" * LENGTH
        if not hmac.compare_digest(typed.encode(), right.encode()):
            self._wrong += 1
            if self._wrong >= TRIES:
                self._code = None
            raise RirekiError("pairing-refused")
        assert code is not None
        self._code = None
        return code

    def _count(self, address: str) -> None:
        now = self._clock()
        while self._tried and self._tried[0][0] <= now - PERIOD:
            self._tried.popleft()
        by_it = sum(each == address for _, each in self._tried)
        # What is refused here is not counted: nothing grows, and the time does come to an end.
        if by_it >= PER_ADDRESS or len(self._tried) >= IN_ALL:
            raise RirekiError("pairing-too-often")
        self._tried.append((now, address))
