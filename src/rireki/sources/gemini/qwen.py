"""Sessions of Qwen Code (0.5 and later): lines that form a tree, with parts as Gemini has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rireki.model.conversation import Answer, LinkToken, Reading
from rireki.model.parts import Notice, Part, ResultStatus, Text, Thinking, ToolResult
from rireki.model.strand import Strand
from rireki.sources.gemini.beside import put_between, typed_lines
from rireki.sources.gemini.chats import ChatMessage
from rireki.sources.gemini.messages import TASK, say_asked
from rireki.sources.gemini.texts import (
    call_of,
    content_of,
    number,
    parts_of,
    response_of,
    usage_of,
)
from rireki.sources.kit.decode import text_of
from rireki.sources.kit.fields import get, items, string, words
from rireki.sources.kit.pending import ConversationBuilder
from rireki.sources.kit.records import DecodedLine, document_of, records_of
from rireki.sources.kit.rules import TextRule

__all__ = ["read_qwen"]

NAME = "qwen-code"
FORKED = "from the session it was forked from"
#: What is no message, and says nothing to people that another line does not.
_SILENT = frozenset(
    (
        *("ui_telemetry", "attribution_snapshot", "at_command", "session_source", "session_model"),
        *("session_approval_mode", "file_history_snapshot", "user_text_elements", "turn_result"),
        *("session_artifact_event", "session_artifact_snapshot", "session_sources_snapshot"),
        *("branch_checkpoint", "goal_state", "goal_turn_end", "agent_bootstrap", "agent_retry"),
        *("agent_launch_prompt", "agent_session_ready", "session_notes", "omni_recall"),
        "session_execution_engine",
    )
)
#: Lines in a person's place that a program wrote.
_PROGRAM = {
    "notification": TextRule("background task", "a background task ended", ""),
    "cron": TextRule("scheduled", "scheduled prompt", "", display="fold"),
    "goal_runtime": TextRule("goal", "goal", "", display="fold"),
}
_ADDED = TextRule("put in by the program", "put in by the program", "", display="fold")
#: Lines in a person's place that were typed after all.
_TYPED = ("", "mid_turn_user_message", "realtime_message")
_STATUSES: dict[str, ResultStatus] = {"error": "error", "cancelled": "cancelled", "success": "ok"}


def read_qwen(group: str, strands: Sequence[Strand]) -> list[Reading]:
    """The session of a file, or a sub-agent of one."""
    files = [strand for strand in strands if strand.role in ("session", "session-agent")]
    troubles: list[Any] = []
    sessions: dict[str, dict[str, DecodedLine]] = {}
    for strand in files:
        lines = sessions.setdefault(_stem(strand), {})
        for line in records_of(strand, troubles):
            # The same file may lie in two places: each line counts once.
            name = line.text("uuid") or text_of(line.value)
            known = lines.setdefault(name, line)
            lines[name] = known._replace(present=known.present or line.present)
    found: list[Reading] = []
    for name, lines in sessions.items():
        builder = ConversationBuilder(NAME, name, [one for one in files if _stem(one) == name])
        builder.troubles, troubles = troubles, []
        reader = _Session(builder, list(lines.values()))
        if any(strand.role == "session-agent" for strand in files):
            reader.read_agent(group, [one for one in strands if one.role == "meta"])
        else:
            reader.read()
            typed = [one for one in strands if one.role == "typed" and one.key == name]
            put_between(builder, typed_lines(typed, builder.troubles))
            # By this a journal of whoever drove the agent finds the session.
            builder.link_tokens.append(LinkToken("alias", "offer", group))
        if builder.flow or builder.troubles:
            found.append(builder.reading())
    return found


def _stem(strand: Strand) -> str:
    return strand.place.replace("\\", "/").rpartition("/")[2].removesuffix(".jsonl")


class _Session:
    """Goes through the lines of one file and says what is in them to a builder."""

    def __init__(self, builder: ConversationBuilder, lines: Sequence[DecodedLine]) -> None:
        self.builder = builder
        self.lines = [line for line in lines if isinstance(line.value, dict)]
        self.odd = [line for line in lines if not isinstance(line.value, dict)]
        self.abandoned = _abandoned(self.lines)
        #: The model of answers that name none.
        self.model = ""
        self.calls: dict[str, None] = {}

    def read(self) -> None:
        self._lines()
        id = self.builder.native_id
        forks = dict.fromkeys(
            string(get(one.value, "forkedFrom"), "sessionId") for one in self.lines
        )
        starters = [
            string(get(one.value, "systemPayload"), "parentSessionId")
            for one in self.lines
            if one.text("subtype") == "parent_session"
        ]
        self.builder.link_tokens = [
            LinkToken("fork", "offer", f"session:{id}"),
            *(LinkToken("fork", "want", f"session:{one}") for one in forks if one and one != id),
            *(LinkToken("subagent", "want", f"started:{one}") for one in starters[:1] if one),
            *(LinkToken("subagent", "offer", f"call:{id}/{call}") for call in self.calls),
            LinkToken("subagent", "offer", f"started:{id}"),
        ]

    def read_agent(self, group: str, notes: Sequence[Strand]) -> None:
        builder = self.builder
        told = document_of(notes[0], builder.troubles) if notes else None
        builder.nature, builder.name = "subagent", group
        builder.native_id = string(told, "agentId") or builder.native_id.removeprefix("agent-")
        builder.title = string(told, "description") or None
        self.model = string(told, "model")
        self._lines()
        parent = group.partition("/")[0]
        call = string(told, "toolUseId")
        wanted = [f"call:{parent}/{call}"] if call else []
        builder.link_tokens = [
            *(LinkToken("subagent", "want", token) for token in [*wanted, f"started:{parent}"]),
            *(LinkToken("subagent", "offer", f"call:{parent}/{one}") for one in self.calls),
        ]

    def _lines(self) -> None:
        for line in self.odd:
            self.builder.unknown(line, f"line-{line.position}", "line")
        for line in self.lines:
            before = len(self.builder.flow)
            copied = isinstance(line.value.get("forkedFrom"), dict)
            self.builder.note_directory(line.text("cwd"))
            self._take(line, copied)
            if copied:
                self.builder.set_aside(before, FORKED)
            else:
                self.builder.entries += 1
                self.builder.note_time(line.value.get("timestamp"))
            for one in self.builder.flow[before:]:
                one.message.abandoned = line.text("uuid") in self.abandoned

    def _take(self, line: DecodedLine, copied: bool) -> None:
        said = ChatMessage(line.text("type"), line.value | {"id": self._name(line)}, line)
        match said.type:
            case "user":
                self._asked(said)
            case "assistant":
                self._answer(said, copied)
            case "tool_result":
                self._results(said)
            case "system":
                self._system(said, copied)
            case kind:
                self.builder.unknown(line, said.id, kind or "line", at=said.at)

    def _name(self, line: DecodedLine) -> str:
        return line.text("uuid") or f"line-{line.position}"

    def _asked(self, said: ChatMessage) -> None:
        value, subtype = said.value, string(said.value, "subtype")
        content = content_of(get(value, "message", "parts"), self.builder.pictures, asked=True)
        shown = string(get(value, "systemPayload"), "displayText")
        origin = string(value, "provenance") or "real_user"
        rule: TextRule | None = _PROGRAM.get(subtype)
        if rule is None and (origin != "real_user" or subtype not in _TYPED):
            rule = _ADDED
        if self.builder.nature == "subagent" and rule is None:
            rule = TASK
        if rule is not None and rule is not TASK:
            # Whatever it looks like: the client says itself that nobody typed it.
            texts = [
                Text(text)
                for one in parts_of(get(value, "message", "parts"))
                if (text := string(one, "text"))
            ]
            self.builder.ask(said.line, said.id, texts or content.said, rule=rule, at=said.at)
            return
        if shown and content.said and shown != content.text and rule is None:
            content.given = content.text
            pictures = [part for part in content.said if not isinstance(part, Text)]
            content.said = [Text(shown), *pictures]
        say_asked(self.builder, said, content, rule)

    def _answer(self, said: ChatMessage, copied: bool) -> None:
        value = said.value
        content = content_of(get(value, "message", "parts"), self.builder.pictures, asked=False)
        usage = get(value, "usageMetadata")
        read = number(usage, "promptTokenCount")
        written = max(
            number(usage, "candidatesTokenCount"),
            number(usage, "totalTokenCount") - read if read else 0,
        )
        model = string(value, "model")
        used = usage_of(read, number(usage, "cachedContentTokenCount"), written)
        if used is not None and not copied:
            # A sub-agent's lines name no model; what it was started with is what its tokens are counted for.
            answered = Answer(said.id, model or self.model or "unknown", used, said.at)
            self.builder.answers.append(answered)
        calls = [call_of(one, f"{said.id}-{n}") for n, one in enumerate(content.calls)]
        if not copied:
            self.calls |= dict.fromkeys(call.call_id for call in calls)
        parts: list[Part] = [*map(Thinking, content.thoughts), *content.said, *calls]
        if parts:
            self.builder.answer(said.line, said.id, parts, at=said.at, model=model or None)

    def _results(self, said: ChatMessage) -> None:
        content = content_of(
            get(said.value, "message", "parts"), self.builder.pictures, asked=False
        )
        about = get(said.value, "toolCallResult")
        parts: list[Part] = []
        for response in content.results:
            text, ended, pictures = response_of(response, self.builder.pictures)
            status = _STATUSES.get(string(about, "status"), ended)
            call = string(response, "id") or string(about, "callId")
            parts += [ToolResult(call, status, text), *pictures]
        if parts or content.said:
            self.builder.result(said.line, said.id, [*parts, *content.said], at=said.at)

    # ── what is no message ──

    def _system(self, said: ChatMessage, copied: bool) -> None:
        payload = get(said.value, "systemPayload")
        match string(said.value, "subtype"):
            case "custom_title":
                if not copied:
                    self.builder.title = string(payload, "customTitle") or self.builder.title
            case "slash_command":
                self._command(said, payload)
            case "chat_compression":
                self._divide(said, "context compacted", _summary(payload))
            case "rewind":
                self._divide(said, "went back to an earlier point", "")
            case "background_task_completed":
                self._notice(said, string(payload, "displayText"), "background task")
            case "ui_telemetry" if string(get(payload, "uiEvent"), "event.name").endswith(
                "api_error"
            ):
                self._notice(said, _error(get(payload, "uiEvent")), "API error")
            case "parent_session":
                pass  # a link, not a message
            case kind if kind not in _SILENT:
                self.builder.unknown(said.line, said.id, kind or "system", at=said.at)

    def _command(self, said: ChatMessage, payload: Any) -> None:
        command = string(payload, "rawCommand")
        shown = [
            text for one in items(payload, "outputHistoryItems") if (text := string(one, "text"))
        ]
        if string(payload, "phase") == "result":
            if shown:
                self._say(said, "harness", [Text("\n".join(shown))], "output of a command")
        elif get(payload, "sentToModel") is not True:
            self._say(said, "person", [Text(command)], "command", command[:80])

    def _say(
        self, said: ChatMessage, author: Any, parts: Sequence[Part], rule: str, label: str = ""
    ) -> None:
        self.builder.say(
            *(said.line, said.id, author, "chip", parts, rule), label=label or rule, at=said.at
        )

    def _notice(self, said: ChatMessage, text: str, rule: str) -> None:
        self._say(said, "harness", [Notice(text, "error" if "error" in rule else "info")], rule)

    def _divide(self, said: ChatMessage, label: str, text: str) -> None:
        self.builder.say(
            *(said.line, said.id, "harness", "divider", [Text(text)], label),
            label=label,
            at=said.at,
        )


def _error(event: Any) -> str:
    return string(event, "error_message") or string(event, "error") or words(event)


def _summary(payload: Any) -> str:
    """What the model is told instead of what was said."""
    history = items(payload, "compressedHistory")
    texts = [string(part, "text") for part in items(history[0], "parts")] if history else []
    return "\n".join(filter(None, texts))


def _abandoned(lines: Sequence[DecodedLine]) -> set[str]:
    """The lines that the last message does not go back to: somebody went back to an earlier point,
    as a line says, or as a prompt shows that hangs elsewhere."""
    parents = {line.text("uuid"): line.text("parentUuid") for line in lines if line.text("uuid")}
    rewound = any(line.text("subtype") == "rewind" for line in lines)
    said = [line.text("uuid") for line in lines if _is_point(line)]
    current: str = next(filter(None, reversed(said)), "")
    kept: set[str] = set()
    while current in parents and current not in kept:
        kept.add(current)
        current = parents[current]
    if current and current not in kept:
        # A chain that breaks tells nothing of what lies before.
        return set()
    beside, left = set(kept), set()
    for line in lines:
        uuid, above = line.text("uuid"), line.text("parentUuid")
        if not uuid or uuid in kept:
            continue
        if above in beside:
            beside.add(uuid)
        if rewound or above in left or (above in beside and line.text("type") == "user"):
            left.add(uuid)
    return left


def _is_point(line: DecodedLine) -> bool:
    """Whether a session goes on from that line. Notes, as of a title, may hang anywhere."""
    return line.text("type") != "system" or line.text("subtype") == "rewind"
