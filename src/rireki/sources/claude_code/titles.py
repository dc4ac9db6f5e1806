"""What a conversation is called: the title order of Claude Code, distrusting a stale last prompt."""

from __future__ import annotations

import re
from itertools import islice

from rireki.model.conversation import Tie
from rireki.sources.claude_code.shapes import LineHead
from rireki.sources.claude_code.tags import one_line

__all__ = ["Titles", "is_failure"]


#: How much of a prompt is kept to make a title of.
LENGTH = 1000
#: A title is filed under one of a session's last lines; a command and what it printed may follow.
LAST_LINES = 10
#: What the client writes in place of a title when the model that should make one did not answer.
_FAILED = re.compile(
    r"""API\ Error(:\ *(\d{3}\b|\{|Connection|Request|Cannot|Unable)|\ \(|:?$)
      | .{0,80}\ ·\ (Please\ run\ /|Fix\ external)
      | (Invalid|Missing)\ API\ key\b
      | (Claude\ AI|Claude)\ usage\ limit\ reached
      | \d+-hour\ limit\ reached
      | (Credit\ balance\ is\ too\ low|Prompt\ is\ too\ long|Execution\ error
        |Request\ timed\ out|Connection\ error|Not\ logged\ in|Login\ expired)[.!]?$
      | OAuth\ (token|authentication)\b.*(revoked|expired|not\ )
      | \[Request\ interrupted\ by\ user
    """,
    re.VERBOSE,
)


class Titles:
    def __init__(self) -> None:
        self._custom = ""
        self._ai = ""
        self._last_prompt = ""
        self._summaries: dict[str, str] = {}
        #: (uuid, beginning) of everything a person typed, in order.
        self._typed: list[tuple[str, str]] = []
        self._command = ""

    def note(self, look: LineHead) -> None:
        """A metadata line; the last of each kind counts."""
        if look.customTitle is not None:
            self._custom = look.customTitle
        elif look.aiTitle is not None:
            self._ai = "" if is_failure(look.aiTitle) else look.aiTitle
        elif look.lastPrompt:
            self._last_prompt = look.lastPrompt
        elif look.summary and look.leafUuid and not is_failure(look.summary):
            self._summaries.pop(look.leafUuid, None)
            self._summaries[look.leafUuid] = look.summary

    def prompt(self, uuid: str, text: str) -> None:
        self._typed.append((uuid, text[:LENGTH]))

    def command(self, text: str) -> None:
        """A command names a conversation only when nothing else was typed."""
        self._command = self._command or one_line(text)

    def ties(self, own: dict[str, str | None]) -> list[Tie]:
        """Versions before 2 wrote the title of one file into another, under the uuid of its last line.

        Of those wanted, the first that is offered counts: the newest.
        """
        foreign = {leaf: text for leaf, text in self._summaries.items() if leaf not in own}
        ties = [Tie("title", "offer", f"leaf:{leaf}", one_line(t)) for leaf, t in foreign.items()]
        if not (self._custom or self._ai or self._last_prompt):
            last = islice(reversed(own), LAST_LINES)
            ties += [Tie("title", "want", f"leaf:{uuid}") for uuid in last]
        return ties

    def title(self, own: dict[str, str | None], abandoned: set[str]) -> str:
        """`own` holds the uuids of this conversation, `abandoned` those of branches left behind."""
        live = [text for uuid, text in self._typed if uuid not in abandoned]
        last = one_line(self._last_prompt) if not (self._custom or self._ai) else ""
        summaries = [text for leaf, text in self._summaries.items() if leaf in own]
        first = live or [text for _, text in self._typed]
        named = bool(last) and any(_same(last, one_line(text)) for text in live)
        candidates = (
            one_line(self._custom),
            one_line(self._ai),
            last if named else "",
            one_line(summaries[-1]) if summaries else "",
            one_line(first[0]) if first else "",
            self._command,
        )
        return next((title for title in candidates if title), "")


def is_failure(title: str) -> bool:
    """Whether it is the client's own words for that no title could be made: the prompt says more."""
    return _FAILED.match(title.strip()) is not None


def _same(last: str, typed: str) -> bool:
    """The source cuts a long prompt; what is left of it must be how the typed one begins."""
    return typed.startswith(last.removesuffix("…"))
