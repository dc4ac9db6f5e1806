"""`rireki install`: tell an agent of our MCP server, in its own settings."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from rireki.cli.archive import archive_path
from rireki.cli.options import archive_option, home_option, json_option
from rireki.cli.output import StandardOutput
from rireki.cli.places import places_of
from rireki.errors import RirekiError
from rireki.home import ARCHIVE, data_directory
from rireki.mcp.install.agents import AGENTS, AgentSettings, settings_of
from rireki.mcp.install.change import FileChange, plan_change
from rireki.mcp.install.notes import with_notes, without_notes
from rireki.show.catalogue import say
from rireki.show.safe import safe

__all__ = ["command"]


@click.command("install")
@click.argument("agent", type=click.Choice(AGENTS))
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--undo", is_flag=True, help="Take out again what was put in.")
@click.option(
    "--notes",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Also tell of it in a file that agents read: AGENTS.md, CLAUDE.md.",
)
@home_option
@json_option
@archive_option
def command(
    agent: str, yes: bool, undo: bool, notes: Path | None, home: Path | None, as_json: bool
) -> None:
    """Let AGENT search its past: put 'rireki mcp' into its own settings.

    This is the one thing of an agent's that rireki ever writes. The change is shown
    before it is made, everything else in the file stays as it is, and a copy of what
    was lies beside it. --undo takes it out again.

    \b
    Examples:
      rireki install claude
      rireki install codex --notes AGENTS.md
      rireki install claude --undo
    """
    places = places_of(home)
    settings = settings_of(agent, places)
    changes = [_in_settings(settings, undo)]
    if notes is not None:
        file = notes.absolute()
        changes.append(plan_change(file, without_notes if undo else with_notes, file.parent))
    changes = [change for change in changes if not change.is_none]
    if not changes:
        file = settings.file
        said = say(f"Nothing to take out of {file}.") if undo else say(f"{file} has it already.")
        _tell(as_json, settings, [], [], said)
        return
    if not as_json:
        _show(changes)
    if not yes:
        if as_json or not sys.stdin.isatty():
            raise RirekiError("not-asked")
        if not click.confirm(say("Change that?"), default=True, err=True):
            return
    backups = [change.write() for change in changes]
    title = settings.title
    done = say(f"{title} knows rireki from its next session on.")
    if undo:
        done = say(f"{title} does not know rireki any more.")
    _tell(as_json, settings, changes, backups, done)


def _in_settings(settings: AgentSettings, undo: bool) -> FileChange:
    entry = settings.entry(_command())
    return plan_change(
        settings.file,
        settings.without_entry if undo else lambda text: _with(settings, text, entry),
        settings.root,
    )


def _with(settings: AgentSettings, text: str, entry: dict[str, object]) -> str:
    return text if settings.current(text) == entry else settings.with_entry(text, entry)


def _command() -> list[str]:
    """What starts us, whatever directory and PATH an agent has."""
    started = [sys.executable, "-P", "-m", "rireki", "mcp"]
    archive = archive_path()
    return (
        started if archive == data_directory() / ARCHIVE else [*started, "--archive", str(archive)]
    )


def _show(changes: Sequence[FileChange]) -> None:
    for change in changes:
        click.echo(safe(str(change.file)), err=True)
        for line in change.shown():
            click.echo(f"  {safe(line)}", err=True)


def _tell(
    as_json: bool,
    settings: AgentSettings,
    changes: Sequence[FileChange],
    backups: Sequence[Path | None],
    done: str,
) -> None:
    screen = StandardOutput()
    if as_json:
        files = [str(change.file) for change in changes]
        kept = [str(backup) for backup in backups if backup is not None]
        screen.json(
            [
                {
                    "agent": settings.agent,
                    "file": str(settings.file),
                    "changed": files,
                    "backups": kept,
                }
            ]
        )
        return
    lines = [
        say(f"What was there is kept in {backup}.") for backup in backups if backup is not None
    ]
    screen.say([*lines, done])
