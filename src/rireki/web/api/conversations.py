"""Answers about one conversation: itself, its messages by page, its versions, why it looks so."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rireki.archive.base import Archive
from rireki.errors import NotFound
from rireki.model.message import Message
from rireki.model.strand import State, Strand, expand
from rireki.show.decisions import explained, may_be_typed
from rireki.show.transcript import choose
from rireki.sources import registry
from rireki.sources.kit.jsonl import LANE
from rireki.web.api.answers import (
    ConversationAnswer,
    Decisions,
    MessageAnswer,
    MessagesPage,
    StrandVersions,
    VersionInfo,
    Versions,
)
from rireki.web.api.call import TALK, ApiCall, address, operation
from rireki.web.api.parameters import (
    BadRequest,
    ExplainAsked,
    MessagesAsked,
    Nothing,
    moment,
    plain,
)
from rireki.web.archive_reader import OpenConversation

__all__ = ["conversation", "explain", "message", "messages", "place_of", "versions"]


@operation(TALK, "One conversation.")
async def conversation(call: ApiCall[Nothing]) -> ConversationAnswer:
    def look(archive: Archive) -> ConversationAnswer:
        named = archive.find(call.conversation)
        found, _, _, changed = named
        started = [
            link.id for link in found.links if link.kind == "subagent" and link.side == "child"
        ]
        reader = registry.find(found.source)
        here = archive.here(named)
        resume = reader.resume(here) if reader is not None and here.upstream != "gone" else None
        return ConversationAnswer(found, list(archive.pick(started).values()), changed, resume)

    return await call.archive_reader.read(look)


@operation(TALK + "/messages", "Its messages, a page at a time, in both directions.")
async def messages(call: ApiCall[MessagesAsked]) -> MessagesPage:
    asked = call.asked
    as_of = moment(asked.as_of, end_of_day=True)
    talk = await call.archive_reader.talk(call.conversation, as_of)
    chosen = choose(talk.messages, asked.all)
    first, last = _window(talk, chosen, asked)

    def link(side: str, edge: Message) -> str:
        same = {"limit": asked.limit, "all": "true" if asked.all else None, "as_of": as_of}
        return address(talk.conversation.id, "messages", **{side: edge.id}, **same)

    return MessagesPage(
        conversation=talk.conversation.id,
        changed=talk.changed,
        total=len(chosen),
        first=first,
        messages=chosen[first:last],
        previous=link("before", chosen[first]) if 0 < first < last else None,
        next=link("after", chosen[last - 1]) if first < last < len(chosen) else None,
    )


def _window(
    talk: OpenConversation, chosen: Sequence[Message], asked: MessagesAsked
) -> tuple[int, int]:
    """Which of the messages the page has: from the first up to, not including, the last."""
    places = {"before": asked.before, "after": asked.after, "around": asked.around}
    given = {side: id for side, id in places.items() if id is not None}
    if len(given) + asked.last > 1:
        raise BadRequest("one-window-only")
    count = len(chosen)
    if asked.last:
        return max(count - asked.limit, 0), count
    if not given:
        return 0, min(asked.limit, count)
    ((side, id),) = given.items()
    place = place_of(talk, chosen, id)
    if side == "before":
        return max(place - asked.limit, 0), place
    first = place + 1 if side == "after" else max(place - asked.limit // 2, 0)
    return first, min(first + asked.limit, count)


def place_of(talk: OpenConversation, chosen: Sequence[Message], id: str) -> int:
    """Where a message stands. Raises NotFound, which says whether it is only hidden."""
    for place, message in enumerate(chosen):
        if plain(message.id) == id:
            return place
    hidden = any(plain(message.id) == id for message in talk.messages)
    code = "message-not-shown" if hidden else "no-such-message"
    raise NotFound(code, id=talk.conversation.id, message=id)


@operation(TALK + "/messages/{message}", "One message.")
async def message(call: ApiCall[Nothing]) -> MessageAnswer:
    talk = await call.archive_reader.talk(call.conversation)
    place = place_of(talk, talk.messages, call.names["message"])
    return MessageAnswer(talk.conversation.id, talk.changed, talk.messages[place])


@operation(TALK + "/explain", "Why each user-role entry is shown as it is.")
async def explain(call: ApiCall[ExplainAsked]) -> Decisions:
    talk = await call.archive_reader.talk(call.conversation)
    every = explained(talk.conversation, talk.messages)
    found = every if call.asked.all else filter(may_be_typed, every)
    return Decisions(talk.conversation.id, list(found))


@operation(TALK + "/versions", "What its source held, and when.")
async def versions(call: ApiCall[Nothing]) -> Versions:
    def look(archive: Archive) -> Versions:
        found = archive.find(call.conversation)
        strands = archive.strands(found.family, found.grouping)
        return Versions(found.conversation.id, [_strand(strand) for strand in strands])

    return await call.archive_reader.read(look)


def _strand(strand: Strand) -> StrandVersions:
    versions = [_version(None, state) for state in strand.states[:1]]
    versions += [_version(before, now) for before, now in pairwise(strand.states)]
    return StrandVersions(
        source=strand.source,
        origin=strand.place,
        key=strand.key,
        role=strand.role,
        project=strand.project,
        first_seen=strand.first_seen,
        last_seen=strand.last_seen,
        vanished_at=strand.vanished_at,
        versions=versions,
    )


def _version(before: State | None, now: State) -> VersionInfo:
    grown, known = _grown(now), _grown(before) if before else 0
    if grown is not None and known is not None:
        # By far the most: a file that only grew, thousands of times.
        added, lost = max(grown - known, 0), max(known - grown, 0)
        return VersionInfo(now.number, now.at, grown, added, lost)
    held, older = _held(now), _held(before) if before else set()
    return VersionInfo(now.number, now.at, len(held), len(held - older), len(older - held))


def _grown(state: State) -> int | None:
    """How many records a file of lines held; None unless they are all from its first on."""
    if not state.runs:
        return 0
    run, *others = state.runs
    first, _, last = run.records.partition("-")
    if others or run.lane != LANE or first != "0" or not (last or "0").isdecimal():
        return None
    return int(last or "0") + 1


def _held(state: State) -> set[tuple[str, int]]:
    return {(run.lane, record) for run in state.runs for record in expand(run.records)}
