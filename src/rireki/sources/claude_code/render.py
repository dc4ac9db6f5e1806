"""Messages with all their parts, made from lines when they are asked for, and their records."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

import msgspec

from rireki.model.message import Entry, Message
from rireki.model.parts import Attachment, Notice, Part, Text, Unknown
from rireki.model.strand import Ref, Strand
from rireki.model.times import from_iso
from rireki.sources.claude_code.content import (
    SPILLED,
    Spills,
    answer_in,
    base_name,
    binaries,
    outcome_in,
    prompt_parts,
    result_parts,
    results_in,
    value_of,
)
from rireki.sources.claude_code.fold import Fold
from rireki.sources.claude_code.labels import (
    ChipContent,
    attachment_shown,
    context_shown,
    divider_shown,
    prompt_shown,
    queued_shown,
    said_shown,
    system_shown,
)
from rireki.sources.claude_code.lines import TranscriptLine
from rireki.sources.claude_code.messages import TranscriptMessage, results_of
from rireki.sources.claude_code.shapes import flags_of, flat
from rireki.sources.claude_code.words import SYNTHETIC
from rireki.sources.kit.document import LANE as WHOLE
from rireki.sources.kit.fields import get
from rireki.sources.kit.jsonl import LANE

__all__ = ["find_attachment", "record_of", "records_of", "render", "render_each"]


#: Where pictures stand in a line.
_PICTURES = (
    ("message", "content"),
    ("attachment", "prompt"),
    ("attachment", "content"),
    ("content",),
)
_IMAGE_AT = re.compile(r"\[Image: source:([^\]\n]*)\]?")
_NEVER_SEEN = "the full output lay in a file that is not among those of this session"
_WITH_SESSION = "the full output lies with the files of the session that started this agent"


def render(fold: Fold, strands: Sequence[Strand]) -> list[Message]:
    return list(render_each(fold, strands))


def render_each(fold: Fold, strands: Sequence[Strand]) -> Iterator[Message]:
    """The messages one by one."""
    rendering = _Rendering(fold, strands)
    pictures = _pictures(rendering, fold.drafts)
    for draft in fold.drafts:
        message = rendering.message(draft)
        if message.id in pictures:
            message.parts = _named(message.parts, pictures[message.id])
        yield message


def find_attachment(lines: Sequence[TranscriptLine], digest: str) -> bytes | None:
    """The bytes of a picture, looked for where they stand."""
    for line in lines:
        if b"base64" not in line.data and b'"source"' not in line.data:
            continue
        value = value_of(line)
        for place in _PICTURES:
            for data in binaries(get(value, *place)):
                if sha256(data).hexdigest() == digest:
                    return data
    return None


def _entry(draft: TranscriptMessage) -> Entry:
    """Where a message stood. A compaction is a line of the program and one in the user's name: what
    is to be explained is the second."""
    users = [line for line in draft.lines if line.look is not None and line.look.type == "user"]
    line = users[0] if draft.what == "divider" and users else draft.line
    look = line.look
    return Entry(
        position=line.number,
        role=look.type if look is not None else "",
        flags=tuple(flags_of(look)) if look is not None else (),
        rule=draft.rule.row,
    )


class _Rendering:
    def __init__(self, fold: Fold, strands: Sequence[Strand]) -> None:
        self.fold = fold
        self.elsewhere = _WITH_SESSION if fold.agent else _NEVER_SEEN
        self.spills = Spills(strands)
        #: The message that shows each line; for parents.
        self.holders = {
            line.look.uuid: draft.id
            for draft in fold.drafts
            if draft.what not in ("said", "context")
            and draft.replaced_by is None
            and draft.rule.display != "hidden"
            for line in draft.lines
            if line.look is not None and line.look.uuid
        }
        self.refused = {draft.uuid for draft in fold.drafts if draft.rule.row in ("1a", "1c")}

    def message(self, draft: TranscriptMessage) -> Message:
        look = draft.line.look
        shown = self._shown(draft)
        spoken = look.message if look is not None and draft.what == "answer" else None
        return Message(
            id=draft.id,
            author=draft.rule.author,
            display=draft.rule.display,
            label=shown.label or None,
            at=from_iso(shown.at or (look.timestamp if look is not None else None)),
            model=spoken.model if spoken is not None and spoken.model != SYNTHETIC else None,
            turn=draft.turn,
            upstream="present" if draft.present else "gone",
            replaced_by=draft.replaced_by,
            parts=shown.parts,
            usage=self.fold.meter.usage(spoken.id) if spoken is not None else None,
            parent=self._parent(draft),
            abandoned=draft.abandoned,
            entry=_entry(draft),
        )

    def _shown(self, draft: TranscriptMessage) -> ChipContent:
        if draft.what == "answer":
            return self._answer(draft)
        if draft.what == "result":
            return self._result(draft)
        value = value_of(draft.line)
        match draft.what:
            case "prompt":
                return prompt_shown(draft.rule.row, value)
            case "context":
                return context_shown(value)
            case "said":
                return said_shown(draft.rule.row, value, self.fold.tools)
            case "divider":
                return divider_shown([value_of(line) for line in draft.lines])
            case "attachment":
                return attachment_shown(draft.rule.row, value)
            case "system":
                return system_shown(draft.rule.row, value)
            case "queued":
                return queued_shown(value)
        return _strange(draft.line, value)

    def _answer(self, draft: TranscriptMessage) -> ChipContent:
        parts = [part for line in draft.lines for part in answer_in(line)]
        if draft.rule.row != "api error":
            return ChipContent("", parts)
        words = [part.text for part in parts if isinstance(part, Text)]
        return ChipContent("error", [Notice("\n".join(words), "error")])

    def _result(self, draft: TranscriptMessage) -> ChipContent:
        refused = draft.uuid in self.refused
        content, outcome = results_in(draft.line), outcome_in(draft.line)
        parts: list[Part] = []
        names: dict[str, None] = {}
        for block in content if isinstance(content, list) else []:
            if isinstance(block, dict) and block.get("type") == "tool_result":
                parts += result_parts(block, outcome, self.spills.text, refused, self.elsewhere)
                names.setdefault(self.fold.tools.get(str(block.get("tool_use_id")), ""))
            else:
                parts += prompt_parts([block])
        return ChipContent(", ".join(name for name in names if name), parts)

    def _parent(self, draft: TranscriptMessage) -> str | None:
        """The message above: the nearest line up the tree that became one."""
        if draft.what in ("said", "context"):
            return self.holders.get(draft.uuid or "")
        parents, holders = self.fold.tree.parents, self.holders
        own = {line.look.uuid for line in draft.more or () if line.look is not None}
        above = parents.get(draft.uuid or "")
        while above and (above not in holders or above in own):
            above = parents.get(above)
        return holders.get(above or "")


def _pictures(rendering: _Rendering, drafts: list[TranscriptMessage]) -> dict[str, list[str]]:
    """Lines "[Image: source: path]" name the pictures of the message above them, in order."""
    names: dict[str, list[str]] = {}
    for draft in drafts:
        if draft.rule.row == "7":
            message = rendering.message(draft)
            texts = [part.text for part in message.parts if isinstance(part, Text)]
            paths = [path for text in texts for path in _IMAGE_AT.findall(text)]
            names.setdefault(message.parent or "", []).extend(
                base_name(path.strip()) for path in paths
            )
    return names


def _named(parts: list[Part], names: list[str]) -> list[Part]:
    nameless = (part for part in parts if isinstance(part, Attachment) and not part.name)
    given = {id(part): name for part, name in zip(nameless, names, strict=False)}
    return [
        msgspec.structs.replace(part, name=given[id(part)]) if id(part) in given else part
        for part in parts
    ]


def _strange(line: TranscriptLine, value: Any) -> ChipContent:
    if line.look is None:
        text = line.data.decode("utf-8", "replace").strip()
        return ChipContent("unreadable line", [Unknown("unreadable line", text)])
    name = line.look.type or "line"
    return ChipContent(name, [Unknown(name, value)])


_MARK = SPILLED.encode()


def records_of(fold: Fold, strands: Sequence[Strand]) -> dict[str, list[Ref]]:
    spills = Spills(strands)
    found: dict[str, list[Ref]] = {}
    for draft in fold.drafts:
        refs = [ref for line in draft.lines for ref in record_of(line)]
        if spills and draft.what == "result" and _MARK in draft.line.data:
            refs += _spilled(draft, spills)
        found[draft.id] = refs
    return found


def record_of(line: TranscriptLine) -> list[Ref]:
    """The record that holds a line; the unfinished end of a file is none."""
    return [Ref(line.strand, LANE, line.record)] if line.record is not None else []


def _spilled(draft: TranscriptMessage, spills: Spills) -> list[Ref]:
    path = outcome_in(draft.line).path
    previews = [flat(block.content) for block in results_of(draft)]
    files = [spills.file(text, path) for text in previews if text.startswith(SPILLED)]
    return [
        Ref(file.id, WHOLE, places[-1][0])
        for file in files
        if file is not None and (places := file.places(WHOLE))
    ]
