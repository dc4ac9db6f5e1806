"""`rireki demo`: an invented history to look at."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, NamedTuple

import click

from rireki.archive.open import open_archive
from rireki.cli.commands.import_ import report_lines
from rireki.cli.options import json_option
from rireki.cli.output import StandardOutput, now, progress
from rireki.errors import RirekiError
from rireki.home import archive_path
from rireki.intake.demo import change_demo_home, is_demo_home, make_demo_home
from rireki.search.index.importing import take_in
from rireki.show.catalogue import say
from rireki.sources.kit.places import Places

if TYPE_CHECKING:
    from rireki.archive.base import Archive
    from rireki.intake.progress import Progress
    from rireki.intake.sweep import Report

__all__ = ["DIRECTORY", "Demo", "command", "ensure_demo"]

#: Beside the user's own archive.
DIRECTORY = "demo"


@click.command("demo")
@click.option(
    "--dir",
    "directory",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Where to put it; beside your archive unless said otherwise.",
)
@json_option
def command(directory: Path | None, as_json: bool) -> None:
    """Make an invented home with conversations of every source, in Japanese and English, and
    take it into an archive of its own. Your own archive is not touched.

    \b
    Example:
      rireki demo --dir /tmp/rireki-demo
    """
    home, kept, report = ensure_demo(directory, progress())
    screen = StandardOutput()
    if as_json:
        screen.json([{"home": str(home), "archive": str(kept), "report": report}])
        return
    screen.say([say(f"An invented home lies in {home}"), *report_lines(report, screen), ""])
    screen.say(
        [
            say(
                "Then its agents did what agents do: a new chat overwrote an old one, one was compacted,"
            ),
            say("a transcript was deleted. Nothing is lost: the list marks them with ✗ and ~."),
            "",
        ]
    )
    option = f"--archive {shlex.quote(str(kept))}"
    screen.say([say("Look around:"), f"  rireki list {option}", f"  rireki stats {option}"])
    screen.say([f"  rireki search 夜間 {option}"])


class Demo(NamedTuple):
    """The invented home, the archive it was taken into, and what that brought."""

    home: Path
    archive: Path
    report: Report


def ensure_demo(directory: Path | None, progress: Progress | None) -> Demo:
    """The demo in this directory, or beside the user's archive; made where it is not there yet."""
    place = (directory or archive_path().parent / DIRECTORY).absolute()
    home, kept = place / "home", archive_path(place / "archive")
    archive = open_archive(kept, create=True)
    try:
        return Demo(home, kept, _take_in(archive, home, progress))
    finally:
        archive.close()


def _make_home(home: Path) -> None:
    """Made aside and moved: an interrupted demo leaves no half of a home behind."""
    # Under a name that nobody else has used: the folder may be one with other things in it.
    aside = Path(mkdtemp(prefix=".unfinished-", dir=home.parent))
    try:
        make_demo_home(aside, now().date())
        aside.rename(home)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise


def _take_in(archive: Archive, home: Path, progress: Progress | None) -> Report:
    """Import the home before and after its agents overwrote, compacted and deleted something."""
    changed = home.with_name("changed")
    if not home.exists():
        _make_home(home)
    elif not changed.exists() and not is_demo_home(home):
        # What comes next overwrites a conversation in it and removes another.
        raise RirekiError("not-the-demo", path=home)
    report = take_in(archive, Places.at(home), progress=progress)
    if not changed.exists():
        change_demo_home(home)
        changed.touch()
        take_in(archive, Places.at(home), progress=progress)
    return report
