"""What the sessions and runs of Kiro's editor say, up to 0.12.

A session's file has what was typed; of answers it mostly has a placeholder, and the run named beside it has
the words, the calls and the times. Runs without a session are conversations all the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rireki.model.message import Entry
from rireki.model.parts import Attachment, Notice, Part, ResultStatus, Text, ToolCall, ToolResult
from rireki.model.strand import Ref, Strand
from rireki.model.times import from_iso, from_ms
from rireki.sources.amazon_q.facts import RowFacts
from rireki.sources.amazon_q.files import ACTIONS, HISTORY, LISTED, RUN, SPINE
from rireki.sources.amazon_q.pending import (
    SavedMessage,
    make,
    prompt,
    short_hash,
    unknown,
)
from rireki.sources.amazon_q.third import PROGRAM, rule_of_prompt, text_in
from rireki.sources.kit.fields import get, items, string, words
from rireki.sources.kit.records import DecodedLine, document_of, head_of, records_of

__all__ = ["FOLLOWS", "said_by_agent", "tell_sessions", "time_of", "typed_in"]

_PLACEHOLDER = "On it."
FOLLOWS = "I will follow these instructions."
#: Steps of the engine that say nothing.
_SILENT = ("model", "intentClassification", "taskStatus")
_DONE = ("success", "completed", "accepted", "succeed")
_FAILED = ("error", "failed", "failure")
_REFUSED = ("rejected", "aborted", "cancelled", "canceled")
_AGENTS = ("specAgent", "invoke_sub_agent", "invokeSubAgent")
_WRAPPED = re.compile(r"\s*<kiro-ide-message>(.*?)</kiro-ide-message>\s*", re.DOTALL)


@dataclass(slots=True)
class _Run:
    """One run of the agent, from all versions of its file."""

    strand: Strand
    head: Any
    actions: dict[str, tuple[Any, list[Ref], bool]] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return string(self.head, "executionId")

    @property
    def start(self) -> str:
        return time_of(get(self.head, "startTime")) or ""

    @property
    def asked(self) -> str:
        """What this run was started with."""
        data = get(self.head, "input", "data")
        last = items(data, "messages")[-1:]
        return string(data, "userPrompt") or "".join(text_in(get(one, "content")) for one in last)


def tell_sessions(facts: RowFacts) -> list[SavedMessage]:
    """The sessions and runs of a conversation, as one story."""
    runs = _runs(facts)
    told = _Session(facts, {run.id: run for run in runs})
    for strand in _of(facts, SPINE):
        told.tell_spine(strand)
    for run in runs:
        told.tell_rest(run)
    for strand in _of(facts, LISTED):
        entry = document_of(strand, facts.troubles)
        facts.title = facts.title or string(entry, "title")
        facts.note_directory(string(entry, "workspaceDirectory"))
        begun = string(entry, "dateCreated")
        facts.times += [at for at in [from_ms(int(begun)) if begun.isdecimal() else None] if at]
    return told.flow


def _runs(facts: RowFacts) -> list[_Run]:
    runs = []
    for strand in _of(facts, RUN):
        run = _Run(strand, head_of(strand, facts.troubles))
        for line in records_of(strand, facts.troubles, ACTIONS):
            name = line.text("actionId") or f"a{short_hash(words(line.value))}"
            # A step is written again as it goes on: the last version counts.
            run.actions[name] = (line.value, line.refs, line.present)
        for value in items(run.head, "actions"):
            run.actions.setdefault(string(value, "actionId"), (value, [], strand.present))
        runs.append(run)
    return sorted(runs, key=lambda run: run.start)


class _Session:
    """Fed with the entries of a session, then with the runs that it did not name."""

    def __init__(self, facts: RowFacts, runs: dict[str, _Run]) -> None:
        self.facts = facts
        self.runs = runs
        self.flow: list[SavedMessage] = []
        self._told: set[str] = set()
        self._typed: list[str] = []

    def tell_spine(self, strand: Strand) -> None:
        facts, head = self.facts, head_of(strand, self.facts.troubles)
        facts.title = facts.title or string(head, "title")
        facts.note_model(string(head, "selectedModel"))
        facts.note_directory(string(head, "workspaceDirectory") or string(head, "workspacePath"))
        lines = list(records_of(strand, facts.troubles, HISTORY))
        # Of a version that could not be cut, the entries stand in it.
        lines += [
            DecodedLine(one, number, True, strand.present, [])
            for number, one in enumerate(items(head, "history"), 1)
        ]
        entries = [(one.value, one.position, one.refs, one.present) for one in lines]
        facts.entries += len(entries)
        for value, position, refs, present in entries:
            begun = len(self.flow)
            self._entry(value, position)
            for draft in self.flow[begun:]:
                draft.refs = draft.refs or list(refs)
                if not present:
                    draft.message.upstream = "gone"

    def _entry(self, value: Any, position: int) -> None:
        message = get(value, "message")
        name = string(message, "id") or f"h{short_hash(words(value))}.{position}"
        run = self.runs.get(string(value, "executionId"))
        match string(message, "role"):
            case "user":
                self._ask(name, get(message, "content"), position, run)
            case "assistant" | "tool":
                self._answer(name, value, position, run)
            case _ if run is not None:
                self._run(run)
            case _:
                self.flow.append(unknown(name, "entry", value, position))

    def _ask(self, name: str, content: Any, position: int, run: _Run | None = None) -> None:
        blocks = content if isinstance(content, list) else [content]
        pictures = [one for one in blocks if string(one, "type") == "imageUrl"]
        text = typed_in(text_in([one for one in blocks if one not in pictures]))
        rule = rule_of_prompt(text)
        draft = prompt(name, text, run.start or None if run else None, position, ("user",), rule)
        draft.message.display = rule.display if rule else "bubble"
        draft.message.parts += [self._picture(one) for one in pictures]
        draft.group = name
        self.flow.append(draft)
        self._typed.append(text)

    def _picture(self, block: Any) -> Part:
        url = string(get(block, "imageUrl"), "url")
        return self.facts.pictures.add_url(url) or Attachment("image/*", name=url[:200])

    def _answer(self, name: str, value: Any, position: int, run: _Run | None) -> None:
        logs = items(value, "promptLogs")
        for log in logs:
            self.facts.note_model(string(log, "modelTitle"))
        if run is not None and run.id not in self._told:
            self._run(run)
            return
        text = text_in(get(value, "message", "content"))
        if text in ("", _PLACEHOLDER):
            text = "\n".join(filter(None, (string(one, "completion") for one in logs)))
        if text and (run is None or text != _PLACEHOLDER):
            self.flow.append(said_by_agent(name, [Text(text)], position, None))

    def tell_rest(self, run: _Run) -> None:
        """A run that no session named: what it was asked, and what it did."""
        if run.id in self._told:
            return
        asked = typed_in(run.asked)
        if not self.flow:
            self._earlier(run, asked)
        if asked and asked not in self._typed:
            self._ask(f"{run.id}-prompt", asked, 0, run)
            self.flow[-1].message.at = run.start or None
        self._run(run)

    def _earlier(self, run: _Run, asked: str) -> None:
        """What was said before the first run that is left, as that one was told it."""
        for number, message in enumerate(items(get(run.head, "context"), "messages"), 1):
            role, name = string(message, "role"), f"{run.id}-before-{number}"
            entries = items(message, "entries")
            texts = [text for one in entries if (text := typed_in(string(one, "text")))]
            if role == "human" and asked in texts:
                return
            if role == "human":
                for place, text in enumerate(texts):
                    self._ask(f"{name}.{place}", text, number)
            elif role == "bot":
                calls = [
                    ToolCall(string(one, "id"), string(one, "name"), get(one, "args"))
                    for one in entries
                    if string(one, "type") == "toolUse"
                ]
                said: list[Part] = [Text(text) for text in texts if text != FOLLOWS]
                if said or calls:
                    self.flow.append(said_by_agent(name, [*said, *calls], number, None, not calls))
            else:
                self._results(name, entries, number)

    def _results(self, name: str, entries: Sequence[Any], number: int) -> None:
        found: list[Part] = [
            ToolResult(
                string(one, "toolUseId") or string(one, "id"),
                "error" if get(one, "success") is False else "ok",
                words(get(one, "message")),
            )
            for one in entries
            if string(one, "type") == "toolUseResponse"
        ]
        if found:
            about = Entry(number, "user", (), "tool results")
            done = make(name, "tool", "fold", found, about, ends=False)
            done.group = name
            self.flow.append(done)

    def _run(self, run: _Run) -> None:
        self._told.add(run.id)
        if self.flow and self.flow[-1].typed:
            self.flow[-1].message.at = self.flow[-1].message.at or run.start or None
        self.facts.note_directory(run.strand.project)
        begun = len(self.flow)
        for number, (name, (action, refs, present)) in enumerate(run.actions.items(), 1):
            at = len(self.flow)
            self._action(name, action, number)
            for draft in self.flow[at:]:
                draft.refs += refs
                draft.message.upstream = "present" if present else "gone"
        self._close(run, begun)

    def _close(self, run: _Run, begun: int) -> None:
        ends = [get(run.head, name) for name in ("startTime", "endTime")]
        self.facts.times += [at for one in ends if (at := time_of(one))]
        status = string(run.head, "status").lower()
        said = {"status": status, "usage": get(run.head, "usageSummary")}
        note = make(
            f"{run.id}-end",
            *("harness", "hidden"),
            [Notice(f"{name}: {words(value)}") for name, value in said.items() if value],
            Entry(len(run.actions) + 1, "note", (), PROGRAM),
            at=time_of(ends[1]),
        )
        spoke = any(one.ends for one in self.flow[begun:])
        note.ends = (
            False if status in (*_REFUSED, *_FAILED, "running") else (True if spoke else None)
        )
        note.group = note.message.id
        self.flow.append(note)

    def _action(self, name: str, action: Any, number: int) -> None:
        kind, at = string(action, "actionType"), time_of(get(action, "emittedAt"))
        output = get(action, "output")
        if kind in _SILENT:
            return
        if kind == "say":
            self.flow.append(said_by_agent(name, [Text(words(get(output, "message")))], number, at))
        elif kind == "displayError":
            text = string(action, "errorMessage") or words(get(output, "errorMessage") or output)
            entry = Entry(number, "note", (), PROGRAM)
            error = make(name, "harness", "chip", [Notice(text, "error")], entry, at=at)
            error.message.label, error.group = "error", name
            self.flow.append(error)
        elif get(action, "input") is None and get(action, "rawInput") is None and output is None:
            self.flow.append(unknown(name, kind or "step", action, number))
        else:
            self._call(name, kind, action, number, at)

    def _call(self, name: str, kind: str, action: Any, number: int, at: str | None) -> None:
        asked, output = get(action, "input"), get(action, "output")
        asked = get(action, "rawInput") if asked is None else asked
        tool = kind
        if kind == "mcp":
            tool = ".".join(filter(None, (string(asked, "serverName"), string(asked, "toolName"))))
            asked = get(asked, "toolArgs")
        self.flow.append(
            said_by_agent(name, [ToolCall(name, tool or "step", asked)], number, at, False)
        )
        state = string(action, "actionState").lower()
        if output is None and state not in (*_DONE, *_FAILED, *_REFUSED):
            return
        entry = Entry(number, "user", (), "tool results")
        result = ToolResult(name, _status(state, output), _output(output))
        done = make(f"{name}-result", "tool", "fold", [result], entry, at=at, ends=False)
        done.group = name
        self.flow.append(done)
        child = string(output, "executionId") or string(action, "subExecutionId")
        if kind in _AGENTS and child in self.runs:
            self._run(self.runs[child])


def _status(state: str, output: Any) -> ResultStatus:
    if state in _REFUSED:
        return "cancelled"
    failed = state in _FAILED or get(output, "exitCode") not in (None, 0)
    return "error" if failed else "ok"


def _output(output: Any) -> str:
    for name in ("output", "content", "response", "message"):
        if get(output, name) is not None:
            return words(get(output, name))
    return words(output) if output else ""


def said_by_agent(
    name: str, parts: list[Part], position: int, at: str | None, ends: bool = True
) -> SavedMessage:
    entry = Entry(position, "assistant", (), "answer")
    said = make(name, "agent", "bubble", parts, entry, at=at, ends=ends)
    said.group = name
    return said


def time_of(moment: Any) -> str | None:
    if isinstance(moment, int | float) and not isinstance(moment, bool):
        return from_ms(moment)
    return from_iso(moment)


def _of(facts: RowFacts, role: str) -> list[Strand]:
    return [one for one in facts.strands if one.role == role]


def typed_in(text: str) -> str:
    """What was typed, out of what the editor wraps around it."""
    wrapped = _WRAPPED.fullmatch(text)
    text = wrapped[1] if wrapped else text
    return (
        text.rpartition("<user>")[2].removesuffix("</user>").strip() if "<user>" in text else text
    )
