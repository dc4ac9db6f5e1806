"""Threads, typed prompts and names as readings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rireki.model.conversation import LinkToken, Reading, Trouble
from rireki.model.parts import Notice, Text
from rireki.model.strand import Strand
from rireki.model.times import from_ms
from rireki.sources.codex.messages import RolloutReader
from rireki.sources.codex.rollout import read_rollouts
from rireki.sources.kit.decode import NotReadable, load
from rireki.sources.kit.fields import get, string
from rireki.sources.kit.pending import ConversationBuilder
from rireki.sources.kit.records import DecodedLine, records_of

__all__ = ["NAME", "read_names", "read_prompts", "read_thread"]

NAME = "codex"
SURVIVORS = "Only what was typed survives of this thread; its rollout was never seen."


def read_thread(thread: str, strands: Sequence[Strand]) -> list[Reading]:
    files = [strand for strand in strands if strand.role == "rollout"]
    builder = ConversationBuilder(NAME, thread, files)
    rollouts = read_rollouts(files, builder.troubles)
    if not rollouts and not builder.troubles:
        return []
    meta = rollouts[0].meta if rollouts else {}
    if _is_agent(meta):
        builder.nature = "subagent"
    # A checkout that the client made belongs to the repository it was made from.
    builder.note_directory(next((one.project for one in files if one.project), None))
    children: dict[str, str | None] = {}
    for number, rollout in enumerate(rollouts):
        reader = RolloutReader(rollout, builder, f"{rollout.id[-12:]}-" if number else "")
        reader.read()
        children |= reader.children
        own = [line for line in rollout.lines if not line.copied]
        builder.entries += len(own)
        builder.times += [at for line in own if (at := line.at)]
        builder.note_time(rollout.meta.get("timestamp"))
    builder.title = _given_name(strands) or None
    builder.link_tokens = _link_tokens(thread, meta, children)
    return [builder.reading()]


def _is_agent(meta: dict[str, Any]) -> bool:
    return string(meta, "thread_source") == "subagent" or bool(get(meta, "source", "subagent"))


def _given_name(strands: Sequence[Strand]) -> str:
    """The name that the client's index has for the thread."""
    for strand in strands:
        if strand.role == "state":
            try:
                return string(load(strand.document()), "name")
            except NotReadable:
                continue
    return ""


def _link_tokens(
    thread: str, meta: dict[str, Any], children: dict[str, str | None]
) -> list[LinkToken]:
    tokens = [
        LinkToken("title", "want", f"name:{thread}"),
        LinkToken("fork", "offer", f"thread:{thread}"),
        LinkToken("subagent", "offer", f"thread:{thread}"),
    ]
    if _is_agent(meta):
        spawned = get(meta, "source", "subagent", "thread_spawn")
        parent = string(meta, "parent_thread_id") or string(spawned, "parent_thread_id")
        tokens.append(LinkToken("subagent", "want", f"agent:{thread}"))
        tokens += [LinkToken("subagent", "want", f"thread:{parent}")] if parent else []
    elif forked := string(meta, "forked_from_id"):
        tokens.append(LinkToken("fork", "want", f"thread:{forked}"))
    started = [(child, call) for child, call in children.items() if child not in ("", thread)]
    return tokens + [LinkToken("subagent", "offer", f"agent:{id}", call) for id, call in started]


# ── what was typed, and what threads are called ──


def read_prompts(strands: Sequence[Strand]) -> list[Reading]:
    """The terminal's list of prompts, by thread: all that is left where a rollout is gone."""
    troubles: list[Trouble] = []
    threads: dict[str, ConversationBuilder] = {}
    for strand in strands:
        for line in records_of(strand, troubles):
            thread = line.text("session_id")
            if not thread:
                troubles.append(Trouble.of(f"{strand.place}: line {line.position}", "not-a-prompt"))
                continue
            if thread not in threads:
                threads[thread] = _survivors(thread, strands, line)
            threads[thread].ask(
                line, f"prompt-{line.position}", [Text(line.text("text"))], at=_at(line)
            )
    for builder in threads.values():
        builder.entries = len(builder.flow) - 1
        builder.troubles, troubles = troubles, []
    return [builder.reading() for builder in threads.values()]


def _survivors(thread: str, strands: Sequence[Strand], line: DecodedLine) -> ConversationBuilder:
    builder = ConversationBuilder(NAME, thread, strands, nature="prompts")
    builder.link_tokens.append(LinkToken("title", "want", f"name:{thread}"))
    notice = [Notice(SURVIVORS, "warning")]
    label = "typed prompts only"
    builder.say(
        line, f"{thread}#survivors", "harness", "chip", notice, label, label=label, at=_at(line)
    )
    return builder


def _at(line: DecodedLine) -> str | None:
    seconds = get(line.value, "ts")
    return from_ms(seconds * 1000) if isinstance(seconds, int | float) else None


def read_names(group: str, strands: Sequence[Strand]) -> list[Reading]:
    """The list of names: the last line of a thread counts."""
    names: dict[str, str] = {}
    builder = ConversationBuilder(NAME, group, strands, nature="titles")
    for strand in strands:
        for line in records_of(strand, builder.troubles):
            if line.text("id") and line.text("thread_name"):
                names[line.text("id")] = line.text("thread_name")
    builder.link_tokens = [
        LinkToken("title", "offer", f"name:{id}", name) for id, name in names.items()
    ]
    return [builder.reading()]
