"""Facts that fit together again, out of what was recovered of a damaged archive.

What a lost row said is taken from where it is said a second time: an index, the chunks of a
strand, the strands of an origin. States are cut down to the records that are there, and what
is lost is named by conversation.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Sequence
from pathlib import PurePath, PurePosixPath, PureWindowsPath

import msgspec

from rireki.archive.pack import unpack
from rireki.archive.sqlite.pages import Unreadable
from rireki.archive.sqlite.recover import Recovered, RecoveredRow, Values
from rireki.errors import ArchiveTrouble
from rireki.model.conversation import Trouble
from rireki.model.strand import Run, expand, shorten

__all__ = ["RecoveredFacts", "complete"]

_RUNS = msgspec.json.Decoder(tuple[Run, ...])
_LENGTHS = msgspec.json.Decoder(list[int])
#: What a strand's cursor says that makes its reader begin again.
NOWHERE = "null"
AGAIN = "If its agent still has it, the next import takes it in again; else it is lost."
_EPOCH = "1970-01-01T00:00:00.000Z"
_FORMS = {".jsonl": "lines", ".json": "document"}


class RecoveredFacts(msgspec.Struct):
    origins: dict[int, Values]
    strands: dict[int, Values]
    chunks: list[RecoveredRow]
    states: list[Values]
    successions: list[Values]
    forgotten: list[Values]
    troubles: list[Values]
    streams: list[Values]
    removed: list[Values]
    added: list[Values]
    number: int
    #: What could not be saved, by the conversation or table it belongs to.
    lost: list[Trouble]


def complete(recovered: Recovered, *, opening: bool) -> RecoveredFacts:
    """With `opening`, chunks count only if their records can be unpacked."""
    return _Completing(recovered, opening).facts()


class _Completing:
    def __init__(self, recovered: Recovered, opening: bool) -> None:
        self.found = recovered
        self.opening = opening
        self.lost: list[Trouble] = []
        self.strands: dict[int, Values] = {}
        self.origins: dict[int, Values] = {}
        #: The records that are there, by strand and lane.
        self.held: dict[int, dict[str, set[int]]] = {}

    def facts(self) -> RecoveredFacts:
        rows = self.found.rows
        self._lose_pages()
        self._keep_strands()
        self._keep_origins()
        chunks = [row for row in rows["chunk"] if self._holds(row)]
        states = self._states()
        self._read_again()
        return RecoveredFacts(
            origins=self.origins,
            strands=self.strands,
            chunks=chunks,
            states=states,
            successions=self._sure("succession"),
            forgotten=self._sure("forgotten"),
            troubles=[row for row in self._sure("trouble") if row["origin"] in self.origins],
            streams=self._streams(),
            removed=self._sure("removed"),
            added=self._sure("fact"),
            number=self._number(),
            lost=self.lost,
        )

    def _lose(self, place: str, message: str, hint: str = AGAIN) -> None:
        trouble = Trouble(place, message, hint)
        if trouble not in self.lost:
            self.lost.append(trouble)

    def _lose_pages(self) -> None:
        for loss in self.found.losses:
            hint = "What stood there is lost, unless it is said elsewhere."
            self._lose(f"table {loss.table}", f"page {loss.page}: {loss.why}", hint)

    def _sure(self, table: str) -> list[Values]:
        """Rows that stand for themselves: one that is not what was written is of no use."""
        for row in self.found.rows[table]:
            if not row.trust:
                said = ", ".join(str(value) for value in list(row.values.values())[:3])
                self._lose(f"table {table}", f"a row is damaged ({said})")
        return [row.values for row in self.found.rows[table] if row.trust]

    def _streams(self) -> list[Values]:
        """Of one that is lost the number stays taken: another machine's must not get it."""
        streams = self._sure("stream")
        mentioned = {origin["stream"] for origin in self.origins.values()} - {0}
        for id in sorted(mentioned - {stream["id"] for stream in streams}):
            self._lose("table stream", f"which machine number {id} is is lost")
            lost = {"id": id, "archive": f"lost-{id}", "epoch": 0, "machine": "", "reached": 0}
            streams.append(lost)
        return streams

    def _number(self) -> int:
        rows = self.found.rows
        noted = [row.values["value"] for row in rows["meta"] if row.values["key"] == "number"]
        seen = [row.values["number"] for row in (*rows["state"], *rows["change"]) if row.trust]
        return max([n for n in noted if isinstance(n, int) and n < 1 << 53] + seen, default=0)

    # ── strands and origins ──

    def _keep_strands(self) -> None:
        gone = {
            (row.values["family"], row.values["conversation"])
            for row in self.found.rows["forgotten"]
            if not row.values["remembered"]
        }
        for row in self.found.rows["strand"]:
            values = dict(row.values)
            if not row.reached and (values["family"], values["conversation"]) in gone:
                continue
            echo = self.found.echoes["strand"].get(values["id"], {})
            if not row.trust and echo:
                # Of a damaged row, what the indexes say counts.
                values |= echo
            self.strands[values["id"]] = values
            if not row.trust or not _is_json(values["cursor"]):
                values["cursor"] = NOWHERE
                self._lose(self._name(values["id"]), "what is known of its file is damaged")
        for number in self._mentioned() - self.strands.keys():
            self._reconstruct_strand(number)

    def _mentioned(self) -> set[int]:
        """The strands that have records or states."""
        rows = [*self.found.rows["chunk"], *self.found.rows["state"]]
        return {row.values["strand"] for row in rows if row.trust and row.reached}

    def _reconstruct_strand(self, number: int) -> None:
        said = self.found.echoes["strand"].get(number, {})
        states = [r.values for r in self.found.rows["state"] if r.values["strand"] == number]
        times = [state["at"] for state in states] or [_EPOCH]
        if "origin" not in said:
            self._lose("table strand", f"row {number} is lost, and with it what it names")
            return
        self.strands[number] = {
            "id": number,
            "origin": said["origin"],
            "key": said["key"],
            "family": said.get("family", ""),
            "conversation": said.get("conversation"),
            "role": "",
            "project": said.get("project"),
            "cursor": NOWHERE,
            "first_seen": min(times),
            "last_seen": max(times),
            "vanished_at": None,
            "remote": said.get("remote", 0),
            # Of another machine's all states are to be told again.
            "number": 0 if said.get("remote") else max((s["number"] for s in states), default=1),
        }
        self._lose(self._name(number), "what is known of its file is lost, its records are not")

    def _keep_origins(self) -> None:
        for row in self.found.rows["origin"]:
            values = dict(row.values)
            if not row.trust:
                values |= self.found.echoes["origin"].get(values["id"], {})
                values["stamp"] = ""
                self._lose(values["place"], "what is known of this file is damaged")
            self.origins[values["id"]] = values
        for number, strand in list(self.strands.items()):
            if strand["origin"] not in self.origins:
                self._reconstruct_origin(strand["origin"])
            if strand["origin"] not in self.origins:
                self._lose(self._name(number), "nothing tells any more which file it was")
                del self.strands[number]
        self._drop_doubles()
        self._borrow()

    def _drop_doubles(self) -> None:
        """A row whose number is damaged was made anew under the number that others know it by."""
        named = Counter(strand["origin"] for strand in self.strands.values())
        for origin, other in _doubles(self.origins, ("stream", "source", "place", "remote"), named):
            del self.origins[origin]
            for strand in self.strands.values():
                strand["origin"] = other if strand["origin"] == origin else strand["origin"]
        for lost, _ in _doubles(self.strands, ("origin", "key"), self._mentioned()):
            del self.strands[lost]

    def _borrow(self) -> None:
        """What lost strands and files had in common with others of their source."""
        pairs = [(strand, self.origins[strand["origin"]]) for strand in self.strands.values()]
        lanes: dict[int, set[str]] = defaultdict(set)
        for row in self.found.rows["chunk"]:
            lanes[row.values["strand"]].add(row.values["lane"])
        families: dict[str, str] = {}
        usual: dict[tuple[object, ...], Counter[str]] = defaultdict(Counter)
        for strand, origin in pairs:
            source, above, below = origin["source"], origin["role"], strand["role"]
            if strand["family"]:
                families.setdefault(source, strand["family"])
            if above and below and strand["conversation"]:
                usual["file", source, below][above] += 1
                usual["strand", source, above][below] += 1
                usual["strand", source, above, *sorted(lanes[strand["id"]])][below] += 1
        for strand, origin in pairs:
            source = origin["source"]
            strand["family"] = strand["family"] or families.get(source, source)
            if not origin["role"]:
                origin["role"] = _most(usual["file", source, strand["role"]]) or strand["role"]
            if not strand["role"]:
                # Several kinds lie in one database: those with the same lanes are of the same.
                kin = ("strand", source, origin["role"])
                strand["role"] = (
                    _most(usual[*kin, *sorted(lanes[strand["id"]])])
                    or _most(usual[kin])
                    or origin["role"]
                )

    def _reconstruct_origin(self, number: int) -> None:
        said = self.found.echoes["origin"].get(number)
        if not said:
            return
        place = said["place"]
        kind = PureWindowsPath if "\\" in place else PurePosixPath
        path: PurePath = kind(place)
        self.origins[number] = {
            "id": number,
            "source": said["source"],
            "place": place,
            "root": str(path.parent),
            "form": _FORMS.get(path.suffix, "database"),
            "role": "",
            "stamp": "",
            "first_seen": _EPOCH,
            "vanished_at": None,
            "stream": said.get("stream", 0),
            "remote": said.get("remote", 0),
        }
        self._lose(place, "what is known of this file is lost, its records are not")

    def _name(self, strand: int) -> str:
        values = self.strands.get(strand)
        if values is None or not values["conversation"]:
            return f"strand {strand}"
        return f"{values['family']}/{values['conversation']}"

    # ── records and states ──

    def _holds(self, row: RecoveredRow) -> bool:
        """Whether a chunk can be kept; notes which records it has."""
        values = row.values
        if values["strand"] not in self.strands:
            if row.reached:
                self._lose("table chunk", f"row {values['id']} belongs to nothing that is known")
            return False
        try:
            lengths = _LENGTHS.decode(values["lengths"])
            if not row.trust or len(lengths) != values["count"] or sum(lengths) != values["size"]:
                raise Unreadable("what is known of it is damaged")
            if self.opening:
                unpack(self.found.data(row), values["size"], values["lengths"], "")
        except (Unreadable, ArchiveTrouble, msgspec.DecodeError) as error:
            name = self._name(values["strand"])
            why = str(error).strip() if not isinstance(error, ArchiveTrouble) else error.message
            self._lose(name, f"a chunk of {values['count']} records is damaged ({why.strip(' :')})")
            return False
        lane = self.held.setdefault(values["strand"], {}).setdefault(values["lane"], set())
        lane.update(range(values["first"], values["first"] + values["count"]))
        return True

    def _states(self) -> list[Values]:
        found: list[Values] = []
        known: set[int] = set()
        for row in self.found.rows["state"]:
            values = dict(row.values)
            if values["strand"] not in self.strands:
                continue
            try:
                if not row.trust:
                    raise Unreadable
                values["runs"] = self._cut(values["strand"], values["runs"])
            except (Unreadable, ValueError, msgspec.DecodeError):
                self._lose(self._name(values["strand"]), f"what it was at {values['at']} is lost")
                self.strands[values["strand"]]["cursor"] = NOWHERE
                continue
            found.append(values)
            known |= {values["strand"]} if values["runs"] else set()
        stateless = [n for n in self.strands.keys() - known if self.held.get(n)]
        found += [self._state_of_all(strand) for strand in stateless]
        self._read_on_from_what_is_there(found)
        return found

    def _read_on_from_what_is_there(self, states: list[Values]) -> None:
        """A file is read from its beginning where its newest state, and all its records, may be gone
        without a trace: its cursor stands behind them."""
        newest: dict[int, int] = {}
        for state in states:
            newest[state["strand"]] = max(state["number"], newest.get(state["strand"], 0))
        for number, strand in self.strands.items():
            if number not in newest:
                self._lose(self._name(number), "its records are lost")
            if newest.get(number) != strand["number"]:
                strand["cursor"] = NOWHERE

    def _cut(self, strand: int, runs: str) -> str:
        """The runs of a state without the records that are lost."""
        if not runs:
            return runs
        held = self.held.get(strand, {})
        kept: list[Run] = []
        lost = 0
        for run in _RUNS.decode(runs):
            wanted = expand(run.records)
            there = [ordinal for ordinal in wanted if ordinal in held.get(run.lane, ())]
            lost += len(wanted) - len(there)
            kept.append(Run(run.lane, shorten(there), run.separator))
        if not lost:
            return runs
        self.strands[strand]["cursor"] = NOWHERE
        # Another state of the same strand has lost the same ones.
        self._lose(self._name(strand), f"{lost:,} of its records are lost")
        return msgspec.json.encode(kept).decode()

    def _state_of_all(self, strand: int) -> Values:
        """Where no state is left, the strand is taken to hold all of its records."""
        runs = [
            Run(lane, shorten(sorted(held)), "" if len(self.held[strand]) == 1 else ",")
            for lane, held in sorted(self.held[strand].items())
        ]
        number = max(self._number(), 1)
        self.strands[strand]["cursor"] = NOWHERE
        self.strands[strand]["number"] = 0 if self.strands[strand]["remote"] else number
        self._lose(self._name(strand), "which of its records were there when is lost")
        return {
            "strand": strand,
            "number": number,
            "at": self.strands[strand]["last_seen"],
            "runs": msgspec.json.encode(runs).decode(),
            "tail": b"",
        }

    def _read_again(self) -> None:
        """Once something is lost every file is to be opened again, whatever its stamp says."""
        if self.lost:
            for origin in self.origins.values():
                origin["stamp"] = ""


def _most(roles: Counter[str]) -> str:
    """The commonest; empty if there is none."""
    return max(roles, key=lambda role: roles[role], default="")


def _doubles(
    rows: dict[int, Values], columns: Sequence[str], named: Container[int]
) -> list[tuple[int, int]]:
    """Rows that stand for the same as another one, each with that: one that something names, if any."""
    first: dict[object, int] = {}
    found = []
    for number in sorted(rows, key=lambda number: number not in named):
        stands_for = tuple(rows[number][column] for column in columns)
        found.append((number, first.setdefault(stands_for, number)))
    return [(number, other) for number, other in found if number != other]


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True
