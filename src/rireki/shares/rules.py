"""Rules that say what is shared with which team: directories, or single conversations, at a level.

They lie in the user's own data directory, whichever archive is open: what came along with
somebody's data decides nothing. Where there is no rule, nothing is shared.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from secrets import token_hex
from typing import Literal, TypeAlias, get_args

import msgspec

from rireki.errors import RirekiError
from rireki.home import data_directory, make_folder_of

__all__ = ["LEVELS", "Level", "ShareRule", "read_rules", "rule_for", "write_rules"]

#: The less comes first: where rules contradict each other, that is what is given. `none` takes out
#: what a wider rule would give.
Level: TypeAlias = Literal["none", "counts", "masked", "full"]
LEVELS: tuple[Level, ...] = get_args(Level)
EVERYTHING = "/"
_FILE = "shares.json"


class ShareRule(msgspec.Struct, frozen=True, kw_only=True):
    #: A directory, with all below it, or the id of a conversation.
    what: str
    kind: Literal["directory", "conversation"]
    team: str
    #: The server that has the team.
    remote: str
    level: Level = "masked"

    def covers(self, conversation: str, project: str | None) -> bool:
        if self.kind == "conversation":
            return conversation == self.what
        return self.what == EVERYTHING or (project is not None and _is_below(project, self.what))

    @property
    def nearness(self) -> tuple[bool, int]:
        """The nearer rule of two counts: a conversation's own, then the longer path."""
        return self.kind == "conversation", len(self.what)

    @property
    def place(self) -> tuple[str, str, str]:
        """There is one rule for each."""
        return self.remote, self.team, self.what


def _is_below(path: str, folder: str) -> bool:
    if ".." in path.replace("\\", "/").split("/"):
        # A transcript may say anything: this leads out again.
        return False
    return path == folder or path.startswith(folder.rstrip("/\\") + _separator(folder))


def _separator(folder: str) -> str:
    return "\\" if "\\" in folder and "/" not in folder else "/"


def rule_for(
    rules: Iterable[ShareRule], team: str, conversation: str, project: str | None
) -> ShareRule | None:
    """The one that counts for a conversation and a team."""
    found = [r for r in rules if r.team == team and r.covers(conversation, project)]
    return max(found, key=lambda rule: rule.nearness, default=None)


def read_rules() -> list[ShareRule]:
    try:
        return msgspec.json.decode(_path().read_bytes(), type=list[ShareRule])
    except FileNotFoundError:
        return []
    except (OSError, msgspec.MsgspecError, UnicodeError) as error:
        # Nothing is given away by rules that nobody can read.
        raise RirekiError("shares-unreadable", path=_path(), why=error) from error


def write_rules(rules: Iterable[ShareRule]) -> None:
    """As a whole: whoever reads meanwhile has the old ones or the new ones."""
    file = _path()
    make_folder_of(file)
    aside = file.with_name(f"{file.name}.{token_hex(4)}")
    ordered = sorted(rules, key=lambda rule: rule.place)
    try:
        written = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(written, "wb") as opened:
            opened.write(msgspec.json.format(msgspec.json.encode(ordered)) + b"\n")
        aside.replace(file)
    except OSError as error:
        raise RirekiError("shares-unwritable", path=file, why=error.strerror) from error


def _path() -> Path:
    return data_directory() / _FILE
