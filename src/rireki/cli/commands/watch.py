"""`rireki watch`: take in what agents write, as they write it."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

import click

from rireki.archive.open import open_archive
from rireki.cli.archive import archive_path, opened
from rireki.cli.commands.import_ import report_lines
from rireki.cli.options import archive_option, home_option, json_option
from rireki.cli.output import StandardOutput, now, progress, trouble_lines
from rireki.cli.places import places_of
from rireki.errors import RirekiError, Wording
from rireki.live.feed import Feed
from rireki.live.keeper import Keeper
from rireki.show.catalogue import say
from rireki.show.safe import one_line
from rireki.show.width import truncate
from rireki.show.words import count, folder

if TYPE_CHECKING:
    from types import FrameType

    from rireki.live.feed import Touched
    from rireki.live.keeper import KeeperStatus
    from rireki.model.conversation import Conversation

__all__ = ["command"]

#: How often to look whether something else is to be said, in seconds.
LOOK = 0.5


@click.command("watch")
@home_option
@click.option("--quiet", is_flag=True, help="Say nothing but troubles.")
@json_option
@archive_option
def command(home: Path | None, quiet: bool, as_json: bool) -> None:
    """Take in what your agents wrote, then what they write from now on, within moments.

    Runs until Ctrl-C, and prints a line for every conversation that changes. One
    keeper works per archive; a second one says so, follows, and takes over when
    the first one ends. 'rireki service install' runs it whenever you are logged in.

    \b
    Examples:
      rireki watch
      rireki watch --json | jq .title
    """
    with opened(create=True):
        # An archive that cannot be written is told before anything begins.
        pass
    changes: SimpleQueue[int] = SimpleQueue()
    keeper = Keeper(
        archive_path(),
        places_of(home),
        on_change=None if quiet else changes.put,
        progress=None if quiet else progress(),
    )
    watch = _Watch(keeper, changes, StandardOutput(), quiet, as_json)
    with _until_told() as ended:
        keeper.start()
        try:
            while not ended and watch.step():
                continue
        except KeyboardInterrupt:
            # Ctrl-C is how it is meant to end.
            ended.append(True)
        finally:
            keeper.stop()
    watch.finish()


@contextmanager
def _until_told() -> Iterator[list[bool]]:
    """A list that is empty until the system asks us to end."""
    ended: list[bool] = []

    def end(number: int, frame: FrameType | None) -> None:
        ended.append(True)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield ended
    finally:
        signal.signal(signal.SIGTERM, before)


class _Watch:
    """What is said while the keeper works."""

    def __init__(
        self,
        keeper: Keeper,
        changes: SimpleQueue[int],
        screen: StandardOutput,
        quiet: bool,
        as_json: bool,
    ) -> None:
        self.keeper = keeper
        self.changes = changes
        self.screen = screen
        self.quiet = quiet
        self.as_json = as_json
        self.state = ""
        self.number: int | None = None
        self.troubles: set[Any] = set()

    def step(self) -> bool:
        """Say what is new; False when the keeper has ended."""
        number = self._next_number()
        status = self.keeper.status
        self._say_state(status)
        self._say_troubles(status)
        if number is not None:
            self._say_changes(number)
        sys.stdout.flush()
        return status.state not in ("failed", "stopped")

    def _next_number(self) -> int | None:
        try:
            return self.changes.get(timeout=LOOK)
        except Empty:
            return None

    def finish(self) -> None:
        status = self.keeper.status
        if status.state == "failed":
            (trouble,) = status.troubles
            raise RirekiError(
                "trouble-at",
                hint=trouble.hint,
                place=trouble.place,
                why=Wording(trouble.message),
            )

    def _say_state(self, status: KeeperStatus) -> None:
        if status.state == self.state:
            return
        before, self.state = self.state, status.state
        if not self.quiet and not self.as_json:
            self.screen.say(_state_lines(status, before, self.screen))

    def _say_troubles(self, status: KeeperStatus) -> None:
        new = [trouble for trouble in status.troubles if trouble not in self.troubles]
        self.troubles = set(status.troubles)
        if new and status.state != "failed":
            sys.stderr.write("\n".join(trouble_lines(new, self.screen)) + "\n")
            sys.stderr.flush()

    def _say_changes(self, number: int) -> None:
        """One line for each conversation that changed since the last look.

        The first number is that of the first import, which is told by its report.
        """
        if self.number is None:
            self.number = number
        if number <= self.number:
            return
        with closing(open_archive(self.keeper.archive_path)) as archive:
            news = Feed(archive).since(self.number)
            self.number = news.number
            ids = [change.conversation for change in news.changes]
            found = archive.pick(ids)
        for change in news.changes:
            self._say_change(change, found.get(change.conversation), news.number)

    def _say_change(self, change: Touched, conversation: Conversation | None, number: int) -> None:
        if change.kind == "changed" and change.messages == [] and not change.removed:
            return
        if self.as_json:
            self.screen.json([_as_json(change, conversation, number)])
        else:
            self.screen.say([_line(change, conversation, self.screen)])


def _state_lines(status: KeeperStatus, before: str, screen: StandardOutput) -> Iterator[str]:
    if status.state == "following":
        who = say(f"process {status.holder}") if status.holder else say("another process")
        yield say(f"This archive is kept by {who} already. Its changes are told here as well, and")
        yield say("this one takes over when the other ends ('rireki service status' tells more).")
        return
    if before == "following":
        yield say("The other keeper has ended: this one takes over.")
    if status.state == "keeping":
        if status.report is not None:
            yield from report_lines(status.report, screen)
        where = count(len(status.folders), "folder")
        yield say(f"Watching {count(status.origins, 'file')} in {where}; Ctrl-C ends.")


def _line(change: Touched, conversation: Conversation | None, screen: StandardOutput) -> str:
    time = now().astimezone().strftime("%H:%M:%S")
    if conversation is None:
        return f"{time}  {one_line(change.conversation)}  {say('forgotten')}"
    words = [time, one_line(conversation.source), folder(conversation.project)]
    words.append(one_line(conversation.title) or say("(no title)"))
    told = say("changed" if change.messages is None else count(len(change.messages), "message"))
    if conversation.upstream == "gone":
        told = say("gone from its source")
    new = say("new, ") if change.kind == "new" else ""
    return f"{truncate('  '.join(filter(None, words)), screen.columns - 22)}  {new}{told}"


def _as_json(change: Touched, conversation: Conversation | None, number: int) -> dict[str, Any]:
    found = {
        "number": number,
        "id": change.conversation,
        "kind": change.kind,
        "messages": None if change.messages is None else len(change.messages),
    }
    if conversation is not None:
        found |= {
            "source": conversation.source,
            "project": conversation.project,
            "title": conversation.title,
            "upstream": conversation.upstream,
            "updated_at": conversation.updated_at,
        }
    return found
