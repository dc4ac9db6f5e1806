"""The prices that count for the user: ours, those of their own `prices.json`, or none.

    [usage]
    money = false

in `config.toml`, for who pays a subscription, hides all money. Both files lie in the user's data
directory, never beside an archive that somebody else may have made.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import msgspec

from rireki.errors import RirekiError, Wording
from rireki.home import SETTINGS, own_directories
from rireki.model.prices import KNOWN, PriceList, Prices, read_prices
from rireki.settings import read_settings

__all__ = ["OWN", "dollars", "own_file", "prices", "shows_money"]

#: The user's own prices, in their data directory.
OWN = "prices.json"
#: Nobody writes a longer one by hand, and a page waits for it.
LARGEST = 4 << 20
_HINT = Wording("write-usage")


def shows_money() -> bool:
    """Whether costs are told at all."""
    said = (_said(folder / SETTINGS) for folder in own_directories())
    return next((shown for shown in said if shown is not None), True)


def _said(file: Path) -> bool | None:
    section = read_settings(file, _HINT).get("usage", {})
    said = section.get("money") if isinstance(section, dict) else section
    if said is not None and not isinstance(said, bool):
        raise RirekiError("bad-usage-money", hint=_HINT, file=file)
    return said


def own_file() -> Path | None:
    """The user's own prices, if there are any."""
    return next((file for d in own_directories() if (file := d / OWN).is_file()), None)


def dollars(cost: float | None, least: bool = False) -> str:
    """An amount of money as people read it; a dash where nobody knows it."""
    if cost is None:
        return "–"
    told = "< $0.01" if 0 < cost < 0.005 else f"${cost:,.2f}"
    return f"≥ {told}" if least and not told.startswith("<") else told


def prices() -> Prices:
    """The prices there are. Raises RirekiError where the user's own cannot be read."""
    file = own_file()
    if file is None:
        return _prices(None, (0, 0, 0))
    try:
        status = file.stat()
        return _prices(file, (status.st_mtime_ns, status.st_size, status.st_ino))
    except OSError as error:
        raise _unreadable(file, Wording("unreadable", why=error.strerror)) from error


@lru_cache(maxsize=4)
def _prices(own: Path | None, stamp: tuple[int, int, int]) -> Prices:
    return Prices(read_prices(KNOWN.read_bytes()), _own(own) if own else None)


def _own(file: Path) -> PriceList:
    with file.open("rb") as open_file:
        data = open_file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise _unreadable(file, Wording("too-large-for-prices", most=LARGEST >> 20))
    try:
        return read_prices(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise _unreadable(file, Wording("not-prices", why=error)) from error


def _unreadable(file: Path, why: Wording) -> RirekiError:
    return RirekiError("prices-unreadable", file=file, why=why)
