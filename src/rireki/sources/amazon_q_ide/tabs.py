"""What a tab says: prompts, answers, calls and results, and what the extension wrote in a person's place.

Messages have no ids, and a client that trims a tab moves all of them: each is known by its time, its
kind and its words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

from rireki.model.clusters import beginning
from rireki.model.conversation import LinkToken, Reading
from rireki.model.parts import Attachment, Notice, Part, Text, ToolCall, ToolResult
from rireki.model.strand import Ref, Strand, weave
from rireki.model.times import from_iso, from_ms
from rireki.sources.amazon_q_ide.reader import MESSAGES, NAME, TAB
from rireki.sources.amazon_q_ide.texts import (
    NO_ANSWER,
    is_injected,
    output_of,
    rule_of_answer,
    typed_text,
)
from rireki.sources.kit.fields import get, items, string, words
from rireki.sources.kit.pending import TITLE, ConversationBuilder
from rireki.sources.kit.records import DecodedLine, head_of, records_of

__all__ = ["interpret"]


def interpret(source: str, conversation: str, strands: Sequence[Strand]) -> list[Reading]:
    """A tab, through all its versions, in whichever files it lay."""
    strands = [one for one in strands if one.role == TAB and one.states]
    strands = sorted(strands, key=lambda one: (one.present, one.last_seen, one.id))
    builder = ConversationBuilder(NAME, conversation, strands)
    heads = [head_of(one, builder.troubles) for one in strands]
    lines = _merged([_lines(*pair, builder) for pair in zip(strands, heads, strict=True)])
    if not lines and not builder.troubles:
        # Made when something was pinned or chosen before the first prompt.
        return []
    told = _Told(builder, lines, {ref for one in strands for ref in _firsts(one)})
    told.tell()
    builder.entries = len(lines)
    for strand, head in zip(reversed(strands), reversed(heads), strict=True):
        _note(builder, strand, head)
    builder.note_directory(None if builder.directories else told.directory())
    if not any(one.typed for one in builder.flow):
        titles = [string(head, "title") for head in reversed(heads)]
        builder.title = beginning(" ".join(next(filter(None, titles), "").split()), TITLE)
    builder.link_tokens = _link_tokens(heads)
    return [builder.reading()]


def _note(builder: ConversationBuilder, strand: Strand, head: Any) -> None:
    """What a version of the tab says of it as a whole."""
    builder.note_directory(strand.project)
    # The choice in the tab now, or the one for all tabs of its file; no message tells its own.
    chosen = get(strand.cursor, "model")
    builder.note_model(string(head, "modelId") or (chosen if isinstance(chosen, str) else None))
    moments = [get(head, "updatedAt"), get(head, "meta", "created")]
    moments += [get(one, "updatedAt") for one in items(head, "conversations")]
    builder.times += [at for moment in moments if (at := _at(moment))]


def _at(moment: Any) -> str | None:
    if isinstance(moment, int | float) and not isinstance(moment, bool):
        return from_ms(moment)
    return from_iso(moment)


def _link_tokens(heads: Sequence[Any]) -> list[LinkToken]:
    """A tab that was compacted, or cut, goes on as another one, with the conversation's id."""
    ids = {string(one, "conversationId") for head in heads for one in items(head, "conversations")}
    return [LinkToken("continuation", "share", f"conversation:{id}") for id in sorted(ids) if id]


# ── messages, in the order of all versions ──


def _lines(strand: Strand, head: Any, builder: ConversationBuilder) -> list[DecodedLine]:
    """The messages a file ever held of the tab; of a version that could not be cut, those in it."""
    lines = list(records_of(strand, builder.troubles, MESSAGES))
    inside = [m for one in items(head, "conversations") for m in items(one, "messages")]
    lanes = {run.lane for run in strand.states[-1].runs}
    refs = [Ref(strand.id, lane, 0) for lane in sorted(lanes - {MESSAGES})[:1]]
    lines += [
        DecodedLine(value, number, True, strand.present, refs)
        for number, value in enumerate(inside, len(lines) + 1)
    ]
    return lines


def _merged(files: Sequence[list[DecodedLine]]) -> list[DecodedLine]:
    """One order of the messages of all files, each once: it is there as long as one file has it."""
    if len(files) == 1:
        return files[0]
    numbers: dict[str, int] = {}
    found: dict[int, DecodedLine] = {}
    states = []
    for lines in files:
        state: dict[int, None] = {}
        for line in lines:
            number = numbers.setdefault(_identity(line.value), len(numbers))
            known = found.get(number)
            present = line.present or (known is not None and known.present)
            refs = [*known.refs, *line.refs] if known else line.refs
            found[number] = line._replace(present=present, refs=refs)
            state[number] = None
        states.append([list(state)])
    return [found[number] for number, _, _ in weave(states)]


def _identity(message: Any) -> str:
    ids = [string(one, "toolUseId") for one in (*_results(message), *items(message, "toolUses"))]
    told = [string(message, name) for name in ("timestamp", "type", "body")]
    text = "\0".join([*told, *ids] if any(told) else [words(message)])
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _firsts(strand: Strand) -> Iterator[Ref]:
    """The messages that conversations of the tab begin with, in any version."""
    for state in strand.states:
        for numbers in state.ordinals(MESSAGES):
            yield from (Ref(strand.id, MESSAGES, number) for number in numbers[:1])


def _results(message: Any) -> list[Any]:
    return items(get(message, "userInputMessageContext"), "toolResults")


# ── what each of them is ──


class _Told:
    """Tells the messages of a tab, in order."""

    def __init__(
        self, builder: ConversationBuilder, lines: Sequence[DecodedLine], firsts: set[Ref]
    ) -> None:
        self.builder = builder
        self.lines = lines
        self.firsts = firsts
        self._named: dict[str, int] = {}
        #: Arguments of the calls, and the files that were open: where it was, if nothing else tells.
        self._called: list[Any] = []
        self._open: list[str] = []

    def tell(self) -> None:
        for number, line in enumerate(self.lines):
            following = self.lines[number + 1].value if number + 1 < len(self.lines) else None
            match line.text("type"):
                case "prompt":
                    self._prompt(line, following)
                case "answer":
                    self._answer(line)
                case kind:
                    self.builder.unknown(line, self._name(line), kind or "message", at=_time(line))

    def _name(self, line: DecodedLine) -> str:
        name = _identity(line.value)
        count = self._named[name] = self._named.get(name, 0) + 1
        # The same message at the same time is a newer version of it; without a time, it is another.
        return name if count == 1 or line.text("timestamp") else f"{name}-{count}"

    def _prompt(self, line: DecodedLine, following: Any) -> None:
        name, at = self._name(line), _time(line)
        if results := _results(line.value):
            parts = [self._result(one) for one in results]
            self.builder.result(line, f"{name}-results", parts, at=at)
        body = line.text("body")
        pictures = [self._picture(one) for one in items(line.value, "images")]
        if not body and results:
            # Pictures beside results are a tool's.
            self.builder.flow[-1].message.parts += pictures
        elif not body and not pictures:
            self._aside(line, name, "empty prompt", "hidden", at)
        elif self._is_summary(line, following):
            self._aside(line, name, "summary", "divider", at, "context compacted")
        elif rule := is_injected(body, get(line.value, "shouldDisplayMessage")):
            self.builder.ask(line, name, [Text(body)], rule=rule, at=at)
        else:
            typed = [Text(typed_text(body, at))] if body else []
            self.builder.ask(line, name, [*typed, *pictures], at=at)
        self._attached(line, name, at)

    def _is_summary(self, line: DecodedLine, following: Any) -> bool:
        """Whether it stands for the talk before a compaction: the first message, and not from the IDE."""
        context = get(line.value, "userInputMessageContext")
        told = isinstance(context, dict) and {"editorState", "toolResults"}.isdisjoint(context)
        bare = told and not line.text("origin")
        begins = any(ref in self.firsts for ref in line.refs)
        waits = string(following, "body") == NO_ANSWER and string(following, "type") == "answer"
        return bare and begins and waits

    def _answer(self, line: DecodedLine) -> None:
        name, at, body = self._name(line), _time(line), line.text("body")
        parts: list[Part] = [Text(body)] if body else []
        parts += [
            ToolCall(string(one, "toolUseId"), string(one, "name"), get(one, "input"))
            for one in items(line.value, "toolUses")
        ]
        rule = rule_of_answer(body, get(line.value, "shouldDisplayMessage"))
        if rule is not None and len(parts) < 2:
            label = rule.label or None
            self.builder.say(
                line, name, "harness", rule.display, parts, rule.name, at=at, label=label
            )
            return
        self._called += [get(one, "input") for one in items(line.value, "toolUses")]
        parts += _sources(line.value)
        if parts:
            self.builder.answer(line, name, parts, at=at)
        else:
            empty = "no answer"
            self.builder.say(line, name, "harness", "hidden", [], empty, at=at, label=empty)

    def _aside(
        self,
        line: DecodedLine,
        name: str,
        rule: str,
        display: Any,
        at: str | None,
        label: str | None = None,
    ) -> None:
        body = line.text("body")
        parts = [Text(body)] if body else []
        self.builder.say(
            line, name, "harness", display, parts, rule, at=at, label=label, role="user"
        )

    def _attached(self, line: DecodedLine, name: str, at: str | None) -> None:
        """The open file and what the index found: the editor's, and nobody's words."""
        state = get(line.value, "userInputMessageContext", "editorState")
        for folder in items(state, "workspaceFolders"):
            self.builder.note_directory(folder if isinstance(folder, str) else None)
        files = [get(state, "document"), *items(state, "relevantDocuments")]
        parts: list[Part] = [
            self.builder.pictures.add(
                string(one, "text").encode("utf-8", "replace"),
                "text/plain",
                string(one, "relativeFilePath") or string(one, "path"),
            )
            for one in files
            if string(one, "text")
        ]
        self._open += [string(one, "relativeFilePath") for one in files]
        if parts:
            self.builder.say(
                line,
                f"{name}-files",
                "harness",
                "fold",
                parts,
                "editor context",
                at=at,
                label="files from the editor",
            )

    def directory(self) -> str | None:
        """Where it was, as its calls tell: where commands ran, or what an open file's folder is."""
        for call in self._called:
            if _is_absolute(where := string(call, "cwd")):
                return where
        paths = [
            path
            for call in self._called
            for path in (get(call, "path"), *items(call, "paths"))
            if isinstance(path, str) and _is_absolute(path)
        ]
        folders = {one.replace("\\", "/").split("/")[0] for one in self._open if one}
        for path in paths:
            parts = path.replace("\\", "/").split("/")
            for folder in folders & set(parts):
                return path[: len("/".join(parts[: parts.index(folder) + 1]))]
        return None

    def _result(self, result: Any) -> ToolResult:
        output, status = output_of(result)
        return ToolResult(string(result, "toolUseId"), status, output)

    def _picture(self, picture: Any) -> Part:
        kind = f"image/{string(picture, 'format') or '*'}"
        data = get(picture, "source", "bytes")
        if isinstance(data, dict):
            # Bytes as JavaScript writes them: an object with a number per place.
            numbers = {int(key): value for key, value in data.items() if key.isdecimal()}
            data = [numbers[place] for place in sorted(numbers)]
        if isinstance(data, list):
            return self.builder.pictures.add_numbers(data, kind)
        found = self.builder.pictures.add_url(f"data:{kind};base64,{words(data)}")
        return found or Attachment("image/*")


def _is_absolute(path: str) -> bool:
    return path.startswith("/") or path[1:3] in (":\\", ":/")


def _time(line: DecodedLine) -> str | None:
    return _at(get(line.value, "timestamp"))


def _sources(message: Any) -> list[Part]:
    """What an answer refers to: pages, and code that its words were taken from."""
    related = get(message, "relatedContent")
    pages = [
        " ".join(filter(None, (string(one, "title"), string(one, "url"))))
        for one in items(related, "content")
    ]
    code = [
        " ".join(filter(None, (string(one, name) for name in ("repository", "licenseName", "url"))))
        for one in items(message, "codeReference")
    ]
    named = [one for one in (*pages, *code) if one]
    return [Notice(f"Refers to: {'; '.join(named)}")] if named else []
