"""`[notify]` in the user's settings: where a notice goes when an agent waits. Without it, nowhere.

[notify]
ntfy = "https://ntfy.sh/a-topic-nobody-guesses"
webhook = "https://example.com/hook"
after = 10        # seconds in which it may be answered here
text = false      # whether what is asked is told as well
"""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from rireki.errors import RirekiError, Wording
from rireki.settings import read_settings

__all__ = ["NoticeSettings", "checked_address", "read_notices"]

_HINT = Wording("write-notify")
#: Seconds.
AFTER = 10.0


class NoticeSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    #: The address of a topic: whoever knows it reads along.
    ntfy: str = ""
    #: What a topic that is closed asks for.
    ntfy_token: str = ""
    webhook: str = ""
    #: Seconds; what is answered before is not told.
    after: float = AFTER
    #: Whether the words of the ask are told, with secrets masked.
    text: bool = False
    #: The beginning of the links; the server's own address unless said otherwise.
    link: str = ""
    #: Push services of browsers besides the known ones.
    push_services: tuple[str, ...] = ()
    #: Whom a push service may turn to.
    contact: str = "mailto:rireki@example.com"


def read_notices(file: Path) -> NoticeSettings:
    said = read_settings(file, _HINT).get("notify", {})
    try:
        found = msgspec.convert(said, NoticeSettings)
    except msgspec.ValidationError as error:
        raise RirekiError("bad-notify", hint=_HINT, file=file, why=error) from error
    for address in (found.ntfy, found.webhook, found.link, *found.push_services):
        if address and not checked_address(address):
            # Without its path and name: those may be secrets.
            host = address.partition("://")[2].rpartition("@")[2].partition("/")[0]
            raise RirekiError("bad-notify-address", file=file, address=host or address[:20])
    if found.ntfy and not urlsplit(found.ntfy).path.strip("/"):
        raise RirekiError("bad-notify", hint=_HINT, file=file, why=Wording("ntfy-without-topic"))
    if not 0 <= found.after <= 86400:
        raise RirekiError("bad-notify", hint=_HINT, file=file, why=Wording("after-out-of-range"))
    return found


def checked_address(address: str) -> bool:
    """Whether something may be sent there: encrypted, or to this machine."""
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return False
    if not host or not address.isprintable() or " " in address or parts.username is not None:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and _is_here(host))


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
