"""Amazon Q Developer CLI: the rows of its database, and files written by `/save`.

Where to look, and nothing else: reading and understanding is shared with Kiro,
in `kit/q`, because the two products share their conversations.
"""

from __future__ import annotations

from pathlib import Path
from shlex import quote

from rireki.model.conversation import Conversation
from rireki.sources.kit.places import Places
from rireki.sources.kit.q import look, roles
from rireki.sources.kit.q.family import Family
from rireki.sources.reader import Discovery, Looked, Origin

__all__ = ["READER"]

NAME = "amazon-q"


class AmazonQ(Family):
    name = NAME

    def discover(self, places: Places) -> Discovery:
        found = Discovery()
        for folder in places.data_directories("amazon-q"):
            look.look_for_database(found, NAME, folder)
        _look_for_typed_lines(found, places)
        return found

    def recognise(self, path: Path) -> list[Origin]:
        origins = self.discover(Places.at(path)).origins if path.is_dir() else []
        known = {origin.place for origin in origins}
        for database in look.databases_below(path):
            if str(database) not in known and not look.belongs_to_kiro(database):
                origins += filter(None, [look.database_origin(NAME, database)])
        for name, saved in look.saved_in(path):
            if not saved.kiro:
                origins += filter(
                    None,
                    [
                        look.file_origin(
                            NAME, name, name.parent, "document", saved.role, saved.conversation
                        )
                    ],
                )
        return origins

    def revive(self, conversation: Conversation) -> str | None:
        """A row comes back as a file that the client can load."""
        place = f"cd {quote(conversation.project)} && " if conversation.project else ""
        return f"{place}q chat (and type there: /load DIR/{conversation.native_id}.json)"


def _look_for_typed_lines(found: Discovery, places: Places) -> None:
    """The prompt's own history: of no one conversation, so it is kept and not told."""
    root = places.home / ".aws" / "amazonq"
    path = root / ".cli_bash_history"
    origin = look.file_origin(NAME, path, root, "lines", roles.TYPED, None)
    found.origins += filter(None, [origin])
    note = "typed lines, kept as a file" if origin else look.QUIET
    found.looked.append(Looked(NAME, str(path), origin is not None, note))


READER = AmazonQ()
