"""`/devices` and `/pair`: phones and other devices of the local network, let in and locked out again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from rireki.archive.open import now
from rireki.errors import NotFound, RirekiError
from rireki.late import LateModule
from rireki.sync.devices import Device, device_name
from rireki.web.lan.entrance import LanEntrance
from rireki.web.lan.guard import LAN, device_of, remember
from rireki.web.locale.words import locale_of, say
from rireki.web.parts.form import read_form
from rireki.web.parts.frame import answer, is_on, number_of, page, told
from rireki.web.scope import scope_of

# What draws it may not be installed; where there is a way in for devices, it is.
qr = LateModule("rireki.web.lan.qr")

__all__ = ["change_devices", "pair_device", "show_devices", "show_pair"]

#: Seconds in which the form of a device has to have come.
PATIENCE = 10.0
#: What a browser says of itself, and what such a device is called.
_KINDS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Macintosh", "Mac"),
    ("Windows", "Windows"),
    ("Linux", "Linux"),
)


class DeviceRow(NamedTuple):
    device: Device
    #: When it was last here, since the server runs.
    seen: str | None


# ── the page of this machine, and of a device that is let in ──


@told
async def show_devices(request: Request) -> Response:
    """`/devices`: who is let in, and a code for one more."""
    if is_on(request, "fragment"):
        lan = scope_of(request).lan
        return answer({"pairing": lan is not None and lan.pairing.code is not None})
    return page(request, "devices.html", number=await number_of(request), **_values(request))


def _values(request: Request) -> dict[str, Any]:
    lan, here, notices = scope_of(request).lan, device_of(request), scope_of(request).notices
    values: dict[str, Any] = {"lan": lan, "device": here, "rows": [], "code": None}
    values |= {"notices": notices, "installs": _is_trusted(lan, here)}
    if notices is not None:
        known = notices.subscriptions.all()
        mine = [each for each in known if here is None or each.digest == here.digest]
        values |= {"subscriptions": mine, "push_key": notices.public_key}
    if lan is None or here is not None:
        return values
    values["rows"] = list(_rows(lan))
    if (code := lan.pairing.code) is not None:
        address = lan.pairing_url(code.value)
        locale = locale_of(request)
        label = say(locale, "QR code of the address to open on the device")
        drawn = qr.qr_svg(address, label)
        values |= {"code": code, "address": address, "qr": drawn, "left": _minutes(lan)}
    return values


def _is_trusted(lan: LanEntrance | None, here: Device | None) -> bool:
    """Whether browsers let these pages be installed and told things: they have to believe who we are."""
    return here is None or (lan is not None and lan.certificate.trusted)


def _rows(lan: LanEntrance) -> Iterator[DeviceRow]:
    for device in lan.devices.all("pages"):
        seen = lan.seen(device)
        stamp = datetime.fromtimestamp(seen, timezone.utc).isoformat() if seen else None
        yield DeviceRow(device, stamp)


def _minutes(lan: LanEntrance) -> int:
    return lan.pairing.seconds // 60 + 1


@told
async def change_devices(request: Request) -> Response:
    """What the forms of that page say."""
    lan, here = scope_of(request).lan, device_of(request)
    said = await read_form(request)
    response = RedirectResponse("/devices", 303)
    if (notices := scope_of(request).notices) and "endpoint" in said:
        notices.subscriptions.add(said, here, now())
        return response
    if notices and (id := said.get("unsubscribe")):
        notices.subscriptions.remove(id, here)
        return response
    if lan is None:
        raise NotFound("lan-is-off")
    if here is not None:
        if "leave" not in said:
            raise RirekiError("device-changes-itself")
        lan.devices.revoke(here.name, "pages")
        remember(response, lan, "")
    elif "pair" in said:
        read_only = scope_of(request).driving is not None and "drives" not in said
        lan.pairing.new(read_only=read_only or "reads" in said)
    elif "cancel" in said:
        lan.pairing.cancel()
    elif name := said.get("revoke"):
        lan.devices.revoke(name, "pages")
    return response


# ── the page of a device that is not known yet ──


@told
async def show_pair(request: Request) -> Response:
    """`/pair`: where the code is given; looking at it uses nothing up."""
    lan = _entrance(request)
    code = request.query_params.get("code", "")
    return _form(request, lan, code, _kind(request))


@told
async def pair_device(request: Request) -> Response:
    """A code that is right lets this browser in, from now on."""
    lan, name = _entrance(request), _kind(request)
    client = request.client.host if request.client else ""
    try:
        said = await asyncio.wait_for(read_form(request), PATIENCE)
        name = device_name(said.get("name", "")) or name
        code = lan.pairing.redeem(said.get("code", ""), client)
    except TimeoutError:
        return _form(request, lan, "", name, RirekiError("form-too-slow"), 408)
    except RirekiError as refusal:
        # Here as well: who is not known yet is shown this form, and no other page.
        status = 429 if refusal.code == "pairing-too-often" else 403
        return _form(request, lan, "", name, refusal, status)
    if (before := device_of(request)) is not None:
        # Its browser has one token at a time.
        lan.devices.revoke(before.name, "pages")
    token = lan.devices.new(
        lan.devices.free_name(name), now(), opens="pages", read_only=code.read_only
    )
    response = RedirectResponse("/", 303)
    remember(response, lan, token)
    return response


def _entrance(request: Request) -> LanEntrance:
    """Only from the local network is there something to be paired."""
    lan = scope_of(request).lan
    if lan is None or LAN not in request.scope:
        raise NotFound("no-page", path=request.url.path)
    return lan


def _form(
    request: Request,
    lan: LanEntrance,
    code: str,
    name: str,
    refusal: RirekiError | None = None,
    status: int = 200,
) -> Response:
    lines = refusal.lines(locale_of(request)) if refusal else None
    values = {"lan": lan, "code": code[:40], "name": name, "refusal": lines}
    return page(request, "pair.html", status=status, **values)


def _kind(request: Request) -> str:
    said, locale = request.headers.get("user-agent", ""), locale_of(request)
    kinds = (name for sign, name in _KINDS if sign in said)
    return next(kinds, say(locale, "Device"))
