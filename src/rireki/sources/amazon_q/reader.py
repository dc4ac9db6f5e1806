"""Amazon Q Developer CLI: where its database and files lie, and what Kiro's reader shares with it.

The two products share their conversations, so reading and understanding them is the same. Files
that a person named by hand are recognised by content."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from rireki.errors import SourceTrouble
from rireki.model.conversation import Conversation
from rireki.sources.amazon_q.files import DATABASE, TYPED, V3_PREFIX, ZIP, Saved, recognise_saved
from rireki.sources.amazon_q.rows import has_new_table, is_ours, read_database
from rireki.sources.kit.files import FileKind, FileReader, FilesBelow, no_conversation, origin_at
from rireki.sources.kit.places import Places, in_project
from rireki.sources.kit.sqlite import open_database
from rireki.sources.reader import Known, Origin, Roll, Update

__all__ = ["READER", "Family", "databases_of"]

_FILE = "data.sqlite3"
#: How deep below a folder that was named by hand databases are looked for.
_BELOW = (_FILE, f"*/{_FILE}", f"*/*/{_FILE}")
_DATABASE = FileKind(_FILE, "database", DATABASE, no_conversation)


def databases_of(places: Places, application: str) -> list[FilesBelow]:
    """The database in each of the places where an application's data may lie."""
    kinds = [_DATABASE._replace(pattern=f"{application}/{_FILE}")]
    return [FilesBelow(one.parent, kinds) for one in places.data_directories(application)]


class Family(FileReader):
    family = "amazon-q"
    meaning = "rireki.sources.amazon_q.fold"
    #: Whether it is Kiro's reader.
    kiro: bool

    def recognise(self, path: Path) -> list[Origin]:
        found = {origin.place: origin for origin in super().recognise(path)}
        for database in _databases_below(path):
            if _belongs_to_kiro(database) == self.kiro:
                origin = origin_at(self.name, str(database), database.parent.parent, _DATABASE)
                found |= {one.place: one for one in [origin] if one and one.place not in found}
        return [*found.values(), *self._saved(path, set(found))]

    def _saved(self, path: Path, known: set[str]) -> Iterator[Origin]:
        """The saved conversations in a file, or right in a folder."""
        names = [path] if path.is_file() else sorted(p for p in path.glob("*") if p.is_file())
        for name in names:
            saved = _recognise_file(name) if name == path or name.suffix in _SAVED else None
            if saved is None or saved.kiro != self.kiro or str(name) in known:
                continue
            # As a row is named by the directory it belongs to, a file is by where it lies.
            own = saved.conversation or str(name.absolute())
            kind = FileKind(name.name, "document", saved.role)
            if (origin := origin_at(self.name, str(name), name.parent, kind)) is not None:
                yield msgspec.structs.replace(origin, conversation=own)

    def read_database(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        return read_database(origin, known)

    def grouping(self, native_id: str) -> str:
        """What the records of a conversation are filed under, given the agent's name for it."""
        return native_id.removeprefix(V3_PREFIX)

    def resume(self, conversation: Conversation) -> str | None:
        """None where no agent has it: it was overwritten, or known from a saved file only."""
        if conversation.nature != "conversation" or "@" in conversation.native_id:
            # One of two talks that go by one id: the agent would take the other.
            return None
        if "amazon-q" in conversation.held_by:
            # The client takes no id: it goes on with whatever its directory holds.
            return in_project(conversation, "q chat --resume") if conversation.project else None
        if "kiro" in conversation.held_by:
            # By id, in its directory, because Kiro lists sessions per directory.
            # What the editor has too was migrated to the third engine, under its old id.
            third = (
                conversation.native_id.startswith(V3_PREFIX) or "kiro-ide" in conversation.held_by
            )
            if third and not conversation.project:
                # What belongs to no folder is in no list of the CLI.
                return None
            engine = "--v3" if third else "chat"
            return in_project(conversation, f"kiro-cli {engine} --resume-id", with_id=True)
        return None


class AmazonQ(Family):
    name = "amazon-q"
    kiro = False

    def below(self, places: Places) -> list[FilesBelow]:
        # The prompt's own history: of no one conversation, so it is kept and not told.
        typed = [FileKind(".cli_bash_history", "lines", TYPED, no_conversation)]
        folder = places.home / ".aws" / "amazonq"
        note = "typed lines, kept as a file"
        return [*databases_of(places, self.name), FilesBelow(folder, typed, note)]

    def revive(self, conversation: Conversation) -> str | None:
        """A row comes back as a file that the client can load."""
        load = f"q chat (and type there: /load DIR/{conversation.native_id}.json)"
        return in_project(conversation, load)


_SAVED = ("", ".json", ".zip")


def _databases_below(path: Path) -> list[Path]:
    """The databases in a folder, or the file itself, whose tables are ours."""
    if path.is_file():
        return [path] if _tables_of(path) else []
    found = {one for pattern in _BELOW for one in path.glob(pattern)}
    return [one for one in sorted(found) if one.is_file() and _tables_of(one)]


def _belongs_to_kiro(path: Path) -> bool:
    """By the name of its folder, else by the newer table."""
    names = [name.lower() for name in path.absolute().parts[-4:-1]]
    if names and names[-1] == "amazon-q":
        return False
    return any("kiro" in name for name in names) or _tables_of(path) == "new"


def _recognise_file(path: Path) -> Saved | None:
    try:
        with path.open("rb") as file:
            start = file.read(64)
            if not start.startswith(ZIP) and start.lstrip()[:1] != b"{":
                return None
            return recognise_saved(start + file.read())
    except OSError:
        return None


def _tables_of(path: Path) -> str | None:
    try:
        with open_database(str(path)) as database:
            if has_new_table(database):
                return "new"
            return "old" if is_ours(database) else None
    except SourceTrouble:
        return None


READER = AmazonQ()
