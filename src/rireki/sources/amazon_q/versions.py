"""The versions of one saved conversation: which entries it held, in which order, and its head.

A row is kept in pieces, a `/save` file whole; here both become the same lists of
digests. Versions that only grew are passed over, so that a conversation saved
after each of 500 answers is not looked at 500 times. Meaning is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from rireki.errors import Wording
from rireki.model.conversation import Trouble
from rireki.model.strand import Ref, State, Strand, expand, weave
from rireki.sources.amazon_q.join import TranscriptNote
from rireki.sources.amazon_q.rows import HEAD, HISTORY, SUMMARY, TRANSCRIPT, WHOLE, split
from rireki.sources.kit.decode import TOO_DEEP, NotReadable, is_too_deep, load
from rireki.sources.kit.digests import digest_of_json
from rireki.sources.kit.fields import get, string

__all__ = ["Chronicle", "RowVersion", "chronicle"]

#: The name of the field that a list begins after.
_NAME = re.compile(rb'"(\w+)"\s*:\s*\[\s*$')


class StoredPiece(NamedTuple):
    """A piece of a version, and the records that hold it."""

    data: bytes
    #: Names its value, for entries only.
    digest: bytes
    refs: list[Ref]


@dataclass(slots=True)
class RowVersion:
    """What the source held at one moment."""

    history: list[bytes] = field(default_factory=list)
    #: The main talk, while a side talk runs in `history`.
    main: list[bytes] | None = None
    snapshots: list[list[bytes]] = field(default_factory=list)
    #: As the source wrote them: a text, or a pair of text and request metadata; with their records.
    summaries: list[tuple[Any, list[Ref]]] = field(default_factory=list)
    transcripts: list[list[TranscriptNote]] = field(default_factory=list)
    #: The document with its lists empty.
    head: Any = None

    @property
    def model(self) -> str:
        """The model, whichever way the version of the client spells it: 1.14 on, 1.12, 1.11."""
        info = get(self.head, "model_info")
        told = [string(info, "model_id"), string(info, "model_name"), string(self.head, "model")]
        return next(filter(None, [*told, string(self.head, "current_model_id")]), "")

    @property
    def lists(self) -> list[list[bytes]]:
        """Every list of entries, the main talk first."""
        return [*([self.main] if self.main is not None else []), self.history, *self.snapshots]

    @property
    def talk(self) -> list[bytes]:
        """The entries that are the conversation, main and side; without the snapshots."""
        return [*(self.main or ()), *self.history]

    def file(self, name: str, digests: list[bytes]) -> None:
        """Put a list of entries where the field it stood in says."""
        if name == "main_history":
            self.main = [*(self.main or ()), *digests]
        elif name == "history_snapshot":
            self.snapshots.append(digests)
        else:
            self.history += digests


@dataclass(slots=True)
class Chronicle:
    """All that one strand ever held of a conversation."""

    strand: Strand
    versions: list[RowVersion]
    entries: dict[bytes, StoredPiece]
    #: Transcript lines in order, each with whether the source still has it.
    transcript: list[TranscriptNote]
    troubles: list[Trouble] = field(default_factory=list)

    @property
    def newest(self) -> RowVersion:
        return self.versions[-1]


def chronicle(strand: Strand) -> Chronicle:
    # What is too large to be read is none: the last version that is not counts in its place.
    states = [state for state in strand.states if not state.in_pieces]
    whole = any(run.lane == WHOLE for state in states for run in state.runs)
    readable = msgspec.structs.replace(strand, states=states)
    source = _Whole(readable) if whole else _Pieces(readable)
    versions = [source.version(state) for state in source.states_that_matter()]
    lines = source.transcript(versions)
    return Chronicle(strand, versions or [RowVersion()], source.entries, lines, source.troubles)


class _Pieces:
    """A strand that was kept in pieces."""

    def __init__(self, strand: Strand) -> None:
        self.strand = strand
        self.entries: dict[bytes, StoredPiece] = {}
        self.troubles: list[Trouble] = []
        self._known: dict[tuple[str, int], StoredPiece] = {}

    def states_that_matter(self, lanes: tuple[str, ...] = (HISTORY, SUMMARY)) -> Iterator[State]:
        """The states whose lists the next one does not simply continue."""
        states = self.strand.states
        for state, following in zip(states, [*states[1:], None], strict=False):
            if following is None or not _grew(state, following, lanes):
                yield state

    def version(self, state: State) -> RowVersion:
        parts = (
            (run.lane, self._pieces(run.lane, expand(run.records)))
            for run in state.runs
            if run.lane != TRANSCRIPT
        )
        return self.assemble(parts)

    def assemble(self, parts: Iterable[tuple[str, list[StoredPiece]]]) -> RowVersion:
        """A version from its pieces; the lists are told apart by the field names before them."""
        version = RowVersion()
        name = ""
        head: list[bytes] = []
        for lane, pieces in parts:
            data = [piece.data for piece in pieces]
            if lane in (HEAD, SUMMARY):
                head += data
                named = _NAME.search(data[-1][-200:]) if data else None
                name = named[1].decode() if named else name
            if lane == HISTORY:
                self.entries.update((piece.digest, piece) for piece in pieces)
                version.file(name, [piece.digest for piece in pieces])
            elif lane == TRANSCRIPT:
                lines = ((_loaded(piece.data), piece.refs) for piece in pieces)
                shown = [TranscriptNote(line, True, refs) for line, refs in lines if _is_text(line)]
                version.transcripts.append(shown)
            elif lane == SUMMARY:
                version.summaries += [(_loaded(piece.data), piece.refs) for piece in pieces]
        version.head = _loaded(b"".join(head))
        return version

    def transcript(self, versions: Sequence[RowVersion]) -> list[TranscriptNote]:
        """Every line ever shown, in order."""
        states = self.states_that_matter((TRANSCRIPT,))
        places = weave([state.ordinals(TRANSCRIPT) for state in states])
        pieces = self.strand.fetch(TRANSCRIPT, [ordinal for ordinal, _, _ in places])
        return [
            TranscriptNote(line, present and self.strand.present, [self._ref(TRANSCRIPT, ordinal)])
            for (ordinal, present, _), line in zip(places, map(_loaded, pieces), strict=True)
            if _is_text(line)
        ]

    def _ref(self, lane: str, ordinal: int) -> Ref:
        return Ref(self.strand.id, lane, ordinal)

    def _pieces(self, lane: str, ordinals: list[int]) -> list[StoredPiece]:
        missing = [n for n in dict.fromkeys(ordinals) if (lane, n) not in self._known]
        for ordinal, data in zip(missing, self.strand.fetch(lane, missing), strict=True):
            digest = digest_of_json(data) if lane == HISTORY else b""
            self._known[lane, ordinal] = StoredPiece(data, digest, [self._ref(lane, ordinal)])
        return [self._known[lane, ordinal] for ordinal in ordinals]


class _Whole(_Pieces):
    """A strand of which at least one version was kept as one piece."""

    def states_that_matter(self, lanes: tuple[str, ...] = ()) -> Iterator[State]:
        yield from self.strand.states

    def version(self, state: State) -> RowVersion:
        document = self.strand.document(state)
        if state is self.strand.states[-1] and is_too_deep(document):
            self.troubles.append(Trouble.of(self.strand.place, TOO_DEEP, Wording("all-kept")))
        refs = [self._ref(WHOLE, n) for numbers in state.ordinals(WHOLE) for n in numbers]
        if not refs:
            return self.assemble(
                (run.lane, self._pieces(run.lane, expand(run.records))) for run in state.runs
            )
        return self.assemble(
            (
                content.lane,
                [StoredPiece(piece.data, piece.digest, refs) for piece in content.pieces],
            )
            for content in split(_cuttable(document))
        )

    def transcript(self, versions: Sequence[RowVersion]) -> list[TranscriptNote]:
        lines: dict[str, int] = {}
        first: list[TranscriptNote] = []
        states = []
        for version in versions:
            for noted in (noted for shown in version.transcripts for noted in shown):
                if lines.setdefault(noted.text, len(lines)) == len(first):
                    first.append(noted)
            states.append([[lines[noted.text] for noted in shown] for shown in version.transcripts])
        return [
            first[number]._replace(present=present and self.strand.present)
            for number, present, _ in weave(states)
        ]


def _cuttable(data: bytes) -> bytes:
    """The same value in a spelling that msgspec takes, where there is one."""
    if any(content.lane != WHOLE for content in split(data)):
        return data
    try:
        return msgspec.json.encode(load(data))
    except (NotReadable, msgspec.MsgspecError, RecursionError):
        return b"{}"


def _grew(state: State, following: State, lanes: tuple[str, ...]) -> bool:
    """Whether all records of a state stand in the same places of the next one."""
    before, after = _spans(state, lanes), _spans(following, lanes)
    return len(after) >= len(before) and all(
        lane == lane_after and _is_start(records, records_after)
        for (lane, records), (lane_after, records_after) in zip(before, after, strict=False)
    )


def _spans(state: State, lanes: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(run.lane, run.records) for run in state.runs if run.lane in lanes]


def _is_start(records: str, longer: str) -> bool:
    """Whether `0-3` is the start of `0-5,9`: told from the text, without counting through it."""
    if not records or longer == records or longer.startswith(f"{records},"):
        return True
    spans, more = records.split(","), longer.split(",")
    if len(more) < len(spans) or spans[:-1] != more[: len(spans) - 1]:
        return False
    first, _, last = spans[-1].partition("-")
    first_more, _, last_more = more[len(spans) - 1].partition("-")
    return first == first_more and int(last_more or first_more) >= int(last or first)


def _loaded(data: bytes) -> Any:
    try:
        return load(data)
    except NotReadable:
        return None


def _is_text(value: Any) -> bool:
    return isinstance(value, str)
