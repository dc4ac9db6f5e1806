"""What `share --team` and `unshare` have in common: rules for a team, and what they come to."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from rireki.archive.base import Archive
from rireki.cli.terminal import say_aside
from rireki.errors import RirekiError
from rireki.masking import Masker
from rireki.model.names import directory_of
from rireki.shares.link import take_back
from rireki.shares.plan import plan_for
from rireki.shares.rules import LEVELS, Level, ShareRule, read_rules
from rireki.show.catalogue import language, say
from rireki.show.safe import one_line
from rireki.show.words import count
from rireki.sync.remotes import Remote, Remotes

__all__ = [
    "OFFERED",
    "SharePreview",
    "preview",
    "rule_for_name",
    "rules_told",
    "take_back_now",
    "team_remote",
]

OFFERED = [level for level in LEVELS if level != "none"]
#: Titles that are shown of what would be sent.
SHOWN = 8


def team_remote(archive: Archive, name: str | None) -> Remote:
    """The server of a team that is meant: the one of that name, or the only one."""
    remotes = Remotes(archive.home)
    if name is not None:
        remote = remotes.get(name)
        if remote.kind != "team":
            raise RirekiError("remote-not-team", name=name)
        return remote
    found = [remote for remote in remotes.all() if remote.kind == "team"]
    if not found:
        raise RirekiError("no-team-remote")
    if len(found) > 1:
        raise RirekiError("which-team-remote", names=[remote.name for remote in found])
    return found[0]


def rule_for_name(archive: Archive, name: str, team: str, remote: str, level: Level) -> ShareRule:
    """For a directory, or for the conversation of that id."""
    if _is_directory(name):
        what = directory_of(name)
        return ShareRule(what=what, kind="directory", team=team, remote=remote, level=level)
    id = archive.find(name).conversation.id
    return ShareRule(what=id, kind="conversation", team=team, remote=remote, level=level)


def _is_directory(name: str) -> bool:
    begins = name.startswith((os.sep, "/", "~", f".{os.sep}", "./")) or name in (".", "..")
    return begins or Path(name).is_absolute() or Path(name).is_dir()


class SharePreview(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule lets out of the archive as it is now."""

    rule: ShareRule
    conversations: int
    ids: list[str]
    titles: list[str]

    def lines(self) -> Iterator[str]:
        rule, what = self.rule, count(self.conversations, "conversation")
        yield _words(rule.level, what, rule.team, rule.remote)
        for title in self.titles[:SHOWN]:
            yield f"  {title}"
        if self.conversations > SHOWN:
            yield "  …"

    def as_json(self) -> dict[str, Any]:
        return {
            **msgspec.to_builtins(self.rule),
            "conversations": self.conversations,
            "ids": self.ids,
        }


def _words(level: Level, what: str, team: str, remote: str) -> str:
    if level == "counts":
        return say(f"{what}: figures alone, for {team} on {remote}")
    if level == "full":
        return say(f"{what}: in full, for {team} on {remote}")
    if level == "masked":
        return say(f"{what}: without secrets, for {team} on {remote}")
    return say(f"{what}: nothing, for {team} on {remote}")


def preview(archive: Archive, rule: ShareRule, rules: Sequence[ShareRule]) -> SharePreview:
    """`rules` are all there are, the rule among them."""
    plan = plan_for(archive, rules, rule.remote)
    ids = [
        id
        for group in plan.groups.values()
        if rule.team in group.teams and group.level == rule.level
        for id in group.ids
    ]
    known = archive.pick(ids)
    covered = [id for id in ids if id in known and rule.covers(id, known[id].project)]
    masker = Masker.for_home(archive.home)
    titles = [one_line(masker.text(known[id].title)) or say("(no title)") for id in covered]
    shown = [f"{id}  {title}" for id, title in zip(covered, titles, strict=True)]
    return SharePreview(rule=rule, conversations=len(covered), ids=covered, titles=shown)


def rules_told(archive: Archive) -> list[SharePreview]:
    """Every rule, with what it lets out now."""
    rules = read_rules()
    return [preview(archive, rule, rules) for rule in rules]


def take_back_now(archive: Archive) -> None:
    """What is no longer shared goes from the servers at once; who cannot be reached is named."""
    for remote, error in take_back(archive):
        if error is not None:
            later = say(f"{remote.name} could not be told; the next 'rireki push' does it.")
            say_aside("warning:", later, error.lines(language())[0])
