"""`rireki demo`: an invented history to look at."""

from __future__ import annotations

from pathlib import Path

import click

from rireki.faces.cli.options import json_option

__all__ = ["DIRECTORY", "command"]

#: Beside the user's own archive.
DIRECTORY = "demo"


@click.command("demo", short_help="Look around in an invented history.")
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
    import shlex

    from rireki.archive.open import archive_path, open_archive
    from rireki.faces.cli.import_ import report_lines
    from rireki.faces.cli.output import Screen, progress
    from rireki.intake.demo import make_demo_home
    from rireki.intake.walk import import_history
    from rireki.sources.kit.places import Places

    place = (directory or archive_path(None).parent / DIRECTORY).absolute()
    home, kept = place / "home", archive_path(str(place / "archive"))
    if not home.exists():
        make_demo_home(home)
    archive = open_archive(kept, create=True)
    try:
        report = import_history(archive, places=Places.at(home), progress=progress())
    finally:
        archive.close()
    screen = Screen()
    if as_json:
        screen.json([{"home": str(home), "archive": str(kept), "report": report}])
        return
    screen.say([f"An invented home lies in {home}", *report_lines(report, screen), ""])
    option = f"--archive {shlex.quote(str(kept))}"
    screen.say(["Look around:", f"  rireki list {option}", f"  rireki stats {option}"])
