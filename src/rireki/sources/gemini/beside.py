"""What lies beside the chats of Gemini's kind: prompts as they were typed, and saved histories.

The list of prompts is one file for all sessions of a project; each session gets its part of it. A saved
history (`/chat save`, or the state before an edit) tells what was said where the chat itself is gone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from rireki.model.message import Display
from rireki.model.parts import Notice, Part, Text
from rireki.model.strand import Ref, Strand
from rireki.model.times import from_iso, from_ms
from rireki.sources.gemini.reader import TYPED
from rireki.sources.gemini.texts import shell_command
from rireki.sources.kit.decode import NotReadable, load, text_of
from rireki.sources.kit.fields import get, items, string
from rireki.sources.kit.pending import ConversationBuilder
from rireki.sources.kit.records import DecodedLine, records_of

__all__ = ["COMMAND", "put_between", "say_survivors", "saved_history", "typed_lines"]

SURVIVORS = "Only what was typed survives of this session; its chat was never seen."
COMMAND, LOST = "command", "typed, and not in the chat"


def typed_lines(strands: Iterable[Strand], troubles: list[Any]) -> list[DecodedLine]:
    """What was typed in a session, in order. A list that was taken over into another folder says it once."""
    lines = [line for strand in strands for line in records_of(strand, troubles, TYPED)]
    found: dict[str, DecodedLine] = {}
    for line in lines:
        known = found.setdefault(text_of(line.value), line)
        found[text_of(line.value)] = known._replace(present=known.present or line.present)
    return list(found.values())


def say_survivors(builder: ConversationBuilder, lines: Sequence[DecodedLine]) -> None:
    """All that is left of a session whose chat nobody has."""
    builder.nature = "prompts"
    label = "typed prompts only"
    notice = [Notice(SURVIVORS, "warning")]
    at = _at(lines[0])
    builder.say(
        lines[0], "survivors", "harness", "chip", notice, label, label=label, at=at
    ).refs.clear()
    for line in lines:
        if line.text("message").startswith("/"):
            _say(builder, line, COMMAND)
        else:
            name = _name(line)
            builder.ask(line, name, [Text(line.text("message"))], at=_at(line))
    builder.entries = len(lines)


def put_between(builder: ConversationBuilder, lines: Sequence[DecodedLine]) -> None:
    """What was typed and is in no chat, commands to the client above all, where it was typed."""
    said = Counter(_typed(builder))
    for line in lines:
        text = line.text("message").strip()
        if said[text] > 0:
            said[text] -= 1
            continue
        before = len(builder.flow)
        _say(builder, line, COMMAND if text.startswith(("/", "?")) else LOST)
        (told,) = builder.flow[before:]
        del builder.flow[before:]
        at = told.message.at or ""
        place = next((n for n, m in enumerate(builder.flow) if (m.message.at or "") > at), before)
        builder.flow.insert(place, told)


def _typed(builder: ConversationBuilder) -> list[str]:
    """What the person typed, as the list of prompts would have it."""
    found: list[str] = []
    for one in builder.flow:
        texts = [part.text for part in one.message.parts if isinstance(part, Text)]
        if one.message.author == "person" and texts:
            found += [texts[0].strip(), texts[0].removeprefix("! ").strip()][: 1 + (len(texts) > 1)]
    return found


def _say(builder: ConversationBuilder, line: DecodedLine, rule: str) -> None:
    text = line.text("message")
    parts: list[Part] = [Text(text)]
    display: Display = "chip"
    builder.say(
        line, _name(line), "person", display, parts, rule, label=text[:80] or rule, at=_at(line)
    )


def _name(line: DecodedLine) -> str:
    number = get(line.value, "messageId")
    return f"typed-{number if isinstance(number, int) else line.position}"


def _at(line: DecodedLine) -> str | None:
    return from_iso(get(line.value, "timestamp"))


# ── saved histories ──


def saved_history(strands: Iterable[Strand]) -> list[DecodedLine]:
    """The longest of some saved histories, as the messages of a chat."""
    found = [_messages(strand) for strand in strands]
    return max(found, key=len, default=[])


def _messages(strand: Strand) -> list[DecodedLine]:
    try:
        value = load(strand.document())
    except NotReadable:
        return []
    history = value if isinstance(value, list) else items(value, "history")
    runs = [run for run in strand.states[-1].runs if run.records]
    numbers = strand.states[-1].ordinals(runs[0].lane)[0] if runs else []
    refs = [Ref(strand.id, runs[0].lane, numbers[0])] if numbers else []
    told = [_message(one, f"saved-{n}") for n, one in enumerate(history, 1)]
    return [DecodedLine(one, n, True, strand.present, refs) for n, one in enumerate(told, 1)]


def _message(entry: Any, name: str) -> dict[str, Any]:
    """An entry of a history: of the model's, with parts; or of the terminal's, with a text."""
    moment = get(entry, "id")
    at = from_ms(moment) if isinstance(moment, int | float) else None
    message: dict[str, Any] = {"id": name, "timestamp": at}
    if role := string(entry, "role"):
        kind = "gemini" if role == "model" else role
        return message | {"type": kind, "content": items(entry, "parts")}
    kind, text = string(entry, "type"), string(entry, "text")
    if kind == "tool_group":
        return message | {"type": "gemini", "toolCalls": [_tool(t) for t in items(entry, "tools")]}
    if kind == "user_shell":
        return message | {"type": "user", "content": f"! {shell_command(text)[0]}"}
    if text:
        return message | {"type": kind.removesuffix("_content"), "content": text}
    return message | {"type": "info", "content": ""}


def _tool(tool: Any) -> dict[str, Any]:
    status = string(tool, "status").lower()
    return {
        "id": string(tool, "callId"),
        "name": string(tool, "name"),
        "args": get(tool, "args"),
        "status": {"canceled": "cancelled"}.get(status, status),
        "resultDisplay": get(tool, "resultDisplay"),
    }
