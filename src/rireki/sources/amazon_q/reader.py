"""Amazon Q Developer CLI: the rows of its database, and files written by `/save`.

Where to look, and nothing else: reading and understanding is shared with Kiro,
in this package, because the two products share their conversations.
"""

from __future__ import annotations

from pathlib import Path
from shlex import quote

from rireki.model.conversation import Conversation
from rireki.sources.amazon_q import files, scan
from rireki.sources.amazon_q.scan import Family
from rireki.sources.kit.places import Places
from rireki.sources.reader import Discovery, Origin, Scanned, Watched

__all__ = ["READER"]

NAME = "amazon-q"


class AmazonQ(Family):
    name = NAME

    def discover(self, places: Places) -> Discovery:
        found = Discovery()
        for folder in places.data_directories(NAME):
            scan.look_for_database(found, NAME, folder)
        _look_for_typed_lines(found, places)
        return found

    def recognise(self, path: Path) -> list[Origin]:
        origins = self.discover(Places.at(path)).origins if path.is_dir() else []
        known = {origin.place for origin in origins}
        for database in scan.databases_below(path):
            if str(database) not in known and not scan.belongs_to_kiro(database):
                origins += filter(None, [scan.database_origin(NAME, database)])
        for name, saved in scan.saved_in(path):
            if not saved.kiro:
                origins += filter(
                    None,
                    [
                        scan.file_origin(
                            NAME, name, name.parent, "document", saved.role, saved.conversation
                        )
                    ],
                )
        return origins

    def watched(self, places: Places) -> list[Watched]:
        folders = [*places.data_directories(NAME), _typed_lines(places).parent]
        return [Watched(str(folder)) for folder in folders]

    def locate(self, places: Places, path: str) -> list[Origin]:
        typed = _typed_lines(places)
        if path == str(typed):
            origin = scan.file_origin(NAME, typed, typed.parent, "lines", files.TYPED, None)
            return list(filter(None, [origin]))
        return scan.locate_database(NAME, places.data_directories(NAME), path)

    def revive(self, conversation: Conversation) -> str | None:
        """A row comes back as a file that the client can load."""
        place = f"cd {quote(conversation.project)} && " if conversation.project else ""
        return f"{place}q chat (and type there: /load DIR/{conversation.native_id}.json)"


def _look_for_typed_lines(found: Discovery, places: Places) -> None:
    """The prompt's own history: of no one conversation, so it is kept and not told."""
    path = _typed_lines(places)
    origin = scan.file_origin(NAME, path, path.parent, "lines", files.TYPED, None)
    found.origins += filter(None, [origin])
    note = "typed lines, kept as a file" if origin else scan.QUIET
    found.looked.append(Scanned(NAME, str(path), origin is not None, note))


def _typed_lines(places: Places) -> Path:
    return places.home / ".aws" / "amazonq" / ".cli_bash_history"


READER = AmazonQ()
