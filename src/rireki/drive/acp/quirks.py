"""What single agents have to be spared, or told, that the protocol says nothing of.

Knows what they do to their own files and what their words mean; asks nothing of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from glob import escape
from pathlib import Path

__all__ = ["asking_mode", "seconds_until_safe"]


def seconds_until_safe(
    source: str | None, id: str, environment: Mapping[str, str], now: datetime
) -> float:
    """How long to wait before an agent is asked to load a conversation.

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


def asking_mode(
    source: str | None, environment: Mapping[str, str], offered: Iterable[str], current: str | None
) -> str | None:
    """The mode in which the agent asks the person; None when nothing is to be changed.

    The adapter of Codex begins in a mode in which a model decides what may be run; another one has
    the same sandbox, and asks. Whoever chose a mode has it.
    """
    if source != "codex" or current != "agent" or environment.get("INITIAL_AGENT_MODE"):
        return None
    return "workspace-write" if "workspace-write" in offered else None
