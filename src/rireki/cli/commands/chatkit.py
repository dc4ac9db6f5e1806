"""`rireki chatkit adopt`: take over the database of another ChatKit store."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rireki.cli.archive import archive_path
from rireki.cli.options import archive_option
from rireki.errors import RirekiError
from rireki.show.catalogue import say

if TYPE_CHECKING:
    from rireki.chatkit import Adopted

__all__ = ["command"]

#: So many names are told of what did not come along.
EXAMPLES = 5


@click.command("chatkit")
@click.argument("action", type=click.Choice(["adopt"]))
@click.argument("old", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--name", default="chatkit", help="The store's name in your app ('chatkit').")
@click.option(
    "--files",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of the old app's uploads, named by attachment.",
)
@archive_option
def command(action: str, old: Path, name: str, files: Path | None) -> None:
    """Take over OLD, the database of a ChatKit sample store, into a store that RirekiStore opens.

    Every thread, item and attachment is copied, and compared at the end. OLD is only read.
    What is there already stays as it is: repeat it if it was cut short.

    \b
    Example:
      rireki chatkit adopt chatkit_demo.db --name support --files uploads
    """
    found = asyncio.run(_adopt(old, name, files, archive_path()))
    told = (
        f"{old}: {found.threads:,} threads, {found.items:,} items and {found.attachments:,} "
        f"attachments are in the store '{name}', {found.new:,} of them new; all compared"
    )
    click.echo(say(told))
    if found.without_bytes:
        hint = "" if files else "; name the folder of the uploads with --files"
        lacking = f"{_examples(found.without_bytes)}: their bytes were not found{hint}"
        click.echo(say(lacking), err=True)
    if found.unreadable:
        left = (
            f"{_examples(found.unreadable)}: no JSON object, left in the old database; "
            "'rireki import' keeps them as they are"
        )
        click.echo(say(left), err=True)


async def _adopt(old: Path, name: str, files: Path | None, archive: Path) -> Adopted:
    try:
        # An optional dependency: `pip install rireki[chatkit]`.
        from rireki.chatkit import RirekiStore
    except ModuleNotFoundError as error:
        raise RirekiError("chatkit-not-installed") from error

    async with RirekiStore(user_key=str, name=name, archive=archive) as store:
        return await store.adopt(old, files=files)


def _examples(names: list[str]) -> str:
    more = len(names) - EXAMPLES
    return ", ".join(names[:EXAMPLES]) + (say(f" and {more:,} more") if more > 0 else "")
