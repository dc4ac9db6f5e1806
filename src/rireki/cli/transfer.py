"""What `push`, `pull` and `sync` have in common: remote after remote, one line about each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, TypeAlias

from rireki.cli.archive import library
from rireki.cli.output import StandardOutput, progress
from rireki.cli.terminal import say_aside
from rireki.errors import RirekiError
from rireki.intake.pending import interpret_pending
from rireki.intake.progress import Silent
from rireki.library import Library
from rireki.shares.link import shared_with
from rireki.show.catalogue import language, say
from rireki.show.words import count, size
from rireki.sync.link import RemoteLink
from rireki.sync.remotes import Remote, Remotes
from rireki.sync.sender import Transferred

__all__ = ["Direction", "transfer"]

Direction: TypeAlias = Literal["push", "pull"]


def transfer(name: str | None, directions: Sequence[Direction], as_json: bool) -> int:
    """Returns the exit code: one that cannot be reached does not keep the others from it."""
    screen = StandardOutput()
    failed = False
    with library(create=True, write=True) as kept:
        remotes = Remotes(kept.ask(lambda archive: archive.home))
        for remote in remotes.named(name):
            told = _Remote(kept, remote, directions)
            error = told.run(asked=name is not None)
            failed = failed or error is not None
            screen.give(as_json, [told.as_json(error)], told.lines())
            if error is not None and not as_json:
                say_aside("error:", *error.lines(language()))
    return 1 if failed else 0


class _Remote:
    """One remote, and what happened to it."""

    def __init__(self, kept: Library, remote: Remote, directions: Sequence[Direction]) -> None:
        self.kept = kept
        self.remote = remote
        self.directions = directions
        self.done: dict[Direction, Transferred] = {}
        self.conversations = 0

    def run(self, asked: bool) -> RirekiError | None:
        try:
            for direction in self.directions:
                if direction == "pull" and self.remote.kind != "own" and not asked:
                    continue
                self.done[direction] = self._run(direction)
        except RirekiError as error:
            # A team's server that nobody shares with has nothing to be told, unless it is asked about.
            if asked or error.code != "nothing-shared":
                return error
        return None

    def _run(self, direction: Direction) -> Transferred:
        with self.kept.archive() as archive:
            link = RemoteLink(archive, self.remote, shared_with)
            if direction == "push":
                return link.push()
            try:
                return link.pull()
            finally:
                # What was taken before it broke off is to be seen, too.
                stored = interpret_pending(archive, progress() or Silent())
                self.conversations = sum(1 for _ in stored)

    def lines(self) -> Iterator[str]:
        for direction, done in self.done.items():
            yield f"{self.remote.name}: {self._words(direction, done)}"
            if done.put_back:
                again = "An older copy was put back since the last time: everything was told again."
                yield "  " + say(again)
            if done.missing:
                yield "  ! " + say("Files are missing there: a drive may still be bringing them.")

    def _words(self, direction: Direction, done: Transferred) -> str:
        if not done.batches:
            nothing = "nothing new to push" if direction == "push" else "nothing new to pull"
            return say(nothing)
        if direction == "push":
            return say(f"pushed {count(done.strands, 'change')}, {size(done.bytes)}")
        return say(f"pulled {count(self.conversations, 'conversation')}, {size(done.bytes)}")

    def as_json(self, error: RirekiError | None) -> dict[str, Any]:
        told: dict[str, Any] = {"name": self.remote.name, "kind": self.remote.kind}
        for direction, done in self.done.items():
            told["pushed" if direction == "push" else "pulled"] = done
        if "pull" in self.done:
            told["conversations"] = self.conversations
        if error is not None:
            told |= {"error": error.message, "hint": error.hint, "code": error.code}
        return told
