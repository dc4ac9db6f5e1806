"""What rules come to for one archive and one server: which conversations go, for whom, at what level."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import msgspec

from rireki.archive.base import Archive, Heading
from rireki.intake.interpret import with_subagents
from rireki.shares.rules import LEVELS, Level, ShareRule, rule_for

__all__ = ["SharePlan", "SharedGroup", "plan_for", "rules_with_subagents"]

#: A family and a conversation's own name in it.
GroupName: TypeAlias = tuple[str, str]
#: Groups of files that hold what was typed in all projects begin so: no rule is about them.
OF_ALL = "@"


class SharedGroup(msgspec.Struct, frozen=True):
    """What is given of one group of strands, which is told as a whole."""

    level: Level
    teams: tuple[str, ...]
    #: The ids of its conversations.
    ids: tuple[str, ...]


class SharePlan(msgspec.Struct):
    """Everything one server may have of an archive."""

    groups: dict[GroupName, SharedGroup]

    def told(self) -> dict[GroupName, SharedGroup]:
        """What goes with its records."""
        return {name: each for name, each in self.groups.items() if each.level != "counts"}

    def counted(self) -> dict[GroupName, SharedGroup]:
        """What goes as figures alone."""
        return {name: each for name, each in self.groups.items() if each.level == "counts"}


def plan_for(archive: Archive, rules: Sequence[ShareRule], remote: str) -> SharePlan:
    """By what the conversations are stored as: one that was not interpreted yet is not shared yet."""
    wanted = [rule for rule in rules if rule.remote == remote]
    if not wanted:
        return SharePlan({})
    wanted = rules_with_subagents(archive, wanted)
    groups: dict[GroupName, list[Heading]] = defaultdict(list)
    for heading in archive.headings():
        groups[heading.family, heading.grouping].append(heading)
    teams = sorted({rule.team for rule in wanted})
    planned = {
        name: shared
        for name, headings in groups.items()
        if not name[1].startswith(OF_ALL) and (shared := _shared(wanted, teams, headings))
    }
    return SharePlan(planned)


def rules_with_subagents(archive: Archive, rules: Sequence[ShareRule]) -> list[ShareRule]:
    """A conversation is shared with those that worked for it. Rules of their own come first, and so
    count: of two that are as near it is the first."""
    return [*rules, *(each for rule in rules for each in _of_subagents(archive, rule))]


def _of_subagents(archive: Archive, rule: ShareRule) -> list[ShareRule]:
    if rule.kind != "conversation":
        return []
    # Not by `find` alone: where it is gone, another one may begin with its name.
    if not archive.pick([rule.what]):
        return []
    found = with_subagents(archive, archive.find(rule.what))
    ids = [each.conversation.id for each in found if each.conversation.id != rule.what]
    return [msgspec.structs.replace(rule, what=id) for id in ids]


def _shared(
    rules: Sequence[ShareRule], teams: Sequence[str], headings: Sequence[Heading]
) -> SharedGroup | None:
    """A group goes as a whole: to a team that may have all of it, at the lowest of all levels."""
    levels: Mapping[str, list[Level]] = {team: [] for team in teams}
    for heading in headings:
        for team in teams:
            rule = rule_for(rules, team, heading.id, heading.project)
            if rule is not None and rule.level != "none":
                levels[team].append(rule.level)
    whole = [team for team in teams if len(levels[team]) == len(headings)]
    if not whole:
        return None
    lowest = min((level for team in whole for level in levels[team]), key=LEVELS.index)
    return SharedGroup(lowest, tuple(whole), tuple(heading.id for heading in headings))
