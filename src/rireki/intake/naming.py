"""Origins as the archive names them, and as the system does: the same, but for names that are no text.

Readers see the names of the system, the archive and everything above it see text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from rireki.model.conversation import Trouble
from rireki.model.names import as_path, as_text, is_bytes
from rireki.model.record import Origin, Roll, Update
from rireki.sources.reader import Discovery, Known, Reader

__all__ = ["name_in_text", "named_in_text", "read_origin"]


def name_in_text(found: Discovery) -> None:
    """Give what readers found the names under which it is kept."""
    found.origins = [named_in_text(origin) for origin in found.origins]
    for number, looked in enumerate(found.looked):
        if not _is_text(looked.place):
            found.looked[number] = msgspec.structs.replace(looked, place=as_text(looked.place))
    found.troubles = [
        trouble if _is_text(trouble.place) else _trouble(trouble) for trouble in found.troubles
    ]


def named_in_text(origin: Origin) -> Origin:
    """As the archive names it."""
    if _is_text(origin.place) and _is_text(origin.stamp):
        # A project is known by its part of the stamp: none is foreign where that is not.
        return origin
    return msgspec.structs.replace(
        origin,
        place=as_text(origin.place),
        root=as_text(origin.root),
        conversation=_optional(as_text, origin.conversation),
        stamp=as_text(origin.stamp),
        project=_optional(as_text, origin.project),
    )


def read_origin(reader: Reader, origin: Origin, known: Known) -> Iterator[Update | Roll]:
    """What a reader finds new in an origin, which it knows by the name the system has for it."""
    if not is_bytes(origin.place):
        yield from reader.read(origin, known)
        return
    there = msgspec.structs.replace(
        origin,
        place=as_path(origin.place),
        root=as_path(origin.root),
        conversation=_optional(as_path, origin.conversation),
    )
    for item in reader.read(there, known):
        if isinstance(item, Update):
            item.conversation = _optional(as_text, item.conversation)
            item.project = _optional(as_text, item.project)
            item.troubles = list(map(_trouble, item.troubles))
        yield item


def _trouble(trouble: Trouble) -> Trouble:
    return Trouble(as_text(trouble.place), as_text(trouble.message), trouble.hint)


def _optional(spell: Callable[[str], str], name: str | None) -> str | None:
    return None if name is None else spell(name)


def _is_text(place: str) -> bool:
    return as_text(place) is place
