"""When an agent may be asked to load a conversation without losing it.

Knows what the agents do to their own files; asks nothing of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from glob import escape
from pathlib import Path

__all__ = ["seconds_until_safe"]


def seconds_until_safe(
    source: str | None, id: str, environment: Mapping[str, str], now: datetime
) -> float:
    """How long to wait.

    Gemini CLI names a chat's file after the minute and the first part of its id. To load a chat it
    begins a file as well, and only then looks for the chat: in the minute in which that began, both
    are one file, and what it held is gone.
    """
    home = environment.get("GEMINI_CLI_HOME") or environment.get("HOME")
    if source != "gemini-cli" or not home:
        return 0.0
    minute = f"{now.astimezone(timezone.utc):%Y-%m-%dT%H-%M}"
    names = f"tmp/*/chats/session-{minute}-{escape(id[:8])}*"
    begun = any(Path(home, ".gemini").glob(names))
    return 60.0 - now.second - now.microsecond / 1_000_000 if begun else 0.0
