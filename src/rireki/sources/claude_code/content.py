"""Parts of messages from decoded lines: text, thinking, calls, results, pictures, spilled outputs.

Takes JSON values of any shape and never fails: what it does not know becomes an `Unknown` part."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from msgspec import Raw, Struct

from rireki.model.colours import without_colours
from rireki.model.parts import (
    Attachment,
    Notice,
    Part,
    ResultStatus,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from rireki.model.strand import Strand
from rireki.sources.claude_code.lines import TranscriptLine
from rireki.sources.claude_code.shapes import ContentItem, Rich, loads
from rireki.sources.kit.document import LANE
from rireki.sources.kit.fields import get, string

__all__ = [
    "SPILLED",
    "Spills",
    "answer_in",
    "base_name",
    "binaries",
    "outcome_in",
    "picture_of_file",
    "prompt_parts",
    "result_parts",
    "results_in",
    "says_refused",
    "texts",
    "value_of",
]


#: How the text begins that stands in the place of the output.
SPILLED = "<persisted-output>"


class Spills:
    """The files of a session, by name."""

    def __init__(self, strands: Sequence[Strand]) -> None:
        self._files = {
            base_name(strand.place): strand for strand in strands if strand.role == "tool-output"
        }

    def __bool__(self) -> bool:
        return bool(self._files)

    def text(self, preview: str, path: str | None) -> str | None:
        """The whole of an output that the line only begins."""
        strand = self.file(preview, path)
        records = strand.story(LANE) if strand is not None else []
        return records[-1].data.decode("utf-8", "replace") if records else None

    def file(self, preview: str, path: str | None) -> Strand | None:
        """Where it lies: `path`, where the line names one, or what the preview says."""
        if path is None:
            path = preview.partition("saved to: ")[2].partition("\n")[0].strip()
        return self._files.get(base_name(path))


def base_name(path: str) -> str:
    """The last name of a path, whichever system wrote it."""
    return PureWindowsPath(path).name if "\\" in path else PurePosixPath(path).name


#: The full output of a tool that spilled it to a file, by the text that stands in its place.
Spill = Callable[[str, str | None], str | None]

_REFUSED = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action",
    "[Request interrupted by user",
)


class ResultNotes(Struct, frozen=True, gc=False):
    """What is noted about a result besides its text."""

    #: A person stopped the tool while it ran.
    interrupted: bool = False
    #: The file that holds the full output.
    path: str | None = None
    #: A newer version noted that a person said no.
    denied: bool = False


_NOTHING = ResultNotes()


def texts(content: Any) -> str:
    """The words of a content value: a string, or its blocks of text."""
    if isinstance(content, str):
        return content
    return "\n".join(string(block, "text") for block in _blocks(content) if _kind(block) == "text")


def prompt_parts(content: Any) -> list[Part]:
    """Text and pictures of a prompt."""
    if isinstance(content, str):
        return [Text(content)] if content else []
    return [part for block in _items(content) for part in _prompt_block(block)]


def _prompt_block(block: Any) -> Iterator[Part]:
    kind = _kind(block)
    if kind == "text":
        yield Text(string(block, "text"))
    elif kind in ("image", "document"):
        yield _picture(block)
    else:
        yield Unknown(kind or "block", block)


def answer_parts(content: Any) -> list[Part]:
    if isinstance(content, str):
        return [Text(content)] if content else []
    return [part for block in _items(content) for part in _answer_block(block)]


def _answer_block(block: Any) -> Iterator[Part]:
    kind = _kind(block)
    if kind == "text":
        yield Text(string(block, "text"))
    elif kind == "thinking":
        yield Thinking(string(block, "thinking"))
    elif kind == "redacted_thinking":
        yield Notice("thinking that the provider hid")
    elif kind.endswith("tool_use"):
        yield ToolCall(string(block, "id"), string(block, "name"), block.get("input"))
    elif kind.endswith("tool_result"):
        yield from result_parts(block)
    elif kind in ("image", "document"):
        yield _picture(block)
    else:
        yield Unknown(kind or "block", block)


def result_parts(
    block: Any,
    outcome: ResultNotes = _NOTHING,
    spill: Spill | None = None,
    refused: bool = False,
    elsewhere: str = "",
) -> list[Part]:
    """A tool's outcome, its pictures behind it.

    `elsewhere` says where a spilled output is that `spill` cannot bring.
    """
    content = block.get("content")
    output = texts(content)
    missing = False
    if output.startswith(SPILLED) and spill is not None:
        full = spill(output, outcome.path)
        output = full if full is not None else output
        missing = full is None
    failed = bool(block.get("is_error"))
    status = "cancelled" if refused and failed else _status(failed, outcome, output)
    parts: list[Part] = [ToolResult(string(block, "tool_use_id"), status, without_colours(output))]
    if missing:
        parts.append(Notice(elsewhere, "warning"))
    if not isinstance(content, str):
        parts += _beside_text(content)
    return parts


def _beside_text(content: Any) -> Iterator[Part]:
    for item in _items(content):
        kind = _kind(item)
        if kind in ("image", "document"):
            yield _picture(item)
        elif kind != "text":
            yield Unknown(kind or "block", item)


def _status(failed: bool, outcome: ResultNotes, output: str) -> ResultStatus:
    if not failed:
        return "cancelled" if outcome.interrupted else "ok"
    return "cancelled" if says_refused(output) or outcome.denied else "error"


def says_refused(output: str) -> bool:
    """Whether the words of a failed result are those of a person who said no."""
    return output.startswith(_REFUSED)


def _picture(block: Any) -> Part:
    source = block.get("source")
    if not isinstance(source, dict):
        return Unknown(_kind(block) or "block", block)
    media = string(source, "media_type")
    name = string(block, "title") or string(source, "url") or string(source, "file_id")
    data = _bytes(source)
    if data is None:
        return Attachment(media, name=name) if name else Unknown(_kind(block), block)
    return Attachment(
        media or "application/octet-stream", sha256(data).hexdigest(), name, len(data)
    )


def picture_of_file(file: Any, name: str) -> Part | None:
    """A mentioned file that is a picture: its bytes stand beside its type."""
    data = (
        _bytes({"type": "base64", "data": file.get("base64")}) if isinstance(file, dict) else None
    )
    if data is None:
        return None
    return Attachment(string(file, "type"), sha256(data).hexdigest(), name, len(data))


def _bytes(source: dict[str, Any]) -> bytes | None:
    data = source.get("data")
    if not isinstance(data, str) or source.get("type") not in ("base64", "text"):
        return None
    if source["type"] == "text":
        return data.encode("utf-8", "replace")
    try:
        return base64.b64decode(data, validate=False)
    except (binascii.Error, ValueError):
        return None


def binaries(content: Any) -> Iterator[bytes]:
    """The bytes of every picture in a content value, results included."""
    for block in _blocks(content):
        sources = (block.get("source"), {"type": "base64", "data": block.get("base64")})
        for source in sources:
            if isinstance(source, dict) and (data := _bytes(source)) is not None:
                yield data
        yield from binaries(block.get("content"))
        yield from binaries(block.get("file"))


def _items(content: Any) -> list[Any]:
    """The blocks of a content value; anything else in it stays as it is, to be shown as unknown."""
    if content is None:
        return []
    return content if isinstance(content, list) else [content]


def _blocks(content: Any) -> list[dict[str, Any]]:
    return [block for block in _items(content) if isinstance(block, dict)]


def _kind(block: Any) -> str:
    return string(block, "type") if isinstance(block, dict) else ""


_RETURNED = ("tool_result", "text")


def value_of(line: TranscriptLine) -> Any:
    return loads(line.data)


def answer_in(line: TranscriptLine) -> list[Part]:
    """What an answer is made of."""
    blocks = _typed_blocks(line)
    parts = [part for block in blocks if (part := _answered(block)) is not None]
    if parts and len(parts) == len(blocks):
        return parts
    return answer_parts(get(value_of(line), "message", "content"))


def _typed_blocks(line: TranscriptLine) -> list[ContentItem]:
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
    blocks = _typed_blocks(line)
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
