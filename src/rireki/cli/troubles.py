"""What could not be read, told with its place and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rireki.show.catalogue import say
from rireki.show.safe import one_line
from rireki.show.width import wrap
from rireki.show.words import count

if TYPE_CHECKING:
    from rireki.cli.output import StandardOutput
    from rireki.model.conversation import Trouble

__all__ = ["trouble_lines", "waiting_line"]


def trouble_lines(troubles: Sequence[Trouble], screen: StandardOutput) -> Iterator[str]:
    """A hint that several troubles share is said once, after the last of them."""
    for place, trouble in enumerate(troubles):
        said = f"! {one_line(trouble.place)}: {one_line(say(trouble.message))}"
        for number, line in enumerate(wrap(said, screen.columns - 4)):
            yield screen.style.yellow(f"    {line}" if number else f"  {line}")
        following = troubles[place + 1].hint if place + 1 < len(troubles) else ""
        if trouble.hint and trouble.hint != following:
            hint = f"    {one_line(say(trouble.hint))}"
            yield from (screen.style.dim(line) for line in wrap(hint, screen.columns))


def waiting_line(number: int) -> str:
    """That conversations are kept, but not yet (or not any more) what their records mean."""
    wait = count(number, "conversation waits", "conversations wait")
    return say(
        f"{wait} to be read again: another process is at it, or was interrupted. "
        "'rireki import' finishes it."
    )
