"""The `rireki` command: finds the command that was typed, and says errors in two lines.

Knows the commands' names only; each is imported when it is used, so that a
short command stays short.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from rireki import __version__
from rireki.cli.options import archive_option
from rireki.cli.terminal import guard_terminal
from rireki.errors import RirekiError
from rireki.model.spelling import nearest
from rireki.show.catalogue import language_of, say, speak

__all__ = ["cli", "run"]

#: Commands as `--help` groups them; a name that Python reserves has an underscore behind its file.
SECTIONS = {
    "Take in": ("import", "watch", "service", "sources", "chatkit", "demo"),
    "Read": ("serve", "list", "search", "show", "path", "latest"),
    "Understand": ("stats", "explain"),
    "Go on": ("chat", "resume", "restore"),
    "Keep": ("backup", "verify", "rebuild", "forget", "token"),
    "Shell": ("completion",),
}
_FILES = {"import": "import_", "list": "list_"}
USAGE, INTERRUPTED, BROKEN_PIPE = 2, 130, 141


class NoCommand(RirekiError):
    """What was typed is no command of ours."""


class Commands(click.Group):
    """Imports a command when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for names in SECTIONS.values() for name in names]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        module = import_module(f"rireki.cli.commands.{_FILES.get(cmd_name, cmd_name)}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = click.utils.make_str(args[0])
        if name in self.list_commands(ctx) or name.startswith("-"):
            return super().resolve_command(ctx, args)
        near = nearest(name, self.list_commands(ctx))
        meant = (
            say(f"Did you mean 'rireki {near}'?") if near else say("'rireki --help' lists them.")
        )
        raise NoCommand(f"there is no command {name!r}", meant)

    def invoke(self, ctx: click.Context) -> object:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            # Whoever read our output has seen enough; nothing more must be written at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(BROKEN_PIPE)
        return result

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for section, names in SECTIONS.items():
            rows = []
            for name in names:
                command = self.get_command(ctx, name)
                rows.append((f"{name:<10}", command.get_short_help_str(60) if command else ""))
            with formatter.section(section):
                formatter.write_dl(rows, col_max=14)


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="rireki %(version)s")
@archive_option
def cli() -> None:
    """One home for every conversation you have with AI agents.

    \b
    Start here:
      rireki serve           read, search and watch in a browser
      rireki import          take in what your agents left on this machine
      rireki list            what is there, newest first
      rireki search WORDS    find what was said; without words, as you type
      rireki show ID         read one; the first letters of the id will do

    No history yet? `rireki demo` makes an invented one.
    """


def run(arguments: Sequence[str]) -> int:
    """Run a command line to its exit code; the one place where errors become words."""
    guard_terminal()
    speak(language_of(os.environ))
    try:
        code = cli.main(list(arguments), prog_name="rireki", standalone_mode=False)
    except RirekiError as error:
        _say_error(error.message, error.hint)
        return USAGE if isinstance(error, NoCommand) else 1
    except click.ClickException as error:
        from rireki.cli.usage import show_usage

        show_usage(error)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except OSError as error:
        if error.filename is None:
            raise
        _say_error(f"{error.filename}: {error.strerror}", "")
        return 1
    return code if isinstance(code, int) else 0


def _say_error(message: str, hint: str) -> None:
    from rireki.cli.output import say_aside

    say_aside("error:", message, hint)
