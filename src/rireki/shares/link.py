"""The way to a team's server, for what it has to know besides the records."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from contextlib import closing

import msgspec

from rireki.archive.base import Archive
from rireki.errors import RirekiError
from rireki.shares.plan import GroupName
from rireki.shares.pushing import ShareChange, TeamPush, note_name
from rireki.shares.rules import ShareRule, read_rules, write_rules
from rireki.sync.http import HttpRemote
from rireki.sync.outbox import Outgoing
from rireki.sync.remotes import Remote, Remotes
from rireki.sync.wire import PATH as PUSH_PATH

__all__ = ["TeamRemote", "is_shared", "shared_with", "stop_sharing", "take_back"]

#: Behind the address of the server.
PATH = "/api/team/v1/shares"
LARGEST = 1 << 20


class _Refusal(msgspec.Struct):
    message: str = ""
    hint: str = ""


class _Refused(msgspec.Struct):
    error: _Refusal = msgspec.field(default_factory=_Refusal)


class TeamRemote(HttpRemote):
    """A team's server, as what is told who may read what."""

    def __init__(self, url: str, token: str) -> None:
        super().__init__(url, token)
        self._path = self._path.removesuffix(PUSH_PATH)

    def change_shares(self, change: ShareChange) -> None:
        try:
            response = self._response("POST", PATH, msgspec.json.encode(change), "application/json")
            data = response.read(LARGEST)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            why = getattr(error, "strerror", None) or error or type(error).__name__
            raise RirekiError("remote-not-reached", url=self.url, why=why) from error
        if response.status == 401:
            raise RirekiError("remote-denied", url=self.url)
        if response.status != 200:
            raise _as_error(self.url, response.status, data)


def _as_error(url: str, status: int, data: bytes) -> RirekiError:
    try:
        told = msgspec.json.decode(data, type=_Refused).error
    except (msgspec.MsgspecError, UnicodeError):
        told = _Refusal()
    return RirekiError(
        "remote-refused", name=url, why=told.message or str(status), hint=told.hint or None
    )


def shared_with(archive: Archive, remote: Remote) -> Outgoing | None:
    """What of an archive goes to a team's server, which has been told who may read it; None where
    nothing is shared there, and nothing was. Alone with the remote: see `Remotes.alone`."""
    before = _decided(archive)
    push = TeamPush(archive, remote.name, before[0], lambda: _decided(archive) == before)
    if not push.concerns:
        return None
    with closing(TeamRemote(remote.url, remote.token)) as server:
        return push.prepare(server)


def _decided(archive: Archive) -> tuple[list[ShareRule], set[GroupName]]:
    """What people said about what is given away: the rules, and what they forgot."""
    return read_rules(), set(archive.forgotten())


def is_shared(archive: Archive, remote: Remote) -> bool:
    """Whether a team's server has something, or is to have something."""
    return TeamPush(archive, remote.name, read_rules()).concerns


def take_back(archive: Archive) -> Iterator[tuple[Remote, RirekiError | None]]:
    """Tell every team's server at once what it may not have any more; with what went wrong there."""
    for remote in Remotes(archive.home).all():
        if remote.kind == "team" and TeamPush(archive, remote.name, []).concerns:
            try:
                with Remotes(archive.home).alone(remote.name):
                    shared_with(archive, remote)
            except RirekiError as error:
                yield remote, error
            else:
                yield remote, None


def stop_sharing(archive: Archive, name: str) -> int:
    """Of a server that was removed nothing stays: one that is added under its name may be another,
    and was told nothing. Returns how many rules went."""
    rules = read_rules()
    left = [rule for rule in rules if rule.remote != name]
    if left != rules:
        write_rules(left)
    if archive.note_of(note_name(name)):
        archive.set_note(note_name(name), "")
    return len(rules) - len(left)
