"""The fields of a transcript line that decide what it is; big values stay undecoded.

Names are the source's own. A field that is not listed here is skipped while
decoding, which is what makes a first look at a line cheap. What a line says
in full is decoded again, only when its message is asked for.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw, Struct

__all__ = [
    "Attached",
    "ContentItem",
    "PermissionDecision",
    "Forked",
    "Kind",
    "LineHead",
    "Rich",
    "Spoken",
    "Tokens",
]

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


class Tokens(Struct, frozen=True, gc=False):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None


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
