"""A server that devices of the local network reach, and devices that ask it as browsers do."""

from __future__ import annotations

import re
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from rireki.archive.open import open_archive
from rireki.home import Home
from rireki.sources.kit.places import Places
from rireki.sync.devices import Devices
from rireki.web.lan.certificate import ensure_certificate, own_certificate
from rireki.web.lan.entrance import LanEntrance
from rireki.web.serve import Server, bind
from tests.web.conftest import PATIENCE, TOKEN, until

__all__ = ["ADDRESS", "Phone", "a_code", "entrance_of", "open_to_lan"]

#: Not the one of this machine's own pages; the same code as for any other.
ADDRESS = "127.0.0.2"


def entrance_of(archive: Path, own: Path | None = None) -> LanEntrance:
    """With a certificate made on the spot, or with one's `own`."""
    home = Home(archive)
    made = ensure_certificate(home.certificates, ADDRESS)
    known = own_certificate(own, None) if own is not None else made
    return LanEntrance(bind(ADDRESS, 0), ADDRESS, known, Devices(home))


@contextmanager
def open_to_lan(
    archive: Path, home: Path, own: Path | None = None, **options: Any
) -> Iterator[Server]:
    """In a thread, and on loopback as well."""
    if not archive.exists():
        open_archive(archive, create=True).close()
    lan = entrance_of(archive, own)
    given = {"keep": False, **options, "lan": lan}
    server = Server(bind("127.0.0.1", 0), archive, Places.at(home), TOKEN, **given)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        until(lambda: server.listening)
        yield server
    finally:
        server.stop()
        thread.join(PATIENCE)
        assert not thread.is_alive()


def a_code(server: Server, **said: str) -> str:
    """As the page of this machine shows it."""
    ours = {"Origin": f"http://127.0.0.1:{server.port}", "Authorization": f"Bearer {TOKEN}"}
    base = f"http://127.0.0.1:{server.port}"
    with httpx.Client(base_url=base, headers=ours, timeout=PATIENCE, verify=False) as desk:
        assert desk.post("/devices", data={"pair": "1", **said}).status_code == 303
        found = re.search(r"pairing-code\">([^<]+)<", desk.get("/devices").text)
    assert found
    return found[1]


class Phone:
    """A browser on another device: trusts exactly this server's certificate, keeps its cookies."""

    def __init__(self, server: Server, **headers: str) -> None:
        assert server.lan is not None
        self.lan = server.lan
        self.base = server.lan.url.rstrip("/")
        file = Home(server.archive).certificates / f"{server.lan.address}.pem"
        context = ssl.create_default_context(cafile=str(file))
        self.web = httpx.Client(
            base_url=self.base,
            verify=context,
            timeout=PATIENCE,
            headers={"User-Agent": "Mozilla/5.0 (iPhone)", **headers},
        )

    def __enter__(self) -> Phone:
        return self

    def __exit__(self, *_: object) -> None:
        self.web.close()

    def post(self, path: str, data: dict[str, str], **headers: str) -> httpx.Response:
        return self.web.post(path, data=data, headers={"Origin": self.base, **headers})

    def pair(self, code: str, name: str = "") -> httpx.Response:
        return self.post("/pair", {"code": code, "name": name})

    @property
    def is_in(self) -> bool:
        return self.web.get("/api/v1/health").status_code == 200
