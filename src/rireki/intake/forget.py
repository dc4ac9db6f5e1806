"""Forgetting a conversation for good: the only thing that ever removes bytes from an archive.

At once, or soon: until then it can be taken back, and is neither listed nor found. What is to be
forgotten is a fact of the archive, so it is done by whoever is there when its time has come.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from rireki.archive import forgetting
from rireki.archive.base import Archive, Found, PersonFact
from rireki.errors import NotFound, RirekiError
from rireki.intake.interpret import with_subagents
from rireki.model.times import to_datetime

__all__ = ["SECONDS", "Leaving", "forget", "forget_due", "forget_soon", "keep_after_all", "leaving"]

#: How long it can be taken back.
SECONDS = 10.0


class Leaving(NamedTuple):
    """A conversation that is about to be forgotten, and when."""

    id: str
    title: str
    due: datetime


def forget(archive: Archive, found: Found) -> int:
    """Remove a conversation and its sub-agents; returns how many bytes of records went."""
    _ensure_whole(found)
    return forgetting.forget(archive, with_subagents(archive, found))


def _ensure_whole(found: Found) -> None:
    conversation = found.conversation
    if (
        conversation.nature == "subagent"
        and conversation.id != f"{conversation.source}/{found.grouping}"
    ):
        raise RirekiError(
            "part-of-a-file", id=conversation.id, source=conversation.source, whole=found.grouping
        )


# ── soon ──


def forget_soon(archive: Archive, found: Found, now: datetime) -> None:
    """It and its sub-agents disappear now, and are forgotten when their time is over."""
    _ensure_whole(found)
    due = (now + timedelta(seconds=SECONDS)).isoformat()
    archive.add_facts(*(_fact(each, due) for each in with_subagents(archive, found)))


def keep_after_all(archive: Archive, found: Found) -> None:
    archive.add_facts(*(_fact(each, None) for each in with_subagents(archive, found)))


def _fact(found: Found, due: str | None) -> PersonFact:
    return PersonFact(found.family, found.conversation.native_id, "", "forget", "", due)


def leaving(archive: Archive) -> list[Leaving]:
    """What is about to be forgotten, without the sub-agents that go along."""
    if not archive.facts_of_kind("forget"):
        return []
    ids = [id for id, added in archive.curations().items() if added.leaving]
    found = []
    for id, about in archive.pick(ids).items():
        facts = [f for f in archive.facts(archive.find(id)) if f.kind == "forget"]
        due = to_datetime(facts[0].value or "") if facts else None
        if due is not None and about.nature != "subagent":
            found.append(Leaving(id, about.title, due))
    return found


def forget_due(archive: Archive, now: datetime) -> list[str]:
    """Forget what its time has come for; returns the ids. The index is for the caller to erase."""
    gone = []
    for each in leaving(archive):
        if each.due <= now:
            try:
                forget(archive, archive.find(each.id))
            except NotFound:
                # Another process was faster.
                continue
            gone.append(each.id)
    return gone
