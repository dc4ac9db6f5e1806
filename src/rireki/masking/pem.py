"""Private keys that are lines of base64 under a heading: PEM, OpenSSH, PGP, PuTTY.

They come with line numbers, as lines of a diff, as strings of a list, with escaped line ends, or
cut off: what looks like their lines is masked in each of these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rireki.masking.checks import is_placeholder
from rireki.masking.named import Value

__all__ = ["HEADS", "private_key_at"]

HEADS: tuple[bytes, ...] = (b"-----BEGIN ", b"Private-Lines:")
_HEAD = re.compile(
    rb"-----BEGIN (?:(?P<what>[A-Z0-9 ]{0,30})PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1)-----"
    rb"|Private-Lines: ?(?P<putty>[0-9]+)"
)
_END = re.compile(rb"-----END (?:[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1)-----")
#: What stands between two lines: their ends, escaped or not, numbers, marks of a diff or a quote.
_BETWEEN = re.compile(
    rb"(?:\s|\\+[nrt]|[\"'`,+>|:*#-]|[0-9]{1,5}(?:\t|\\+t|\xe2\x86\x92|\\+u2192|[:|] )|\xe2\x86\x92"
    rb"|\\+(?=[\"']))*+"
)
_HEADERS = re.compile(
    rb"(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash): ?[\w ,.:()/-]{1,80}(?:\s|\\+[nr])*)*+"
)
_LINE = re.compile(rb"=?[A-Za-z0-9+/](?:[A-Za-z0-9+/]|\\+/)*+={0,2}")
#: The longest key there may be, with what stands between its lines.
_LONGEST = 40_000


def private_key_at(data: bytes, start: int, end: int) -> Iterator[Value]:
    head = _HEAD.match(data, start)
    if head is None:
        return
    kind = _kind(head)
    close = _END.search(data, head.end(), head.end() + _LONGEST)
    lines = list(_lines(data, head.end(), close.start() if close else head.end() + _LONGEST))
    body = b"".join(data[first:last] for first, last in lines)
    if len(body) < 40 or is_placeholder(body[:64]):
        return
    if (
        close
        and b'"' not in data[start : close.end()]
        and not data[lines[-1][1] : close.start()].strip(b" \r\n\t\\nr+>|0123456789:\xe2\x86\x92")
    ):
        yield Value(start, close.end(), kind)
        return
    for first, last in lines:
        yield Value(first, last, kind)


def _kind(head: re.Match[bytes]) -> str:
    what = head["what"] or b""
    if head["putty"] or b"OPENSSH" in what:
        return "ssh-private-key"
    return "pgp-private-key" if b"PGP" in what else "private-key"


def _lines(data: bytes, at: int, limit: int) -> Iterator[tuple[int, int]]:
    """Where the lines of base64 stand that follow each other."""
    limit = min(limit, len(data))
    while at < limit:
        between = _BETWEEN.match(data, at, limit)
        at = between.end() if between else at
        headers = _HEADERS.match(data, at, limit)
        if headers and headers.end() > at:
            at = headers.end()
            continue
        line = _LINE.match(data, at, limit)
        # The last line may be short; words behind a key that was cut off are none of it.
        if line is None or (len(line[0]) < 24 and line.end() + 40 < limit):
            return
        yield line.span()
        at = line.end()
