"""What the rows of one conversation say, in either schema."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Any

from rireki.model.conversation import LinkToken, Reading
from rireki.model.message import Usage
from rireki.model.parts import Attachment, Part, Text, Thinking, ToolCall, ToolResult, Unknown
from rireki.model.strand import Strand
from rireki.model.times import from_iso
from rireki.sources.kit.decode import NotReadable, load
from rireki.sources.kit.fields import get, items, number, string, words
from rireki.sources.kit.pending import ConversationBuilder, PendingMessage
from rireki.sources.kit.records import DecodedLine, records_of
from rireki.sources.kit.rules import TextRule

__all__ = ["interpret"]

_SYSTEM = TextRule("system prompt", "system prompt", "", author="person", display="fold")
_FRAGMENT = TextRule("fragment", "fragment", "", author="person", display="fold")


def interpret(source: str, id: str, strands: Sequence[Strand]) -> list[Reading]:
    builder = ConversationBuilder(source, id, strands)
    for strand in strands:
        if any(run.lane == "threads" for run in strand.states[-1].runs):
            _Thread(builder, strand).read()
        else:
            _Responses(builder, strand).read()
    return [builder.reading()]


class _Rows:
    """The rows of a strand, by table; of those that are gone, the last version."""

    def __init__(self, builder: ConversationBuilder, strand: Strand) -> None:
        self.builder = builder
        self.strand = strand
        self.attachments = {row.text("id"): row.value for row in self.rows("attachments")}
        self.fragments = {get(row.value, "id"): row.value for row in self.rows("fragments")}

    def rows(self, table: str) -> list[DecodedLine]:
        found = records_of(self.strand, self.builder.troubles, table)
        return [row for row in found if isinstance(row.value, dict)]

    def last(self, table: str) -> Any:
        return next((row.value for row in reversed(self.rows(table))), {})

    def attachment(self, id: str) -> Attachment:
        row = self.attachments.get(id, {})
        kind = string(row, "type") or "application/octet-stream"
        name = (string(row, "path") or string(row, "url")).rpartition("/")[2]
        try:
            data = base64.b64decode(string(row, "content:base64"), validate=True)
        except binascii.Error:
            data = b""
        if data:
            return self.builder.pictures.add(data, kind, name)
        return Attachment(kind, name=name or id)

    def use(self, row: Any, at: str | None) -> None:
        """The tokens of an answer. What was read from a cache is part of the input."""
        details = _json(get(row, "token_details"))
        cached = number(get(details, "prompt_tokens_details"), "cached_tokens")
        cached = cached or number(details, "cache_read_input_tokens")
        read, written = number(row, "input_tokens"), number(row, "output_tokens")
        if read or written:
            usage = Usage(max(0, read - cached), written, cached, 0)
            self.builder.note_usage(string(row, "id"), _model(row) or "unknown", usage, at)


class _Thread(_Rows):
    """Messages in a chain from the root to the tip, and what turns say of them."""

    def read(self) -> None:
        thread = self.last("threads")
        self.builder.title = string(thread, "name") or None
        self.builder.note_time(string(thread, "datetime_utc"))
        self._link(string(thread, "forked_from"))
        messages = {row.text("hash"): row for row in self.rows("messages")}
        self.parts: dict[str, list[DecodedLine]] = {}
        for part in self.rows("parts"):
            self.parts.setdefault(part.text("message_hash"), []).append(part)
        live = self._chain(string(thread, "tip_message_hash"), messages)
        self.turns: dict[str, Any] = {}
        order = []
        for turn in sorted(self.rows("turns"), key=lambda row: row.text("id")):
            chain = self._chain(turn.text("tip_message_hash"), messages)
            for hash in chain:
                # What an earlier turn led to is that turn's.
                self.turns.setdefault(hash, turn.value)
            self.use(turn.value, from_iso(turn.text("datetime_utc")))
            order += chain
        for hash in dict.fromkeys([*order, *live, *messages]):
            self.builder.entries += 1
            told = self._take(hash, messages[hash])
            told.message.abandoned = bool(live) and hash not in live

    def _link(self, parent: str) -> None:
        self.builder.link_tokens.append(LinkToken("fork", "offer", self.builder.native_id))
        if parent:
            self.builder.link_tokens.append(LinkToken("fork", "want", parent))

    @staticmethod
    def _chain(tip: str, messages: dict[str, DecodedLine]) -> list[str]:
        found: list[str] = []
        while tip in messages and tip not in found:
            found.append(tip)
            tip = messages[tip].text("parent_hash")
        return found[::-1]

    def _take(self, hash: str, line: DecodedLine) -> PendingMessage:
        turn = self.turns.get(hash, {})
        at = from_iso(string(turn, "datetime_utc"))
        rows = sorted(self.parts.get(hash, ()), key=lambda row: number(row.value, "position"))
        parts = [part for row in rows for part in self._part(row)]
        line = line._replace(refs=[*line.refs, *(ref for row in rows for ref in row.refs)])
        match line.text("role"):
            case "user":
                return self.builder.ask(line, hash, parts, at=at)
            case "system":
                return self.builder.ask(line, hash, parts, rule=_SYSTEM, at=at)
            case "assistant":
                model = _model(turn) or None
                return self.builder.answer(line, hash, parts, at=at, model=model)
            case "tool":
                return self.builder.result(line, hash, parts, at=at)
            case role:
                return self.builder.unknown(line, hash, role or "message", at=at)

    def _part(self, row: DecodedLine) -> list[Part]:
        payload = _json(get(row.value, "payload"))
        call = string(payload, "tool_call_id") or f"part-{get(row.value, 'id')}"
        match row.text("type"):
            case "text":
                return [Text(self._text(row, payload))]
            case "reasoning":
                text = self._text(row, payload)
                # What the provider keeps to itself leaves no words.
                return [Thinking(text)] if text else []
            case "tool_call":
                name = row.text("tool_name") or string(payload, "name")
                return [ToolCall(call, name, get(payload, "arguments"))]
            case "tool_result":
                attached = [get(one, "id") for one in items(payload, "attachments")]
                return [_result(call, payload), *(self.attachment(words(id)) for id in attached)]
            case "attachment":
                return [self.attachment(string(get(payload, "attachment"), "id"))]
            case kind:
                return [Unknown(kind or "part", row.value)]

    def _text(self, row: DecodedLine, payload: Any) -> str:
        """As it was sent: where it borrows from fragments, with their content."""
        pieces = get(payload, "text_ref")
        if not isinstance(pieces, list):
            return row.text("text")
        return "".join(
            string(one, "literal") or string(self.fragments.get(get(one, "fragment")), "content")
            for one in pieces
        )


class _Responses(_Rows):
    """The earlier schema: each response has its prompt, its answer, its calls and their results."""

    def read(self) -> None:
        head = self.last("conversations")
        self.builder.title = string(head, "name") or None
        calls = self._by_response("tool_calls")
        results = self._by_response("tool_results")
        attached = self._by_response("prompt_attachments")
        fragments = self._by_response("prompt_fragments")
        system = ""
        for row in sorted(self.rows("responses"), key=_when):
            self.builder.entries += 1
            id, at = row.text("id"), from_iso(row.text("datetime_utc"))
            said = row.text("system")
            if said and said != system:
                self.builder.ask(row, f"{id}-system", [Text(said)], rule=_SYSTEM, at=at)
            system = said
            for place, one in enumerate(fragments.get(id, ()), 1):
                found = self.fragments.get(get(one.value, "fragment_id"))
                text, rule = string(found, "content"), _FRAGMENT
                self.builder.ask(one, f"{id}-fragment-{place}", [Text(text)], rule=rule, at=at)
            # Results were found by the program and go to the model with the next prompt.
            given: list[Part] = [_result(_call(one), one.value) for one in results.get(id, ())]
            if given:
                self.builder.result(row, f"{id}-results", given, at=at)
            pictures = [self.attachment(one.text("attachment_id")) for one in attached.get(id, ())]
            asked: list[Part] = [Text(row.text("prompt"))] if row.text("prompt") else []
            if asked or pictures:
                self.builder.ask(row, f"{id}-prompt", [*asked, *pictures], at=at)
            self._answer(row, id, at, calls.get(id, []))
            self.use(row.value, at)

    def _answer(self, row: DecodedLine, id: str, at: str | None, calls: list[DecodedLine]) -> None:
        parts: list[Part] = [Thinking(text)] if (text := row.text("reasoning")) else []
        parts += [Text(text)] if (text := row.text("response")) else []
        for one in calls:
            arguments = _json(get(one.value, "arguments"))
            parts.append(ToolCall(_call(one), one.text("name"), arguments))
        if parts:
            self.builder.answer(row, id, parts, at=at, model=_model(row.value) or None)

    def _by_response(self, table: str) -> dict[str, list[DecodedLine]]:
        found: dict[str, list[DecodedLine]] = {}
        for row in self.rows(table):
            found.setdefault(row.text("response_id"), []).append(row)
        return found


def _when(row: DecodedLine) -> tuple[str, str]:
    return row.text("datetime_utc"), row.text("id")


def _call(row: DecodedLine) -> str:
    """Models that give no ids to calls are paired by name within a conversation."""
    return row.text("tool_call_id") or row.text("name")


def _result(call: str, value: Any) -> ToolResult:
    failed = string(value, "exception")
    output = words(get(value, "output")) or failed
    return ToolResult(call, "error" if failed else "ok", output)


def _model(row: Any) -> str:
    return string(row, "model") or string(row, "resolved_model")


def _json(value: Any) -> Any:
    """A column with JSON in it; a text that is none stays what it is."""
    if not isinstance(value, str):
        return value if isinstance(value, dict | list) else {}
    try:
        return load(value.encode("utf-8", "replace"))
    except NotReadable:
        return {}
