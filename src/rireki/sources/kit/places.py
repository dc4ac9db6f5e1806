"""Where programs keep their data, on every platform, for this home or any other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from shlex import quote

import msgspec

from rireki.home import BRIDGE, HISTORIES, STORES, Home, data_directories
from rireki.model.conversation import Conversation

__all__ = ["Places", "in_project"]


class Places(msgspec.Struct, frozen=True):
    """A home directory and the environment that may point elsewhere.

    A home given by hand (another machine's backup) comes without an environment,
    and its platform is unknown: so all platforms' layouts are tried, always.
    """

    home: Path
    environment: Mapping[str, str] = msgspec.field(default_factory=dict)
    #: The folder with rireki's own histories beside the archive in use; wherever else one may be.
    histories: Path | None = None
    #: Asks for the directories that conversations of the archive belong to.
    ask_projects: Callable[[], Iterable[str]] = tuple

    @classmethod
    def here(cls) -> Places:
        return cls(Path.home(), dict(os.environ))

    @classmethod
    def at(cls, home: Path) -> Places:
        return cls(home)

    def beside(self, archive: Path) -> Places:
        """The same places, with the histories that lie beside this archive."""
        return msgspec.structs.replace(self, histories=Home(archive).histories)

    def knowing(self, ask_projects: Callable[[], Iterable[str]]) -> Places:
        """The same places, with the directories that the archive knows."""
        return msgspec.structs.replace(self, ask_projects=ask_projects)

    @property
    def projects(self) -> tuple[str, ...]:
        """Directories that conversations of any source belong to, the latest first.

        For readers whose files stand in projects, or are named after them by a hash.
        """
        return tuple(self.ask_projects())

    def history_folders(self) -> list[Path]:
        """Where rireki's own histories may lie: beside the archive, and in its data directories."""
        usual = [folder / HISTORIES for folder in self.data_directories("rireki")]
        return list(dict.fromkeys([self.histories, *usual] if self.histories else usual))

    def store_folders(self) -> list[Path]:
        """Where stores of ChatKit apps may lie: beside the histories."""
        return [folder.with_name(STORES) for folder in self.history_folders()]

    def bridge_folders(self) -> list[Path]:
        """Where the journals of driven agents may lie: beside the histories."""
        return [folder.with_name(BRIDGE) for folder in self.history_folders()]

    def variable(self, name: str) -> Path | None:
        """The directory an environment variable names, if it is set."""
        value = self.environment.get(name)
        return Path(value).expanduser() if value else None

    def settings_directories(self) -> list[Path]:
        """Where applications keep their settings, on any platform; editors also store there."""
        bases = [
            self.variable("XDG_CONFIG_HOME") or self.home / ".config",
            self.home / "Library" / "Application Support",
            self.variable("APPDATA") or self.home / "AppData" / "Roaming",
        ]
        return list(dict.fromkeys(bases))

    def data_directories(self, application: str) -> list[Path]:
        """Where an application's local data may lie, most likely first."""
        return data_directories(application, self.home, self.environment)


def in_project(conversation: Conversation, command: str, *, with_id: bool = False) -> str:
    """The shell command, given in the directory that the conversation belongs to."""
    place = f"cd {quote(conversation.project)} && " if conversation.project else ""
    return place + command + (f" {quote(conversation.native_id)}" if with_id else "")
