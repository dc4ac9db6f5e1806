"""Whether a value may be a secret at all: checksums, and how what was drawn at random looks.

Values are bytes, as they stand in a text. Nothing here knows where a value stood.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib
from collections import Counter
from itertools import pairwise
from math import log2

__all__ = [
    "fits_age",
    "fits_base62_sum",
    "fits_basic",
    "fits_grafana",
    "fits_jwt",
    "fits_pem_in_base64",
    "fits_pypi",
    "is_chosen",
    "is_elsewhere",
    "is_password",
    "is_path",
    "is_placeholder",
    "is_plain",
    "is_random",
    "is_secret",
    "says_placeholder",
]

# ── values that are none ──

_PLACEHOLDER = re.compile(
    rb"example|placeholder|changeme|change[_-]me|redacted|\[masked|\*\*\*|\.\.\.|\xe2\x80\xa6|____|----|[<>]"
    rb"|(?<![a-z])(?:xxxx|your|dummy|fake|sample|replace|insert|todo|foobar|foo[_-]?bar|not[_-]?a|put[_-]"
    rb"|my[_-]?(?:secret|token|key|pass|api)|test[_-]?(?:secret|token|key|pass|api)"
    rb"|some[_-]?(?:secret|token|key|pass|api)|(?:none|null|undefined|true|false)(?![a-z]))",
    re.IGNORECASE,
)
#: Values that are worked out, or looked up elsewhere, when the program runs; and addresses.
_REFERENCE = re.compile(
    rb"^\$|^%\w+%$|^[&!][A-Za-z]+$|^#?[{(\[]|\$[{(]|\{\{|%\(|^[\w.:\\-]*[(\[](?:.*[()\[\]{},:])?\W*$|process\.env|environ\b|getenv|^secrets\.|^vault:|^ref:|^env:|://|^arn:|:secret:|:parameter"
)
_PATH = re.compile(
    rb"^(?:~[/\\]|\.{0,2}[/\\]|[A-Za-z]:[/\\])|^[\w.@-]+(?:/[\w.@-]+)*/?[\w-]+\.[a-z]{1,6}$"
)
#: Base64 may begin with a slash, too.
_BASE64 = re.compile(rb"^[A-Za-z0-9+/]{32,}={0,2}$")


def is_placeholder(value: bytes) -> bool:
    """Whether somebody wrote it to be replaced, or as an example."""
    return says_placeholder(value) or _repeats(value) or _counts_up(value)


def says_placeholder(value: bytes) -> bool:
    return bool(_PLACEHOLDER.search(value))


def is_elsewhere(value: bytes) -> bool:
    """Whether it is a variable, a path or an address: where a secret may be, and not the secret."""
    return is_path(value) or bool(_REFERENCE.search(value) and not _is_base64(value))


def is_path(value: bytes) -> bool:
    return bool(_PATH.search(value)) and not _is_base64(value)


def _is_base64(value: bytes) -> bool:
    return bool(_BASE64.match(value)) and len(_classes(value)) > 2 and not is_plain(value)


def _repeats(value: bytes) -> bool:
    """Few characters, or one piece again and again."""
    if len(set(value)) < min(3 + len(value) // 12, 9):
        return True
    half = value[: len(value) // 2]
    return len(half) > 7 and value.startswith(half + half)


def _counts_up(value: bytes) -> bool:
    """Most characters follow their neighbour: abcdef, 987654."""
    steps = [b - a for a, b in pairwise(value)]
    return len(steps) > 5 and sum(1 for step in steps if step in (1, -1)) > len(steps) * 0.5


# ── words ──

#: The letters that often follow each letter in words of English, and of programs.
_FOLLOWS = (
    "a:bcdgiklmnprstuvwxy b:aceijlorsuy c:acehiklmorstu d:adefilorstu e:abcdefgilmnopqrstuvwxy "
    "f:aefilorstu g:aehilnorsu h:aeiort i:abcdefglmnoprstvxz j:aeou k:aeis l:acdeilopstuy m:abeimopstu "
    "n:acdefgiklnopstuv o:abcdfgiklmnoprstuvw p:aehiloprstuy q:u r:acdefgiklmnoprstuvy s:acehiklmopstuwy "
    "t:acdefhilmnoprstuwy u:abcdefgilmnprst v:aei w:aehinors x:ceipt y:enpst z:ei"
)
_COMMON = {
    (entry[0] + second).encode() for entry in _FOLLOWS.split() for second in entry.partition(":")[2]
}
_UUID = rb"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_PIECE = re.compile(rb"[^\W_]+")
#: Pieces that need not be words: numbers and dates, short ones, versions.
_SMALL = re.compile(rb"[0-9]+|.{1,3}|[0-9TZ]+|v?[0-9][0-9a-z]{0,3}")
_HUMP = re.compile(rb"[A-Z]?[a-z]+|[A-Z]+")


def is_plain(value: bytes) -> bool:
    """Whether it is made of words and numbers, as names, dates, versions and sentences are."""
    return not _strange(value)


def _strange(value: bytes) -> int:
    """How many of its characters belong neither to words nor to numbers."""
    if re.fullmatch(_UUID, value):
        return 0
    pieces = [piece for piece in _PIECE.findall(value) if not _SMALL.fullmatch(piece)]
    strange = [piece for piece in pieces if not _is_word(piece)]
    return sum(map(len, strange))


def _is_word(piece: bytes) -> bool:
    """Words in one, each beginning with a capital letter perhaps, and a number behind them."""
    letters = piece.rstrip(b"0123456789") if piece[-5:-4].isalpha() else piece
    humps = [hump for hump in _HUMP.findall(letters) if len(hump) > 2]
    if sum(map(len, humps)) < len(letters) * 0.7:
        return False
    pairs = [hump[at : at + 2].lower() for hump in humps for at in range(len(hump) - 1)]
    uncommon = sum(1 for pair in pairs if pair not in _COMMON)
    return uncommon <= max(1, len(pairs) * 0.25) or (len(pairs) < 6 and uncommon < 3)


# ── values that may be one ──


def is_secret(value: bytes) -> bool:
    """Of what has the very form of a vendor's key: whether it is no example and no name."""
    return not is_placeholder(value) and not is_plain(value)


def is_random(value: bytes) -> bool:
    """Whether it looks as if it had been drawn at random, and not been thought of."""
    if is_placeholder(value) or is_elsewhere(value) or value.isdigit():
        return False
    if _strange(value) < 8:
        # One odd piece among words is a name with a number.
        return False
    if re.fullmatch(rb"[0-9a-fA-F]+", value):
        return len(value) >= 16
    if len(value) < 20 and len(_classes(value)) < 2:
        return False
    return _entropy(value) >= min(3.4, 0.8 * log2(len(value)))


def is_password(value: bytes) -> bool:
    """Whether it may be a password that somebody chose: less is asked of it than of a key."""
    if is_placeholder(value) or is_elsewhere(value):
        return False
    if is_plain(value):
        # A word with a number and a sign is what people make up when they are asked for both.
        return bool(_MADE_UP.search(value)) and {"digit", "lower"} <= _classes(value)
    return len(_classes(value)) >= 2 or len(value) >= 16


def is_chosen(value: bytes) -> bool:
    """Where a line says that a password follows, words may be one, if there is more than one."""
    if is_placeholder(value) or is_elsewhere(value) or value.isdigit():
        return False
    if _IDENTIFIER.fullmatch(value):
        return not is_plain(value)
    return len(_classes(value)) >= 2 or len(_PIECE.findall(value)) > 2


_IDENTIFIER = re.compile(rb"[A-Za-z_.]+")
#: Signs that stand in no name; at the beginning of a value they mean something to a program.
_MADE_UP = re.compile(rb"^[A-Za-z0-9].*[!@#$%^&*+?~]")


def _classes(value: bytes) -> set[str]:
    return {_class(byte) for byte in value if byte not in b"_.:/-"}


def _class(byte: int) -> str:
    character = chr(byte)
    if character.isdigit():
        return "digit"
    return "other" if not character.isalpha() else "upper" if character.isupper() else "lower"


def _entropy(value: bytes) -> float:
    """Bits per character."""
    size = len(value)
    return -sum(n / size * log2(n / size) for n in Counter(value).values())


# ── checksums and forms that are certain ──

_BASE62 = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def fits_base62_sum(token: bytes) -> bool:
    """GitHub's and npm's tokens end with the CRC32 of their random part; older ones did not."""
    return token[-6:] == _base62(zlib.crc32(token[:-6])) or is_secret(token)


def _base62(number: int) -> bytes:
    digits = bytearray()
    while number:
        number, digit = divmod(number, 62)
        digits.append(_BASE62[digit])
    return bytes(reversed(digits)).rjust(6, b"0")


def fits_grafana(token: bytes) -> bool:
    """Service account tokens end with the CRC32 of what is before."""
    body, _, checksum = token.rpartition(b"_")
    return checksum == b"%08x" % zlib.crc32(body) or is_secret(body[5:])


def fits_pypi(token: bytes) -> bool:
    """A macaroon of version 2 that says for whom it is."""
    data = _decoded(token[: len(token) // 4 * 4])
    return data is not None and data.startswith(b"\x02\x01") and b"pypi.org" in data[:24]


def fits_jwt(token: bytes) -> bool:
    """Its head can be decoded and names the algorithm."""
    data = _decoded(token.partition(b".")[0])
    try:
        head = json.loads(data or b"")
    except ValueError:
        return False
    return isinstance(head, dict) and ("alg" in head or "enc" in head)


def fits_basic(value: bytes) -> bool:
    """A name and a password, joined by a colon, in base64."""
    data = _decoded(value)
    if data is None or b":" not in data[1:] or not data.decode("utf-8", "replace").isprintable():
        return False
    password = data.partition(b":")[2]
    return len(password) >= 6 and not is_placeholder(password)


def fits_pem_in_base64(value: bytes) -> bool:
    data = _decoded(value[: len(value) // 4 * 4])
    return data is not None and b"PRIVATE KEY-----" in data[:64]


def _decoded(value: bytes) -> bytes | None:
    """Out of base64 of either alphabet, with its padding or without."""
    value = value.rstrip(b"=").translate(_STANDARD)
    try:
        return base64.b64decode(value + b"=" * (-len(value) % 4), validate=True)
    except binascii.Error:
        return None


_STANDARD = bytes.maketrans(b"-_", b"+/")

_BECH32 = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l"


def fits_age(token: bytes) -> bool:
    """Bech32 with its checksum."""
    name, _, data = token.lower().rpartition(b"1")
    values = [byte >> 5 for byte in name] + [0] + [byte & 31 for byte in name]
    return _polymod(values + [_BECH32.find(byte) for byte in data]) == 1


def _polymod(values: list[int]) -> int:
    total = 1
    for value in values:
        top = total >> 25
        total = (total & 0x1FFFFFF) << 5 ^ value
        for at, factor in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            total ^= factor if top >> at & 1 else 0
    return total
