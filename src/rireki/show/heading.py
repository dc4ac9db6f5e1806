"""What stands above a conversation: what it is, what became of it, what it is tied to."""

from __future__ import annotations

from collections.abc import Iterator

from rireki.model.conversation import Conversation
from rireki.show import times
from rireki.show.catalogue import say
from rireki.show.safe import Style, one_line
from rireki.show.width import truncate, wrap
from rireki.show.words import count, source_name, tokens

__all__ = ["RELATIONS", "facts", "fate", "heading", "relations"]

#: What another conversation is to this one, by the kind of the link and the other's side.
RELATIONS = {
    ("fork", "parent"): "forked from",
    ("fork", "child"): "forked into",
    ("subagent", "parent"): "started by",
    ("continuation", "parent"): "continues",
    ("continuation", "child"): "continued in",
    ("plan", "parent"): "plan of",
    ("plan", "child"): "with the plan",
    ("supersedes", "parent"): "took the place of",
    ("supersedes", "child"): "its place was taken by",
}


def heading(conversation: Conversation, columns: int, style: Style, full: bool) -> Iterator[str]:
    for line in wrap(one_line(conversation.title) or say("(no title)"), columns):
        yield style.bold(line)
    yield one_line(conversation.id)
    if conversation.project:
        yield one_line(conversation.project)
    if added := " ".join(_added(conversation)):
        for line in wrap(added, columns):
            yield style.cyan(line)
    for line in wrap(" · ".join(map(say, facts(conversation))), columns):
        yield style.dim(line)
    if conversation.usage:
        yield style.dim(truncate(say(f"tokens: {tokens(conversation.usage)}"), columns))
    for said in fate(conversation):
        yield style.yellow(say(said))
    for relation in relations(conversation):
        name, _, id = relation.rpartition(" ")
        yield style.dim(f"{say(name)} {id}")
    for trouble in _troubles(conversation, full):
        yield style.yellow(truncate(trouble, columns))


def _added(conversation: Conversation) -> Iterator[str]:
    """What a person added: a star, tags."""
    if conversation.added.starred:
        yield "★"
    yield from (f"#{one_line(tag)}" for tag in conversation.added.tags)
    if conversation.added.hidden:
        yield say("(hidden)")
    # Where it was read, if there are several machines.
    yield from (f"@{one_line(name)}" for name in conversation.machines or [])


def facts(conversation: Conversation) -> Iterator[str]:
    yield times.span_of(conversation)
    yield count(conversation.turns, "turn")
    yield count(conversation.messages, "message")
    if conversation.tool_calls:
        yield count(conversation.tool_calls, "tool call")
    if conversation.calls_without_result:
        yield f"{conversation.calls_without_result:,} without result"
    if conversation.unfinished:
        yield "unfinished"
    yield from map(one_line, conversation.models)


def fate(conversation: Conversation) -> Iterator[str]:
    """What the source did to it."""
    if conversation.nature == "prompts":
        yield "Only what you typed survived: the transcript was gone before rireki saw it."
    source = source_name(conversation.source)
    if conversation.times_from == "rireki":
        yield f"{source} noted no times for it; these are of when rireki saw it."
    if conversation.upstream == "gone":
        yield f"{source} no longer has this conversation."
    elif conversation.upstream == "changed":
        yield f"{source} no longer has all of it; what is gone there is marked."


def relations(conversation: Conversation) -> Iterator[str]:
    """Its ties to others, except the sub-agents it started: those are told where they started."""
    for link in conversation.links:
        if name := RELATIONS.get((link.kind, link.side)):
            yield f"{name} {one_line(link.id)}"


def _troubles(conversation: Conversation, full: bool) -> Iterator[str]:
    shown = conversation.troubles if full else conversation.troubles[:3]
    for trouble in shown:
        yield one_line(f"! {trouble.place}: {say(trouble.message)}")
    if left := len(conversation.troubles) - len(shown):
        yield say(f"! {count(left, 'more trouble')} (--full lists them)")
