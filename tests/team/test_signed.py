"""Who somebody is as a proxy has signed it: what is believed, and what is not."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.datastructures import Headers

from rireki.errors import RirekiError
from rireki.team.signed import SignedHeader

HEADER = "X-Forwarded-Access-Token"
SECRET = b"a secret of thirty-two bytes, or more"


def plain(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def told(
    claims: dict[str, Any],
    head: dict[str, Any] | None = None,
    sign: Callable[[bytes], bytes] = lambda data: hmac.digest(SECRET, data, hashlib.sha256),
) -> str:
    about = {"alg": "HS256"} | (head or {})
    both = ".".join(plain(json.dumps(each).encode()) for each in (about, claims))
    return f"{both}.{plain(sign(both.encode()))}"


def claims(**more: Any) -> dict[str, Any]:
    return {"email": "bob@example.com", "exp": time.time() + 600, "aud": "rireki", **more}


@pytest.fixture
def signed(tmp_path: Path) -> SignedHeader:
    key = tmp_path / "secret"
    key.write_bytes(SECRET + b"\n")
    return SignedHeader(HEADER, key, audience="rireki")


def name_in(signed: SignedHeader, *tokens: str, header: str = HEADER) -> str:
    return signed.name_in(Headers(raw=[(header.lower().encode(), t.encode()) for t in tokens]))


def test_what_is_signed_rightly_says_who_it_is(signed: SignedHeader) -> None:
    assert name_in(signed, told(claims())) == "bob@example.com"
    assert name_in(signed, "Bearer " + told(claims(aud=["others", "rireki"]))) == "bob@example.com"


@pytest.mark.parametrize(
    ("more", "head"),
    [
        ({}, {"alg": "none"}),
        ({}, {"alg": "RS256"}),
        ({}, {"alg": None}),
        ({"exp": time.time() - 3600}, {}),
        ({"exp": None}, {}),
        ({"exp": "9999999999"}, {}),
        ({"nbf": time.time() + 3600}, {}),
        ({"aud": "others"}, {}),
        ({"aud": None}, {}),
        ({"aud": {"rireki": 1}}, {}),
        ({"email": ["bob@example.com"]}, {}),
        ({"email": "bob@example.com", "email_verified": False}, {}),
        # A Kelvin sign, which is a plain k in lower case.
        ({"email": "\u212aate"}, {}),
    ],
)
def test_what_is_not_meant_so_is_nobody(
    signed: SignedHeader, more: dict[str, Any], head: dict[str, Any]
) -> None:
    assert name_in(signed, told(claims(**more), head)) == ""


def test_what_is_not_signed_or_signed_by_others_is_nobody(signed: SignedHeader) -> None:
    right = told(claims())
    body = right.rpartition(".")[0]
    for token in ("", "..", "a.b.c", body, f"{body}.", f"{body}.{plain(b'x' * 32)}", "\xff" * 9):
        assert name_in(signed, token) == "", token
    other = told(claims(), sign=lambda data: hmac.digest(b"other" * 9, data, hashlib.sha256))
    assert name_in(signed, other) == ""


def test_a_header_that_comes_twice_or_is_called_otherwise_is_nobody(signed: SignedHeader) -> None:
    right = told(claims())
    assert name_in(signed, right, right) == ""
    assert name_in(signed, right, header="X_Forwarded_Access_Token") == ""


def test_public_keys_sign_in_by_their_own_algorithm_alone(tmp_path: Path) -> None:
    keys = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ec")
    utils = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.utils")
    hashes = pytest.importorskip("cryptography.hazmat.primitives.hashes")
    serialization = pytest.importorskip("cryptography.hazmat.primitives.serialization")
    private = keys.generate_private_key(keys.SECP256R1())
    pem = private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    file = tmp_path / "proxy.pem"
    file.write_bytes(pem)
    signed = SignedHeader(HEADER, file, audience="rireki")

    def sign(data: bytes) -> bytes:
        r, s = utils.decode_dss_signature(private.sign(data, keys.ECDSA(hashes.SHA256())))
        return bytes(r.to_bytes(32, "big") + s.to_bytes(32, "big"))

    assert name_in(signed, told(claims(), {"alg": "ES256"}, sign)) == "bob@example.com"
    meant = {"alg": "ES256", "signer": "rireki"}
    assert name_in(signed, told(claims(aud=None), meant, sign)) == "bob@example.com"
    # The public key is nobody's secret: as one it would sign whatever somebody likes.
    forged = told(claims(), sign=lambda data: hmac.digest(pem.strip(), data, hashlib.sha256))
    assert name_in(signed, forged) == ""
    for algorithm in ("HS256", "RS256", "none"):
        assert name_in(signed, told(claims(), {"alg": algorithm}, sign)) == ""


def test_a_public_key_needs_an_audience(tmp_path: Path) -> None:
    keys = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ec")
    serialization = pytest.importorskip("cryptography.hazmat.primitives.serialization")
    public = keys.generate_private_key(keys.SECP256R1()).public_key()
    file = tmp_path / "proxy.pem"
    file.write_bytes(
        public.public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
    )
    with pytest.raises(RirekiError) as trouble:
        SignedHeader(HEADER, file)
    assert trouble.value.code == "sign-in-needs-audience"
