"""`rireki verify`: is everything still there and whole? And if not: save what can be read."""

from __future__ import annotations

from pathlib import Path

import click

from rireki import home
from rireki.cli.archive import archive_path, opened
from rireki.cli.options import archive_option, json_option
from rireki.cli.output import StandardOutput, progress, trouble_lines, waiting_line
from rireki.intake.salvage import salvage
from rireki.intake.verify import verify
from rireki.search.index.update import verify as verify_index
from rireki.show.catalogue import say
from rireki.show.words import count

__all__ = ["command"]


@click.command("verify")
@click.option(
    "--salvage",
    metavar="NEW",
    type=click.Path(path_type=Path),
    help="Save all that can be read into a new archive, NEW; the old one is only read.",
)
@json_option
@archive_option
@click.pass_context
def command(ctx: click.Context, salvage: Path | None, as_json: bool) -> None:
    """Check every record of the archive against its checksum, what is known of it, what was
    made of it, and the search index.

    Of a damaged archive, every damage is one line with the conversation or table it concerns.
    Exit code 1 when anything is wrong, or could not be saved.

    \b
    Examples:
      rireki verify
      rireki verify --salvage repaired.sqlite3
    """
    if salvage is not None:
        ctx.exit(_salvage(salvage, as_json))
    ctx.exit(_verify(as_json))


def _verify(as_json: bool) -> int:
    screen = StandardOutput()
    with opened(checking=True) as archive:
        troubles = verify(archive, progress()) + verify_index(archive)
        # "@" groups are files that many conversations share.
        groups = [group for group in archive.pending() if not group.conversation.startswith("@")]
        groups = [] if archive.damage else groups
        name = archive.name
    if as_json:
        about = {"archive": name, "sound": not troubles, "troubles": troubles}
        screen.json([about | {"waiting": [f"{g.family}/{g.conversation}" for g in groups]}])
        return 1 if troubles else 0
    screen.say(trouble_lines(troubles, screen))
    screen.say([waiting_line(len(groups))] if groups else [])
    told = count(len(troubles), "trouble") if troubles else "The archive is sound."
    screen.say([say(told)])
    return 1 if troubles else 0


def _salvage(new: Path, as_json: bool) -> int:
    screen = StandardOutput()
    done = salvage(archive_path(), home.archive_path(new), progress())
    if as_json:
        screen.json([done])
        return 1 if done.lost or done.troubles else 0
    screen.say(trouble_lines(done.lost + done.troubles, screen))
    saved = count(done.conversations, "conversation")
    screen.say([say(f"{done.archive}: {saved} saved, and checked.")])
    lost = f"{count(len(done.lost), 'thing')} could not be saved."
    screen.say([say(lost)] if done.lost else [])
    return 1 if done.lost or done.troubles else 0
