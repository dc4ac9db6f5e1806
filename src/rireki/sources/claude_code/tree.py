"""The tree of a conversation: which branches a person left behind by rewinding.

Only two or more prompts under one node make a branch: parallel tools, hooks and
split answers fan out too, but nobody chose between those. Prompts with nothing
above them are such siblings too: the person went back to before the first one.
"""

from __future__ import annotations

from msgspec import Struct, field

__all__ = ["Tree"]

#: Stands above the first prompt of a session. An unknown parent is None instead.
TOP = ""


class Tree(Struct):
    #: Parent of every line, in file order; TOP for a root, None for an unknown parent.
    parents: dict[str, str | None] = field(default_factory=dict)
    #: Lines a person would not see as steps, and what they hang on.
    skipped: dict[str, str | None] = field(default_factory=dict)
    #: Prompts by the step they follow.
    prompts: dict[str, list[str]] = field(default_factory=dict)

    def add(self, uuid: str, parent: str | None, logical: str | None) -> None:
        """A line below `parent`, or, across a compaction, below its logical parent.

        A parent that comes later in the file is not followed: forks of compacted
        sessions hold such circles.
        """
        above = parent or logical or TOP
        self.parents[uuid] = above if above == TOP or above in self.parents else None

    def step(self, uuid: str) -> str | None:
        """The nearest step above a line; where there is none, the topmost line above it."""
        above = self.parents[uuid]
        while above in self.skipped:
            higher = self.skipped[above]
            if not higher:
                break
            above = higher
        return above

    def skip(self, uuid: str) -> None:
        self.skipped[uuid] = self.parents[uuid]

    def prompt(self, uuid: str, *, local: bool) -> None:
        """Something a person typed. Commands that the program answers itself may begin anywhere."""
        above = self.step(uuid)
        if above is not None and not (local and above == TOP):
            self.prompts.setdefault(above, []).append(uuid)

    def forks(self) -> list[list[str]]:
        """Prompts that a person chose between.

        At the top only what was answered counts: a file whose lines do not say what
        they follow is no file full of rewinds.
        """
        followed = set(self.parents.values())
        choices = dict(self.prompts)
        if tops := choices.get(TOP):
            choices[TOP] = [uuid for uuid in tops[:-1] if uuid in followed] + tops[-1:]
        return [uuids for uuids in choices.values() if len(uuids) > 1]

    def abandoned(self, spoken: set[str]) -> set[str]:
        """Every line on a branch that was left: all but the one that was spoken on last.

        `spoken` are the lines that say something: the last of them is where the person is now.
        """
        forks = self.forks()
        if not forks:
            return set()
        last = self._last_words(spoken)
        losers: set[str] = set()
        for uuids in forks:
            kept = max(uuids, key=lambda uuid: last.get(uuid, -1))
            losers.update(uuid for uuid in uuids if uuid != kept)
        left: set[str] = set()
        for uuid, parent in self.parents.items():
            if uuid in losers or parent in left:
                left.add(uuid)
        return left

    def _last_words(self, spoken: set[str]) -> dict[str, int]:
        """For every line, the place of the last thing said below it."""
        last: dict[str, int] = {}
        places = {uuid: place for place, uuid in enumerate(self.parents)}
        for uuid, parent in reversed(list(self.parents.items())):
            own = places[uuid] if uuid in spoken else -1
            last[uuid] = max(last.get(uuid, -1), own)
            if parent:
                last[parent] = max(last.get(parent, -1), last[uuid])
        return last
