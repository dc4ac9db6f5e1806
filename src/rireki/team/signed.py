"""Who somebody is, as a proxy in front has signed it: a JSON Web Token in a header of each request.

The signature is checked with a key that was given, by an algorithm that fits the key and no other.
Without the package for it, only a shared secret (HS256) can be used.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from pathlib import Path
from typing import Any

import msgspec
from starlette.datastructures import Headers

from rireki.errors import RirekiError

__all__ = ["SignedHeader"]

#: Seconds that two clocks may differ.
LEEWAY = 60
#: Fewer bytes of a shared secret can be guessed.
SHORTEST = 32
_PEM = b"-----BEGIN"


class SignedHeader:
    def __init__(self, header: str, key: Path, claim: str = "email", audience: str = "") -> None:
        """`key` is a file: a public key in PEM, or the secret that the proxy signs with."""
        self.header = header
        self.claim = claim
        self.audience = audience
        try:
            self._key = key.read_bytes().strip()
        except OSError as error:
            raise RirekiError("key-unreadable", path=key, why=error.strerror) from error
        if not self._key.startswith(_PEM) and len(self._key) < SHORTEST:
            raise RirekiError("key-too-short", path=key, least=SHORTEST)
        self._public = _public_key(self._key) if self._key.startswith(_PEM) else None
        if self._public is not None and not audience:
            # A provider signs with one key for all who use it.
            raise RirekiError("sign-in-needs-audience")

    def name_in(self, headers: Headers) -> str:
        """Empty where nothing is signed, or not rightly."""
        told = headers.getlist(self.header)
        if len(told) != 1:
            return ""
        token = told[0].removeprefix("Bearer ").strip()
        claims = self._claims(token) or {}
        name = claims.get(self.claim)
        # In lower case some other letters become plain ones: a name that only looks like another.
        if not isinstance(name, str) or not name.isascii() or _is_unproved(claims, self.claim):
            return ""
        return name

    def _claims(self, token: str) -> dict[str, Any] | None:
        head, _, rest = token.partition(".")
        body, _, signature = rest.partition(".")
        try:
            about = msgspec.json.decode(_decoded(head), type=dict[str, Any])
            claims = msgspec.json.decode(_decoded(body), type=dict[str, Any])
            signed = self._is_signed(
                f"{head}.{body}".encode(), _decoded(signature), about.get("alg")
            )
        except (ValueError, UnicodeError):
            return None
        return claims if signed and self._is_meant(claims, about) else None

    def _is_meant(self, claims: dict[str, Any], about: dict[str, Any]) -> bool:
        now, until, since = time.time(), claims.get("exp"), claims.get("nbf", 0)
        if not isinstance(until, int | float) or not isinstance(since, int | float):
            return False
        audience = claims.get("aud", "")
        meant = audience if isinstance(audience, list) else [audience]
        # A load balancer of AWS names itself in the head instead.
        meant = [*meant, about.get("signer")]
        return since - LEEWAY <= now < until + LEEWAY and (
            not self.audience or self.audience in meant
        )

    def _is_signed(self, data: bytes, signature: bytes, algorithm: object) -> bool:
        if self._public is None:
            right = hmac.digest(self._key, data, hashlib.sha256)
            return algorithm == "HS256" and hmac.compare_digest(right, signature)
        return _verified(self._public, data, signature, algorithm)


def _is_unproved(claims: dict[str, Any], claim: str) -> bool:
    """Whether the provider says it never saw to it that the address is theirs."""
    return claim == "email" and claims.get("email_verified") in (False, "false")


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))


def _public_key(pem: bytes) -> Any:
    try:
        # Imported late: only who has such a key needs the package.
        from cryptography.hazmat.primitives.serialization import load_pem_public_key
    except ImportError as error:
        raise RirekiError("key-needs-package", package="cryptography") from error
    try:
        return load_pem_public_key(pem)
    except ValueError as error:
        raise RirekiError("key-unreadable", path="PEM", why=error) from error


def _verified(key: Any, data: bytes, signature: bytes, algorithm: object) -> bool:
    # Imported late, as above.
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils
    from cryptography.hazmat.primitives.hashes import SHA256

    try:
        if isinstance(key, rsa.RSAPublicKey) and algorithm == "RS256":
            key.verify(signature, data, padding.PKCS1v15(), SHA256())
            return True
        if isinstance(key, ec.EllipticCurvePublicKey) and algorithm == "ES256":
            half = len(signature) // 2
            numbers = (int.from_bytes(signature[:half]), int.from_bytes(signature[half:]))
            key.verify(utils.encode_dss_signature(*numbers), data, ec.ECDSA(SHA256()))
            return True
    except InvalidSignature:
        return False
    return False
