"""Threads, typed prompts and names as readings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rireki.model.conversation import LinkToken, Reading, Trouble
from rireki.model.parts import Notice, Text
from rireki.model.strand import Strand
from rireki.model.times import from_ms
from rireki.sources.codex.messages import RolloutReader
from rireki.sources.codex.reader import NAME, NAMES, PROMPTS
from rireki.sources.codex.rollout import Rollout, read_rollouts
from rireki.sources.codex.texts import SHELL
from rireki.sources.kit.decode import NotReadable, load
from rireki.sources.kit.fields import get, string
from rireki.sources.kit.pending import ConversationBuilder
from rireki.sources.kit.records import DecodedLine, records_of

__all__ = ["interpret"]

ELSEWHERE = "What came before stands in the thread it was forked from."
NEVER_SEEN = "What came before was in a file that was never seen."
SURVIVORS = "Only what was typed survives of this thread; its rollout was never seen."


def interpret(source: str, conversation: str, strands: Sequence[Strand]) -> list[Reading]:
    if conversation == PROMPTS:
        return _read_prompts(strands)
    if conversation == NAMES:
        return _read_names(conversation, strands)
    return _read_thread(conversation, strands)


def _read_thread(thread: str, strands: Sequence[Strand]) -> list[Reading]:
    files = [strand for strand in strands if strand.role == "rollout"]
    builder = ConversationBuilder(NAME, thread, files)
    rollouts = read_rollouts(files, builder.troubles)
    if not rollouts and not builder.troubles:
        return []
    meta = next((one.meta for one in reversed(rollouts) if one.meta), {})
    if _is_agent(meta):
        builder.nature = "subagent"
    # A checkout that the client made belongs to the repository it was made from.
    builder.note_directory(next((one.project for one in files if one.project), None))
    children: dict[str, str | None] = {}
    name = ""
    for number, rollout in enumerate(rollouts):
        again = [one.id for one in rollouts].index(rollout.id) != number
        prefix = f"{rollout.id[-12:]}-{'newer-' if again else ''}" if number else ""
        reader = RolloutReader(rollout, builder, prefix)
        if rollout.base not in ("", *(one.id for one in rollouts)):
            is_fork = rollout.parent and rollout.base != thread
            reader.note = ELSEWHERE if is_fork else NEVER_SEEN
        reader.read()
        children |= reader.children
        name = reader.name or name
        own = [line for line in rollout.lines if not line.copied]
        builder.entries += len(own)
        builder.times += [at for line in own if (at := line.at)]
        builder.note_time(rollout.meta.get("timestamp"))
    builder.title = _given_name(strands) or name or None
    builder.link_tokens = _link_tokens(thread, meta, children)
    if rollouts:
        builder.link_tokens += _origin(thread, rollouts, wants=not _is_agent(meta))
    return [builder.reading()]


def _is_agent(meta: dict[str, Any]) -> bool:
    """Whether no person talks in it: a sub-agent's, or the client's own that writes its memories."""
    programs = ("subagent", "memory_consolidation")
    return string(meta, "thread_source") in programs or bool(get(meta, "source", "subagent"))


def _given_name(strands: Sequence[Strand]) -> str:
    """The name that the client's index has for the thread."""
    # The client numbers its indexes: the last one counts.
    for strand in sorted(strands, key=lambda one: (one.present, one.place), reverse=True):
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
        LinkToken("subagent", "offer", f"thread:{thread}"),
    ]
    if _is_agent(meta):
        spawned = get(meta, "source", "subagent", "thread_spawn")
        parent = string(meta, "parent_thread_id") or string(spawned, "parent_thread_id")
        tokens.append(LinkToken("subagent", "want", f"agent:{thread}"))
        tokens += [LinkToken("subagent", "want", f"thread:{parent}")] if parent else []
    started = [(child, call) for child, call in children.items() if child not in ("", thread)]
    return tokens + [LinkToken("subagent", "offer", f"agent:{id}", call) for id, call in started]


def _origin(thread: str, rollouts: Sequence[Rollout], *, wants: bool) -> list[LinkToken]:
    """The thread that this one was forked from; and the files of this one, which forks may name instead."""
    known = dict.fromkeys([thread, *(one.id for one in rollouts)])
    tokens = [LinkToken("fork", "offer", f"thread:{id}") for id in known]
    named = [*(one.parent for one in rollouts), *(one.base for one in rollouts)]
    origin = next((id for id in named if id and id not in known), "")
    if origin and wants:
        tokens.append(LinkToken("fork", "want", f"thread:{origin}"))
    return tokens


# ── what was typed, and what threads are called ──


def _read_prompts(strands: Sequence[Strand]) -> list[Reading]:
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
            _typed(threads[thread], line)
    for builder in threads.values():
        builder.entries = len(builder.flow) - 1
        builder.troubles, troubles = troubles, []
    return [builder.reading() for builder in threads.values()]


def _typed(builder: ConversationBuilder, line: DecodedLine) -> None:
    name, text, at = f"prompt-{line.position}", line.text("text"), _at(line)
    if text.startswith("!"):
        # A command for the shell, which the terminal keeps among the prompts.
        builder.say(line, name, "person", "chip", [Text(text)], SHELL, at=at, label=text)
    else:
        builder.ask(line, name, [Text(text)], at=at)


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


def _read_names(group: str, strands: Sequence[Strand]) -> list[Reading]:
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
