"""The readers that are installed: ours and strangers', through the same entry points.

A stranger's reader costs itself alone: one that cannot be imported, or is called like another, is left
out and named (`broken`); what it raises while it works is caught by its guard (`guarded.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from rireki.errors import NotFound, RirekiError
from rireki.model.conversation import Trouble
from rireki.python_path import safe_path
from rireki.sources.reader import Reader

__all__ = ["broken", "find", "names", "reader", "readers"]

GROUP = "rireki.readers"
#: The distribution whose readers nobody replaces.
OURS = "rireki"


class _Point(NamedTuple):
    """An entry point of our group."""

    name: str
    address: str
    #: The distribution and its version, as its folder is called.
    owner: str

    @property
    def package(self) -> str:
        return self.owner.partition("-")[0].lower().replace("_", "-").replace(".", "-")


class _Installed(NamedTuple):
    points: dict[str, _Point]
    #: By name: why several readers of that name cannot be told apart.
    clashes: dict[str, Trouble]


@cache
def _installed() -> _Installed:
    """importlib.metadata would tell the same, but importing it costs 30 ms, a fifth
    of what an import with nothing new may take. Nothing counts that lies in the current directory."""
    by_name: dict[str, dict[str, _Point]] = {}
    for folder in dict.fromkeys(safe_path()):
        for file in sorted(Path(folder).glob("*-info/entry_points.txt")):
            for point in _parse(file):
                # What comes first on the path hides later copies of the same distribution.
                by_name.setdefault(point.name, {}).setdefault(point.package, point)
    points: dict[str, _Point] = {}
    clashes: dict[str, Trouble] = {}
    for name, found in sorted(by_name.items()):
        if OURS in found or len(found) == 1:
            points[name] = found.get(OURS) or next(iter(found.values()))
        if len(found) > 1:
            clashes[name] = _clash(name, found)
    return _Installed(points, clashes)


def _clash(name: str, found: dict[str, _Point]) -> Trouble:
    owners = " and ".join(sorted(point.owner for point in found.values()))
    used = f"only that of {OURS} is used" if OURS in found else "none of them is used"
    return Trouble.of(f"reader {name}", "reader-twice", owners=owners, name=name, used=used)


def _parse(file: Path) -> Iterator[_Point]:
    """The entries of our group in an entry_points.txt."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return
    _, found, rest = text.partition(f"[{GROUP}]")
    lines = rest.partition("\n[")[0].splitlines() if found else []
    for line in lines:
        name, equals, address = line.partition("=")
        if equals:
            owner = file.parent.name.rpartition(".")[0]
            yield _Point(name.strip(), address.strip(), owner)


def _addresses() -> dict[str, str]:
    """Reader names and where they live."""
    return {name: point.address for name, point in _installed().points.items()}


def names() -> list[str]:
    return list(_addresses())


def reader(name: str) -> Reader:
    """The reader of a source; importing it only now keeps start-up short."""
    if name not in _addresses():
        clash = _installed().clashes.get(name)
        if clash is not None:
            raise RirekiError(clash.message, clash.hint)
        raise NotFound("no-reader", name=name, names=[*names()])
    found = _loaded(name, _addresses()[name])
    if isinstance(found, Trouble):
        raise RirekiError(found.message, found.hint)
    return found


def find(name: str) -> Reader | None:
    """The reader of a source; None when there is none that can be used."""
    try:
        return reader(name)
    except RirekiError:
        return None


def readers(only: Iterable[str] = ()) -> list[Reader]:
    """All that can be used; of those that are named, an error says why one cannot be."""
    wanted = list(only)
    if wanted:
        return [reader(name) for name in wanted]
    return [found for name in names() if (found := find(name)) is not None]


def broken() -> list[tuple[str, Trouble]]:
    """Readers that cannot be used, or made a mistake in this process: their names, and why."""
    # Imported late: hardly anyone has a reader of somebody else's.
    from rireki.sources.guarded import mistakes

    loaded = [(name, _loaded(name, address)) for name, address in _addresses().items()]
    failed = [(name, found) for name, found in loaded if isinstance(found, Trouble)]
    return [*_installed().clashes.items(), *failed, *mistakes()]


@cache
def _loaded(name: str, address: str) -> Reader | Trouble:
    point = _installed().points.get(name)
    module, _, attribute = address.partition(":")
    if point is None or point.package == OURS:
        ours: Reader = getattr(import_module(module), attribute)
        return ours
    # Imported late: hardly anyone has a reader of somebody else's.
    from rireki.sources.guarded import Guarded

    try:
        found = Guarded(getattr(import_module(module), attribute), name, point.owner)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a stranger's code raises
        return Trouble.of(
            f"reader {name}",
            "reader-not-imported",
            owner=point.owner,
            kind=type(error).__name__,
            why=error,
        )
    return found
