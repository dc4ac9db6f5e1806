"""One notice on its way: each channel in its own form, one after the other, in a thread beside all else.

A channel that cannot be reached is told of once, and never waited for.
"""

from __future__ import annotations

import http.client
import json
import logging
import queue
import ssl
import threading
from collections.abc import Mapping, Sequence
from typing import Protocol
from urllib.parse import urlsplit

import msgspec

from rireki import __version__
from rireki.archive.open import now

__all__ = ["Channel", "WaitNotice", "NoticeSender", "Ntfy", "Webhook", "post"]

#: Seconds that a channel may take.
PATIENCE = 10.0
#: Notices that wait to be sent; more are dropped.
MOST = 50

_log = logging.getLogger("rireki.web")


class WaitNotice(msgspec.Struct, frozen=True, kw_only=True):
    """That an agent waits. `text` is empty unless the person wants it told."""

    #: `permission`, `question` or `plan`.
    what: str
    title: str
    agent: str
    session: str
    at: str
    link: str
    text: str = ""


class Channel(Protocol):
    #: How it is called for people: not its whole address, which may be a secret.
    name: str

    def send(self, notice: WaitNotice) -> None:
        """Raises OSError or HTTPException where it does not get there."""


def post(address: str, body: bytes, headers: Mapping[str, str]) -> int:
    """The status. No proxy is asked and no redirection followed."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    if parts.scheme == "https":
        context = ssl.create_default_context()
        connection: http.client.HTTPConnection = http.client.HTTPSConnection(
            host, parts.port, timeout=PATIENCE, context=context
        )
    else:
        connection = http.client.HTTPConnection(host, parts.port, timeout=PATIENCE)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        given = {"User-Agent": f"rireki/{__version__}", **headers}
        connection.request("POST", path, body, given)
        return connection.getresponse().status
    finally:
        connection.close()


def _post_json(address: str, value: object, headers: Mapping[str, str]) -> None:
    body = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    status = post(address, body, {"Content-Type": "application/json", **headers})
    if not 200 <= status < 300:
        raise http.client.HTTPException(f"HTTP {status}")


class Ntfy:
    def __init__(self, topic: str, token: str) -> None:
        root, _, self._topic = topic.rstrip("/").rpartition("/")
        self._root = f"{root}/"
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.name = f"ntfy ({urlsplit(topic).netloc})"

    def send(self, notice: WaitNotice) -> None:
        # As JSON, whose words may be in any language; headers may not.
        said = {
            "topic": self._topic,
            "title": notice.title,
            "message": notice.text or notice.link,
            "click": notice.link,
            "tags": ["hourglass"],
        }
        _post_json(self._root, said, self._headers)


class Webhook:
    def __init__(self, address: str) -> None:
        self._address = address
        self.name = f"webhook ({urlsplit(address).netloc})"

    def send(self, notice: WaitNotice) -> None:
        said = {"event": "waits", **msgspec.structs.asdict(notice)}
        if not notice.text:
            del said["text"]
        _post_json(self._address, said, {})


class ChannelStatus(msgspec.Struct):
    name: str
    sent_at: str = ""
    trouble: str = ""


class NoticeSender:
    """Made with the server; its thread ends with the process, whatever it waits for."""

    def __init__(self, channels: Sequence[Channel]) -> None:
        self._channels = [(each, ChannelStatus(each.name)) for each in channels]
        self._waiting: queue.Queue[WaitNotice | None] = queue.Queue(MOST)
        self._thread = threading.Thread(target=self._run, name="rireki-notices", daemon=True)

    @property
    def channels(self) -> list[ChannelStatus]:
        return [status for _, status in self._channels]

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        try:
            self._waiting.put_nowait(None)
        except queue.Full:
            return

    def send(self, notice: WaitNotice) -> None:
        """At once; what cannot be sent because too much waits is dropped."""
        try:
            self._waiting.put_nowait(notice)
        except queue.Full:
            _log.error("a notice was dropped: too many wait to be sent")

    # ── in the thread ──

    def _run(self) -> None:
        while (notice := self._waiting.get()) is not None:
            for channel, status in self._channels:
                self._send(channel, status, notice)

    def _send(self, channel: Channel, status: ChannelStatus, notice: WaitNotice) -> None:
        try:
            channel.send(notice)
        except Exception as error:  # noqa: BLE001 - whatever went wrong, the others are told
            trouble = str(getattr(error, "strerror", None) or error or type(error).__name__)
            if not status.trouble:
                _log.error("%s cannot be told: %s", channel.name, trouble)
            status.trouble = trouble
        else:
            status.trouble, status.sent_at = "", now()
