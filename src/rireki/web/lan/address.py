"""Which of this machine's addresses the local network knows."""

from __future__ import annotations

import socket
from contextlib import closing
from ipaddress import ip_address

from rireki.errors import RirekiError

__all__ = ["lan_address"]

#: Addresses for documentation: nobody is there, and nothing is sent to them.
_ELSEWHERE = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))


def lan_address(named: str = "") -> str:
    """The address that was named, else the one this machine would send from."""
    if named:
        return _checked(named)
    for family, elsewhere in _ELSEWHERE:
        found = _own(family, elsewhere)
        # What the whole internet can reach has to be asked for by its number.
        if found and not _is_loopback(found) and not ip_address(found).is_global:
            return found
    raise RirekiError("no-lan-address")


def _own(family: socket.AddressFamily, elsewhere: str) -> str:
    """Asking for the way sends nothing."""
    try:
        with closing(socket.socket(family, socket.SOCK_DGRAM)) as asking:
            asking.connect((elsewhere, 9))
            return str(asking.getsockname()[0]).partition("%")[0]
    except OSError:
        return ""


def _checked(named: str) -> str:
    try:
        address = ip_address(named)
    except ValueError:
        address = None
    if address is None or address.is_unspecified or address.is_multicast:
        raise RirekiError("bad-lan-address", address=named)
    return str(address)


def _is_loopback(address: str) -> bool:
    return ip_address(address).is_loopback
