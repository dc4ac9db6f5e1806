"""The reader of Claude Code: where its files are, how they are read, who interprets them."""

# Strings instead of pathlib: every change of a file comes by here.
# ruff: noqa: PTH118

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote

from rireki.model.activity import Activity
from rireki.model.conversation import Conversation, Reading
from rireki.model.strand import Strand
from rireki.sources.claude_code.locate import locate
from rireki.sources.claude_code.reasons import REASONS
from rireki.sources.claude_code.recognise import recognise
from rireki.sources.claude_code.status import read_status
from rireki.sources.claude_code.walk import BESIDE, HISTORY, NAME, Walk
from rireki.sources.kit.document import read_document
from rireki.sources.kit.jsonl import read_lines
from rireki.sources.kit.places import Places
from rireki.sources.reader import Discovery, Known, Looked, Origin, Roll, Update, Watched

__all__ = ["READER", "ClaudeCode"]

_BELOW = ("projects", *BESIDE)


class ClaudeCode:
    name = NAME
    reasons = REASONS
    family = NAME

    def discover(self, places: Places) -> Discovery:
        found = Discovery()
        for root in _roots(places):
            walk = Walk(root)
            walk.config_root()
            found.origins += walk.origins
            found.troubles += walk.troubles
            found.looked.append(_looked(root, walk))
        return found

    def recognise(self, path: Path) -> list[Origin]:
        return recognise(path)

    def watched(self, places: Places) -> list[Watched]:
        """Not the whole root: it also holds logs, snapshots and other people's plug-ins."""
        roots = list(map(str, _roots(places)))
        below = [Watched(os.path.join(root, name), True) for root in roots for name in _BELOW]
        return [*map(Watched, roots), *below]

    def locate(self, places: Places, path: str) -> list[Origin]:
        for root in _roots(places):
            if path.startswith(os.path.join(root, "")):
                return locate(root, path)
        return []

    def activity(self, places: Places) -> list[Activity]:
        return [found for root in _roots(places) for found in read_status(root)]

    def read(self, origin: Origin, known: Known) -> Iterator[Update | Roll]:
        if origin.form == "lines":
            return read_lines(origin, known)
        return read_document(origin, known)

    def interpret(self, conversation: str, strands: Sequence[Strand]) -> list[Reading]:
        # Imported late: discovering and reading need none of it.
        from rireki.sources.claude_code.history import read_history
        from rireki.sources.claude_code.session import read_session

        ordered = sorted(strands, key=lambda strand: strand.id)
        if conversation == HISTORY:
            return read_history(ordered)
        return read_session(conversation, ordered)

    def resume(self, conversation: Conversation) -> str | None:
        """Sessions are resumed in their project's directory; sub-agents and bare prompts are not."""
        if conversation.nature != "conversation":
            return None
        command = f"claude --resume {quote(conversation.native_id)}"
        return f"cd {quote(conversation.project)} && {command}" if conversation.project else command

    def revive(self, conversation: Conversation) -> str | None:
        """Files go back to where they lay: restored to the config folder, they are found again."""
        command = self.resume(conversation)
        return f"{command} (with ~/.claude for DIR)" if command else None


def _roots(places: Places) -> list[Path]:
    """`$CLAUDE_CONFIG_DIR`, else `~/.claude`; the XDG place of some versions where it exists."""
    if (chosen := places.variable("CLAUDE_CONFIG_DIR")) is not None:
        return [chosen]
    roots = [places.home / ".claude"]
    config = places.home / ".config" / "claude"
    if (config / "projects").is_dir():
        roots.append(config)
    return roots


def _looked(root: Path, walk: Walk) -> Looked:
    sessions = sum(1 for origin in walk.origins if origin.role == "main")
    if walk.origins:
        return Looked(NAME, str(root), True, f"{sessions} sessions, {len(walk.origins)} files")
    if walk.troubles:
        return Looked(NAME, str(root), False, "it cannot be read")
    if not root.is_dir():
        return Looked(NAME, str(root), False, "no such folder: Claude Code was never used here")
    return Looked(NAME, str(root), False, "no transcripts: they may have been cleaned up")


READER = ClaudeCode()
