"""Web Push: a notice for each browser that asked, which its push service cannot read (RFC 8291), signed
by this server (RFC 8292)."""

from __future__ import annotations

import base64
import http.client
import json
import os
import time
from pathlib import Path
from urllib.parse import urlsplit

import http_ece  # type: ignore[import-untyped]
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from rireki.sync.private import write_bytes
from rireki.web.notices.sending import WaitNotice, post
from rireki.web.notices.subscriptions import Subscription, Subscriptions, decoded

__all__ = ["BrowserPush", "public_key"]

#: Seconds a push service keeps what a browser cannot be told just now.
KEPT = 3600
#: Seconds that a signature is good for; a day is the most.
SIGNED = 12 * 3600
#: What a service answers where the browser has taken its subscription back.
GONE = (404, 410)


class BrowserPush:
    name = "Web Push"

    def __init__(self, subscriptions: Subscriptions, key: Path, contact: str) -> None:
        self._subscriptions = subscriptions
        self._key_file = key
        self._contact = contact

    def send(self, notice: WaitNotice) -> None:
        """All are tried; then the last that failed is told of."""
        failed: Exception | None = None
        for subscription in self._subscriptions.all():
            try:
                self._send(subscription, notice)
            except (OSError, http.client.HTTPException, ValueError) as error:
                failed = error
        if failed is not None:
            raise failed

    def _send(self, subscription: Subscription, notice: WaitNotice) -> None:
        said = {"title": notice.title, "body": notice.text, "url": urlsplit(notice.link).path}
        key = ensure_key(self._key_file)
        headers = {
            "Authorization": _signed(key, subscription.endpoint, self._contact),
            "Content-Type": "application/octet-stream",
            "Content-Encoding": "aes128gcm",
            "TTL": str(KEPT),
            "Urgency": "high",
        }
        status = post(subscription.endpoint, _encrypted(said, subscription), headers)
        if status in GONE:
            self._subscriptions.remove(subscription.id)
        elif not 200 <= status < 300:
            raise http.client.HTTPException(f"{subscription.service}: HTTP {status}")


def _encrypted(said: dict[str, str], subscription: Subscription) -> bytes:
    made: bytes = http_ece.encrypt(
        json.dumps(said, ensure_ascii=False).encode("utf-8", "replace"),
        salt=os.urandom(16),
        private_key=ec.generate_private_key(ec.SECP256R1()),
        dh=decoded(subscription.p256dh),
        auth_secret=decoded(subscription.auth),
        version="aes128gcm",
    )
    return made


def _signed(key: ec.EllipticCurvePrivateKey, endpoint: str, contact: str) -> str:
    parts = urlsplit(endpoint)
    claims = {
        "aud": f"{parts.scheme}://{parts.netloc}",
        "exp": int(time.time()) + SIGNED,
        "sub": contact,
    }
    head = {"typ": "JWT", "alg": "ES256"}
    text = ".".join(_base64(json.dumps(each).encode()) for each in (head, claims))
    r, s = decode_dss_signature(key.sign(text.encode(), ec.ECDSA(hashes.SHA256())))
    signature = _base64(r.to_bytes(32, "big") + s.to_bytes(32, "big"))
    return f"vapid t={text}.{signature}, k={_public(key)}"


def public_key(file: Path) -> str:
    """What a browser is given when it subscribes: whoever has the other half may tell it something."""
    return _public(ensure_key(file))


def ensure_key(file: Path) -> ec.EllipticCurvePrivateKey:
    """Made once: with another one, every browser would have to subscribe again."""
    if not file.exists():
        write_bytes(file, _pem(ec.generate_private_key(ec.SECP256R1())))
    found = serialization.load_pem_private_key(file.read_bytes(), None)
    if not isinstance(found, ec.EllipticCurvePrivateKey):
        raise ValueError(f"{file} is no key of a curve")
    return found


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _public(key: ec.EllipticCurvePrivateKey) -> str:
    return _base64(
        key.public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
        )
    )


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
