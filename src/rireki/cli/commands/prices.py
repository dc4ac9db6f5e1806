"""`rireki prices`: what tokens of each model cost, as far as that is known, and who says so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
import msgspec

from rireki.cli.archive import opened
from rireki.cli.options import archive_option, json_option
from rireki.cli.output import StandardOutput
from rireki.errors import NotFound
from rireki.model.prices import Price, Prices
from rireki.show.catalogue import say
from rireki.show.money import own_file, prices, shows_money
from rireki.show.safe import one_line
from rireki.show.width import pad, truncate, width

__all__ = ["command"]

WIDEST = 44
_CLASSES = {
    "input": "in",
    "output": "out",
    "cache_read": "from cache",
    "cache_write": "to cache",
    "cache_write_1h": "for an hour",
}
_ROOM = 14


@click.command("prices")
@json_option
@archive_option
def command(as_json: bool) -> None:
    """List the known prices of models, and the models of the archive that have none.

    US dollars per million tokens. A file prices.json in your data directory comes before
    what rireki brings along.

    \b
    Examples:
      rireki prices
      rireki prices --json | jq -r 'select(.used) | .model'
    """
    screen = StandardOutput()
    known = prices()
    used = _used()
    rows = [_told(known, name, price, used) for name, price in known.models().items()]
    rows += [
        {"model": name, "used": True, "own": False, "known": False}
        for name in _lacking(known, used)
    ]
    if as_json:
        screen.json(rows)
    else:
        screen.page(_lines(known, used, screen))


def _used() -> list[str]:
    """The models that answered in the archive; none where there is no archive yet."""
    try:
        with opened() as archive:
            found = {a.model for _, answers in archive.answers() for a in answers if a.has_tokens}
    except NotFound:
        return []
    return sorted(found)


def _lacking(known: Prices, used: list[str]) -> list[str]:
    return [name for name in used if known.find(name) is None]


def _told(known: Prices, name: str, price: Price, used: list[str]) -> dict[str, Any]:
    own = known.is_own(name)
    listed = known.own if own and known.own else known.known
    value: dict[str, Any] = msgspec.to_builtins(price)
    value["source"] = listed.sources.get(price.source, price.source)
    value["date"] = price.date or listed.date
    return {
        "model": name,
        "used": any(known.find(one) is price for one in used),
        "own": own,
        "known": True,
        **value,
    }


def _lines(known: Prices, used: list[str], screen: StandardOutput) -> Iterator[str]:
    dim = screen.style.dim
    models = known.models()
    longest = min(max(map(width, models)), WIDEST)
    head = "".join(pad(say(name), _ROOM, right=True) for name in _CLASSES.values())
    yield dim(f"  {pad('', longest)}{head}")
    makers: dict[str, list[tuple[str, Price]]] = {}
    for name, price in models.items():
        makers.setdefault(price.maker or say("your own"), []).append((name, price))
    for maker, each in makers.items():
        yield screen.style.bold(one_line(maker))
        for name, price in each:
            yield f"  {pad(truncate(one_line(name), longest), longest)}{_costs(price)}{_mark(known, name)}"
            for size, rates in sorted(price.above.items()):
                above = say(f"above {size:,} tokens")
                yield dim(f"  {pad('  ' + above, longest)}{_costs(rates)}")
    yield ""
    yield dim(say(f"US dollars per million tokens, read on {known.known.date} from:"))
    yield from (dim(f"  {source}") for source in known.known.sources.values())
    if file := own_file():
        yield dim(say(f"* from your own {one_line(str(file))}"))
    if not shows_money():
        yield dim(say("config.toml says that no money is shown: [usage] money = false"))
    if lacking := _lacking(known, used):
        yield ""
        yield screen.style.bold(say("Models of your archive without a price"))
        yield from (f"  {one_line(name)}" for name in lacking)


def _costs(rates: Any) -> str:
    values = (getattr(rates, name) for name in _CLASSES)
    return "".join(pad("–" if v is None else f"{v:,.4g}", _ROOM, right=True) for v in values)


def _mark(known: Prices, name: str) -> str:
    return " *" if known.is_own(name) else ""
