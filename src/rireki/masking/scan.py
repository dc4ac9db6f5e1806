"""Where secrets stand in bytes, and what kind each is. Knows nothing of marks or messages."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Finding", "find"]


class Finding(NamedTuple):
    start: int
    end: int
    kind: str


_SHAPES = re.compile(
    rb"(?P<github_token>gh[pousr]_[A-Za-z0-9]{36}|github_pat_\w{82})|(?P<npm_token>npm_[A-Za-z0-9]{36})"
    rb"|(?P<anthropic_key>sk-ant-[\w-]{24,})|(?P<openai_key>sk-(?:proj-)?[\w-]{40,})"
    rb"|(?P<aws_access_key_id>A[KS]IA[A-Z2-7]{16})|(?P<google_api_key>AIza[\w-]{35})"
    rb"|(?P<slack_token>xox[abposr]-[\w-]{20,})|(?P<stripe_key>[sr]k_(?:live|test)_[A-Za-z0-9]{20,})"
    rb"|(?P<private_key>-----BEGIN [A-Z ]*PRIVATE KEY-----[^\"-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?)"
    rb"|://[^\s:/@\"\\]*:(?P<url_password>[^\s@/\"\\]{6,})@"
)


def find(data: bytes) -> list[Finding]:
    """The secrets in it, in order, none inside another."""
    return [
        Finding(*match.span(name), name.replace("_", "-"))
        for match in _SHAPES.finditer(data)
        if (name := match.lastgroup)
    ]
