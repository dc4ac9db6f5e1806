"""The conversations that wait for the person at this moment, by their ids."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rireki.cli.archive import archive_path
from rireki.home import Home
from rireki.late import LateModule

# The readers, which a list needs only while an agent runs; what drives agents, where some were driven.
if TYPE_CHECKING:
    from rireki.cli import places
    from rireki.drive import journal
    from rireki.live import activity, driven
    from rireki.model.activity import Activity
else:
    places = LateModule("rireki.cli.places")
    journal = LateModule("rireki.drive.journal")
    activity = LateModule("rireki.live.activity")
    driven = LateModule("rireki.live.driven")

__all__ = ["waiting_now"]


def waiting_now() -> dict[str, Activity]:
    journals = sorted(Home(archive_path()).bridge.glob("*.jsonl"))
    found = _recovered(journals) if journals else {}
    return found | _stated() if _something_runs() else found


def _something_runs() -> bool:
    """Whether an agent left a note that it runs: most often none did, and no reader is imported."""
    claude = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")
    notes = Home(archive_path()).bridge.glob("*.lock"), (claude / "sessions").glob("*.json")
    return any(next(found, None) is not None for found in notes)


def _stated() -> dict[str, Activity]:
    """Those whose agents say so themselves."""
    stated = activity.stated_activities(places.places_of(None))
    return {id: each for id, each in stated.items() if each.waits}


def _recovered(journals: Sequence[Path]) -> dict[str, Activity]:
    """Those with prompts of an earlier process. Most journals have ended, as their last lines say."""

    def is_open(path: Path) -> bool:
        try:
            return path.is_file() and not journal.ended(path)
        except OSError:
            # What cannot be read is told of by `rireki import`.
            return False

    return {
        each.conversation: each for each in driven.recovered_activities(filter(is_open, journals))
    }
