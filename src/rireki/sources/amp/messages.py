"""What the messages of a thread say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rireki.model.conversation import Reading
from rireki.model.message import Usage
from rireki.model.parts import (
    Attachment,
    Part,
    ResultStatus,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from rireki.model.strand import Strand
from rireki.model.times import from_iso, from_unix
from rireki.sources.amp.reader import MESSAGES
from rireki.sources.kit.fields import get, items, number, string, words
from rireki.sources.kit.pending import ConversationBuilder
from rireki.sources.kit.pieces import WHOLE
from rireki.sources.kit.records import DecodedLine, document_of, head_of, records_of
from rireki.sources.kit.vscode import path_of_uri

__all__ = ["interpret"]

_STATUS: dict[str, ResultStatus] = {"done": "ok", "error": "error"}
#: The tool has nothing to say yet.
_RUNNING = ("in-progress", "queued", "blocked-on-user")


def interpret(source: str, id: str, strands: Sequence[Strand]) -> list[Reading]:
    builder = ConversationBuilder(source, id, strands)
    for strand in strands:
        about = head_of(strand, builder.troubles)
        if not isinstance(about, dict):
            continue
        builder.native_id = string(about, "id") or id
        builder.title = string(about, "title") or builder.title
        created = from_unix(about.get("created"))
        builder.times += [created] if created else []
        for tree in items(get(about, "env", "initial"), "trees"):
            builder.note_directory(path_of_uri(string(tree, "uri")))
        for line in _entries(strand, builder):
            _Message(builder, line, created).read()
    builder.join_beginnings()
    builder.mark_left()
    return [builder.reading()] if builder.flow or builder.troubles or builder.title else []


def _entries(strand: Strand, builder: ConversationBuilder) -> Iterator[DecodedLine]:
    """All messages that the file ever held, in order."""
    yield from records_of(strand, builder.troubles, MESSAGES)
    if any(run.lane == WHOLE and run.records for run in strand.states[-1].runs):
        found = items(document_of(strand, builder.troubles), "messages")
        for position, one in enumerate(found, 1):
            yield DecodedLine(one, position, True, strand.present, [])


class _Message:
    """One message: its blocks, and whose each is."""

    def __init__(
        self, builder: ConversationBuilder, line: DecodedLine, created: str | None
    ) -> None:
        self.builder = builder
        self.line = line
        id = get(line.value, "messageId")
        self.name = f"message-{words(id) if id is not None else line.position}"
        usage = get(line.value, "usage")
        sent = from_unix(get(line.value, "meta", "sentAt"))
        self.at = sent or from_iso(string(usage, "timestamp")) or (created if not id else None)

    def read(self) -> None:
        self.builder.entries += 1
        role = self.line.text("role")
        content = get(self.line.value, "content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if not isinstance(blocks, list) or role not in ("user", "assistant", "info"):
            self.builder.unknown(self.line, self.name, role or "message", at=self.at)
        elif role == "assistant":
            self._answer(blocks)
        else:
            self._ask(blocks)

    def _ask(self, blocks: Sequence[Any]) -> None:
        """Results of tools stand in a person's place, and what the person ran by hand, too."""
        typed: list[Part] = []
        results: list[Part] = []
        for position, block in enumerate(blocks):
            match string(block, "type"):
                case "tool_result":
                    results += _result(block)
                case "manual_bash_invocation":
                    self._command(block, f"{self.name}-{position}")
                case "summary":
                    self._summary(block, f"{self.name}-{position}")
                case _:
                    typed.append(self._part(block))
        if results:
            name = f"{self.name}-results" if typed else self.name
            self.builder.result(self.line, name, results, at=self.at)
        if typed and self.line.text("role") == "info":
            self.builder.unknown(self.line, self.name, "info", at=self.at)
        elif typed:
            self.builder.ask(self.line, self.name, typed, at=self.at)

    def _answer(self, blocks: Sequence[Any]) -> None:
        model = string(get(self.line.value, "usage"), "model") or None
        parts = [self._part(block) for block in blocks]
        said = [part for part in parts if not isinstance(part, Thinking) or part.text]
        answer = self.builder.answer(self.line, self.name, said, at=self.at, model=model)
        if get(self.line.value, "state", "type") == "streaming":
            answer.ends = False
        self._use(model)

    def _use(self, model: str | None) -> None:
        usage = get(self.line.value, "usage")
        names = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
        read, written, cached, kept = (number(usage, name) for name in names)
        if read or written or cached:
            used = Usage(read, written, cached, kept)
            key = f"{self.builder.native_id} {self.name}"
            self.builder.note_usage(key, model or "unknown", used, self.at)

    def _command(self, block: Any, name: str) -> None:
        """What the person ran with `$`: the command, and what it printed."""
        command = string(get(block, "args"), "cmd") or words(get(block, "args"))
        rule = "shell command"
        call = ToolCall(name, "Bash", get(block, "args"))
        ran = _ran(name, get(block, "toolRun"))
        parts: list[Part] = [Text(command), call, *ran]
        self.builder.say(
            self.line, name, "person", "fold", parts, rule, label=rule, at=self.at, role="info"
        )

    def _summary(self, block: Any, name: str) -> None:
        summary = get(block, "summary")
        text = string(summary, "summary") or words(summary)
        rule, label = "summary", "context compacted"
        parts = [Text(text)]
        self.builder.say(
            self.line, name, "harness", "divider", parts, rule, label=label, at=self.at
        )

    def _part(self, block: Any) -> Part:
        match string(block, "type"):
            case "text":
                return Text(string(block, "text"))
            case "thinking" | "redacted_thinking":
                return Thinking(string(block, "thinking"))
            case "tool_use" | "server_tool_use":
                return ToolCall(string(block, "id"), string(block, "name"), get(block, "input"))
            case "image":
                return self._picture(block)
            case kind:
                return Unknown(kind or "block", block)

    def _picture(self, block: Any) -> Part:
        source, name = get(block, "source"), string(block, "sourcePath")
        kind = string(source, "mediaType") or string(source, "media_type") or "image/png"
        held = self.builder.pictures.add_base64(get(source, "data"), kind, name)
        return held or Attachment(kind, name=name or string(source, "url"))


def _result(block: Any) -> list[Part]:
    call = string(block, "toolUseID") or string(block, "tool_use_id")
    if isinstance(get(block, "run"), dict):
        return _ran(call, block["run"])
    status: ResultStatus = "error" if get(block, "is_error") else "ok"
    return [ToolResult(call, status, _output(get(block, "content")))]


def _ran(call: str, run: Any) -> list[Part]:
    """What a run of a tool came to; nothing while it is under way."""
    status = string(run, "status")
    if status in _RUNNING:
        return []
    error = get(run, "error")
    output = _output(get(run, "result")) or string(error, "message") or words(error)
    return [ToolResult(call, _STATUS.get(status, "cancelled"), output or string(run, "reason"))]


def _output(result: Any) -> str:
    """The text of a result, wherever its tool put it."""
    if isinstance(result, list):
        return "\n".join(string(one, "text") or words(one) for one in result)
    for name in ("output", "content"):
        if text := string(result, name):
            return text
    return words(result)
