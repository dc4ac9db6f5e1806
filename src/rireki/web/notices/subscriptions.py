"""Browsers that asked to be told: kept in the user's data directory, taken away when their device is."""

from __future__ import annotations

import base64
import binascii
import hashlib
import threading
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

import msgspec

from rireki.errors import NotFound, RirekiError
from rireki.home import Home
from rireki.sync.devices import Device, Devices
from rireki.sync.private import read_private, write_private

__all__ = ["Subscription", "Subscriptions", "decoded"]

#: How many there may be.
MOST = 50
#: Where browsers have their push services: nothing is sent elsewhere on a browser's word.
SERVICES = (
    "fcm.googleapis.com",
    "push.services.mozilla.com",
    "push.apple.com",
    "notify.windows.com",
)


class Subscription(msgspec.Struct, frozen=True):
    endpoint: str
    #: The browser's public key and secret, in base64.
    p256dh: str
    auth: str
    made_at: str
    #: The device that asked; this machine where both are empty.
    device: str = ""
    digest: str = ""

    @property
    def id(self) -> str:
        return hashlib.sha256(self.endpoint.encode()).hexdigest()[:16]

    @property
    def service(self) -> str:
        return urlsplit(self.endpoint).netloc


class Subscriptions:
    def __init__(self, home: Home, services: Sequence[str] = ()) -> None:
        self._file = home.sync / "subscriptions.json"
        self._devices = Devices(home)
        self._services = services
        self._lock = threading.Lock()

    def all(self) -> list[Subscription]:
        """Those of devices that are still let in."""
        found: list[Subscription] = read_private(self._file, list[Subscription], [])
        known = {device.digest for device in self._devices.all("pages")}
        return [each for each in found if not each.digest or each.digest in known]

    def add(self, said: dict[str, str], device: Device | None, now: str) -> None:
        name, digest = (device.name, device.digest) if device else ("", "")
        endpoint, key, secret = (said.get(part, "") for part in ("endpoint", "p256dh", "auth"))
        subscription = Subscription(endpoint, key, secret, now, name, digest)
        self._check(subscription)
        self._change(lambda known: [e for e in known if e.id != subscription.id] + [subscription])

    def remove(self, id: str, device: Device | None = None) -> None:
        """By a device only its own."""

        def left(known: list[Subscription]) -> list[Subscription]:
            digest = device.digest if device else None
            kept = [e for e in known if e.id != id or digest not in (None, e.digest)]
            if kept == known:
                raise NotFound("no-subscription")
            return kept

        self._change(left)

    def _change(self, change: Callable[[list[Subscription]], list[Subscription]]) -> None:
        with self._lock:
            write_private(self._file, change(self.all())[-MOST:])

    def _check(self, subscription: Subscription) -> None:
        key, secret = decoded(subscription.p256dh), decoded(subscription.auth)
        if len(key) != 65 or key[0] != 4 or len(secret) != 16:
            raise RirekiError("bad-subscription")
        if not self._is_known(subscription.endpoint):
            raise RirekiError("unknown-push-service", service=subscription.service[:80])

    def _is_known(self, endpoint: str) -> bool:
        if len(endpoint) > 2000 or not endpoint.isascii() or not endpoint.isprintable():
            return False
        try:
            parts = urlsplit(endpoint)
            host, port = parts.hostname or "", parts.port
        except ValueError:
            return False
        if f"{parts.scheme}://{parts.netloc}" in self._services:
            return True
        ours = any(host == name or host.endswith(f".{name}") for name in SERVICES)
        return ours and parts.scheme == "https" and port is None and parts.username is None


def decoded(text: str) -> bytes:
    """Base64 as browsers write it; nothing where it is none."""
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return b""
