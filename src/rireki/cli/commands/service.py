"""`rireki service`: have the keeper run whenever you are logged in."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rireki.cli.archive import archive_path
from rireki.cli.login import here, run
from rireki.cli.options import archive_option, json_option
from rireki.cli.output import StandardOutput, now
from rireki.errors import RirekiError
from rireki.home import Home
from rireki.journals.lock import KeeperLock
from rireki.model.times import from_ms
from rireki.show.catalogue import say
from rireki.show.safe import one_line
from rireki.show.times import ago

if TYPE_CHECKING:
    from rireki.cli.login import Login, Runner

__all__ = ["command", "runner"]


@click.command("service")
@click.argument("action", type=click.Choice(["install", "status", "remove"]))
@json_option
@archive_option
def command(action: str, as_json: bool) -> None:
    """Set up the keeper to start at login: a systemd user unit, a launchd agent or a Windows task.

    With it, what an agent overwrites or deletes was archived before. 'status' tells
    whether it is set up, whether a keeper runs, and when the archive last changed.

    \b
    Examples:
      rireki service install
      rireki service status
    """
    login = here(archive_path())
    if action == "install":
        _install(login, runner())
    elif action == "remove":
        _remove(login, runner())
    screen = StandardOutput()
    status = _status(login)
    screen.give(as_json, [status], _told(action, status))


def runner() -> Runner:
    """What runs a command of the system; tests put another in its place."""
    return run


def _install(login: Login, run: Runner) -> None:
    for check in login.checks:
        if run(check).code != 0:
            raise RirekiError("no-user-services", hint=login.instead)
    if login.file.exists():
        # Installed before, perhaps for another archive: the old one ends first.
        for line in login.remove:
            run(line)
    login.file.parent.mkdir(parents=True, exist_ok=True)
    login.file.write_bytes(login.content)
    for line in login.install:
        ran = run(line)
        if ran.code != 0:
            login.file.unlink()
            said = ran.output.strip() or f"exit code {ran.code}"
            raise RirekiError(
                "command-failed", hint=login.instead, command=" ".join(line), why=said
            )


def _remove(login: Login, run: Runner) -> None:
    if not login.file.exists():
        raise RirekiError("no-service", path=login.file)
    for line in login.remove:
        # One that is not loaded cannot be stopped: its file goes all the same.
        run(line)
    login.file.unlink()
    for line in login.after:
        run(line)


def _status(login: Login) -> dict[str, Any]:
    path = archive_path()
    lock = KeeperLock(path)
    # Asked of the lock, not of the system: a keeper started by hand counts as well.
    running = path.exists() and _is_taken(lock)
    holder = lock.holder() if running else None
    lock.release()
    return {
        "installed": login.file.exists(),
        "file": str(login.file),
        "running": running,
        "pid": holder,
        "archive": str(path),
        "changed_at": _changed_at(path),
    }


def _is_taken(lock: KeeperLock) -> bool:
    try:
        return not lock.take()
    except OSError:
        # Where it cannot be asked for, what its holder wrote has to do.
        return lock.holder() is not None


def _changed_at(path: Path) -> str | None:
    """When the archive was last written to."""
    files = [path, Home(path).log]
    times = [file.stat().st_mtime for file in files if file.exists()]
    return from_ms(max(times) * 1000) if times else None


def _told(action: str, status: dict[str, Any]) -> Iterator[str]:
    file = one_line(status["file"])
    if action == "install":
        yield say(f"Installed: {file}. The keeper starts at login, and was started now.")
    elif action == "remove":
        yield say(f"Removed: {file}. What is archived stays.")
    elif status["installed"]:
        yield say(f"Installed: {file}")
    else:
        yield say(
            "Not installed. 'rireki service install' has the keeper run whenever you are logged in."
        )
    if action != "remove":
        pid = f" as process {status['pid']}" if status["pid"] else ""
        idle = _idle(action, status["installed"])
        yield say(f"A keeper is running{pid}.") if status["running"] else idle
        yield say(f"Archive: {one_line(status['archive'])}")
        yield say(f"Last change: {ago(status['changed_at'], now())}")


def _idle(action: str, installed: bool) -> str:
    if action == "install":
        return say("It has not taken up its work yet: 'rireki service status' tells in a moment.")
    if not installed:
        return say("No keeper is running.")
    where = "journalctl --user -u rireki" if sys.platform == "linux" else "rireki watch"
    return say(f"No keeper is running. '{where}' tells more.")
