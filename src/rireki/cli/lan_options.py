"""What opens the web app to the local network: `--lan` and a certificate; and what is said of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rireki.cli.output import StandardOutput
from rireki.errors import RirekiError
from rireki.home import Home
from rireki.late import LateModule
from rireki.show.catalogue import say
from rireki.sync.devices import Devices
from rireki.web.lan.address import lan_address
from rireki.web.lan.entrance import LanEntrance

# What makes certificates and draws QR codes may not be installed.
if TYPE_CHECKING:
    from rireki.web import serve as serving
    from rireki.web.lan import certificate, qr
    from rireki.web.lan.certificate import Certificate
else:
    serving = LateModule("rireki.web.serve")
    certificate = LateModule("rireki.web.lan.certificate")
    qr = LateModule("rireki.web.lan.qr")

__all__ = ["LanPlan", "check_lan", "lan_lines", "plan_lan"]

#: Columns of a QR code in a terminal, with the light around it.
QR_COLUMNS = 41


def check_lan(lan: str | None, host: str, cert: Path | None, key: Path | None) -> None:
    """What does not go together is told before anything happens."""
    if lan is None and (cert or key):
        raise RirekiError("certificate-without-lan", option="--cert" if cert else "--key")
    if key and not cert:
        raise RirekiError("key-without-certificate")
    if lan is not None and not serving.is_loopback(host):
        raise RirekiError("lan-with-host", host=host)
    if lan is not None:
        _ensure_installed()


class LanPlan(NamedTuple):
    """Where devices are to be let in, and what encrypts there: all that can be wrong before anything
    listens."""

    address: str
    certificate: Certificate
    devices: Devices

    def open(self, port: int) -> LanEntrance:
        """On that port, or the next one that is free there."""
        bound = serving.bind(self.address, port)
        return LanEntrance(bound, self.address, self.certificate, self.devices)


def plan_lan(archive: Path, named: str, cert: Path | None, key: Path | None) -> LanPlan:
    address, home = lan_address(named), Home(archive)
    if cert is not None:
        known = certificate.own_certificate(cert, key)
    else:
        known = certificate.ensure_certificate(home.certificates, address)
    return LanPlan(address, known, Devices(home))


def _ensure_installed() -> None:
    try:
        # Imported here: an extra, which is only asked for with --lan.
        import cryptography  # noqa: F401
        import segno  # noqa: F401
    except ImportError as error:
        raise RirekiError("lan-not-installed", name=error.name) from error


def lan_lines(lan: LanEntrance, screen: StandardOutput) -> Iterator[str]:
    """Where devices find it; and where somebody looks on, a code for the first of them."""
    yield say(f"Devices of the local network open {lan.url}")
    if not lan.certificate.trusted:
        yield say(f"Fingerprint of its certificate (SHA-256): {lan.certificate.fingerprint}")
    if not screen.terminal:
        return
    code = lan.pairing.new(read_only=False)
    if screen.columns >= QR_COLUMNS:
        drawn = qr.qr_text(lan.pairing_url(code.value))
        yield from (screen.style.light_on_dark(line) for line in drawn.splitlines())
    yield say(
        f"Code to pair a device: {code.spelled}. It is good once, for 5 minutes; "
        "the page Devices gives more."
    )
