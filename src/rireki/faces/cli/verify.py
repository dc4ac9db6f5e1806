"""`rireki verify`: is everything still there and whole?"""

from __future__ import annotations

import click

from rireki.faces.cli.options import archive_option, json_option, opened

__all__ = ["command"]


@click.command("verify", short_help="Check that everything is there and whole.")
@json_option
@archive_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Check every record of the archive against its checksum, what was made of it, and the
    search index.

    Exit code 1 when anything is wrong.

    \b
    Example:
      rireki verify
    """
    from rireki.faces.cli.output import Screen, progress
    from rireki.intake.verify import verify
    from rireki.search.update import verify as verify_index

    screen = Screen()
    with opened() as archive:
        troubles = verify(archive, progress()) + verify_index(archive)
        # "@" groups are files that many conversations share.
        groups = [group for group in archive.dirty() if not group.conversation.startswith("@")]
        path = archive.path
    if as_json:
        about = {"archive": str(path), "sound": not troubles, "troubles": troubles}
        screen.json([about | {"waiting": [f"{g.family}/{g.conversation}" for g in groups]}])
    else:
        from rireki.faces.cli.troubles import trouble_lines, waiting_line
        from rireki.show.words import count

        screen.say(trouble_lines(troubles, screen))
        screen.say([waiting_line(len(groups))] if groups else [])
        screen.say([count(len(troubles), "trouble") if troubles else "The archive is sound."])
    if troubles:
        ctx.exit(1)
