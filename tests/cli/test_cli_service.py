"""`rireki service`: what each system is given to start a keeper at login."""

from __future__ import annotations

import plistlib
import sys
import xml.etree.ElementTree as xml
from collections.abc import Sequence
from pathlib import Path

import pytest

from rireki.cli.commands import service
from rireki.cli.login import Login, Ran, launchd, systemd, windows
from rireki.journals.lock import KeeperLock
from tests.cli.conftest import Rireki

COMMAND = ["/opt/my python/bin/python", "-m", "rireki", "watch", "--archive", '/a/50% "$x"/履歴']
NAMESPACE = "{http://schemas.microsoft.com/windows/2004/02/mit/task}"


class System:
    """Runs nothing; remembers what was to be run, and fails where it is told to."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.fails = ""

    def __call__(self, command: Sequence[str]) -> Ran:
        self.ran.append(" ".join(command))
        failed = self.fails and self.fails in self.ran[-1]
        return Ran(1, "it does not work") if failed else Ran(0, "")


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> System:
    system = System()
    monkeypatch.setattr(service, "runner", lambda: system)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/else/where")
    return system


def test_systemd_reads_the_very_words() -> None:
    login = systemd(COMMAND, {"KIRO_HOME": "/k 1"}, Path("/c"))
    lines = login.content.decode().splitlines()
    assert login.file == Path("/c/systemd/user/rireki.service")
    assert (
        'ExecStart="/opt/my python/bin/python" "-m" "rireki" "watch" "--archive"'
        ' "/a/50%% \\"$$x\\"/履歴"' in lines
    )
    assert 'Environment="KIRO_HOME=/k 1"' in lines
    assert "WantedBy=default.target" in lines and "Restart=on-failure" in lines
    assert "crontab" in login.instead and "50\\%" in login.instead


def test_launchd_reads_the_very_words() -> None:
    login = launchd(COMMAND, {"KIRO_HOME": "/k"}, Path("/Users/k"), 501)
    settings = plistlib.loads(login.content)
    assert settings["ProgramArguments"] == COMMAND and settings["RunAtLoad"] is True
    assert settings["KeepAlive"] == {"SuccessfulExit": False}
    assert settings["EnvironmentVariables"] == {"KIRO_HOME": "/k"}
    assert login.install == [["launchctl", "bootstrap", "gui/501", str(login.file)]]
    assert login.remove == [["launchctl", "bootout", f"gui/501/{settings['Label']}"]]


def test_windows_reads_the_very_words() -> None:
    login = windows([r"C:\P & Q\pythonw.exe", *COMMAND[1:]], Path("data"))
    task = xml.fromstring(login.content.decode("utf-16").encode("utf-16"))
    assert task.findtext(f".//{NAMESPACE}Command") == r"C:\P & Q\pythonw.exe"
    arguments = task.findtext(f".//{NAMESPACE}Arguments")
    assert arguments == '-m rireki watch --archive "/a/50% \\"$x\\"/履歴"'
    assert task.find(f".//{NAMESPACE}LogonTrigger") is not None
    assert login.install[0][:4] == ["schtasks", "/Create", "/TN", "rireki keeper"]


@pytest.mark.parametrize("platform", ["darwin", "win32", "linux"])
def test_every_system_has_its_own(
    system: System, rireki: Rireki, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, platform: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "data"))
    assert rireki("service", "install").code == 0
    tool = {"darwin": "launchctl", "win32": "schtasks", "linux": "systemctl"}[platform]
    assert system.ran and all(command.startswith(tool) for command in system.ran)
    assert rireki("service", "status", "--json").json[0]["installed"] is True


def test_install_writes_the_unit_and_starts_it(
    system: System, rireki: Rireki, tmp_path: Path
) -> None:
    ran = rireki("service", "install")
    unit = tmp_path / "me/.config/systemd/user/rireki.service"
    text = unit.read_text()
    assert ran.code == 0 and str(unit) in ran.out
    assert f'"{sys.executable}" "-P" "-m" "rireki" "watch" "--quiet"' in text
    assert f'"--archive" "{tmp_path}/archive.sqlite3"' in text
    assert 'Environment="CLAUDE_CONFIG_DIR=/else/where"' in text
    assert system.ran == [
        "systemctl --user show-environment",
        "systemctl --user daemon-reload",
        "systemctl --user enable rireki.service",
        "systemctl --user restart rireki.service",
    ]
    system.ran.clear()
    assert rireki("service", "remove").code == 0
    assert not unit.exists()
    assert system.ran == [
        "systemctl --user disable --now rireki.service",
        "systemctl --user daemon-reload",
    ]


def test_where_systemd_serves_no_users_it_says_what_to_do_instead(
    system: System, rireki: Rireki, tmp_path: Path
) -> None:
    system.fails = "show-environment"
    ran = rireki("service", "install")
    assert ran.code == 1 and "systemd does not run services" in ran.err
    assert "crontab -e" in ran.err and "@reboot" in ran.err
    assert not (tmp_path / "me/.config").exists()


def test_a_unit_that_cannot_be_started_is_not_left_behind(
    system: System, rireki: Rireki, tmp_path: Path
) -> None:
    system.fails = "restart"
    ran = rireki("service", "install")
    assert ran.code == 1 and "it does not work" in ran.err
    assert not (tmp_path / "me/.config/systemd/user/rireki.service").exists()


def test_nothing_to_remove_is_said(system: System, rireki: Rireki) -> None:
    ran = rireki("service", "remove")
    assert ran.code == 1 and "no service to remove" in ran.err and system.ran == []


def test_status_tells_who_keeps_the_archive(
    system: System, imported: Rireki, tmp_path: Path
) -> None:
    before = imported("service", "status")
    assert "Not installed" in before.out and "No keeper is running" in before.out
    assert "journalctl" not in before.out
    assert "Last change: just now" in before.out
    lock = KeeperLock(tmp_path / "archive.sqlite3")
    assert lock.take()
    (status,) = imported("service", "status", "--json").json
    assert status["running"] is True and status["pid"] == lock.holder()
    assert status["installed"] is False and status["changed_at"]
    lock.release()


def test_what_this_machine_would_be_given_names_this_python(system: System) -> None:
    from rireki.cli.login import here, run

    login = here(Path("/a/archive.sqlite3"))
    assert isinstance(login, Login) and sys.executable.encode() in login.content
    assert run([sys.executable, "-c", "raise SystemExit(3)"]).code == 3
    assert run(["/no/such/program"]).code == 127
