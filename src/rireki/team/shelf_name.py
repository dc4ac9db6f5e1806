"""What conversations and groups of many people are called where they stand together.

A name of a conversation says with which teams it is shared: shared otherwise, it is another one to the
index, and is written anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["UNFINISHED", "GroupOfOwner", "ShelfName", "owner_fact", "team_fact"]

#: The fact of a title whose conversation is unfinished.
UNFINISHED = "talk:unfinished"
#: Stands in no id.
_APART = "\n"


def owner_fact(person: int) -> str:
    return f"owner:{person}"


def team_fact(team: int) -> str:
    return f"team:{team}"


class ShelfName(NamedTuple):
    """A conversation, whose it is, and which teams may read it."""

    owner: int
    id: str
    teams: tuple[int, ...] = ()

    @classmethod
    def of(cls, name: str) -> ShelfName:
        owner, id, teams = name.split(_APART)
        return cls(int(owner), id, tuple(map(int, teams.split())))

    def __str__(self) -> str:
        return f"{self.beginning(self.owner, self.id)}{' '.join(map(str, self.teams))}"

    @staticmethod
    def beginning(owner: int, id: str = "") -> str:
        """How all names of a conversation begin, or of all of an owner's."""
        return f"{owner}{_APART}{id}{_APART}" if id else f"{owner}{_APART}"

    @property
    def facts(self) -> Iterable[str]:
        """What its documents tell besides."""
        return [owner_fact(self.owner), *map(team_fact, self.teams)]


class GroupOfOwner(NamedTuple):
    """The family of a group, and whose it is."""

    owner: int
    family: str

    @classmethod
    def of(cls, name: str) -> GroupOfOwner:
        owner, _, family = name.partition(_APART)
        return cls(int(owner), family)

    def __str__(self) -> str:
        return f"{self.owner}{_APART}{self.family}"
