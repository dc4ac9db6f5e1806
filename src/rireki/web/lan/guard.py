"""Who may ask from the local network: a device that was paired, by its own token, and nobody else.

The token of the pages opens nothing here. Whatever is asked before a device is known is small, and
leads to pairing alone.
"""

from __future__ import annotations

from collections.abc import Callable
from secrets import token_urlsafe

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from rireki.sync.devices import Device
from rireki.web.guard import (
    READING,
    RECALL,
    REMEMBERED,
    Guard,
    GuardSettings,
    Refusal,
    check_form,
    is_push,
)
from rireki.web.lan.entrance import LanEntrance
from rireki.web.lan.pairing import PAIR

__all__ = ["DEVICE", "LAN", "LanGuard", "device_of", "lan_settings", "remember"]

#: Where a request says which device sent it.
DEVICE = "rireki.device"
#: That it came from the local network.
LAN = "rireki.lan"
#: Where a device leaves, or says how it wants to be called for: also one that may only read.
OWN = "/devices"
#: How the form for a code looks: files of ours that are the same everywhere.
LOOKS = ("/static/frame.css", "/static/pages.css", "/static/icon.svg", "/talk.css")
#: Bytes of a form with a code and a name.
LARGEST_PAIRING = 4096


class LanGuard(Guard):
    """ASGI middleware around the whole app, for what comes from the local network."""

    def __init__(self, app: ASGIApp, settings: GuardSettings, lan: LanEntrance) -> None:
        super().__init__(app, settings)
        self.lan = lan
        if settings.port == 443:
            self._names |= {*settings.hosts, lan.spelled}

    def _check_method(self, request: Request) -> None:
        path = request.scope["path"]
        if path == RECALL or is_push(path):
            raise Refusal(404, "not-on-lan")
        if path == PAIR and request.method == "POST":
            return
        super()._check_method(request)

    def _admit(self, request: Request) -> Response | None:
        origin = request.headers.get("origin", "https://").lower()
        if not origin.startswith("https://"):
            # Somebody on the way could serve a page under our own address without encryption.
            raise Refusal(403, "foreign-origin", origin=origin[:80])
        path, reads = request.scope["path"], request.method in READING
        request.scope[LAN] = True
        if path == PAIR and not reads:
            check_form(request, most=LARGEST_PAIRING)
        if reads and path in LOOKS:
            return None
        device = self._device(request)
        if device is not None:
            request.scope[DEVICE] = device
        if path == PAIR:
            return None
        if device is None:
            raise Refusal(401, "device-unknown")
        if not reads:
            if device.read_only and path != OWN:
                raise Refusal(403, "device-only-reads")
            self._check_writing(request)
        return None

    def _device(self, request: Request) -> Device | None:
        if "authorization" in request.headers:
            # Nobody but a browser has such a token, and it sends it as a cookie.
            return None
        found = (self.lan.find(value) for value in self._cookies(request))
        return next((device for device in found if device is not None), None)

    def _still_in(self, request: Request) -> Callable[[], bool]:
        device = request.scope.get(DEVICE)
        if device is None:
            return lambda: True
        return lambda: self.lan.knows(device)


def device_of(request: Request) -> Device | None:
    """The device that asks; None where it is this machine."""
    found: Device | None = request.scope.get(DEVICE)
    return found


def lan_settings(lan: LanEntrance, allowed: tuple[str, ...], *, drive: bool) -> GuardSettings:
    return LanSettings(
        # Nobody has it: only devices are let in.
        token=token_urlsafe(32),
        port=lan.port,
        hosts=lan.certificate.names,
        allowed=allowed,
        drive=drive,
    )


class LanSettings(GuardSettings, frozen=True, kw_only=True):
    @property
    def cookie(self) -> str:
        # Browsers take a cookie of such a name over TLS alone, and from this very host.
        return f"__Host-rireki_{self.port}"


def remember(response: Response, lan: LanEntrance, token: str) -> None:
    """Have the browser send the token of its device from now on; without one, forget it."""
    response.set_cookie(
        lan_settings(lan, (), drive=False).cookie,
        token,
        max_age=REMEMBERED if token else 0,
        path="/",
        secure=True,
        httponly=True,
        samesite="strict",
    )
