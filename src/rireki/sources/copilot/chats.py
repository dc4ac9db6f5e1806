"""Chats of VS Code as readings: requests as turns, what was taken back as abandoned, sub-agents apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rireki.model.conversation import LinkToken, Reading
from rireki.model.message import Usage
from rireki.model.parts import Attachment, Notice, Part, Text, ToolCall
from rireki.model.strand import Strand
from rireki.model.times import from_ms
from rireki.sources.copilot.answers import ChatResponse, read_response
from rireki.sources.copilot.parts import decoded, number
from rireki.sources.copilot.requests import ChatRequest, merged, read_chats
from rireki.sources.copilot.sessions import read_events
from rireki.sources.kit.decode import NotReadable, load
from rireki.sources.kit.fields import get, items, string
from rireki.sources.kit.pending import ConversationBuilder
from rireki.sources.kit.pictures import Pictures
from rireki.sources.kit.rules import TextRule
from rireki.sources.kit.vscode import path_of_uri

__all__ = ["interpret"]

#: States of an answer, as numbers of VS Code.
_PENDING, _CANCELLED = (0, 4), 2
_BY_PROGRAM = TextRule("not typed", "sent by the program", "", display="fold")


def interpret(source: str, chat: str, strands: Sequence[Strand]) -> list[Reading]:
    """A chat from its files; where there is but the transcript of a hook, from that."""
    main = ConversationBuilder(source, chat, [s for s in strands if s.role in ("log", "session")])
    chats = read_chats(main.strands, main.troubles)
    requests = merged(chats)
    if not requests:
        told = [strand for strand in strands if strand.role == "events"]
        return read_events(source, chat, told) if told else _nothing(main)
    for strand in strands:
        main.note_directory(strand.project)
    head = chats[-1].head
    for name in ("creationDate", "lastMessageDate"):
        if at := _at(get(head, name)):
            main.times.append(at)
    titles = [string(one.head, "customTitle") for one in reversed(chats)]
    main.title = next(filter(None, [*titles, _listed(strands)]), None)
    agents: list[Reading] = []
    for request in requests:
        agents += _Turn(main, request).read()
    main.entries = len(requests)
    return [main.reading(), *agents]


def _nothing(main: ConversationBuilder) -> list[Reading]:
    """A chat in which nothing was asked is none, unless something of it could not be read."""
    return [main.reading()] if main.troubles else []


def _listed(strands: Sequence[Strand]) -> str:
    """The title in the editor's list of chats."""
    for strand in strands:
        if strand.role == "index":
            try:
                return string(load(strand.document()), "title")
            except NotReadable:
                continue
    return ""


def _at(value: Any, after: Any = 0) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return from_ms(value + (after if isinstance(after, int | float) else 0))


class _Turn:
    """A request and its response, said to a builder."""

    def __init__(self, main: ConversationBuilder, request: ChatRequest) -> None:
        self.main = main
        self.request = request
        self.value = request.value
        self.line = request.line
        self.at = _at(get(self.value, "timestamp"))
        elapsed = get(self.value, "result", "timings", "totalElapsed")
        self.ended = _at(get(self.value, "timestamp"), elapsed)
        resolved = string(get(self.value, "result", "metadata"), "resolvedModel")
        self.model = resolved or string(self.value, "modelId") or None

    def read(self) -> list[Reading]:
        """Says it all; returns the sub-agents that were at work in it."""
        before = len(self.main.flow)
        for earlier in self.request.earlier:
            _Turn(self.main, ChatRequest(self.request.id, earlier, True, [self.line])).read()
        if isinstance(self.value, dict):
            self._ask()
            response = read_response(self.value)
            self._answer(response)
            self._count(response)
            agents = [self._agent(response, *one) for one in response.agents.items()]
        else:
            self.main.unknown(self.line, self.request.id, "request")
            agents = []
        for said in self.main.flow[before:]:
            said.message.abandoned = self.request.abandoned
        return agents

    def _ask(self) -> None:
        message = get(self.value, "message")
        text = message if isinstance(message, str) else string(message, "text")
        parts: list[Part] = [Text(text)] if text else []
        parts += _attachments(
            items(get(self.value, "variableData"), "variables"), self.main.pictures
        )
        rule = _BY_PROGRAM if get(self.value, "isSystemInitiated") is True else None
        self.main.ask(self.line, self.request.id, parts, rule=rule, at=self.at)

    def _answer(self, response: ChatResponse) -> None:
        line, name = self.line, string(self.value, "responseId") or f"{self.request.id}-answer"
        metadata = get(self.value, "result", "metadata")
        for one in [get(metadata, "summary"), *items(metadata, "summaries")]:
            if text := string(one, "text"):
                label = "context compacted"
                told = [Text(text)]
                self.main.say(
                    line, f"{name}-summary", "harness", "divider", told, label, label=label
                )
        if response.parts:
            said = self.main.answer(line, name, response.parts, at=self.ended, model=self.model)
            said.ends = self._is_over()
        self.main.note_model(self.model if response.parts else None)
        if response.results:
            results = list(response.results.values())
            self.main.result(line, f"{name}-results", results, at=self.ended).ends = None
        if response.edits:
            told = [Text(edit) for edit in response.edits]
            label = "changed files"
            self.main.say(line, f"{name}-edits", "tool", "fold", told, "file edit", label=label)
        self._tell(name)

    def _is_over(self) -> bool:
        state = get(self.value, "modelState", "value")
        return state not in (*_PENDING, _CANCELLED) and get(self.value, "isCanceled") is not True

    def _tell(self, name: str) -> None:
        """How it ended, where it ended badly."""
        error = string(get(self.value, "result", "errorDetails"), "message")
        stopped = get(self.value, "modelState", "value") == _CANCELLED
        if stopped or get(self.value, "isCanceled") is True:
            told, rule = Notice("The turn was interrupted.", "warning"), "interrupted"
        elif error:
            told, rule = Notice(error, "error"), "error"
        else:
            return
        said = self.main.say(
            self.line, f"{name}-end", "harness", "chip", [told], rule, label=rule, at=self.ended
        )
        said.ends = False

    def _count(self, response: ChatResponse) -> None:
        """The tokens of the turn's last call of the model; of those before, nothing is known."""
        metadata = get(self.value, "result", "metadata")
        usage = get(self.value, "usage") or get(self.value, "result", "usage")
        read = number(get(metadata, "promptTokens")) or number(get(usage, "promptTokens"))
        written = (
            number(get(metadata, "outputTokens"))
            or number(get(usage, "completionTokens"))
            or number(get(usage, "outputTokens"))
        )
        if read or written:
            several = any(isinstance(part, ToolCall) for part in response.parts)
            key = f"{self.main.native_id}:{self.request.id}"
            tokens = Usage(read, written, lower_bound=several)
            self.main.note_usage(key, self.model or "unknown", tokens, self.ended)

    def _agent(self, response: ChatResponse, call: str, own: ChatResponse) -> Reading:
        """A sub-agent, whose steps stand among those of its parent."""
        main, line = self.main, self.line
        builder = ConversationBuilder(
            main.source, f"{main.native_id}/{call}", main.strands, nature="subagent"
        )
        builder.directories = main.directories[:1]
        started = next((p for p in response.parts if getattr(p, "call_id", "") == call), None)
        arguments = started.arguments if isinstance(started, ToolCall) else None
        task = response.tasks.get(call)
        if prompt := string(arguments, "prompt") or string(task, "prompt"):
            rule = "task of a sub-agent"
            asked = builder.say(
                line, f"{call}-task", "harness", "bubble", [Text(prompt)], rule, at=self.at
            )
            asked.typed, asked.ends = True, False
        builder.answer(line, f"{call}-answer", own.parts, at=self.ended).ends = True
        if own.results:
            builder.result(line, f"{call}-results", list(own.results.values())).ends = None
        builder.title = string(arguments, "description") or string(task, "description") or None
        builder.entries = len(own.parts)
        token = f"call:{main.native_id}/{call}"
        builder.link_tokens = [LinkToken("subagent", "want", token)]
        main.link_tokens.append(LinkToken("subagent", "offer", token, call))
        return builder.reading()


def _attachments(given: Sequence[Any], pictures: Pictures) -> Iterator[Part]:
    """What a person attached; what the editor adds by itself is context, not theirs."""
    for one in given:
        kind, name = string(one, "kind"), string(one, "name")
        if kind == "implicit" or get(one, "automaticallyAdded") is True:
            continue
        value = get(one, "value")
        data = _bytes(value) if kind == "image" else None
        if data is not None:
            yield pictures.add(data, string(one, "mimeType") or "image/png", name)
        else:
            uri = get(value, "uri") if isinstance(get(value, "uri"), dict) else value
            path = string(uri, "fsPath") or string(uri, "path") or path_of_uri(_address(uri))
            media = {"image": "image/*", "directory": "inode/directory"}.get(kind)
            yield Attachment(media or "application/octet-stream", name=path or name)


def _address(value: Any) -> str:
    return value if isinstance(value, str) else string(value, "external")


def _bytes(value: Any) -> bytes | None:
    """The bytes of a picture: numbers, in a list or by their places, or base64."""
    if isinstance(value, str):
        return decoded(value)
    if isinstance(value, dict):
        text = string(value, "$base64") or string(value, "data")
        value = decoded(text) if text else list(value.values())
    try:
        return bytes(value) if value else None
    except (TypeError, ValueError):
        return None
