"""One line of a transcript as JSON: its fields, small questions about them, and repair of damage.

Only fields that decide what a line is are decoded, under the source's own names; big values stay
undecoded and everything else is skipped, which is what makes reading a line cheap. What a line says
in full is decoded again, only when its message is asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import compress
from operator import attrgetter
from typing import Any

import msgspec
from msgspec import Raw, Struct

from rireki.sources.kit.decode import clean

__all__ = [
    "Attached",
    "ContentItem",
    "Kind",
    "LineHead",
    "Rich",
    "Spoken",
    "Tokens",
    "flags_of",
    "flat",
    "has_pictures",
    "holds_result",
    "is_marked",
    "is_silent",
    "loads",
    "objects_in",
    "says_nothing",
    "sessions_named",
    "text_of",
]


#: Where a line may begin inside a damaged one. Key order is not fixed, but these come first.
_BEGIN = re.compile(
    r'\{"(?:parentUuid|logicalParentUuid|type|uuid|isSidechain|sessionId|message|timestamp|cwd'
    r'|summary|leafUuid|attachment|agentId|userType|version|slug|promptId|requestId)"'
)
#: More starting points than this are not tried: a hostile line must not cost quadratic time.
TRIES = 200
#: What is nested deeper is not handed out: whoever walks through it needs a stack as deep.
DEEPEST = 400
_MARKS = ("sessionId", "uuid", "leafUuid", "messageId")
_decode = msgspec.json.Decoder().decode


def loads(data: bytes | Raw) -> Any:
    """The JSON value; None when there is none, or when it is nested too deeply to be walked.

    Its text can be written out: half a surrogate becomes U+FFFD.
    """
    try:
        value = _decode(data)
    except (ValueError, RecursionError):
        return _loads_patiently(bytes(data))
    if type(value) is str:
        return value
    return None if _has_many_brackets(bytes(data)) and _is_deep(value) else value


def _loads_patiently(data: bytes) -> Any:
    """What the standard library makes of it. Only here half surrogates get in: msgspec refuses them."""
    try:
        return clean(json.loads(data.decode("utf-8", "replace"), strict=False))
    except (ValueError, RecursionError):
        return None


def _has_many_brackets(data: bytes) -> bool:
    """Whether it could be nested deeply at all: nearly nothing can, so nearly nothing is walked."""
    return data.count(b"{") + data.count(b"[") > DEEPEST


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        inside = (one.values() if isinstance(one, dict) else one for one in level)
        level = [item for items in inside for item in items if isinstance(item, dict | list)]
        if not level:
            return False
    return True


def is_line(value: Any) -> bool:
    """Whether a JSON value is a line of a transcript rather than something inside one."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("type"), str)
        and any(mark in value for mark in _MARKS)
    )


def objects_in(data: bytes) -> Iterator[bytes]:
    """The pieces of a damaged line in order: whole objects, and what lies between them."""
    text = data.replace(b"\0", b"").decode("utf-8", "replace").strip()
    decoder = json.JSONDecoder(strict=False)
    position = lost = 0
    for _ in range(TRIES):
        start = _BEGIN.search(text, position)
        if start is None:
            break
        try:
            value, end = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            position = start.end()
            continue
        if not is_line(value):
            position = start.end()
            continue
        if between := text[lost : start.start()].strip():
            yield between.encode("utf-8", "replace")
        yield text[start.start() : end].encode("utf-8", "replace")
        position = lost = end
    if rest := text[lost:].strip():
        yield rest.encode("utf-8", "replace")


_NOTHING = Raw()


class ContentItem(Struct, frozen=True, gc=False):
    type: str = ""
    id: str | None = None
    name: str | None = None
    tool_use_id: str | None = None
    is_error: bool | None = None
    text: Raw = _NOTHING
    thinking: Raw = _NOTHING
    input: Raw = _NOTHING
    content: Raw = _NOTHING


class Stored(Struct, frozen=True, gc=False):
    """`cache_creation`: for how long the cache keeps what went into it."""

    ephemeral_1h_input_tokens: int | None = None


class Tokens(Struct, frozen=True, gc=False):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_creation: Stored | None = None
    speed: str | None = None
    inference_geo: str | None = None


class Spoken(Struct, frozen=True, gc=False):
    """`message`: what was sent to the model or came from it."""

    id: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    usage: Tokens | None = None
    content: str | list[ContentItem] | None = None


class Kind(Struct, frozen=True, gc=False):
    """`origin`: who put the entry there, in newer versions."""

    kind: str | None = None


class Forked(Struct, frozen=True, gc=False):
    sessionId: str | None = None


class PermissionDecision(Struct, frozen=True, gc=False):
    decision: str | None = None
    source: str | None = None


class Attached(Struct, frozen=True, gc=False):
    type: str = ""
    prompt: Raw = _NOTHING
    commandMode: str | None = None
    origin: Kind | None = None
    humanTurn: bool | None = None
    timestamp: str | None = None
    content: Raw = _NOTHING
    stdout: Raw = _NOTHING
    stderr: Raw = _NOTHING
    message: Raw = _NOTHING
    blockingError: Raw = _NOTHING


class Rich(Struct, frozen=True, gc=False):
    """`toolUseResult`: often the whole output once more, in another shape."""

    interrupted: Any = None
    persistedOutputPath: Any = None
    agentId: Any = None


class LineHead(Struct, frozen=True, gc=False):
    """One line at first sight."""

    type: str = ""
    uuid: str | None = None
    parentUuid: str | None = None
    logicalParentUuid: str | None = None
    timestamp: str | None = None
    cwd: str | None = None
    sessionId: str | None = None
    slug: str | None = None
    userType: str | None = None
    entrypoint: str | None = None
    agentId: str | None = None
    isSidechain: bool | None = None
    message: Spoken | None = None
    # user entries
    isMeta: bool | None = None
    isCompactSummary: bool | None = None
    isVisibleInTranscriptOnly: bool | None = None
    isSynthetic: bool | None = None
    promptId: str | None = None
    promptSource: str | None = None
    permissionMode: str | None = None
    origin: Kind | None = None
    turnOrigin: str | None = None
    sourceToolUseID: str | None = None
    interruptedMessageId: str | None = None
    toolUseResult: Rich | str | float | bool | list[Raw] | None = None
    holdsPersonsWords: bool | None = None
    toolDenialKind: str | None = None
    permissionDecision: PermissionDecision | None = None
    forkedFrom: Forked | None = None
    # answers
    isApiErrorMessage: bool | None = None
    isAbortedMidStream: bool | None = None
    # system, attachment, queue-operation
    subtype: str | None = None
    content: Raw = _NOTHING
    error: Raw = _NOTHING
    hookErrors: Raw = _NOTHING
    attachment: Attached | None = None
    operation: str | None = None
    # titles
    customTitle: str | None = None
    aiTitle: str | None = None
    lastPrompt: str | None = None
    summary: str | None = None
    leafUuid: str | None = None


_string = msgspec.json.Decoder(str).decode
_FLAGS = (
    *("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isSidechain", "isSynthetic"),
    "sourceToolUseID",
)
_marks = attrgetter(*_FLAGS)
_PICTURES = ("image", "document")
_NAMING = ("sessionid", "session", "continuedin", "derivedfrom")
_SILENCE = (b"", b'""', b"null", b"[]")


def flags_of(look: LineHead) -> list[str]:
    """The marks on a user entry, as `explain` lists them and the census counts them."""
    flags = list(compress(_FLAGS, _marks(look)))
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
