"""How each system starts a program at login: the file it reads, the commands it takes.

Everything is made by pure functions of what they are given, so that each system's
can be looked at on every other; only `here` and `run` know this machine.
"""

from __future__ import annotations

import os
import plistlib
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from shlex import join
from typing import NamedTuple, TypeAlias
from xml.sax.saxutils import escape

__all__ = ["Login", "Ran", "Runner", "here", "launchd", "run", "systemd", "windows"]

UNIT = "rireki.service"
LABEL = "dev.rireki.keeper"
TASK = "rireki keeper"
#: What decides where agents are looked for, and may differ between a shell and a login.
VARIABLES = ("CLAUDE_CONFIG_DIR", "KIRO_HOME", "XDG_DATA_HOME")


class Ran(NamedTuple):
    code: int
    output: str


Runner: TypeAlias = Callable[[Sequence[str]], Ran]


class Login(NamedTuple):
    """A program that starts at login: its file, and the commands around it."""

    file: Path
    content: bytes
    #: These must succeed for the rest to make sense.
    checks: list[list[str]]
    install: list[list[str]]
    #: Before the file is removed, and after.
    remove: list[list[str]]
    after: list[list[str]]
    #: What to say, and what to do instead, where this does not work.
    unavailable: str
    instead: str


def here(archive: Path) -> Login:
    """For this machine, this Python and this archive."""
    # -P: a login starts programs in the home directory, and code is not taken from there.
    command = [_python(), "-P", "-m", "rireki", "watch", "--quiet", "--archive", str(archive)]
    environment = {name: os.environ[name] for name in VARIABLES if os.environ.get(name)}
    home = Path.home()
    if sys.platform == "win32":
        data = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
        return windows(command, data)
    if sys.platform == "darwin":
        return launchd(command, environment, home, os.getuid())
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    return systemd(command, environment, config)


def run(command: Sequence[str]) -> Ran:
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Ran(127, str(error))
    return Ran(ended.returncode, ended.stderr or ended.stdout)


def _python() -> str:
    """This Python; on Windows the one that opens no window."""
    windowless = Path(sys.executable).with_name("pythonw.exe")
    return str(windowless) if windowless.exists() else sys.executable


# ── Linux ──


def systemd(command: Sequence[str], environment: Mapping[str, str], config: Path) -> Login:
    lines = [
        "[Unit]",
        "Description=rireki keeps the history of your AI agents",
        "",
        "[Service]",
        f"ExecStart={' '.join(_quoted(word, '$') for word in command)}",
        *(f"Environment={_quoted(f'{name}={value}')}" for name, value in environment.items()),
        "Restart=on-failure",
        "RestartSec=10",
        "Nice=10",
        "",
        "[Install]",
        "WantedBy=default.target",
        "",
    ]
    control = ["systemctl", "--user"]
    return Login(
        file=config / "systemd" / "user" / UNIT,
        content="\n".join(lines).encode(),
        checks=[[*control, "show-environment"]],
        install=[
            [*control, "daemon-reload"],
            [*control, "enable", UNIT],
            [*control, "restart", UNIT],
        ],
        remove=[[*control, "disable", "--now", UNIT]],
        after=[[*control, "daemon-reload"]],
        unavailable="systemd does not run services for users here ('systemctl --user' fails)",
        instead=f"Let cron start it: 'crontab -e', and this line: @reboot {_shell(command)}",
    )


def _quoted(word: str, doubled: str = "") -> str:
    """A word as systemd reads it; percent signs, and dollars in commands, mean themselves if doubled."""
    word = word.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    for sign in f"%{doubled}":
        word = word.replace(sign, sign * 2)
    return f'"{word}"'


def _shell(command: Sequence[str]) -> str:
    return join(command).replace("%", "\\%")


# ── macOS ──


def launchd(command: Sequence[str], environment: Mapping[str, str], home: Path, uid: int) -> Login:
    file = home / "Library" / "LaunchAgents" / f"{LABEL}.plist"
    settings = {
        "Label": LABEL,
        "ProgramArguments": list(command),
        "EnvironmentVariables": dict(environment),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ProcessType": "Background",
        "StandardErrorPath": str(home / "Library" / "Logs" / "rireki.log"),
    }
    return Login(
        file=file,
        content=plistlib.dumps(settings),
        checks=[],
        install=[["launchctl", "bootstrap", f"gui/{uid}", str(file)]],
        remove=[["launchctl", "bootout", f"gui/{uid}/{LABEL}"]],
        after=[],
        unavailable="",
        instead="Log in at the screen of this Mac and try again, or run 'rireki watch' in a terminal.",
    )


# ── Windows ──

_TASK = """<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo><Description>rireki keeps the history of your AI agents</Description></RegistrationInfo>
  <Triggers><LogonTrigger><Enabled>true</Enabled></LogonTrigger></Triggers>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure><Interval>PT1M</Interval><Count>999</Count></RestartOnFailure>
    <Priority>7</Priority>
  </Settings>
  <Actions><Exec>
    <Command>{command}</Command>
    <Arguments>{arguments}</Arguments>
  </Exec></Actions>
</Task>
"""


def windows(command: Sequence[str], data: Path) -> Login:
    """A task at logon. Variables are not named: Windows gives the user's own to every program."""
    file = data / "rireki" / "keeper-task.xml"
    arguments = subprocess.list2cmdline(command[1:])
    text = _TASK.format(command=escape(command[0]), arguments=escape(arguments))
    return Login(
        file=file,
        content=text.encode("utf-16"),
        checks=[],
        install=[
            ["schtasks", "/Create", "/TN", TASK, "/XML", str(file), "/F"],
            ["schtasks", "/Run", "/TN", TASK],
        ],
        remove=[["schtasks", "/End", "/TN", TASK], ["schtasks", "/Delete", "/TN", TASK, "/F"]],
        after=[],
        unavailable="",
        instead="Ask whether your organisation allows scheduled tasks, or run 'rireki watch'.",
    )
