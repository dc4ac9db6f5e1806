"""What a conversation's lines say besides messages: times, directories, sessions, flags."""

from __future__ import annotations

from rireki.sources.claude_code.entries import flags_of
from rireki.sources.claude_code.shapes import LineHead

__all__ = ["SessionFacts"]


class SessionFacts:
    def __init__(self) -> None:
        #: Earliest and latest time; these start values lose against any.
        self.started = "~"
        self.updated = ""
        #: Working directories in the order they were entered.
        self.directories: dict[str, None] = {}
        #: Sessions named on the lines: this one, and those it was forked off or resumes.
        self.sessions: dict[str, None] = {}
        #: How often each flag stood on a user entry.
        self.flags: dict[str, int] = {}
        self._directory: str | None = None
        self._session: str | None = None

    def note(self, look: LineHead) -> None:
        time = look.timestamp
        if time is not None and time.startswith("2"):
            if time > self.updated:
                self.updated = time
            if time < self.started:
                self.started = time
        if look.cwd != self._directory and look.cwd:
            self._directory = look.cwd
            self.directories.setdefault(look.cwd)
        if look.forkedFrom is not None or look.sessionId != self._session:
            self._session = look.sessionId
            forked = look.forkedFrom.sessionId if look.forkedFrom is not None else None
            if session := forked or look.sessionId:
                self.sessions.setdefault(session)

    def count_flags(self, look: LineHead) -> None:
        if look.userType:
            flag = f"userType:{look.userType}"
            self.flags[flag] = self.flags.get(flag, 0) + 1
        for flag in flags_of(look):
            self.flags[flag] = self.flags.get(flag, 0) + 1
