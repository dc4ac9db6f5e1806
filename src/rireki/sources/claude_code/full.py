"""What a line says in full.

Answers and tool outcomes are nearly all there is to decode. Their blocks were laid
apart at first sight, so only what is shown of them is decoded, and nothing else of the line.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from rireki.model.parts import Part, Text, Thinking, ToolCall
from rireki.sources.claude_code.content import ResultNotes, answer_parts
from rireki.sources.claude_code.lines import TranscriptLine
from rireki.sources.claude_code.repair import loads
from rireki.sources.claude_code.shapes import ContentItem, Rich

__all__ = ["answer_in", "get", "outcome_in", "results_in", "value_of"]

_RETURNED = ("tool_result", "text")


def value_of(line: TranscriptLine) -> Any:
    return loads(line.data)


def get(value: Any, *path: str) -> Any:
    """What stands at a path of field names; None where there is nothing."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def answer_in(line: TranscriptLine) -> list[Part]:
    """What an answer is made of."""
    blocks = _blocks(line)
    parts = [part for block in blocks if (part := _answered(block)) is not None]
    if parts and len(parts) == len(blocks):
        return parts
    return answer_parts(get(value_of(line), "message", "content"))


def _blocks(line: TranscriptLine) -> list[ContentItem]:
    """The blocks that a first look found, where it saw the line as it is."""
    spoken = line.look.message if line.look is not None and not line.mended else None
    return spoken.content if spoken is not None and isinstance(spoken.content, list) else []


def _answered(block: ContentItem) -> Part | None:
    """The usual parts; None where more of the block is shown than the look took apart."""
    kind = block.type
    if kind == "text":
        return Text(_text(block.text))
    if kind == "thinking":
        return Thinking(_text(block.thinking))
    if kind.endswith("tool_use"):
        return ToolCall(block.id or "", block.name or "", loads(block.input))
    return None


def _text(raw: Raw) -> str:
    value = loads(raw)
    return value if isinstance(value, str) else ""


def results_in(line: TranscriptLine) -> Any:
    """The content of an entry that brings results."""
    blocks = _blocks(line)
    if blocks and all(block.type in _RETURNED for block in blocks):
        return [_returned(block) for block in blocks]
    return get(value_of(line), "message", "content")


def _returned(block: ContentItem) -> dict[str, Any]:
    """A block with all that is shown of its kind."""
    if block.type == "text":
        return {"type": "text", "text": loads(block.text)}
    return {
        "type": "tool_result",
        "tool_use_id": block.tool_use_id,
        "is_error": block.is_error,
        "content": loads(block.content),
    }


def outcome_in(line: TranscriptLine) -> ResultNotes:
    """What a line notes about its results besides their text."""
    look = line.look
    if look is None or line.mended:
        value = value_of(line)
        rich = get(value, "toolUseResult")
        denied = get(value, "toolDenialKind") or get(value, "holdsPersonsWords")
        return _outcome(get(rich, "interrupted"), get(rich, "persistedOutputPath"), denied)
    denied = look.toolDenialKind or look.holdsPersonsWords
    rich = look.toolUseResult
    if isinstance(rich, Rich):
        return _outcome(rich.interrupted, rich.persistedOutputPath, denied)
    return _outcome(None, None, denied)


def _outcome(interrupted: Any, path: Any, denied: Any) -> ResultNotes:
    return ResultNotes(interrupted is True, path if isinstance(path, str) else None, bool(denied))
