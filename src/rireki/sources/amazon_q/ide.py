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
from rireki.sources.amazon_q.blocks import credit_answer, credits_in
from rireki.sources.amazon_q.facts import RowFacts
from rireki.sources.amazon_q.files import ACTIONS, HISTORY, LISTED, RUN, SPINE
from rireki.sources.amazon_q.pending import (
    TASK,
    SavedMessage,
    make,
    prompt,
    short_hash,
    unknown,
)
from rireki.sources.amazon_q.third import PROGRAM, SPEC, rule_of_prompt, text_in
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

    @property
    def speaks(self) -> bool:
        """Whether the agent said something in it."""
        steps = (step for step, _, _ in self.actions.values())
        return any(
            string(one, "actionType") == "say" and words(get(one, "output", "message"))
            for one in steps
        )

    @property
    def before(self) -> list[Any]:
        """What was said before it: all that it was told but what it was started with."""
        told = items(get(self.head, "context"), "messages")
        people = [n for n, one in enumerate(told) if string(one, "role") == "human"]
        asks = people and typed_in(self.asked) in _texts(told[people[-1]])
        return told[: people[-1]] if asks else told


def tell_sessions(facts: RowFacts) -> list[SavedMessage]:
    """The sessions and runs of a conversation, as one story; runs of its sub-agents are noted."""
    runs = _runs(facts)
    told = _Session(facts, {run.id: run for run in runs})
    listed = [document_of(strand, facts.troubles) for strand in _of(facts, LISTED)]
    # The editor itself starts the tasks of a specification.
    told.is_task = any(get(entry, "hidden") is True for entry in listed)
    for strand in _of(facts, SPINE):
        told.tell_spine(strand)
    for run in runs:
        if run.id not in told.agents:
            told.tell_rest(run)
    for entry in listed:
        facts.title = facts.title or string(entry, "title")
        facts.note_directory(string(entry, "workspaceDirectory"))
        begun = string(entry, "dateCreated")
        facts.times += [at for at in [from_ms(int(begun)) if begun.isdecimal() else None] if at]
    facts.agents = {run.strand.id: run.id for run in runs if run.id in told.agents}
    starters = told.agents.items()
    facts.children |= {id: step for id, (run, step) in starters if run not in told.agents}
    if runs and not _of(facts, SPINE):
        facts.first_run = next((run.id for run in runs if run.id not in told.agents), "")
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
        #: Whether its first prompt is the editor's.
        self.is_task = False
        #: Runs that another run started, each with the step that did.
        self.agents = _agents(runs)
        self._told: set[str] = set()
        self._typed: list[str] = []
        self._has_spine = False
        #: Whether the run before waits for the person.
        self._waits = False

    def tell_spine(self, strand: Strand) -> None:
        facts, head = self.facts, head_of(strand, self.facts.troubles)
        self._has_spine = True
        facts.title = facts.title or string(head, "title")
        facts.note_model(string(head, "selectedModel"))
        facts.note_directory(string(head, "workspaceDirectory") or string(head, "workspacePath"))
        lines = list(records_of(strand, facts.troubles, HISTORY))
        # Of a version that could not be cut, the entries stand in it.
        lines += [
            DecodedLine(one, number, True, strand.present, [])
            for number, one in enumerate(items(head, "history"), 1)
        ]
        facts.entries += len(lines)
        named = {string(line.value, "executionId") for line in lines}
        for turn in _turns(lines):
            self._turn(turn, named)

    def _turn(self, lines: Sequence[DecodedLine], named: set[str]) -> None:
        """A prompt and what followed it: the runs that the entries name have the words."""
        runs = [self.runs.get(string(line.value, "executionId")) for line in lines]
        known = [run for run in runs if run is not None] or self._unnamed(lines[0], named)
        for number, line in enumerate(lines):
            begun = len(self.flow)
            if _role(line.value) == "user":
                self._ask(_name(line), get(line.value, "message", "content"), line.position, known)
            else:
                # A prompt may name its run itself, and a run its prompt.
                for run in [runs[number]] if runs[number] else known:
                    self._run_once(run)
                self._answer(line, known, is_named=runs[number] is not None)
            for draft in self.flow[begun:]:
                draft.refs = draft.refs or list(line.refs)
                if not line.present:
                    draft.message.upstream = "gone"
        for run in known:
            self._run_once(run)

    def _unnamed(self, line: DecodedLine, named: set[str]) -> list[_Run]:
        """The run that was started with a prompt, where no entry says which."""
        asked = typed_in(text_in(get(line.value, "message", "content")))
        free = (run for run in self.runs.values() if run.id not in self._told | named)
        found = (run for run in free if run.id not in self.agents and typed_in(run.asked) == asked)
        return [run for run in [next(found, None)] if run and asked]

    def _run_once(self, run: _Run | None) -> None:
        if run is not None and run.id not in self._told:
            self._run(run)

    def _ask(self, name: str, content: Any, position: int, runs: Sequence[_Run] = ()) -> None:
        blocks = content if isinstance(content, list) else [content]
        pictures = [one for one in blocks if string(one, "type") == "imageUrl"]
        text = typed_in(text_in([one for one in blocks if one not in pictures]))
        rule = rule_of_prompt(text)
        if self.is_task and not self._typed:
            rule = rule or SPEC
        at = next((run.start for run in runs if run.start), None)
        draft = prompt(name, text, at, position, ("user",), rule)
        draft.message.display = rule.display if rule else "bubble"
        draft.message.parts += [self._picture(one) for one in pictures]
        draft.group = name
        if self.facts.is_agent and rule is None:
            draft.message.author, draft.message.label = "harness", TASK
            draft.message.entry = Entry(position, "user", ("user",), TASK)
            draft.typed = False
        self.flow.append(draft)
        self._typed.append(text)

    def _picture(self, block: Any) -> Part:
        url = string(get(block, "imageUrl"), "url")
        return self.facts.pictures.add_url(url) or Attachment("image/*", name=url[:200])

    def _answer(self, line: DecodedLine, known: Sequence[_Run], *, is_named: bool) -> None:
        """The words of an entry itself, where no run has any."""
        value, name, position = line.value, _name(line), line.position
        logs = items(value, "promptLogs")
        for log in logs:
            self.facts.note_model(string(log, "modelTitle"))
        run, role = string(value, "executionId"), _role(value)
        if not run and role not in ("assistant", "tool"):
            self.flow.append(unknown(name, "entry", value, position))
            return
        if is_named:
            known = [self.runs[run]]
        if any(one.speaks for one in known) and (is_named or not run):
            return
        text = text_in(get(value, "message", "content"))
        if text in ("", _PLACEHOLDER):
            text = "\n".join(filter(None, (string(one, "completion") for one in logs)))
        if text and role == "tool":
            about = Entry(position, "user", (), "tool results")
            self.flow.append(make(name, "tool", "fold", [Text(text)], about, ends=False))
        elif text:
            self.flow.append(said_by_agent(name, [Text(text)], position, None))
        elif run and not is_named and run not in self._told:
            self._told.add(run)
            self._remembered(run)

    def _remembered(self, lost: str) -> None:
        """What a run said that is lost, as a later run was told it."""
        asked = self._typed[-1] if self._typed else ""
        for run in self.runs.values():
            told = run.before
            people = [n for n, one in enumerate(told) if string(one, "role") == "human"]
            starts = [n for n in people if asked in _texts(told[n])]
            if asked and starts:
                end = next((n for n in people if n > starts[0]), len(told))
                self._tell_before(told[starts[0] + 1 : end], lost)
                return

    def tell_rest(self, run: _Run) -> None:
        """A run that no session named: what it was asked, and what it did."""
        if run.id in self._told:
            return
        asked = typed_in(run.asked)
        if not self.flow:
            self._tell_before(run.before, run.id)
        # One that waited for the person goes on as another run, with the same words.
        repeats = self._has_spine or self._waits
        if asked and not (repeats and asked in self._typed):
            self._ask(f"{run.id}-prompt", asked, 0, [run])
            self.flow[-1].message.at = run.start or None
        self._run(run)
        self._waits = string(run.head, "status").lower() == "yielded"

    def _tell_before(self, messages: Sequence[Any], run: str) -> None:
        """What was said before a run, as it was told it."""
        for number, message in enumerate(messages, 1):
            role, name = string(message, "role"), f"{run}-before-{number}"
            entries = items(message, "entries")
            texts = _texts(message)
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
        if credits := credits_in(items(run.head, "usageSummary"), "usage"):
            model = self.facts.models[-1] if self.facts.models else ""
            self.facts.answers.append(credit_answer(run.id, model, time_of(ends[1]), credits))
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


def _turns(lines: Sequence[DecodedLine]) -> list[list[DecodedLine]]:
    """Each prompt with what followed it."""
    turns: list[list[DecodedLine]] = []
    for line in lines:
        if _role(line.value) == "user" or not turns:
            turns.append([])
        turns[-1].append(line)
    return turns


def _role(entry: Any) -> str:
    return string(get(entry, "message"), "role")


def _name(line: DecodedLine) -> str:
    own = string(get(line.value, "message"), "id")
    return own or f"h{short_hash(words(line.value))}.{line.position}"


def _texts(message: Any) -> list[str]:
    return [text for one in items(message, "entries") if (text := typed_in(string(one, "text")))]


def _agents(runs: dict[str, _Run]) -> dict[str, tuple[str, str]]:
    """The runs that others started, each with the one that did, and its step."""
    found: dict[str, tuple[str, str]] = {}
    for run in runs.values():
        for name, (action, _, _) in run.actions.items():
            child = string(get(action, "output"), "executionId") or string(action, "subExecutionId")
            if string(action, "actionType") in _AGENTS and child not in ("", run.id):
                found[child] = (run.id, name)
    return found


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
