"""The certificate for the local network: made on the spot, or one that the person has already.

One that we made is known to nobody: whoever opens the page compares its fingerprint. It stays the
same for an address, so that a device that was told to trust it does so tomorrow.
"""

from __future__ import annotations

import os
import ssl
from datetime import datetime, timedelta, timezone
from ipaddress import ip_address
from pathlib import Path

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from rireki.errors import RirekiError
from rireki.sync.private import write_bytes

__all__ = ["Certificate", "ensure_certificate", "own_certificate"]

#: Days: more than 825, and Apple's devices refuse it.
GOOD_FOR = 800
#: Days before its end at which another one is made.
RENEWED = 30


class Certificate(msgspec.Struct, frozen=True):
    context: ssl.SSLContext
    #: SHA-256, as browsers show it.
    fingerprint: str
    #: Names it was made out to, and nobody's else.
    names: tuple[str, ...]
    #: Whether browsers believe it without being told to.
    trusted: bool


def ensure_certificate(folder: Path, address: str) -> Certificate:
    """The one for this address; made where there is none that is good for a while."""
    file = folder / f"{address.replace(':', '-')}.pem"
    known = _known(file)
    if known is None:
        write_bytes(file, _made(address))
        known = _known(file)
    if known is None:
        raise RirekiError("certificate-unusable", file=file, why="it does not stay as it was made")
    return Certificate(_context(file, None), _fingerprint(known), (), False)


def own_certificate(file: Path, key: Path | None) -> Certificate:
    """One that the person names, with its key in the same file or in another."""
    try:
        found = x509.load_pem_x509_certificate(file.read_bytes())
    except (OSError, ValueError) as error:
        raise RirekiError("certificate-unusable", file=file, why=error) from error
    return Certificate(_context(file, key), _fingerprint(found), _names(found), True)


def _known(file: Path) -> x509.Certificate | None:
    """None where it is not there, damaged, or at its end; or where others may have read its key."""
    try:
        data, mode = file.read_bytes(), file.stat().st_mode
        found = x509.load_pem_x509_certificate(data)
        serialization.load_pem_private_key(data, None)
    except (OSError, ValueError, TypeError):
        return None
    left = found.not_valid_after_utc - datetime.now(timezone.utc)
    others_may_read = os.name == "posix" and mode & 0o077
    return found if left > timedelta(days=RENEWED) and not others_may_read else None


def _made(address: str) -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.now(timezone.utc)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "rireki")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        # A phone's clock may be a little behind.
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=GOOD_FOR))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))]), critical=False
        )
        # Whoever installs it for good installs nothing that could vouch for others.
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )
    return made.public_bytes(serialization.Encoding.PEM) + key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _context(file: Path, key: Path | None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        # An empty password: nobody is there to be asked for one.
        context.load_cert_chain(file, key, password="")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or getattr(error, "reason", None) or error
        raise RirekiError("certificate-unusable", file=key or file, why=why) from error
    return context


def _fingerprint(certificate: x509.Certificate) -> str:
    return certificate.fingerprint(hashes.SHA256()).hex(":").upper()


def _names(certificate: x509.Certificate) -> tuple[str, ...]:
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        return ()
    names = found.value.get_values_for_type(x509.DNSName)
    # What stands for many names cannot be opened in a browser.
    return tuple(name.lower() for name in names if "*" not in name)
