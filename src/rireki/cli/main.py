"""The `rireki` command: finds the command that was typed, and says errors in two lines.

Knows the commands' names and their lines in the help only; each is imported when it is used, so that a
short command stays short.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

import click

from rireki import __version__
from rireki.cli.options import archive_option, completion
from rireki.cli.terminal import guard_terminal, say_aside, show_usage
from rireki.errors import RirekiError, Wording
from rireki.model.spelling import nearest
from rireki.show.catalogue import language, language_of, speak

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["cli", "run"]

#: Commands as `--help` groups them, each with its line there: neither help nor the completion of
#: names imports a command. A name that Python reserves has an underscore behind its file.
SECTIONS = {
    "Take in": {
        "import": "Take in what is new on this machine.",
        "watch": "Keep taking in what your agents write, as they write it.",
        "service": "Have 'rireki watch' run whenever you are logged in.",
        "sources": "Where each source is looked for, and what was found.",
        "chatkit": "ChatKit apps: take over another store's database.",
        "demo": "Look around in an invented history.",
    },
    "Read": {
        "serve": "Read, search and watch in a browser.",
        "list": "What is in the archive, newest first.",
        "search": "Find what was said.",
        "show": "Read one conversation.",
        "path": "Every conversation a directory ever had.",
        "latest": "The newest thing an agent said in a directory.",
    },
    "Understand": {
        "digest": "One day: asked, done, left unfinished.",
        "stats": "Conversations counted: patterns, tools, tokens.",
        "usage": "Tokens and what they cost, by day, model, project.",
        "prices": "What tokens of each model cost, and who says so.",
        "explain": "Why each user-role entry is shown as it is.",
    },
    "Give away": {
        "export": "Write conversations in a format that others read.",
        "share": "A conversation as a file for others, or what a team gets.",
        "unshare": "Take back what was shared with a team.",
        "team": "A server for what a team shares (see 'rireki team --help').",
    },
    "More machines": {
        "remote": "Your other machines, folders and servers, and who may push here.",
        "push": "Send what is new to them.",
        "pull": "Take what is new on them.",
        "sync": "Both, so that all have the same history.",
    },
    "Go on": {
        "chat": "Work with an agent from here; all of it is kept.",
        "resume": "The command that goes on with a conversation.",
        "mcp": "Let an agent search its own past (it starts this).",
        "install": "Tell an agent of 'rireki mcp', in its own settings.",
        "restore": "Write a conversation's own files back.",
    },
    "Keep in order": {
        "title": "A title of your own.",
        "tag": "Tags, to find conversations by.",
        "star": "What is worth finding again.",
        "note": "Remember something of a conversation, or of a message.",
        "hide": "Leave conversations out of lists and searches.",
    },
    "Keep": {
        "backup": "Copy the archive and what lies beside it.",
        "verify": "Check that everything is there and whole.",
        "rebuild": "Interpret every conversation anew.",
        "forget": "Remove a conversation for good.",
        "secrets": "Which keys and passwords stand in conversations, and where.",
        "token": "The token of the web app; --new locks everybody out.",
    },
    "Shell": {
        "completion": "Let your shell complete commands and ids.",
    },
}
_FILES = {"import": "import_", "list": "list_"}
USAGE, INTERRUPTED, BROKEN_PIPE = 2, 130, 141


class NoCommand(RirekiError):
    """What was typed is no command of ours."""


class Commands(click.Group):
    """Imports a command when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_lines())

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
        meant = Wording("maybe-command", near=near) if near else ""
        raise NoCommand("no-command", hint=meant, name=name)

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
        for section, lines in SECTIONS.items():
            with formatter.section(section):
                rows = [(f"{name:<10}", line) for name, line in lines.items()]
                formatter.write_dl(rows, col_max=14)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        lines = _lines().items()
        names = [completion(name, line) for name, line in lines if name.startswith(incomplete)]
        # Not of a group, which would import every command for its line.
        return names + click.Command.shell_complete(self, ctx, incomplete)


def _lines() -> dict[str, str]:
    return {name: line for lines in SECTIONS.values() for name, line in lines.items()}


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
        say_aside("error:", *error.lines(language()))
        return USAGE if isinstance(error, NoCommand) else 1
    except click.ClickException as error:
        show_usage(error)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except OSError as error:
        if error.filename is None:
            raise
        say_aside("error:", f"{error.filename}: {error.strerror}", "")
        return 1
    return code if isinstance(code, int) else 0
