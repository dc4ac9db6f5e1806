"""What the `.chat` files of Kiro's editor say: snapshots of runs, each with what was said before it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from rireki.model.message import Entry
from rireki.model.parts import Part, Text, ToolCall, ToolResult
from rireki.model.strand import Strand
from rireki.sources.amazon_q.facts import RowFacts
from rireki.sources.amazon_q.files import CHAT
from rireki.sources.amazon_q.ide import FOLLOWS, said_by_agent, time_of, typed_in
from rireki.sources.amazon_q.pending import SavedMessage, divider, make, prompt, unknown
from rireki.sources.amazon_q.third import rule_of_prompt, text_in
from rireki.sources.kit.decode import NotReadable, load
from rireki.sources.kit.fields import get, items, string, words
from rireki.sources.kit.pieces import WHOLE

__all__ = ["tell_chats"]

_TOOL = re.compile(r"<tool_use>\s*<name>(.*?)</name>(.*?)(?:</tool_use>|\Z)", re.DOTALL)


def tell_chats(facts: RowFacts) -> list[SavedMessage]:
    """The runs of a workflow: each in its longest snapshot, without what the one before it said."""
    snapshots: dict[str, tuple[tuple[int, str], Any, Strand]] = {}
    for strand in (one for one in facts.strands if one.role == CHAT):
        for version, value in _versions(strand):
            run = string(value, "executionId")
            rank = (
                len(items(value, "chat")),
                f"{words(get(value, 'metadata', 'endTime'))}{version}",
            )
            if run not in snapshots or snapshots[run][0] <= rank:
                snapshots[run] = (rank, value, strand)
    ordered = sorted(snapshots.items(), key=lambda one: _begun(one[1][1]))
    flow: list[SavedMessage] = []
    before: list[Any] = []
    for run, (_, value, strand) in ordered:
        chat = items(value, "chat")
        shared = _shared(before, chat)
        flow += _chat(facts, run, value, strand, shared)
        before = chat
    if ordered:
        # The workflow is what they are filed under; the first run has the id that is told.
        facts.chat = ordered[0][0]
    return flow


def _versions(strand: Strand) -> list[tuple[int, Any]]:
    found = []
    for record in strand.story(WHOLE):
        try:
            found.append((record.ordinal, load(record.data)))
        except NotReadable:
            continue
    return found


def _begun(value: Any) -> str:
    return time_of(get(value, "metadata", "startTime")) or ""


def _shared(before: Sequence[Any], chat: Sequence[Any]) -> int:
    count = 0
    for one, other in zip(before, chat, strict=False):
        if one != other:
            break
        count += 1
    return count


def _chat(facts: RowFacts, run: str, value: Any, strand: Strand, first: int) -> list[SavedMessage]:
    metadata = get(value, "metadata")
    facts.note_model(string(metadata, "modelId"))
    facts.note_directory(strand.project)
    ends = [time_of(get(metadata, name)) for name in ("startTime", "endTime")]
    facts.times += [at for at in ends if at]
    chat = items(value, "chat")
    facts.entries += len(chat) - first
    flow: list[SavedMessage] = []
    open_calls: list[str] = []
    for position, entry in list(enumerate(chat, 1))[first:]:
        name, text = f"{run}.{position}", text_in(get(entry, "content"))
        draft = _chat_entry(name, string(entry, "role"), text, entry, position, open_calls)
        if draft is None:
            continue
        draft.group, draft.message.at = name, ends[0]
        draft.message.upstream = "present" if strand.present else "gone"
        flow.append(draft)
    return flow


def _chat_entry(
    name: str, role: str, text: str, entry: Any, position: int, open_calls: list[str]
) -> SavedMessage | None:
    if role == "human":
        # What has no result by now gets none.
        open_calls.clear()
        text = typed_in(text)
        rule = rule_of_prompt(text)
        if rule is not None and rule.name == "summary":
            return divider(name, "summary", [Text(text)])
        draft = prompt(name, text, None, position, ("user",), rule)
        draft.message.display = rule.display if rule else "bubble"
        return draft
    if role == "bot":
        if text in ("", FOLLOWS):
            return None
        parts: list[Part] = [Text(said)] if (said := _TOOL.sub("", text).strip()) else []
        for number, found in enumerate(_TOOL.finditer(text)):
            open_calls.append(f"{name}-{number}")
            parts.append(ToolCall(open_calls[-1], found[1].strip(), found[2].strip()))
        return said_by_agent(name, parts, position, None, not open_calls)
    if role == "tool":
        if open_calls:
            result = ToolResult(open_calls.pop(0), "ok", text)
            entry_of = Entry(position, "user", (), "tool results")
            return make(name, "tool", "fold", [result], entry_of, ends=False)
        about = Entry(position, "context", (), "put in by the editor")
        return make(name, "harness", "fold", [Text(text)], about, label="context")
    return unknown(name, "entry", entry, position)
