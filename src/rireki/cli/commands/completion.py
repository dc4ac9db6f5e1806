"""`rireki completion`: what makes the shell complete commands, options and ids."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

__all__ = ["command"]

SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print what your shell needs to complete commands, options and conversation ids.

    \b
    Examples:
      rireki completion bash >> ~/.bashrc
      rireki completion zsh >> ~/.zshrc
      rireki completion fish > ~/.config/fish/completions/rireki.fish
    """
    made_by = get_completion_class(shell)
    assert made_by is not None
    root = click.get_current_context().find_root().command
    click.echo(made_by(root, {}, "rireki", "_RIREKI_COMPLETE").source())
