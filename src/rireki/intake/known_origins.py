"""The origins of an archive, remembered by whoever takes in often.

It knows of what was taken in with it. What others did meanwhile it learns
when it is made anew; until then the archive itself notices a cursor that moved on.
"""

from __future__ import annotations

import msgspec

from rireki.archive.base import Archive, KnownOrigin
from rireki.model.record import Origin
from rireki.sources.kit.journals import ROLE

__all__ = ["KnownOrigins", "name_of"]


class KnownOrigins:
    """Holds no archive: it outlives the one it was made from, where that is closed and opened again."""

    def __init__(self, archive: Archive) -> None:
        self.origins = {(o.source, o.place): o for o in archive.origins()}
        #: Origins that were taken in since, of which no more is known here.
        self.newcomers: set[tuple[str, str]] = set()
        # Asked for late: most runs find every file where it was.
        self._owners: dict[int, str | None] | None = None
        self._names: dict[tuple[str | None, ...], KnownOrigin] | None = None

    def find(self, origin: Origin) -> KnownOrigin | None:
        return self.origins.get((origin.source, origin.place))

    def namesake(self, archive: Archive, origin: Origin) -> KnownOrigin | None:
        """The file of the same name and conversation, in whatever folder."""
        if self._names is None:
            self._names = {self.name_of(archive, known): known for known in self.origins.values()}
        return self._names.get(name_of(origin, origin.conversation))

    def name_of(self, archive: Archive, known: KnownOrigin) -> tuple[str | None, ...]:
        if self._owners is None:
            self._owners = {each.id: each.conversation for each in archive.origins(named=True)}
        return name_of(known, self._owners.get(known.id))

    def has_below(self, path: str) -> bool:
        """Whether an origin lies, or lay, at a path or below it."""
        below = (f"{path}/", f"{path}\\")
        places = (place for _, place in (*self.origins, *self.newcomers))
        return any(place == path or place.startswith(below) for place in places)

    def move(self, known: KnownOrigin, origin: Origin) -> None:
        del self.origins[known.source, known.place]
        moved = msgspec.structs.replace(known, place=origin.place, stamp="", vanished_at=None)
        self.origins[origin.source, origin.place] = moved
        if self._names is not None:
            self._names[name_of(origin, origin.conversation)] = moved

    def vanish(self, known: KnownOrigin) -> None:
        """It is not there any more: whatever comes back is read, whatever its stamp."""
        gone = msgspec.structs.replace(known, stamp="", vanished_at=known.vanished_at or "now")
        self.origins[known.source, known.place] = gone

    def take(self, origin: Origin) -> None:
        """The origin was read to its end."""
        known = self.find(origin)
        name = (origin.source, origin.place)
        if known is None:
            self.newcomers.add(name)
            return
        self.origins[name] = msgspec.structs.replace(known, stamp=origin.stamp, vanished_at=None)


def name_of(origin: Origin | KnownOrigin, conversation: str | None) -> tuple[str | None, ...]:
    """What stays the same when a file moves to another folder."""
    if origin.role == ROLE:
        # A journal's name is its own, whichever conversation it turns out to belong to.
        conversation = None
    file = origin.place.replace("\\", "/").rpartition("/")[2]
    return origin.source, origin.role, conversation, file
