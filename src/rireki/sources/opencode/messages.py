"""What a session says: prompts, answers with their calls and results, and what the program added."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from rireki.model.conversation import LinkToken, Reading
from rireki.model.message import Author, Display, Usage
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
from rireki.model.times import from_ms
from rireki.sources.kit.fields import amount, get, items, string, words
from rireki.sources.kit.pending import ANSWER, RESULTS, ConversationBuilder, PendingMessage
from rireki.sources.kit.rules import TextRule, rule_of, tagged
from rireki.sources.opencode.store import GatheredSession, KeptVersion, gather

__all__ = ["interpret"]

_SHELL = "The following tool was executed by the user"
#: Texts in a person's place that the program put there.
_ADDED = (
    tagged("reminder", "reminder", "system-reminder", "hidden"),
    TextRule("file for the model", "file", "Called the Read tool", display="fold"),
    TextRule("file for the model", "file", "<path>", display="fold"),
    TextRule("file for the model", "file", "Image read successfully", display="hidden"),
    TextRule("shell command", "shell command", _SHELL, display="hidden"),
    TextRule("synthetic", "added by the program", "", display="fold"),
)
_IGNORED = TextRule("ignored", "not sent to the model", "", display="fold")
_FORKED = "from the session it was forked from"
#: What the client calls a session until the model has named it.
_UNNAMED = re.compile(r"(New|Child) session - \d{4}-\d\d-\d\dT.*")
_TASK = re.compile(r"<task id=\"(ses_\w+)\"|session_id: (ses_\w+)")
_SILENT = ("step-start", "step-finish", "snapshot", "agent")
_CANCELLED = ("The user rejected permission", "Tool execution aborted", "The user dismissed")


def interpret(source: str, id: str, strands: Sequence[Strand]) -> list[Reading]:
    builder = ConversationBuilder(source, id, strands)
    session = gather(strands, builder.troubles)
    known = session.messages or session.info or session.parts or session.queued
    # What is not understood is shown in a session; the log of events is of projects as well.
    if not (known or builder.troubles or (session.others and id.startswith("ses"))):
        return []
    reader = _SessionReader(session, builder)
    reader.read()
    reading = builder.reading()
    if reader.copied_prompts:
        # What it took over is older than itself.
        reading.conversation.started_at = _time(session.about)
    return [reading]


class _SessionReader:
    """Goes through the messages of a session and says what is in them to a builder."""

    def __init__(self, session: GatheredSession, builder: ConversationBuilder) -> None:
        self.session = session
        self.builder = builder
        self.about = session.about
        self.parent = string(self.about, "parentID")
        #: When the prompts were typed: those taken over from another session, and its own.
        self.copied_prompts: list[int] = []
        self.own_prompts: list[int] = []
        #: Sessions that this one started, and the calls that did.
        self.children: dict[str, str] = {}
        self._left = session.left()
        self._shells: set[str] = set()
        self._kept: KeptVersion
        self._copied = self._abandoned = False

    def read(self) -> None:
        builder, about = self.builder, self.about
        builder.note_directory(string(about, "directory"))
        builder.note_time(_time(about))
        title = string(about, "title")
        builder.title = title if title and not _UNNAMED.fullmatch(title) else None
        if self.parent:
            builder.nature = "subagent"
        for id in sorted(self.session.messages):
            self._message(id, self.session.messages[id])
        for message in sorted(self.session.parts.keys() - self.session.messages.keys()):
            self._orphans(message)
        if get(about, "revert", "messageID") and builder.flow:
            label = "went back to an earlier point"
            last = self.session.messages[max(self.session.messages)].line
            parts = [Text(string(about["revert"], "diff"))]
            builder.say(last, "revert", "harness", "divider", parts, label, label=label)
        for number, line in enumerate(self.session.queued):
            typed = [Text(string(get(line.value, "prompt"), "text"))]
            name, rule = f"queued-{number}", "queued prompt"
            builder.say(line, name, "person", "chip", typed, rule, label="queued prompt")
        for number, (what, line) in enumerate(self.session.others):
            builder.unknown(line, f"other-{number}", what)
        builder.link_tokens = list(self._link_tokens())

    def _orphans(self, message: str) -> None:
        """Parts whose message was never seen: said all the same."""
        for id, kept in sorted(self.session.parts[message].items()):
            self.builder.unknown(kept.line, id, string(kept.value, "type") or "part")

    def _message(self, id: str, kept: KeptVersion) -> None:
        value, parts = kept.value, self._parts(id)
        self._kept = kept
        created = _number(value, "time", "created")
        begun = _number(self.about, "time", "created")
        self._copied = not self.parent and 0 < created < begun
        self._abandoned = id in self._left or self._is_reverted(id)
        self.builder.entries += 1
        match string(value, "role"):
            case "user":
                self._ask(id, value, parts)
            case "assistant":
                self._answer(id, value, parts)
            case "none":
                pass
            case role:
                told = self.builder.unknown(kept.line, id, role or "message", at=_time(value))
                self._mark(told)
                self._unknown(parts)
        for part in parts:
            self._earlier(id, part)

    def _parts(self, message: str) -> list[KeptVersion]:
        found = self.session.parts.get(message, {})
        return [kept for _, kept in sorted(found.items())]

    def _is_reverted(self, id: str) -> bool:
        point, part = (string(self.about.get("revert"), name) for name in ("messageID", "partID"))
        return bool(point) and (id > point or (id == point and not part))

    # ── what a person sent ──

    def _ask(self, id: str, value: Any, parts: Sequence[KeptVersion]) -> None:
        if system := string(value, "system"):
            prompt = [Text(system)]
            self._say(f"{id}.system", "harness", "hidden", prompt, "system prompt", "system prompt")
        typed: list[Part] = []
        added: list[tuple[KeptVersion, TextRule]] = []
        for part in parts:
            kind, text = string(part.value, "type"), string(part.value, "text")
            if kind == "text":
                rule = self._judge(part.value, text)
                typed += [Text(text)] if rule is None else []
                added += [(part, rule)] if rule is not None else []
            elif kind == "file":
                typed.append(self._file(part.value))
            elif kind == "subtask":
                typed.append(Text(string(part.value, "prompt")))
            elif kind == "compaction":
                label = "context compacted"
                self._say(_id(part), "harness", "divider", [], label, label)
            elif kind not in _SILENT:
                self._unknown([part])
        if typed:
            self._typed(id, typed, value)
        for part, rule in added:
            self._added(id, part, rule)

    def _judge(self, part: Any, text: str) -> TextRule | None:
        """The rule of a text that no person typed."""
        if get(part, "ignored") is True:
            return _IGNORED
        is_added = get(part, "synthetic") is True
        return rule_of(text, _ADDED if is_added else _ADDED[:1])

    def _typed(self, id: str, parts: Sequence[Part], value: Any) -> None:
        author: Author = "harness" if self.parent else "person"
        rule = "task of a sub-agent" if self.parent else "typed prompt"
        asked = self._say(id, author, "bubble", parts, rule, role="user")
        asked.typed, asked.ends = not self._copied, None if self._copied else False
        prompts = self.copied_prompts if self._copied else self.own_prompts
        prompts.append(_number(value, "time", "created"))

    def _added(self, message: str, part: KeptVersion, rule: TextRule) -> None:
        text = string(part.value, "text")
        if text.startswith(_SHELL):
            self._shells.add(message)
        self._say(_id(part), rule.author, rule.display, [Text(text)], rule.name, rule.label)

    def _file(self, part: Any) -> Part:
        """A picture or a file, from inside the record or by its name."""
        url, name = string(part, "url"), string(part, "filename")
        if url.startswith("data:") and (found := self.builder.pictures.add_url(url, name)):
            return found
        return Attachment(
            string(part, "mime") or "application/octet-stream", name=name or url[:200]
        )

    # ── what the agent said ──

    def _answer(self, id: str, value: Any, parts: Sequence[KeptVersion]) -> None:
        """One call of the model. In old versions one message has several: results end each of them."""
        self._use(value)
        said: list[Part] = []
        results: list[Part] = []
        for number, part in enumerate(parts):
            kind, text = string(part.value, "type"), string(part.value, "text")
            if results and kind in ("text", "reasoning"):
                self._reply(f"{id}.{number}", value, said, results)
                said, results = [], []
            if kind in ("text", "reasoning"):
                said += [Text(text) if kind == "text" else Thinking(text)] if text else []
            elif kind == "tool":
                said.append(self._call(part.value, results))
            elif kind == "file":
                said.append(self._file(part.value))
            elif kind == "patch":
                files = "\n".join(map(words, items(part.value, "files")))
                label = "files changed"
                self._say(_id(part), "harness", "fold", [Text(files)], label, label)
            elif kind == "retry":
                error = [Notice(_error(get(part.value, "error")), "warning")]
                self._say(_id(part), "harness", "chip", error, "API error", "API error")
            elif kind not in _SILENT:
                self._unknown([part])
        finish = string(value, "finish")
        over = bool(_number(value, "time", "completed")) and finish != "tool-calls"
        self._reply(id, value, said, results, ends=over and (bool(finish) or not results))
        if error := value.get("error"):
            self._failed(id, error)

    def _reply(
        self, id: str, value: Any, said: list[Part], results: list[Part], ends: bool = False
    ) -> None:
        author: Author = "agent"
        display: Display = "bubble"
        rule, label = ANSWER, None
        if value.get("summary") is True:
            display, rule, label = "fold", "summary", "summary"
        elif value.get("shell") is True or string(value, "parentID") in self._shells:
            call = next((part for part in said if isinstance(part, ToolCall)), None)
            label = f"! {string(call.arguments, 'command')}" if call else None
            author, display, rule = "person", "chip", "shell command"
        if said:
            told = self._say(id, author, display, said, rule, label, role="assistant")
            told.message.model = string(value, "modelID") or None
            told.ends = None if self._copied or author == "person" else ends and not results
        if results:
            ended = self._say(f"{id}.results", "tool", "fold", results, RESULTS, role="user")
            ended.ends = None if self._copied or author == "person" else False

    def _call(self, part: Any, results: list[Part]) -> ToolCall:
        state, call = get(part, "state"), string(part, "callID") or string(part, "id")
        status = string(state, "status")
        if status in ("completed", "error"):
            output = words(get(state, "output" if status == "completed" else "error"))
            results.append(ToolResult(call, _status(status, state, output), output))
            results += [self._file(one) for one in items(state, "attachments")]
        if not self._copied and (child := _child(state)):
            self.children[child] = call
        return ToolCall(call, string(part, "tool"), get(state, "input"))

    def _use(self, value: Any) -> None:
        """The tokens of an answer. A copy of it in a fork has the same times, and counts with it."""
        model, tokens = string(value, "modelID"), get(value, "tokens")
        self.builder.note_model(model)
        self.builder.note_directory(string(get(value, "path"), "cwd"))
        usage = Usage(
            _number(tokens, "input"),
            _number(tokens, "output"),
            _number(tokens, "cache", "read"),
            _number(tokens, "cache", "write"),
        )
        # What the log alone remembers is in none of the client's own totals.
        if usage != Usage() and not self._kept.is_logged_only:
            created, completed = (_number(value, "time", end) for end in ("created", "completed"))
            # What says no time is told apart by its id.
            when = f"{created}-{completed}" if created else string(value, "id")
            key = f"{self.builder.source}:{when}-{model}"
            noted = amount(value, "cost")
            self.builder.note_usage(key, model or "unknown", usage, _time(value), cost=noted)

    def _failed(self, id: str, error: Any) -> None:
        author: Author = "harness"
        said, label = Notice(_error(error), "error"), "API error"
        if string(error, "name") == "MessageAbortedError":
            author, label = "person", "interrupted"
            said = Notice("The turn was interrupted.", "warning")
        self._say(f"{id}.error", author, "chip", [said], label, label).ends = False

    # ── putting down ──

    def _unknown(self, parts: Sequence[KeptVersion]) -> None:
        for part in parts:
            what = string(part.value, "type") or "part"
            told = [Unknown(what, part.value)]
            self._say(_id(part), "harness", "fold", told, "not understood", what)

    def _earlier(self, message: str, part: KeptVersion) -> None:
        """What a part said before, where that is not how what it says now begins."""
        known = [_saying(part.value)]
        for number, value in enumerate(reversed(part.earlier), 1):
            said = _saying(value)
            if said and not any(said in one for one in known):
                known.append(said)
                name, label = f"{_id(part)}~{number}", "earlier version"
                told = self._say(name, "harness", "fold", [Text(said)], label, label)
                told.message.replaced_by, told.message.upstream = message, "gone"

    def _say(
        self,
        name: str,
        author: Author,
        display: Display,
        parts: Sequence[Part],
        rule: str,
        label: str | None = None,
        role: str = "",
    ) -> PendingMessage:
        kept = self._kept
        at, role = _time(kept.value), role or string(kept.value, "role")
        told = self.builder.say(
            kept.line, name, author, display, parts, rule, at=at, label=label, role=role
        )
        parts_of = self.session.parts.get(string(kept.value, "id"), {}).values()
        told.refs += [ref for part in parts_of for ref in part.line.refs]
        self._mark(told)
        return told

    def _mark(self, told: PendingMessage) -> None:
        """Whether it is still said, and whether it was said here."""
        message = told.message
        message.abandoned = self._abandoned
        told.copied = self._copied
        if self._kept.is_logged_only:
            message.upstream = "gone"
        if self._copied and message.display == "bubble":
            message.display, message.label = "fold", _FORKED

    # ── other sessions ──

    def _link_tokens(self) -> Iterator[LinkToken]:
        id = self.builder.native_id
        yield LinkToken("subagent", "offer", f"session:{id}")
        for child, call in self.children.items():
            yield LinkToken("subagent", "offer", f"agent:{child}", call)
        if self.parent:
            yield LinkToken("subagent", "want", f"agent:{id}")
            yield LinkToken("subagent", "want", f"session:{self.parent}")
        # A fork does not say what it was made from: the prompts that it copied keep their times.
        for at in self.own_prompts:
            yield LinkToken("fork", "offer", f"prompt:{at}")
        if self.copied_prompts:
            yield LinkToken("fork", "want", f"prompt:{self.copied_prompts[-1]}")
            yield LinkToken("fork", "share", f"copy:{self.copied_prompts[0]}")


def _id(part: KeptVersion) -> str:
    return string(part.value, "id")


def _saying(part: Any) -> str:
    return string(part, "text") or string(get(part, "state"), "output")


def _error(error: Any) -> str:
    return string(get(error, "data"), "message") or string(error, "name") or words(error)


def _status(status: str, state: Any, output: str) -> ResultStatus:
    """How a tool ended. A command that failed is completed, with its exit code beside it."""
    if status == "error":
        return "cancelled" if output.startswith(_CANCELLED) else "error"
    return "ok" if get(state, "metadata", "exit") in (0, None) else "error"


def _child(state: Any) -> str:
    """The session that a call started: beside its output, or in it."""
    if child := string(get(state, "metadata"), "sessionId"):
        return child
    found = _TASK.search(string(state, "output")[:400])
    return (found[1] or found[2]) if found else ""


def _time(value: Any) -> str | None:
    created = _number(value, "time", "created")
    return from_ms(created) if created else None


def _number(value: Any, *path: str) -> int:
    found = get(value, *path)
    return found if isinstance(found, int) and 0 <= found < 1 << 53 else 0
