"""What the versions of a thread say. Zed saves a thread whole, compressed: each version is one row."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from typing import Any

from rireki.model.conversation import LinkToken, Reading, Trouble
from rireki.model.message import Usage
from rireki.model.parts import Attachment, Part, Text, Thinking, ToolCall, ToolResult, Unknown
from rireki.model.strand import Strand
from rireki.sources.kit.decode import NotReadable, load, text_of
from rireki.sources.kit.fields import get, items, number, string, words
from rireki.sources.kit.pending import ConversationBuilder
from rireki.sources.kit.records import KEPT, DecodedLine, records_of
from rireki.sources.kit.rules import TextRule
from rireki.sources.kit.zstd import unpacked

__all__ = ["interpret"]

_TASK = TextRule("task of a sub-agent", "", "", display="bubble")
_CONTEXT = TextRule("context", "context", "", display="fold")


def interpret(source: str, id: str, strands: Sequence[Strand]) -> list[Reading]:
    builder = ConversationBuilder(source, id, strands)
    thread = _Thread(builder)
    said: dict[tuple[int, str], DecodedLine] = {}
    for strand in strands:
        for line in records_of(strand, builder.troubles, "threads"):
            if isinstance(line.value, dict):
                thread.describe(line.value)
                data = _data(line, strand.place, builder.troubles)
                for place, message in enumerate(thread.about(data), 1):
                    # Told where it stood first, as the newest version has it.
                    said[place, text_of(message)] = line._replace(value=message, position=place)
    for line in said.values():
        thread.take(line)
    builder.join_beginnings()
    builder.mark_left()
    return [builder.reading()] if builder.flow or builder.troubles or builder.title else []


def _data(line: DecodedLine, place: str, troubles: list[Trouble]) -> Any:
    """The thread in a row: JSON as it is, or compressed."""
    row = line.value
    try:
        if "data:text" in row:
            return load(string(row, "data:text").encode("utf-8", "replace"))
        if "data:base64" not in row:
            return row.get("data")
        data = base64.b64decode(string(row, "data:base64"))
        if line.text("data_type") == "zstd":
            data = unpacked(data, place, troubles)
        return load(data) if data else None
    except NotReadable as error:
        troubles.append(Trouble.of(place, error, KEPT))
    except ValueError as error:
        troubles.append(Trouble.of(place, "not-unpacked", hint=KEPT, why=error))
    return None


class _Thread:
    def __init__(self, builder: ConversationBuilder) -> None:
        self.builder = builder
        self.model: str | None = None
        self.is_agent = False

    def describe(self, row: dict[str, Any]) -> None:
        builder = self.builder
        builder.title = string(row, "summary") or builder.title
        for moment in ("created_at", "updated_at"):
            builder.note_time(row.get(moment))
        for folder in _folders(row):
            builder.note_directory(folder)
        builder.link_tokens = [LinkToken("subagent", "offer", f"thread:{builder.native_id}")]
        if parent := string(row, "parent_id"):
            self.is_agent = True
            builder.link_tokens.append(LinkToken("subagent", "want", f"thread:{parent}"))

    def about(self, data: Any) -> list[Any]:
        """What a version says of the whole; gives its messages."""
        context = get(data, "subagent_context")
        self.is_agent = self.is_agent or isinstance(context, dict)
        if self.is_agent:
            self.builder.nature = "subagent"
        self.model = string(get(data, "model"), "model") or self.model
        self._use(get(data, "cumulative_token_usage"))
        for tree in items(get(data, "initial_project_snapshot"), "worktree_snapshots"):
            self.builder.note_directory(string(tree, "worktree_path"))
        self.builder.entries = len(items(data, "messages"))
        return items(data, "messages")

    def take(self, line: DecodedLine) -> None:
        if isinstance(line.value, dict) and "role" in line.value:
            self._older(line)
        else:
            self._newer(line)

    def _use(self, usage: Any) -> None:
        names = ("input_tokens", "output_tokens", "cache_read_input_tokens")
        read, written, cached = (number(usage, name) for name in names)
        if read or written or cached:
            used = Usage(read, written, cached, number(usage, "cache_creation_input_tokens"))
            self.builder.note_usage(self.builder.native_id, self.model or "unknown", used)

    # ── since 0.3 ──

    def _newer(self, line: DecodedLine) -> None:
        name = f"message-{line.position}"
        if line.value == "Resume":
            rule = "resumed"
            self.builder.say(line, name, "person", "chip", [], rule, label=rule)
            return
        kind, value = _only(line.value)
        if kind == "User" and isinstance(value, dict):
            self._user(line, string(value, "id") or name, items(value, "content"))
        elif kind == "Agent" and isinstance(value, dict):
            self._agent(line, name, value)
        elif kind in ("Compaction", "Summary"):
            text = _text(value)
            rule, label = "summary", "context compacted"
            self.builder.say(line, name, "harness", "divider", [Text(text)], rule, label=label)
        else:
            self.builder.unknown(line, name, kind or "message")

    def _user(self, line: DecodedLine, name: str, content: Sequence[Any]) -> None:
        """What was typed, with names for what it mentions; what these hold is folded."""
        typed: list[Part] = []
        mentioned: list[str] = []
        for block in content:
            kind, value = _only(block)
            if kind == "Text":
                typed.append(Text(words(value)))
            elif kind == "Mention":
                typed.append(Text(_mention(get(value, "uri"))))
                mentioned += [text] if (text := string(value, "content")) else []
            else:
                typed.append(self._picture(value) if kind == "Image" else Unknown(kind, block))
        self.builder.ask(line, name, _joined(typed), rule=_TASK if self.is_agent else None)
        for place, text in enumerate(mentioned):
            self.builder.ask(line, f"{name}-context-{place}", [Text(text)], rule=_CONTEXT)

    def _agent(self, line: DecodedLine, name: str, value: dict[str, Any]) -> None:
        parts = [part for block in items(value, "content") for part in self._part(block)]
        self.builder.answer(line, name, parts, model=self.model)
        results = value.get("tool_results")
        found = results.items() if isinstance(results, dict) else ()
        given = [part for id, result in found for part in self._result(id, result)]
        if given:
            self.builder.result(line, f"{name}-results", given)

    def _part(self, block: Any) -> Iterator[Part]:
        kind, value = _only(block)
        if kind == "Text":
            yield Text(words(value))
        elif kind == "Thinking":
            yield Thinking(_text(value))
        elif kind == "ToolUse":
            arguments = get(value, "input")
            arguments = get(value, "raw_input") if arguments is None else arguments
            yield ToolCall(string(value, "id"), string(value, "name"), arguments)
        elif kind != "RedactedThinking":
            # What the provider keeps to itself leaves no words.
            yield Unknown(kind or "block", block)

    def _result(self, id: str, result: Any) -> Iterator[Part]:
        content = get(result, "content")
        blocks = content if isinstance(content, list) else [content]
        texts = [words(_only(one)[1]) for one in blocks if _only(one)[0] == "Text"]
        texts += [one for one in blocks if isinstance(one, str)]
        output = "\n".join(texts) or words(get(result, "output"))
        yield ToolResult(id, "error" if get(result, "is_error") is True else "ok", output)
        for one in blocks:
            if _only(one)[0] == "Image":
                yield self._picture(_only(one)[1])

    def _picture(self, value: Any) -> Part:
        kind = string(value, "mime_type") or "image/png"
        data = get(value, "source") if isinstance(value, dict) else value
        return self.builder.pictures.add_base64(data, kind) or Attachment(kind)

    # ── before ──

    def _older(self, line: DecodedLine) -> None:
        id = get(line.value, "id")
        name = f"message-{words(id) if id is not None else line.position}"
        parts: list[Part] = []
        for segment in items(line.value, "segments"):
            kind, text = string(segment, "type"), string(segment, "text")
            if kind in ("text", "thinking"):
                parts.append(Text(text) if kind == "text" else Thinking(text))
            elif kind != "redacted_thinking":
                parts.append(Unknown(kind or "segment", segment))
        results: list[Part] = [
            part
            for result in items(line.value, "tool_results")
            for part in self._result(string(result, "tool_use_id"), result)
        ]
        calls = [
            ToolCall(string(one, "id"), string(one, "name"), get(one, "input"))
            for one in items(line.value, "tool_uses")
        ]
        role = line.text("role")
        if role not in ("user", "assistant", "system"):
            self.builder.unknown(line, name, role or "message")
        elif role == "assistant":
            self.builder.answer(line, name, [*parts, *calls], model=self.model)
        elif parts:
            self.builder.ask(line, name, parts, rule=_CONTEXT if role == "system" else None)
        if results:
            self.builder.result(line, f"{name}-results", results)
        if context := line.text("context"):
            self.builder.ask(line, f"{name}-context", [Text(context)], rule=_CONTEXT)


def _only(block: Any) -> tuple[str, Any]:
    """A block is an object with one key, its kind; or the kind alone."""
    if isinstance(block, dict) and len(block) == 1:
        return next(iter(block.items()))
    return (block, None) if isinstance(block, str) else ("", block)


def _text(value: Any) -> str:
    return string(value, "text") or string(value, "summary") or words(value)


def _mention(uri: Any) -> str:
    """What a prompt names, as people write it."""
    kind, value = _only(uri)
    path = string(value, "abs_path") or string(value, "path") or string(value, "name")
    return f"@{path or string(value, 'url') or words(uri if not kind else value or kind)}"


def _joined(parts: Sequence[Part]) -> list[Part]:
    """Texts side by side are one: a mention stands in the middle of a sentence."""
    found: list[Part] = []
    for part in parts:
        last = found[-1] if found else None
        if isinstance(part, Text) and isinstance(last, Text):
            found[-1] = Text(last.text + part.text)
        else:
            found.append(part)
    return found


def _folders(row: dict[str, Any]) -> list[str]:
    """The directories that were open, in the order they were opened; the column has them sorted."""
    told = row.get("folder_paths")
    if not isinstance(told, str):
        return []
    try:
        listed = load(told.encode("utf-8", "replace")) if told.startswith("[") else None
    except NotReadable:
        listed = None
    folders = listed if isinstance(listed, list) else told.splitlines()
    folders = [one for one in folders if isinstance(one, str) and one]
    order = string(row, "folder_paths_order").split(",")
    places = [int(one) for one in order if one.isascii() and one.isdigit()]
    if sorted(places) != list(range(len(folders))):
        return folders
    return [folder for _, folder in sorted(zip(places, folders, strict=True))]
