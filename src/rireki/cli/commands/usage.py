"""`rireki usage`: tokens and what they cost, by day, week, month, model, project or source."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

import click

from rireki.cli.archive import opened
from rireki.cli.options import archive_option, json_option, source_option
from rireki.cli.output import StandardOutput, time_of
from rireki.errors import RirekiError
from rireki.library import ensure_source
from rireki.show.catalogue import say
from rireki.show.money import dollars, prices, shows_money
from rireki.show.safe import one_line
from rireki.show.usage import GROUPS, Total, collect, grouped, summed, told
from rireki.show.width import pad, truncate, width

__all__ = ["command"]

#: Columns that a name may take.
WIDEST = 40
#: Columns of the table and their room, but the first.
_COLUMNS = {
    "conversations": 13,
    "turns": 7,
    "in": 12,
    "out": 13,
    "from cache": 14,
    "to cache": 13,
}


@click.command("usage")
@click.option("--by", type=click.Choice(GROUPS), default="day", help="What to tell it by: day.")
@click.option("--since", metavar="TIME", help="Used since then: 3h, 7d, 2w, a date, a time.")
@click.option("--before", metavar="TIME", help="Used before then.")
@source_option(False, "Only this source.", archived=True)
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print a table for spreadsheets.")
@archive_option
def command(
    by: str,
    since: str | None,
    before: str | None,
    source: str | None,
    as_json: bool,
    as_csv: bool,
) -> None:
    """Count tokens and what they cost, with conversations and turns.

    An answer that several conversations repeat is counted once; what a sub-agent used
    counts with the conversation that started it. Prices: 'rireki prices'.

    \b
    Examples:
      rireki usage --since 30d
      rireki usage --by model --since 2026-11-01
      rireki usage --by project --csv > usage.csv
    """
    if as_json and as_csv:
        raise RirekiError("json-or-csv")
    screen = StandardOutput()
    known = prices() if shows_money() else None
    begin, end = time_of(since), time_of(before)
    with opened() as archive:
        ensure_source(source, archive)
        used = collect(archive, known, source=source, since=begin, before=end)
    rows, total = grouped(used, by), summed(used)
    money = known is not None
    if as_csv:
        screen.say(_table(by, rows, money))
        return
    value = {
        "by": by,
        "since": begin,
        "before": end,
        "rows": [{by: name, **told(row, money)} for name, row in rows.items()],
        "total": told(total, money),
    }
    screen.give(as_json, [value], _lines(by, rows, total, money, screen))


def _table(by: str, rows: dict[str, Total], money: bool) -> Iterator[str]:
    for number, (name, row) in enumerate(rows.items()):
        values = _flat({by: name, **told(row, money)})
        if not number:
            yield _spelled(values)
        yield _spelled(values.values())
    if not rows:
        yield _spelled(_flat({by: "", **told(Total(), money)}))


def _flat(values: dict[str, Any]) -> dict[str, Any]:
    """Credits of several units stand in one column, with their names."""
    amounts = values.pop("credits")
    return {**values, "credits": "; ".join(f"{much} {unit}" for unit, much in amounts.items())}


def _spelled(values: Any) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow("" if v is None else v for v in values)
    return line.getvalue()


def _lines(
    by: str, rows: dict[str, Total], total: Total, money: bool, screen: StandardOutput
) -> Iterator[str]:
    if not rows:
        yield say("Nothing was used then.")
        return
    names = {name: one_line(name) or say("(unknown)") for name in rows}
    longest = min(max(width(each) for each in [*names.values(), say("total")]), WIDEST)
    credits_in = any(row.amounts for row in rows.values())
    columns = _COLUMNS | ({"cost": 13} if money else {})
    head = " ".join(pad(say(name), room, right=True) for name, room in columns.items())
    head += "  " + say("credits") if credits_in else ""
    yield screen.style.dim(f"{pad('', longest)} {head}")
    for name, row in rows.items():
        # A path says most at its end.
        shown = truncate(names[name], longest)
        yield f"{pad(shown, longest)} {_row(row, money, by != 'model')}".rstrip()
    yield screen.style.bold(f"{pad(say('total'), longest)} {_row(total, money, True)}".rstrip())
    yield from _notes(total, money, screen)


def _row(row: Total, money: bool, turns: bool) -> str:
    least = "≥ " if row.lower_bound else ""
    values = [
        f"{len(row.conversations):,}",
        f"{row.turns:,}" if turns else "–",
        f"{row.input:,}",
        f"{least}{row.output:,}",
        f"{row.cache_read:,}",
        f"{row.cache_write:,}",
    ]
    rooms = list(_COLUMNS.values())
    if money:
        values.append(dollars(row.known_cost, bool(row.unpriced or row.lower_bound)))
        rooms.append(13)
    line = " ".join(pad(value, room, right=True) for value, room in zip(values, rooms, strict=True))
    amounts = ", ".join(f"{much:,.2f} {one_line(unit)}" for unit, much in row.amounts.items())
    return f"{line}  {amounts}"


def _notes(total: Total, money: bool, screen: StandardOutput) -> Iterator[str]:
    if total.lower_bound:
        yield screen.style.dim(
            say("  ≥ some answers were noted only when they began; there were more")
        )
    if money and total.unpriced:
        yield screen.style.dim(
            say(f"  no price is known for {total.unpriced:,} answers: rireki prices tells of which")
        )
