"""The second way into the web app: its address, its certificate, and which devices may take it."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from rireki.errors import RirekiError
from rireki.sync.devices import Device, Devices
from rireki.web.lan.pairing import PAIR, Pairing

# What it is made with may not be installed.
if TYPE_CHECKING:
    from rireki.web.lan.certificate import Certificate

__all__ = ["LanEntrance"]


class LanEntrance:
    """Open as long as its server runs."""

    def __init__(
        self, bound: socket.socket, address: str, certificate: Certificate, devices: Devices
    ) -> None:
        self.socket = bound
        self.address = address
        self.port: int = bound.getsockname()[1]
        self.certificate = certificate
        self.devices = devices
        self.pairing = Pairing()
        #: When each device last asked for something, since the server runs.
        self._seen: dict[str, float] = {}

    @property
    def url(self) -> str:
        """What a device opens: by a name, where the certificate was made out to one."""
        host = next(iter(self.certificate.names), self.address)
        return f"https://{_spelled(host)}:{self.port}/"

    @property
    def spelled(self) -> str:
        return _spelled(self.address)

    def pairing_url(self, code: str) -> str:
        return f"{self.url.rstrip('/')}{PAIR}?{urlencode({'code': code})}"

    def find(self, token: str) -> Device | None:
        """The device that has this token, if it is let in; that it was here is noted."""
        try:
            device = self.devices.find(token, "pages")
        except RirekiError:
            # A list that cannot be read lets nobody in; the page of devices says why.
            return None
        if device is not None:
            self._seen[device.digest] = time.time()
        return device

    def knows(self, device: Device) -> bool:
        """Whether a device is still let in, as it was."""
        try:
            return device in self.devices.all("pages")
        except RirekiError:
            return False

    def seen(self, device: Device) -> float | None:
        return self._seen.get(device.digest)


def _spelled(host: str) -> str:
    return f"[{host}]" if ":" in host else host
