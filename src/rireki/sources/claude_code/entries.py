"""Small questions to a line at first sight: its words, its flags, whether it holds a result."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from rireki.sources.claude_code.repair import loads
from rireki.sources.claude_code.shapes import Attached, ContentItem, LineHead

__all__ = [
    "flags_of",
    "flat",
    "has_pictures",
    "holds_result",
    "is_marked",
    "is_silent",
    "says_nothing",
    "sessions_named",
    "text_of",
]

_string = msgspec.json.Decoder(str).decode
_PICTURES = ("image", "document")
_NAMING = ("sessionid", "session", "continuedin", "derivedfrom")
_SILENCE = (b"", b'""', b"null", b"[]")


def flags_of(look: LineHead) -> list[str]:
    """The marks on a user entry, as `explain` lists them and the census counts them."""
    flags = []
    if look.isMeta:
        flags.append("isMeta")
    if look.isCompactSummary:
        flags.append("isCompactSummary")
    if look.isVisibleInTranscriptOnly:
        flags.append("isVisibleInTranscriptOnly")
    if look.isSidechain:
        flags.append("isSidechain")
    if look.isSynthetic:
        flags.append("isSynthetic")
    if look.sourceToolUseID:
        flags.append("sourceToolUseID")
    if look.promptSource:
        flags.append(f"promptSource:{look.promptSource}")
    if look.origin is not None and look.origin.kind:
        flags.append(f"origin:{look.origin.kind}")
    if look.toolDenialKind:
        flags.append(f"toolDenialKind:{look.toolDenialKind}")
    if look.holdsPersonsWords:
        flags.append("holdsPersonsWords")
    return flags


def text_of(content: str | list[ContentItem] | None) -> str:
    """The words of an entry: its string, or its text blocks."""
    if isinstance(content, str):
        return content
    return "\n".join(flat(block.text) for block in content or () if block.type == "text")


def flat(raw: Raw) -> str:
    """The text of a value that may be a string or blocks of text."""
    data = bytes(raw)
    if not data or data == b"null":
        return ""
    if data[:1] == b'"':
        try:
            return _string(data)
        except ValueError:
            return str(loads(data) or "")
    value = loads(data)
    if not isinstance(value, list):
        return ""
    texts = (item.get("text") for item in value if isinstance(item, dict))
    return "\n".join(text for text in texts if isinstance(text, str))


def sessions_named(data: bytes) -> list[str]:
    """Other sessions that a line of metadata names. What the field is called differs."""
    value = loads(data)
    fields = value.items() if isinstance(value, dict) else ()
    return [
        session
        for name, session in fields
        if isinstance(session, str)
        and session not in ("", value.get("sessionId"))
        and name.lower().endswith(_NAMING)
    ]


def has_pictures(content: str | list[ContentItem] | None) -> bool:
    return isinstance(content, list) and any(block.type in _PICTURES for block in content)


def holds_result(content: str | list[ContentItem] | None) -> bool:
    if isinstance(content, list):
        for block in content:
            if block.type == "tool_result":
                return True
    return False


def is_marked(look: LineHead) -> bool:
    """Whether newer versions noted who decided about a tool."""
    return bool(
        look.holdsPersonsWords or look.toolDenialKind or look.permissionDecision is not None
    )


def is_silent(attached: Attached) -> bool:
    """A hook that printed nothing."""
    said = (attached.content, attached.message, attached.stdout, attached.stderr)
    return all(map(says_nothing, (*said, attached.blockingError)))


def says_nothing(raw: Raw) -> bool:
    return bytes(raw) in _SILENCE
