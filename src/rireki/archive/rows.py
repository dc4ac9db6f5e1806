"""What an engine does for an archive: rows in tables, transactions, and questions about many rows.

The tables are those of docs/archive-format.md. An engine decides nothing about them: which records
are new, what follows from shared tokens, what a name means is said once, above it. It raises what
it likes where rows are damaged, as long as it says so in `damaged`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import wraps
from itertools import chain
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeAlias, TypeVar

import msgspec

from rireki.errors import ArchiveTrouble

if TYPE_CHECKING:
    from rireki.archive.values import Filter
    from rireki.home import Home
    from rireki.model.conversation import Trouble

__all__ = [
    "BadValue",
    "Row",
    "Rows",
    "by_pages",
    "decoded",
    "lenient",
    "lenient_rows",
    "pages",
    "value_of",
]

T = TypeVar("T")
P = ParamSpec("P")
#: Rows that are read at once.
AT_ONCE = 2000
Row: TypeAlias = tuple[Any, ...]


class Rows(Protocol):
    #: What the archive is called in messages, and what another process opens it by.
    name: str
    address: str
    #: Where the files that belong to it lie.
    home: Home
    read_only: bool
    #: What cannot be read, as far as it was met.
    damage: list[Trouble]
    #: What comes of reading rows that are damaged.
    damaged: tuple[type[Exception], ...]

    # ── transactions ──

    def writing(self) -> AbstractContextManager[None]:
        """All that is written within is kept, or nothing. Errors of the engine come out as
        ArchiveTrouble."""
        ...

    def reading(self) -> AbstractContextManager[None]:
        """All that is read within is of one moment."""
        ...

    def again(self, work: Callable[[], T]) -> T:
        """What a piece of work returns that writes: done again where the engine asks for that."""
        ...

    def rescue(self, error: Exception) -> None:
        """Read on in what can be rescued; the error again where that is no help."""
        ...

    def check(self) -> list[Trouble]: ...
    def settle(self) -> None: ...
    def wiping(self) -> AbstractContextManager[None]:
        """What is removed within is overwritten, and gone from the disk at the end."""
        ...

    def is_outdated(self) -> bool: ...
    def close(self) -> None: ...

    # ── rows of one table, by the values of some columns ──

    def get(
        self, table: str, columns: str, *, order: str = "", limit: int = -1, **where: Any
    ) -> list[Row]: ...

    def get_readable(self, table: str, columns: str, *, order: str = "", **where: Any) -> list[Row]:
        """The rows before one that cannot be read, as they are: not even their types are sure."""
        ...

    def add(self, table: str, **values: Any) -> int:
        """A new row; returns its number, where the table numbers its rows."""
        ...

    def put(self, table: str, columns: str, *rows: Sequence[Any]) -> None:
        """Rows that take the place of those with the same key."""
        ...

    def change(self, table: str, where: dict[str, Any], **values: Any) -> None: ...

    def remove(self, table: str, **where: Any) -> None: ...

    # ── notes ──

    def next_number(self) -> int:
        """The number of this change: it follows the order of commits."""
        ...

    def note(self, name: str) -> Any: ...
    def set_note(self, name: str, value: str, keep: bool) -> None: ...

    # ── questions; pages come in the order of their first columns, behind those given ──

    def changed(self, after: tuple[int, int], limit: int) -> list[Row]:
        """Number and id of strands of this machine."""
        ...

    def between(self, table: str, columns: str, after: int, until: int) -> list[Row]:
        """Rows of a table that notes the number of each, behind a number, up to another."""
        ...

    def taken(self, table: str, stream: int, remote: Collection[int], columns: str) -> list[Row]:
        """What is called so in its own archive: strands, or origins, of a stream."""
        ...

    def lanes(self, strands: Collection[int]) -> list[Row]:
        """Strand, lane, and how many records it has."""
        ...

    def origins(self, after: int, limit: int, named: bool) -> list[Row]:
        """Columns of KnownOrigin, of this machine's; `named` with the conversation of each file."""
        ...

    def reopen_origins(self) -> None:
        """Forget the stamps of databases, and of files that nothing is kept of."""
        ...

    def troubles(self, source: str | None) -> list[Row]:
        """Source and place of the origin; place, message, hint."""
        ...

    def strands(self, family: str, conversation: str) -> list[Row]:
        """Id, key, conversation, role, project, first and last seen, vanished, cursor; the origin's
        source, place, root and stream. In the same order wherever they were taken to."""
        ...

    def holders(self, family: str, conversation: str) -> list[int]:
        """The streams whose sources hold strands of a group now."""
        ...

    def shared_strands(self, family: str) -> list[int]:
        """The strands of files that many conversations share."""
        ...

    def chunks(
        self, strand: int, lane: str, low: int, high: int, columns: str, limit: int
    ) -> list[Row]:
        """The first of those that hold the records between two."""
        ...

    def weight(self, family: str, grouping: str) -> int: ...
    def groups(self, after: tuple[str, str], limit: int) -> list[Row]: ...
    def waiting(self, after: tuple[str, str], limit: int, shared: bool) -> list[Row]:
        """Family, conversation and number of marks; of shared files, or of all others."""
        ...

    def lacking(self) -> int: ...
    def mark_all(self, number: int) -> None: ...
    def reached(self, conversation: str, until: int | None) -> int: ...
    def changes(self, after: int, until: int) -> list[Row]: ...

    def count(self) -> int: ...
    def listed(self, wanted: Filter) -> list[Row]:
        """Number, data, id and title of conversations, the newest first."""
        ...

    def links(self, only: Sequence[int] | None) -> list[Row]:
        """Child, parent, kind, call; ids of both. A succession counts until it is taken back."""
        ...

    def read_on(self, only: Collection[int] | None) -> list[Row]:
        """Conversation, its id, and a stream that holds records of it; of these, or of all."""
        ...

    def curations(self, only: Sequence[int] | None) -> list[Row]:
        """Conversation, its id, title, tags, starred, hidden, notes; of these, or of all that have
        any."""
        ...

    def headings(
        self,
        finished: bool,
        limit: int,
        *,
        behind: int = 0,
        ids: Collection[str] | None = None,
        after: int = 0,
        since: str | None = None,
        beginning: str = "",
    ) -> list[Row]:
        """Number, then the columns of Heading."""
        ...

    def missing(self, ids: Collection[str]) -> set[str]: ...
    def beginning(self, prefix: str) -> list[Row]:
        """Number and id of conversations whose id, or the agent's own, begins so; by id."""
        ...

    def aliased(self, name: str, beginning: bool) -> list[Row]:
        """Number and id of conversations that were known by a name before, or by one that begins so."""
        ...

    def neighbours(self, native_ids: Collection[str]) -> list[Row]:
        """Each id; the one before it; the next that does not begin with it; how many have it."""
        ...

    def projects(self) -> list[str]: ...
    def forgotten(self, names: Collection[str] | None) -> list[Row]: ...
    def sightings(self, directory: str, below: bool) -> list[Row]:
        """Number, data, id, title; directory, first and last seen, sources that hold it here now."""
        ...

    def answers(
        self, after: str, limit: int, source: str | None, since: str | None
    ) -> list[Row]: ...

    def ties(self, conversation: int) -> list[Row]:
        """Kind, role, token, detail, as they were put."""
        ...

    def named_by(self, family: str, grouping: str) -> list[int]: ...
    def related(self, conversations: Collection[int]) -> list[int]:
        """Of these, of their children and of those that share a token with them: whoever has
        something in common with another, or had."""
        ...

    def offered(self, conversation: int) -> list[Row]:
        """Kind, conversation, detail, token of what it wants and others offer; the youngest first."""
        ...

    def title_elsewhere(self, conversation: int) -> str | None:
        """The first of the titles that it wants, from the eldest file that has one."""
        ...

    def elder(self, conversation: int) -> Row | None:
        """Kind and number of the nearest of those that share a token with it and are older."""
        ...


class BadValue(ArchiveTrouble):
    """A row holds something that rireki never writes there."""

    def __init__(self, place: str, why: object) -> None:
        super().__init__("data-damaged", place=place, why=why)


def value_of(kind: type[T], value: object, place: str) -> T:
    """The value, which is of this kind unless its row is damaged; raises BadValue then."""
    if not isinstance(value, kind):
        raise BadValue(place, f"{type(value).__name__} in place of {kind.__name__}")
    return value


def decoded(decoder: msgspec.json.Decoder[T], value: object, place: str) -> T:
    """What a text says; raises BadValue for one that rireki never writes."""
    try:
        return decoder.decode(value_of(str, value, place))
    except msgspec.MsgspecError as error:
        raise BadValue(place, error) from error


def pages(page: Callable[[Any, int], list[Row]], start: Any) -> Iterator[list[Row]]:
    """All rows, some at a time: a page is asked for by what the last one ended with."""
    width = len(start) if isinstance(start, tuple) else 0
    while True:
        rows = page(start, AT_ONCE)
        yield rows
        if len(rows) < AT_ONCE:
            return
        start = rows[-1][:width] if width else rows[-1][0]


def by_pages(page: Callable[[Any, int], list[Row]], start: Any) -> Iterator[Row]:
    """The same, one row after the other."""
    return chain.from_iterable(pages(page, start))


# ── reading on where rows are damaged: a verb that fails is asked again of what can be rescued ──


class _OverRows(Protocol):
    rows: Rows


A = TypeVar("A", bound=_OverRows)


def lenient(verb: Callable[Concatenate[A, P], T]) -> Callable[Concatenate[A, P], T]:
    @wraps(verb)
    def asked(archive: A, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return verb(archive, *args, **kwargs)
        except archive.rows.damaged as error:
            archive.rows.rescue(error)
            return verb(archive, *args, **kwargs)

    return asked


def lenient_rows(
    verb: Callable[Concatenate[A, P], Iterator[T]],
) -> Callable[Concatenate[A, P], Iterator[T]]:
    """For verbs that give one after the other: those that were given are not given again."""

    @wraps(verb)
    def asked(archive: A, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        given: set[Any] = set()
        try:
            for each in verb(archive, *args, **kwargs):
                yield each
                given.add(_name(each))
        except archive.rows.damaged as error:
            archive.rows.rescue(error)
        else:
            return
        for each in verb(archive, *args, **kwargs):
            if _name(each) not in given:
                yield each

    return asked


def _name(each: Any) -> Any:
    if isinstance(each, tuple):
        # A group has two names; what else stands behind an id need not be comparable.
        return tuple(value for value in each[:2] if isinstance(value, str | int))
    return each if isinstance(each, str) else each.id
