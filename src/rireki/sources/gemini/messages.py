"""What the messages of a chat of Gemini's kind come to: prompts, answers, calls and results, notices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import pairwise
from typing import Any, Literal

from rireki.model.message import Author, Display
from rireki.model.parts import Notice, Part, ResultStatus, Text, Thinking, ToolCall, ToolResult
from rireki.sources.gemini.chats import REWIND, ChatMessage, ChatSession
from rireki.sources.gemini.texts import (
    FILLER,
    FILLER_AFTER_SUMMARY,
    SHELL,
    SUMMARY,
    MessageContent,
    call_of,
    content_of,
    number,
    parts_of,
    picture_of,
    response_of,
    shell_command,
    task_of,
    usage_of,
)
from rireki.sources.kit.fields import get, items, string, words
from rireki.sources.kit.pending import ConversationBuilder, PendingMessage
from rireki.sources.kit.pictures import Pictures
from rireki.sources.kit.rules import TextRule

__all__ = ["TASK", "ChatReader", "say_asked", "task_token"]

TASK = TextRule("task of a sub-agent", "", "", display="bubble")
_STATUSES: dict[str, ResultStatus] = {
    "success": "ok",
    "error": "error",
    "cancelled": "cancelled",
}
_LEVELS: dict[str, Literal["info", "warning", "error"]] = {
    "info": "info",
    "warning": "warning",
    "error": "error",
}
#: What the client says when the person pressed Esc, or did not allow a call.
_CANCELLED = "Request cancelled."
_GIVEN = TextRule("given to the model", "what the model was given", "")


def task_token(session: str, task: str) -> str:
    """What a sub-agent and the call that started it have in common where no id is."""
    return f"task:{session}/{sha256(task.strip().encode('utf-8', 'replace')).hexdigest()[:32]}"


class ChatReader:
    """Goes through the messages of one chat and says what is in them to a builder."""

    def __init__(self, chat: ChatSession, builder: ConversationBuilder) -> None:
        self.chat = chat
        self.builder = builder
        #: What was asked of sub-agents, by call; and the sub-agents that calls name.
        self.tasks: dict[str, str] = {}
        self.children: dict[str, str] = {}
        calls = [call for said in chat.flow for call in items(said.value, "toolCalls")]
        self._statuses = {string(call, "id"): string(call, "status") for call in calls}
        self._answered = {string(call, "id") for call in calls if get(call, "result")}
        #: What the client thanks itself for is a summary, even where no tags are around it.
        self._summaries = {said for said, after in pairwise(chat.flow) if _thanks(after)}
        #: Results that stand in messages of their own.
        self._told = {
            string(get(part, "functionResponse"), "id")
            for said in chat.flow
            if said.type == "user"
            for part in parts_of(said.value.get("content"))
        }

    def read(self) -> None:
        goes_on = False
        for said in self.chat.flow:
            before = len(self.builder.flow)
            self._take(said)
            for one in self.builder.flow[before:]:
                is_there = one.message.upstream == "present"
                # The old form has no mark: the file is written again without what was left.
                one.message.abandoned = said.abandoned or (goes_on and not is_there)
                goes_on = goes_on or (is_there and one.message.display == "bubble")
                said.names.append(one.message.id)

    def _take(self, said: ChatMessage) -> None:
        match said.type:
            case "user":
                content = content_of(said.value.get("content"), self.builder.pictures, asked=True)
                self._asked(said, content)
            case "gemini":
                self._answer(said)
            case "info" | "warning" | "error":
                self._notice(said)
            case kind if kind == REWIND:
                self._divide(said, said.id, "went back to an earlier point")
            case kind:
                name = said.id or f"line-{said.line.position}"
                what = kind.lstrip("$") or "line"
                told = said.line._replace(value=said.value)
                self.builder.unknown(told, name, what, at=said.at)

    def _asked(self, said: ChatMessage, content: MessageContent) -> None:
        shown = said.value.get("displayContent")
        if shown and content.said:
            seen = content_of(shown, self.builder.pictures, asked=True)
            if seen.text and seen.text != content.text:
                content.given, content.said = content.text, seen.said
        if said in self._summaries and content.said:
            content.injected.append((SUMMARY, content.text))
            content.said = []
        if any(rule.name == SUMMARY.name for rule, _ in content.injected):
            self._divide(said, f"{said.id}.compacted", "context compacted")
        say_asked(self.builder, said, content)
        results = [(string(one, "id"), one) for one in content.results]
        told = [
            self._result(one, id, self._statuses.get(id))
            for id, one in results
            if id not in self._answered
        ]
        self._results(said, told)

    def _divide(self, said: ChatMessage, name: str, label: str) -> None:
        self.builder.say(said.line, name, "harness", "divider", [Text("")], label, label=label)

    def _notice(self, said: ChatMessage) -> None:
        text = content_of(said.value.get("content"), self.builder.pictures, asked=False).text
        display: Display = "chip" if text.strip() else "hidden"
        author: Author = "harness"
        notice, label = Notice(text, _LEVELS[said.type]), "notice"
        if said.type == "error":
            label = "error"
        elif text.strip() == _CANCELLED:
            author, label = "person", "interrupted"
            notice = Notice("The turn was interrupted.", "warning")
        told = self.builder.say(
            *(said.line, said.id, author, display, [notice], label), label=label, at=said.at
        )
        told.ends = None if label == "notice" else False

    # ── answers ──

    def _answer(self, said: ChatMessage) -> None:
        value = said.value
        content = content_of(value.get("content"), self.builder.pictures, asked=False)
        self._count(said)
        thoughts = [_thought(one) for one in items(value, "thoughts")] or content.thoughts
        calls = self._calls(said, content)
        parts: list[Part] = [*(Thinking(text) for text in thoughts if text), *content.said, *calls]
        if not string(value, "model") and content.text.strip() in FILLER:
            rule = "put in by the program"
            self.builder.say(
                said.line, said.id, "harness", "fold", parts, rule, label=rule, at=said.at
            )
        elif parts:
            model = string(value, "model") or None
            self.builder.answer(said.line, said.id, parts, at=said.at, model=model)
        self._results(said, [list(self._ended(call)) for call in items(value, "toolCalls")])

    def _count(self, said: ChatMessage) -> None:
        tokens = said.value.get("tokens")
        read = number(tokens, "input") + number(tokens, "tool")
        written = number(tokens, "output") + number(tokens, "thoughts")
        if usage := usage_of(read, number(tokens, "cached"), written):
            model = string(said.value, "model") or "unknown"
            self.builder.note_usage(said.id, model, usage, said.at)

    def _calls(self, said: ChatMessage, content: MessageContent) -> list[ToolCall]:
        found: dict[str, ToolCall] = {}
        for n, call in enumerate([*items(said.value, "toolCalls"), *content.calls]):
            told = call_of(call, f"{said.id}-{n}")
            found.setdefault(told.call_id, told)
            for text in get(call, "args").values() if isinstance(get(call, "args"), dict) else ():
                if isinstance(text, str):
                    self.tasks[text] = told.call_id
            if agent := string(call, "agentId"):
                self.children[agent] = told.call_id
        return list(found.values())

    # ── results ──

    def _ended(self, call: Any) -> Iterator[Part]:
        """What a call came to, as the answer that made it has it."""
        id, status, shown = string(call, "id"), string(call, "status"), get(call, "resultDisplay")
        result = parts_of(get(call, "result"))
        if any(get(part, "functionResponse") for part in result):
            yield from self._own(id, status, result)
        elif result:
            content = content_of(result, self.builder.pictures, asked=False)
            pictures = [part for part in content.said if not isinstance(part, Text)]
            yield from (ToolResult(id, _STATUSES.get(status, "ok"), content.text), *pictures)
        elif status in _STATUSES and (shown or status == "cancelled") and id not in self._told:
            yield ToolResult(id, _STATUSES[status], string(shown, "fileDiff") or words(shown))

    def _own(self, id: str, status: str, result: Sequence[Any]) -> Iterator[Part]:
        """A call's part of what all calls of a turn came to: after a rewrite each may have all of it."""
        is_named = any(string(get(part, "functionResponse"), "id") == id for part in result)
        is_own = True
        for part in result:
            if response := get(part, "functionResponse"):
                is_own = not is_named or string(response, "id") == id
                yield from self._result(response, id, status) if is_own else ()
            elif is_own and (data := get(part, "inlineData")):
                yield picture_of(data, self.builder.pictures)
            elif is_own and (text := string(part, "text")):
                yield Text(text)

    def _result(self, response: Any, call: str, status: str | None) -> list[Part]:
        text, ended, pictures = response_of(response, self.builder.pictures)
        return [ToolResult(call, _STATUSES.get(status or "", ended), text), *pictures]

    def _results(self, said: ChatMessage, results: Sequence[Sequence[Part]]) -> None:
        parts = [part for one in results for part in one]
        if parts:
            self.builder.result(said.line, f"{said.id}.results", parts, at=said.at)


def _thanks(said: ChatMessage) -> bool:
    if said.type != "gemini" or string(said.value, "model"):
        return False
    content = content_of(said.value.get("content"), Pictures(), asked=False)
    return content.text.strip() == FILLER_AFTER_SUMMARY


def _thought(thought: Any) -> str:
    return "\n".join(filter(None, (string(thought, "subject"), string(thought, "description"))))


def say_asked(
    builder: ConversationBuilder,
    said: ChatMessage,
    content: MessageContent,
    rule: TextRule | None = None,
) -> None:
    """What stands in a person's place: a prompt, and what the client put beside it."""
    count = 0

    def put(author: Author, display: Display, parts: Sequence[Part], rule: TextRule) -> None:
        nonlocal count
        name = f"{said.id}.{count}" if count else said.id
        count += 1
        told = builder.say(
            *(said.line, name, author, display, parts, rule.name),
            label=rule.label or None,
            at=said.at,
            role="user",
        )
        told.ends = None

    if content.said:
        _say_typed(builder, said, content, rule)
        count += 1
    for found, text in content.injected:
        if found is SHELL:
            command, output = shell_command(text)
            put("person", "chip", [Text(f"! {command}"), Text(output)], found)
        else:
            put("harness", found.display, [Text(text)], found)
    if content.given:
        put("harness", "fold", [Text(content.given)], _GIVEN)
    if content.files:
        label = "files that the prompt mentions"
        put(
            "harness",
            "fold",
            [Text("".join(content.files))],
            TextRule("mentioned files", label, ""),
        )


def _say_typed(
    builder: ConversationBuilder, said: ChatMessage, content: MessageContent, rule: TextRule | None
) -> PendingMessage:
    parts = content.said
    if rule is None and builder.nature == "subagent":
        rule = TASK
        parts = [Text(task_of(one.text)) if isinstance(one, Text) else one for one in parts]
    asked = builder.ask(said.line, said.id, parts, rule=rule, at=said.at)
    asked.typed = asked.typed or rule is TASK
    return asked
