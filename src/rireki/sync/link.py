"""From a remote's name to what was pushed there or pulled from there, whichever way leads to it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from typing import TYPE_CHECKING

from msgspec import structs

from rireki.archive.base import Archive
from rireki.archive.open import now
from rireki.errors import RirekiError
from rireki.late import LateModule
from rireki.sync.http import HttpRemote
from rireki.sync.machine import name_of, this_machine
from rireki.sync.outbox import Outbox, Outgoing, OutgoingChanged
from rireki.sync.receiver import Receiver
from rireki.sync.remotes import Remote, Remotes
from rireki.sync.sender import Puller, Sender, Told, Transferred

# Only who has an encrypted folder needs what encrypts.
if TYPE_CHECKING:
    from rireki.sync import folder
else:
    folder = LateModule("rireki.sync.folder")

__all__ = ["RemoteLink", "SharedWith"]

#: Seconds until it goes on after what may go has changed.
PAUSE = 0.2
#: What of a delta goes to a team's remote; None where nothing is shared with it.
SharedWith = Callable[[Archive, Remote], Outgoing | None]


class RemoteLink:
    """One archive and one remote, for as long as something goes back and forth."""

    def __init__(
        self,
        archive: Archive,
        remote: Remote,
        shared: SharedWith = lambda archive, remote: None,
        told: Told = lambda done: None,
    ) -> None:
        self.archive = archive
        self.remote = remote
        self.shared = shared
        self.told = told
        self.remotes = Remotes(archive.home)
        machine = this_machine()
        # What somebody calls his machine is no team's business.
        self.machine = machine if remote.kind == "own" else structs.replace(machine, name="")

    def push(self) -> Transferred:
        with self._noted("pushed_at"):
            while True:
                try:
                    return self._push()
                except OutgoingChanged:
                    # Whoever changed it waits to tell the server.
                    time.sleep(PAUSE)

    def _push(self) -> Transferred:
        remote, archive = self.remote, self.archive
        if remote.is_folder:
            outbox = Outbox(archive, self.machine)
            with folder.opened(archive, remote, self.remotes) as target:
                return Sender(outbox, target, remote.name, told=self.told).push()
        # Who takes something back from a team has to come behind what is on its way there.
        shared = remote.kind != "own"
        with (
            self.remotes.alone(remote.name) if shared else nullcontext(),
            closing(HttpRemote(remote.url, remote.token)) as server,
        ):
            outgoing = self.shared(archive, remote) if shared else None
            outbox = Outbox(archive, self.machine, remote.kind, outgoing)
            return Sender(outbox, server, remote.name, remote.kind, told=self.told).push()

    def pull(self) -> Transferred:
        if self.remote.kind != "own":
            raise RirekiError("remote-not-pulled", name=self.remote.name)
        with self._noted("pulled_at"):
            return self._pull()

    def _pull(self) -> Transferred:
        receiver = Receiver(self.archive)
        if self.remote.is_folder:
            own = Outbox(self.archive, self.machine).opening()
            return folder.pull(self.archive, self.remote, receiver, own, self.told)
        with closing(HttpRemote(self.remote.url, self.remote.token)) as server:
            said = server.greet().kind
            if said != self.remote.kind:
                raise RirekiError(
                    "remote-other-kind", name=self.remote.name, kind=self.remote.kind, said=said
                )
            own_name = name_of(self.archive, self.machine)
            return Puller(server, receiver, self.remote.name, own_name, told=self.told).pull()

    @contextmanager
    def _noted(self, what: str) -> Iterator[None]:
        try:
            yield
        except RirekiError as error:
            self.remotes.note(self.remote.name, trouble=error.message)
            raise
        self.remotes.note(self.remote.name, **{what: now(), "trouble": ""})
