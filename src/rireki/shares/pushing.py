"""Brings a team's server to what the rules say now: who may read what, what is taken back, what is to
be told again. The records themselves go by the push, through the filter that `prepare` gives.

What the server was told is noted in the archive, so that it goes back where the archive is put back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from itertools import islice
from typing import Protocol, TypeVar

import msgspec

from rireki.archive.base import Archive
from rireki.archive.curation import retell_facts
from rireki.masking import Masker
from rireki.masking.key import ensure_key
from rireki.shares.counts import CountedConversation, counted_of
from rireki.shares.outgoing import OutgoingFilter
from rireki.shares.plan import GroupName, plan_for
from rireki.shares.rules import Level, ShareRule

__all__ = ["CountedFor", "GroupFor", "ShareChange", "TeamPush", "ShareReceiver", "note_name"]

T = TypeVar("T")
#: So many at once.
MANY = 500


class GroupFor(msgspec.Struct, frozen=True):
    """A group, and the teams that may read it."""

    family: str
    grouping: str
    teams: tuple[str, ...] = ()


class CountedFor(msgspec.Struct, frozen=True):
    """The figures of a conversation, and the teams that may count it."""

    figures: CountedConversation
    teams: tuple[str, ...] = ()


class ShareChange(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a server has to know before records come, and what goes there at once."""

    shared: list[GroupFor] = []
    withdrawn: list[GroupFor] = []
    counted: list[CountedFor] = []
    #: Figures that are taken back, by their keys.
    uncounted: list[str] = []


class ShareReceiver(Protocol):
    def change_shares(self, change: ShareChange) -> None:
        """All of it is done when this returns; doing it twice does no harm."""
        ...


class _Entry(msgspec.Struct, frozen=True):
    family: str
    grouping: str
    level: Level
    teams: tuple[str, ...]


class _Sent(msgspec.Struct):
    """What a server was told last."""

    told: list[_Entry] = []
    #: Keys of figures, and what tells that they are the same.
    counted: dict[str, str] = {}


class TeamPush:
    """One archive and one server of a team. Made anew for every push: rules may have changed."""

    def __init__(
        self,
        archive: Archive,
        remote: str,
        rules: Sequence[ShareRule],
        is_current: Callable[[], bool] = lambda: True,
    ) -> None:
        """`is_current` tells during a long push whether these are still the rules."""
        self.archive = archive
        self._is_current = is_current
        self._note = note_name(remote)
        wanted = [rule for rule in rules if rule.remote == remote and rule.level != "none"]
        self._shares = bool(wanted)
        self.plan = plan_for(archive, rules, remote)

    @property
    def concerns(self) -> bool:
        """Whether the server has something of this archive, or is to have something."""
        return bool(self.plan.groups) or self._sent() != _Sent()

    def prepare(self, server: ShareReceiver) -> OutgoingFilter:
        """Tell the server who may read what; what it gives lets through what is shared."""
        sent = self._sent()
        before = {(each.family, each.grouping): each for each in sent.told}
        now = {
            (family, grouping): _Entry(family, grouping, group.level, group.teams)
            for (family, grouping), group in self.plan.told().items()
        }
        again = [name for name, each in now.items() if _is_other(before.get(name), each)]
        gone = [
            name
            for name, each in before.items()
            if (name not in now and not self._waits(name)) or (name in again and each)
        ]
        readers = [name for name, each in now.items() if before.get(name) != each]
        self._tell(
            server,
            withdrawn=[GroupFor(*name) for name in gone],
            shared=[GroupFor(*name, now[name].teams) for name in readers],
        )
        counted = self._tell_counts(server, sent)
        kept = {name: each for name, each in before.items() if name not in gone}
        self._retell(again, _Sent([*{**kept, **now}.values()], counted), sent)
        return OutgoingFilter(self.plan.told(), self._masker, self._is_current)

    def _waits(self, name: GroupName) -> bool:
        """It is being read again: what was shared of it stays until it is known, if anything is shared."""
        return self._shares and next(self.archive.pending(*name), None) is not None

    def _masker(self) -> Masker:
        return Masker.for_home(self.archive.home)

    # ── telling ──

    def _tell(
        self, server: ShareReceiver, withdrawn: Sequence[GroupFor], shared: Sequence[GroupFor]
    ) -> None:
        """First what goes: at another level it is told from the beginning."""
        for some in _some(withdrawn):
            server.change_shares(ShareChange(withdrawn=some))
        for some in _some(shared):
            server.change_shares(ShareChange(shared=some))

    def _tell_counts(self, server: ShareReceiver, sent: _Sent) -> dict[str, str]:
        key = ensure_key(self.archive.home) if self.plan.counted() else b""
        found = [
            CountedFor(figures, group.teams)
            for figures, group in counted_of(self.archive, self.plan.counted(), key)
        ]
        stamps = {each.figures.key: _stamp(each) for each in found}
        new = [e for e in found if sent.counted.get(e.figures.key) != stamps[e.figures.key]]
        for gone in _some([key for key in sent.counted if key not in stamps]):
            server.change_shares(ShareChange(uncounted=gone))
        for some in _some(new):
            server.change_shares(ShareChange(counted=some))
        return stamps

    # ── what is noted ──

    def _sent(self) -> _Sent:
        noted = self.archive.note_of(self._note)
        return msgspec.json.decode(noted, type=_Sent) if noted else _Sent()

    def _retell(self, names: Sequence[GroupName], now: _Sent, before: _Sent) -> None:
        """What has not gone to this server yet counts as changed; whoever has it already finds
        nothing new in it."""
        if now == before and not names:
            return
        text = msgspec.json.encode(now).decode()
        if not names:
            self.archive.set_note(self._note, text)
            return
        with self.archive.writing() as batch:
            for family, grouping in names:
                # A number each: what has one number is told in one go.
                number = batch.rows.next_number()
                of = {"family": family, "conversation": grouping, "remote": 0}
                batch.rows.change("strand", of, number=number)
                for id in self.plan.groups[family, grouping].ids:
                    retell_facts(batch.rows, family, id.partition("/")[2], number)
            batch.rows.set_note(self._note, text, keep=False)


def note_name(remote: str) -> str:
    """What a server was told is noted so in the archive."""
    return f"shared {remote}"


def _is_other(before: _Entry | None, now: _Entry) -> bool:
    return before is None or before.level != now.level


def _stamp(counted: CountedFor) -> str:
    return sha256(msgspec.json.encode(counted)).hexdigest()[:16]


def _some(values: Sequence[T]) -> Iterator[list[T]]:
    left = iter(values)
    while some := list(islice(left, MANY)):
        yield some
