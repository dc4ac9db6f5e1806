"""One day, project by project: what was asked, what came of it, and what was left unfinished.

Made of what was said on that day alone. What is hidden is left out, and counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import PurePath

import msgspec

from rireki.archive.base import Archive, Filter
from rireki.errors import NotFound
from rireki.intake.curate import hidden_count
from rireki.intake.interpret import read_conversation
from rireki.model.conversation import Conversation
from rireki.model.message import Message
from rireki.model.parts import ToolCall
from rireki.model.when import when
from rireki.show.edits import changed_files
from rireki.show.times import day as day_of
from rireki.show.transcript import plain_text

__all__ = ["AskedThing", "DayDigest", "DigestConversation", "DigestProject", "digest_of"]

#: Characters of a prompt and of an answer that are told.
PROMPT, ANSWER = 200, 400


class AskedThing(msgspec.Struct, frozen=True):
    """What a person asked, and when."""

    message: str
    at: str | None
    text: str


class DigestConversation(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    title: str
    source: str
    asked: list[AskedThing]
    #: How the agent's last answer of the day begins, and its message.
    answer: str = ""
    answer_message: str | None = None
    #: Files that the agent said it changed, as they are called in the project.
    files: list[str] = msgspec.field(default_factory=list)
    tool_calls: int = 0
    #: Whether it ended that day without an answer, and still does.
    unfinished: bool = False
    starred: bool = False
    tags: tuple[str, ...] = ()


class DigestProject(msgspec.Struct, frozen=True):
    project: str | None
    conversations: list[DigestConversation]

    @property
    def asked(self) -> int:
        return sum(len(each.asked) for each in self.conversations)

    @property
    def files(self) -> list[str]:
        return sorted({file for each in self.conversations for file in each.files})

    @property
    def unfinished(self) -> list[DigestConversation]:
        return [each for each in self.conversations if each.unfinished]


class DayDigest(msgspec.Struct, frozen=True):
    #: The local date.
    day: str
    projects: list[DigestProject]
    #: Conversations that were left out because they are hidden.
    hidden: int = 0

    @property
    def conversations(self) -> int:
        return sum(len(each.conversations) for each in self.projects)


def digest_of(archive: Archive, day: str, now: datetime, project: str | None = None) -> DayDigest:
    """Of a day as people type it: `yesterday`, `today`, a date. Raises RirekiError for no day."""
    # Of a moment, or of a month, the day on which it begins.
    date = day_of(when(day, now))
    first, last = when(date, now), when(date, now, end_of_day=True)
    wanted = Filter(project=project, since=first, hidden=False)
    found: dict[str | None, list[DigestConversation]] = {}
    for about in archive.conversations(wanted):
        if (about.started_at or "") <= last and (
            told := _conversation(archive, about, first, last)
        ):
            found.setdefault(about.project, []).append(told)
    projects = [DigestProject(path, _in_order(some)) for path, some in found.items()]
    projects.sort(key=lambda each: (-each.asked, each.project or ""))
    return DayDigest(date, projects, hidden_count(archive, wanted))


def _in_order(found: Sequence[DigestConversation]) -> list[DigestConversation]:
    return sorted(found, key=lambda each: (each.asked[0].at or "") if each.asked else "~")


def _conversation(
    archive: Archive, about: Conversation, first: str, last: str
) -> DigestConversation | None:
    """None where nothing was said in it on that day."""
    try:
        messages = read_conversation(archive, archive.find(about.id)).messages()
    except NotFound:
        # Forgotten in this very moment.
        return None
    whole = first <= (about.started_at or "") and (about.updated_at or "") <= last
    told = [m for m in messages if _is_told(m) and (first <= m.at <= last if m.at else whole)]
    asked = [m for m in told if m.author == "person" and plain_text(m).strip()]
    answers = [m for m in told if m.author == "agent" and plain_text(m).strip()]
    if not (asked or answers):
        return None
    files = [file for file in changed_files(told, about.project) if file.left or file.deleted]
    return DigestConversation(
        id=about.id,
        title=about.title,
        source=about.source,
        asked=[AskedThing(m.id, m.at, _begun(plain_text(m), PROMPT)) for m in asked],
        answer=_begun(plain_text(answers[-1]), ANSWER) if answers else "",
        answer_message=answers[-1].id if answers else None,
        files=_short(file.path for file in files),
        tool_calls=sum(isinstance(part, ToolCall) for m in told for part in m.parts),
        unfinished=about.unfinished and (about.updated_at or "") <= last,
        starred=about.added.starred,
        tags=about.added.tags,
    )


def _is_told(message: Message) -> bool:
    there = message.replaced_by is None and not message.abandoned
    return there and (message.display == "bubble" or message.author != "person")


def _begun(text: str, size: int) -> str:
    """On one line, as much as fits."""
    line = " ".join(text.split())
    return line if len(line) <= size else line[: size - 1].rstrip() + "…"


def _short(paths: Iterable[str]) -> list[str]:
    """Once each; of what lies elsewhere the end of its path says most."""
    found = dict.fromkeys(paths)
    return [p if not PurePath(p).is_absolute() else "/".join(PurePath(p).parts[-3:]) for p in found]
