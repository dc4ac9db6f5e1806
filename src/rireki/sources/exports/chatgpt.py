"""ChatGPT: a tree of nodes per conversation, with calls and results as messages of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rireki.model.conversation import Reading
from rireki.model.parts import (
    Attachment,
    Notice,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from rireki.model.strand import Strand
from rireki.model.times import from_ms
from rireki.sources.exports.tree import Node, in_order
from rireki.sources.exports.versions import Chat, read_versions
from rireki.sources.kit.decode import json_in
from rireki.sources.kit.fields import get, items, string
from rireki.sources.kit.pending import ANSWER, NOT_UNDERSTOOD, RESULTS, ConversationBuilder
from rireki.sources.kit.records import DecodedLine
from rireki.sources.kit.rules import TextRule

__all__ = ["read_chatgpt"]

_INSTRUCTIONS = ("user_editable_context", "model_editable_context")
_CONTEXT = ("user_profile", "user_instructions", "model_set_context")
_QUOTED = ("title", "url", "text", "result", "summary")
_TYPED = TextRule("typed prompt", "", "", author="person", display="bubble")
_ANSWER = TextRule(ANSWER, "", "", author="agent", display="bubble")
_RESULT = TextRule(RESULTS, "", "", author="tool", display="fold")
_CUSTOM = TextRule("custom instructions", "custom instructions", "", display="fold")
_HIDDEN = TextRule("not shown by the service", "not shown by the service", "", display="hidden")
_UNKNOWN = TextRule(NOT_UNDERSTOOD, "message", "", display="fold")
_QUOTES = ("tether_quote", "tether_browsing_display")


def read_chatgpt(source: str, id: str, strands: Sequence[Strand]) -> list[Reading]:
    builder = ConversationBuilder(source, id, strands)
    chat = read_versions(strands, lambda value: _seconds(value, "update_time"), builder.troubles)
    if chat is None:
        return [builder.reading()] if builder.troubles else []
    _ChatGPT(builder, chat).read()
    return [builder.reading()]


class _ChatGPT:
    def __init__(self, builder: ConversationBuilder, chat: Chat) -> None:
        self.builder = builder
        self.chat = chat
        self.lines = chat.merged(_nodes)
        self.parents = {id: _parent(line.value) for id, line in self.lines.items()}
        #: Calls by the node that made them: the tool's name.
        self.calls: dict[str, str] = {}

    def read(self) -> None:
        newest = self.chat.newest
        self.builder.title = string(newest, "title") or None
        self.builder.times += filter(
            None, (_time(newest, "create_time"), _time(newest, "update_time"))
        )
        leaf = string(newest, "current_node") or None
        for node in in_order(self.parents, self.lines, leaf):
            message = get(node.value.value, "message")
            if isinstance(message, dict):
                self.builder.entries += 1
                self._take(node, node.value, message)

    def _take(self, node: Node, line: DecodedLine, message: dict[str, Any]) -> None:
        rule, ends = _judge(message), None
        parts = self._parts(get(message, "content"), get(message, "metadata"))
        if rule is _TYPED:
            ends = False
        elif rule is _RESULT:
            parts, ends = self._result(node.id, message, parts), False
        elif rule is _ANSWER:
            parts, ends = self._spoken(node.id, message, parts)
        elif rule is _UNKNOWN:
            parts = [Unknown("message", message)]
        if not parts:
            return
        told = self.builder.say(
            line,
            node.id,
            rule.author,
            rule.display,
            parts,
            rule.name,
            at=_time(message, "create_time"),
            model=string(get(message, "metadata"), "model_slug") or None,
            label=rule.label or None,
            role=string(get(message, "author"), "role"),
            ends=None if node.abandoned else ends,
        )
        told.typed = rule is _TYPED
        told.message.abandoned = node.abandoned

    def _spoken(
        self, id: str, message: dict[str, Any], parts: list[Part]
    ) -> tuple[list[Part], bool | None]:
        """What is said to a tool is a call; thoughts are not the end of an answer."""
        tool = string(message, "recipient")
        if tool in ("", "all"):
            ends = any(not isinstance(part, Thinking) for part in parts)
            return parts, ends and string(message, "status") != "in_progress"
        self.calls[id] = tool
        said = "".join(part.text for part in parts if isinstance(part, Text))
        others = [part for part in parts if not isinstance(part, Text)]
        return [*others, ToolCall(id, tool, json_in(said))], False

    def _result(self, id: str, message: dict[str, Any], parts: list[Part]) -> list[Part]:
        """The result of the call above it that spoke to this tool, else of the nearest one."""
        name = string(get(message, "author"), "name")
        call, nearest = self.parents.get(id), ""
        seen = {id}
        while call is not None and call not in seen:
            seen.add(call)
            if call in self.calls:
                nearest = nearest or call
                if self.calls[call] == name:
                    nearest = call
                    break
            if string(get(self._node(call), "message", "author"), "role") == "user":
                # A tool answers within the turn it was called in.
                break
            call = self.parents.get(call)
        failed = string(get(message, "content"), "content_type") == "system_error"
        said = "\n".join(part.text for part in parts if isinstance(part, Text | Notice))
        others = [part for part in parts if not isinstance(part, Text | Notice)]
        return [ToolResult(nearest or id, "error" if failed else "ok", said), *others]

    def _node(self, id: str) -> Any:
        line = self.lines.get(id)
        return line.value if line else None

    def _parts(self, content: Any, metadata: Any) -> list[Part]:
        found: list[Part] = []
        match string(content, "content_type"):
            case "text" | "multimodal_text":
                for one in items(content, "parts"):
                    found += self._part(one)
            case "code" | "execution_output":
                found.append(Text(string(content, "text")))
            case "thoughts":
                for one in items(content, "thoughts"):
                    thought = filter(None, (string(one, "summary"), string(one, "content")))
                    found.append(Thinking("\n".join(thought)))
            case "reasoning_recap":
                found.append(Thinking(string(content, "content")))
            case kind if kind in _QUOTES:
                said = (string(content, name) for name in _QUOTED)
                found.append(Text("\n".join(filter(None, said))))
            case "system_error":
                reason = filter(None, (string(content, "name"), string(content, "text")))
                found.append(Notice(": ".join(reason), "error"))
            case kind if kind in _INSTRUCTIONS:
                said = (string(content, name) for name in _CONTEXT)
                found.append(Text("\n\n".join(filter(None, said))))
            case kind:
                found.append(Unknown(kind or "content", content))
        named = {part.name for part in found if isinstance(part, Attachment)}
        for one in items(metadata, "attachments"):
            if not any(string(one, "id") and string(one, "id") in name for name in named):
                found.append(self._file(string(one, "id"), string(one, "name"), one))
        return [part for part in found if not isinstance(part, Text | Thinking) or part.text]

    def _part(self, value: Any) -> list[Part]:
        if isinstance(value, str):
            return [Text(value)]
        kind = string(value, "content_type")
        if kind == "audio_transcription":
            return [Text(string(value, "text"))]
        if pointer := string(value, "asset_pointer"):
            return [self._file(pointer.rpartition("/")[2], "", value)]
        if kind == "real_time_user_audio_video_asset_pointer":
            inner = get(value, "audio_asset_pointer")
            return [self._file(string(inner, "asset_pointer").rpartition("/")[2], "", inner)]
        return [Unknown(kind or "part", value)]

    def _file(self, id: str, name: str, value: Any) -> Attachment:
        """A picture or file by its id; its bytes, where the zip had them."""
        there = next((one for one in self.chat.files if id and one.startswith(id)), None)
        size = get(value, "size_bytes") or get(value, "size")
        said = string(value, "mime_type") or string(value, "mimeType")
        kind = said or _media_type(there or name, string(value, "content_type"))
        if there is not None:
            return self.builder.pictures.add(self.chat.files[there](), kind, name or there)
        return Attachment(kind, name=name or id, size=size if isinstance(size, int) else 0)


def _judge(message: dict[str, Any]) -> TextRule:
    """Whose a message is. The service writes its own in the person's name too, and hides them."""
    metadata, content = get(message, "metadata"), get(message, "content")
    role = string(get(message, "author"), "role")
    if role == "tool":
        return _RESULT
    if string(content, "content_type") in _INSTRUCTIONS or get(metadata, "is_user_system_message"):
        return _CUSTOM
    if role == "system" or get(metadata, "is_visually_hidden_from_conversation") is True:
        return _HIDDEN
    return {"user": _TYPED, "assistant": _ANSWER}.get(role, _UNKNOWN)


def _nodes(value: Any) -> Mapping[str, Any]:
    found = get(value, "mapping")
    return found if isinstance(found, dict) else {}


def _parent(node: Any) -> str | None:
    return string(node, "parent") or None


def _media_type(name: str, kind: str) -> str:
    # Imported late: it reads the system's tables.
    from mimetypes import guess_type

    usual = "image/*" if "image" in kind else "audio/*" if "audio" in kind else ""
    return guess_type(name)[0] or usual or "application/octet-stream"


def _seconds(value: Any, name: str) -> float:
    found = get(value, name)
    return float(found) if isinstance(found, int | float) and abs(found) < 1e12 else 0.0


def _time(value: Any, name: str) -> str | None:
    seconds = _seconds(value, name)
    return from_ms(seconds * 1000) if seconds else None
