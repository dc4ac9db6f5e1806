"""The keeper: takes in what agents write, as they write it.

One keeper works per archive. Others follow: they tell of its changes, and one of
them takes over when it ends. How changes are found is told in `keeping.py`.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from rireki.archive.open import now, open_archive
from rireki.errors import RirekiError, Wording
from rireki.intake.progress import Progress, Silent
from rireki.journals.lock import KeeperLock
from rireki.live.keeper_work import Keeping, Replaced
from rireki.live.pushing import BackgroundPush
from rireki.live.readings import Readings
from rireki.live.retries import pause
from rireki.live.status import KeeperStatus, StatusProgress, StatusPublisher, Stopped
from rireki.live.watch import Hints
from rireki.model.conversation import Trouble
from rireki.sources.kit.places import Places

__all__ = ["Keeper", "KeeperStatus"]

#: How often a follower looks for changes, and asks for the lock, in seconds.
LOOK, LOCK = 0.25, 1.0
#: How long `stop` waits for the thread.
FAREWELL = 10.0


class Keeper:
    """Keeps one archive up with the agents of one home, in a thread of its own.

    `on_change` is called in that thread, with the archive's number, after every commit
    that changed it.
    """

    def __init__(
        self,
        archive_path: Path,
        places: Places,
        *,
        on_change: Callable[[int], None] | None = None,
        progress: Progress | None = None,
        index: bool = True,
        readings: Readings | None = None,
    ) -> None:
        self.archive_path = archive_path
        self.places = places
        self.on_change = on_change or (lambda number: None)
        self.index = index
        self.readings = readings
        self._hints = Hints()
        self._told = StatusPublisher()
        self._stopping = threading.Event()
        self._teller = StatusProgress(self._told, progress or Silent(), self._stopping)
        self._lock = KeeperLock(archive_path)
        self._push = BackgroundPush(archive_path)
        self._thread = threading.Thread(target=self._run, name="rireki-keeper", daemon=True)

    @property
    def status(self) -> KeeperStatus:
        return self._told.status

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End soon; whatever was begun is committed or begun anew next time."""
        self._stopping.set()
        self._hints.wake()
        if self._thread.is_alive():
            self._thread.join(FAREWELL)

    def wait(self, timeout: float | None = None) -> bool:
        """Until the first import is done, or until there is nothing to wait for; False when not yet."""
        return self._told.wait_for({"keeping", "following", "stopped", "failed"}, timeout)

    def join(self, timeout: float | None = None) -> bool:
        """Until the thread has ended; False when it has not yet."""
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def sweep_now(self) -> None:
        """Look at everything at once, without waiting for a hint."""
        self._hints.doubt()

    @property
    def started(self) -> bool:
        return self._thread.ident is not None

    # ── in the thread ──

    def _run(self) -> None:
        try:
            self._work()
        except Stopped:
            # Told to end in the middle of an import: what was committed is complete.
            self._told.tell(state="stopped")
        except RirekiError as error:
            self._fail(error.message, error.hint)
        except Exception as error:
            self._fail(f"{type(error).__name__}: {error}", "This is a mistake in rireki.")
            raise
        else:
            self._told.tell(state="stopped")

    def _work(self) -> None:
        try:
            self._follow()
            if not self._stopping.is_set():
                self._keep()
        finally:
            # Before the end is told: whoever hears of it may take over at once.
            self._lock.release()

    def _fail(self, message: str, hint: str) -> None:
        self._told.tell(state="failed", troubles=[Trouble(str(self.archive_path), message, hint)])

    def _follow(self) -> None:
        """Until the lock is ours: tell of what the other keeper takes in."""
        number = -1
        while not self._stopping.is_set() and not self._take_lock():
            self._told.tell(state="following", holder=self._lock.holder())
            number = self._tell_changes(number)
        self._told.tell(holder=None)

    def _tell_changes(self, number: int) -> int:
        """What came since a number, for about as long as the lock need not be asked for."""
        if not self.archive_path.exists():
            self._stopping.wait(LOOK)
            return number
        with closing(open_archive(self.archive_path)) as archive:
            for _ in range(int(LOCK / LOOK)):
                found = archive.number()
                if found != number:
                    self._told.tell(changed_at=now())
                    self.on_change(found)
                    number = found
                if self._stopping.wait(LOOK):
                    break
        return number

    def _take_lock(self) -> bool:
        try:
            return self._lock.take()
        except OSError as error:
            # Two keepers do no harm: each notices what the other did. None at all would.
            why = error.strerror or error
            self._told.tell(troubles=[Trouble.of(str(self._lock.path), "not-locked", why=why)])
            return True

    def _keep(self) -> None:
        self._told.tell(state="importing")
        keeping = Keeping(
            self.places, self._hints, self._told, self._announce, self.index, self.readings
        )
        self._push.start()
        try:
            with closing(open_archive(self.archive_path, create=True)) as archive:
                keeping.open(archive)
                self._persist(keeping, lambda: keeping.begin(self._teller))
            # Opened anew: what SQLite kept in memory for the import is not needed any more.
            with closing(open_archive(self.archive_path)) as archive:
                keeping.open(archive)
                self._told.tell(state="keeping")
                while not self._stopping.is_set():
                    self._persist(keeping, keeping.step)
        finally:
            keeping.stop()
            self._push.stop(FAREWELL / 2)

    def _announce(self, number: int) -> None:
        # Whoever listens may have come after the start.
        self.on_change(number)
        self._push.kick()

    def _persist(self, keeping: Keeping, work: Callable[[], None]) -> None:
        """Do it, again and again if need be: a full disk or a mistake of ours must not end a keeper."""
        failures = 0
        while True:
            try:
                work()
            except (Stopped, Replaced):
                raise
            except (RirekiError, OSError) as error:
                failures += 1
                self._say(keeping, error, pause(failures))
            except Exception as error:  # noqa: BLE001 - said with its traceback, and gone on
                failures += 1
                if failures == 1:
                    traceback.print_exception(error)
                self._say(keeping, error, pause(failures))
            else:
                if failures:
                    keeping.recover()
                return
            if self._stopping.wait(pause(failures)):
                raise Stopped

    def _say(self, keeping: Keeping, error: Exception, pause: float) -> None:
        worded = error if isinstance(error, RirekiError) else Wording(f"{error}")
        code = "advice-and-again" if worded.hint else "tried-again"
        again = Wording(code, first=worded.hint, n=pause)
        keeping.fail(Trouble.of(str(self.archive_path), worded, again), pause)
