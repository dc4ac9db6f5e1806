"""Sessions of Copilot CLI as readings: the session, the sub-agents in its file, and those of old versions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from rireki.model.conversation import LinkToken, Reading
from rireki.model.parts import Part, Text, ToolCall, ToolResult
from rireki.model.strand import Strand
from rireki.model.times import from_iso
from rireki.sources.copilot.events import EventReader, SessionEvent, agents_of
from rireki.sources.kit.decode import NotReadable, json_in, load
from rireki.sources.kit.fields import get, items, string, words
from rireki.sources.kit.pending import ConversationBuilder
from rireki.sources.kit.pieces import WHOLE
from rireki.sources.kit.records import DecodedLine, document_of, head_of, records_of

__all__ = ["CHAT", "TIMELINE", "interpret", "read_events"]

#: Lanes of a session that is one JSON object.
CHAT, TIMELINE = "chat", "timeline"
_FORKED = re.compile(r"Forked from .*?\(([0-9a-f]{8}-[0-9a-f-]{27})\)", re.DOTALL)
_FIELD = re.compile(r"([A-Za-z_][\w-]*):(?:[ \t]+(.*))?$")


def interpret(source: str, session: str, strands: Sequence[Strand]) -> list[Reading]:
    """What the files of one session say."""
    if any(strand.role == "events" for strand in strands):
        readings = read_events(source, session, strands)
    else:
        readings = [_read_document(source, session, one) for one in strands if one.role == "legacy"]
    return [reading for reading in readings if reading.conversation.messages or _troubled(reading)]


def _troubled(reading: Reading) -> bool:
    return bool(reading.conversation.troubles)


def read_events(source: str, session: str, strands: Sequence[Strand]) -> list[Reading]:
    """A session that is a file of events, and the sub-agents in it."""
    files = [strand for strand in strands if strand.role == "events"]
    main = ConversationBuilder(source, session, files)
    events = _events(files, main)
    parent = _mark_copied(events)
    agents = agents_of(events)
    reader = EventReader(main, agents.pop(""))
    reader.read()
    facts = _facts(strands)
    main.note_directory(next((one.project for one in files if one.project), None))
    main.note_directory(facts.get("cwd"))
    main.title = facts.get("name") or facts.get("summary") or reader.title or None
    main.entries = len(reader.events)
    main.times += [at for event in events if not event.copied and (at := event.at)]
    _add_plan(main, strands)
    tokens = [LinkToken("fork", "offer", f"session:{session}")]
    tokens += [LinkToken("fork", "want", f"session:{parent}")] if parent else []
    main.link_tokens = tokens + _offers(session, reader)
    calls = dict(reader.calls)
    readings = [main.reading()]
    for call, own in agents.items():
        readings.append(_read_agent(main, call, own, calls, reader.model))
    return readings


def _events(files: Sequence[Strand], main: ConversationBuilder) -> list[SessionEvent]:
    """Every event once, although a file may lie in two places."""
    found: dict[str, SessionEvent] = {}
    for strand in files:
        for line in records_of(strand, main.troubles):
            event = SessionEvent(line)
            known = found.setdefault(f"{event.id} {event.type}", event)
            if line.present and not known.line.present:
                known.line = line
    return list(found.values())


def _mark_copied(events: Sequence[SessionEvent]) -> str:
    """The session this one was forked from; all events before that were copied from it."""
    for number in range(len(events) - 1, -1, -1):
        event = events[number]
        if event.type == "session.info":
            found = _FORKED.match(string(event.data, "message"))
            if found:
                for earlier in events[:number]:
                    earlier.copied = earlier.type != "session.start"
                return found[1]
    return ""


def _read_agent(
    main: ConversationBuilder,
    call: str,
    events: list[SessionEvent],
    calls: dict[str, Any],
    model: str,
) -> Reading:
    """A sub-agent that writes into the file of its session."""
    session = main.native_id
    builder = ConversationBuilder(main.source, f"{session}/{call}", main.strands, nature="subagent")
    builder.directories = main.directories[:1]
    task = string(calls.get(call), "prompt")
    if task and events and not any(event.type == "user.message" for event in events):
        asked = builder.say(
            events[0].line,
            f"{call}-task",
            "harness",
            "bubble",
            [Text(task)],
            "task of a sub-agent",
            at=events[0].at,
        )
        asked.typed, asked.ends = True, False
    reader = EventReader(builder, events, model)
    reader.read()
    names = (string(event.data, "agentDisplayName") for event in events)
    said = string(calls.get(call), "description") or next(filter(None, names), "")
    builder.title = said or None
    builder.entries = len(events)
    calls |= reader.calls
    builder.link_tokens = [
        LinkToken("subagent", "want", f"call:{session}/{call}"),
        *_offers(session, reader),
    ]
    return builder.reading()


def _offers(session: str, reader: EventReader) -> list[LinkToken]:
    """What sub-agents look for in the conversation that started them."""
    return [
        LinkToken("subagent", "offer", f"call:{session}/{call}", call)
        for call, arguments in reader.calls.items()
        if isinstance(arguments, dict) and "prompt" in arguments
    ]


def _add_plan(main: ConversationBuilder, strands: Sequence[Strand]) -> None:
    """The plan that lies beside the session, as it is now."""
    for strand in strands:
        if strand.role == "plan" and strand.states[-1].runs:
            text = strand.document().decode("utf-8", "replace")
            line = DecodedLine(text, len(main.flow) + 1, True, strand.present, [])
            main.say(line, "plan", "agent", "fold", [Text(text)], "plan", label="plan")


def _facts(strands: Sequence[Strand]) -> dict[str, str]:
    for strand in strands:
        if strand.role == "workspace":
            return flat_yaml(strand.document().decode("utf-8", "replace"))
    return {}


def flat_yaml(text: str) -> dict[str, str]:
    """Fields and texts of a flat YAML document, as its usual writers spell them."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in text.splitlines():
        if field := _FIELD.match(line):
            name = field[1]
            found[name] = [field[2] or ""]
        elif name and (line[:1] in (" ", "\t") or not line.strip()):
            found[name].append(line)
    return {name: _scalar(lines) for name, lines in found.items()}


def _scalar(lines: list[str]) -> str:
    first, rest = lines[0].strip(), [line.strip() for line in lines[1:]]
    if first[:1] in ("|", ">") and len(first) <= 3:
        return _block("\n".join(rest).strip("\n"), folded=first[0] == ">")
    joined = " ".join([first, *filter(None, rest)])
    if joined[:1] == '"' and joined[-1:] == '"':
        try:
            return words(load(joined.replace("\\ ", "").encode()))
        except NotReadable:
            return joined[1:-1]
    if joined[:1] == "'" and joined[-1:] == "'":
        return joined[1:-1].replace("''", "'")
    return "" if joined in ("null", "~") else joined


def _block(text: str, *, folded: bool) -> str:
    return re.sub(r"(?<!\n)\n(?!\n)", " ", text).replace("\n\n", "\n") if folded else text


# ── versions 0.0.3xx: one JSON object per session ──


def _read_document(source: str, session: str, strand: Strand) -> Reading:
    builder = ConversationBuilder(source, session, [strand])
    head = head_of(strand, builder.troubles)
    builder.note_time(string(head, "startTime"))
    builder.note_model(string(head, "selectedModel") or string(head, "model"))
    builder.note_directory(string(head, "cwd"))
    lines, timeline = _lanes(strand, builder)
    typed = [string(one.value, "text") for one in timeline if one.text("type") == "user"]
    builder.times += [at for one in timeline if (at := from_iso(one.text("timestamp")))]
    for number, line in enumerate(lines or timeline, 1):
        if lines:
            _chat_message(builder, line, f"m{number}", typed)
        else:
            _timeline_message(builder, line, f"t{number}")
    builder.entries = len(lines or timeline)
    return builder.reading()


def _lanes(
    strand: Strand, builder: ConversationBuilder
) -> tuple[list[DecodedLine], list[DecodedLine]]:
    if any(run.lane == WHOLE for run in strand.states[-1].runs):
        whole = document_of(strand, builder.troubles)
        found = [
            [DecodedLine(value, n, True, strand.present, []) for n, value in enumerate(some, 1)]
            for some in (items(whole, "chatMessages"), items(whole, "timeline"))
        ]
        return found[0], found[1]
    return (
        list(records_of(strand, builder.troubles, CHAT)),
        list(records_of(strand, builder.troubles, TIMELINE)),
    )


def _chat_message(
    builder: ConversationBuilder, line: DecodedLine, name: str, typed: list[str]
) -> None:
    content = get(line.value, "content")
    blocks = content if isinstance(content, list) else [{"text": content}]
    text = "\n".join(filter(None, (string(block, "text") for block in blocks)))
    parts: list[Part] = [Text(text)] if text else []
    match line.text("role"):
        case "user":
            # What the model got has the date and reminders around it; the timeline has what was typed.
            said = next((one for one in typed if one and one in text), text)
            builder.ask(line, name, [Text(said)])
        case "assistant":
            for call in items(line.value, "tool_calls"):
                function = get(call, "function")
                arguments = json_in(get(function, "arguments"))
                parts.append(ToolCall(string(call, "id"), string(function, "name"), arguments))
            builder.answer(line, name, parts)
        case "tool":
            builder.result(line, name, [ToolResult(line.text("tool_call_id"), "ok", text)])
        case "system":
            rule = "system prompt"
            builder.say(line, name, "harness", "hidden", parts, rule, label=rule)
        case role:
            builder.unknown(line, name, role or "message")


def _timeline_message(builder: ConversationBuilder, line: DecodedLine, name: str) -> None:
    at, text = from_iso(line.text("timestamp")), line.text("text")
    match line.text("type"):
        case "user":
            builder.ask(line, name, [Text(text)], at=at)
        case "copilot":
            builder.answer(line, name, [Text(text)], at=at)
        case kind:
            builder.unknown(line, name, kind or "entry", at=at)
