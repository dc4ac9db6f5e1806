"""The finder without its terminal: what keys and answers make of what is on the screen.

Pure. Keys and answers come in, actions for whoever owns the terminal go out.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from rireki.cli.finder.input import Box
from rireki.cli.finder.keys import Key
from rireki.search.results import ConversationHits, Hit, Results
from rireki.show.catalogue import say

__all__ = ["Action", "FinderAnswer", "Finding", "FinderItem"]

#: What the owner of the terminal has to do. "search": the query changed; "more": a longer list
#: of the same is wanted.
Action: TypeAlias = Literal["", "search", "more", "show", "resume", "quit", "interrupt", "suspend"]

#: Conversations that are asked for at once.
STEP = 40
#: Keys that mean the same wherever the cursor is.
_ANYWHERE: dict[str, Action] = {
    "ctrl-c": "interrupt",
    "ctrl-z": "suspend",
    "ctrl-r": "resume",
    "enter": "show",
}
_MOVES = {"up": -1, "down": 1, "ctrl-p": -1, "ctrl-n": 1}
_PAGES = {"page-up": -1, "page-down": 1}


class FinderItem(NamedTuple):
    """Something to choose: a hit, or a conversation as a whole."""

    talk: ConversationHits
    hit: Hit | None

    @property
    def name(self) -> str:
        """As `rireki show` takes it."""
        place = f"#{self.hit.message}" if self.hit and self.hit.message else ""
        return self.talk.conversation.id + place


class FinderAnswer(NamedTuple):
    """What came of the search with this ticket: results, or why there are none."""

    ticket: int
    results: Results | None
    #: What to type for each conversation.
    names: dict[str, str] = {}  # noqa: RUF012
    trouble: str = ""


class Finding:
    def __init__(self, newest: bool = False) -> None:
        self.box = Box()
        self.newest = newest
        self.focus: Literal["box", "list"] = "box"
        self.results: Results | None = None
        self.names: dict[str, str] = {}
        self.items: list[FinderItem] = []
        self.chosen = 0
        self.limit = STEP
        #: Tells the answer that is waited for from late ones.
        self.ticket = 1
        self.answered = 0
        #: What is wrong with the query, in words.
        self.trouble = ""
        #: Something to know until the next key.
        self.note = ""
        #: How far the index is, while it is being made.
        self.progress = ""
        #: Whether the answer keeps us waiting so long that it has to be said.
        self.is_slow = False
        #: Hits with their neighbours, by what `show` calls them.
        self.seen: dict[str, Hit] = {}
        #: How many items a page has; the screen knows.
        self.page = 10
        self._escaped = False
        #: What to do with the first hit as soon as it is there.
        self._next: Action = ""

    @property
    def item(self) -> FinderItem | None:
        return self.items[self.chosen] if self.items else None

    @property
    def is_searching(self) -> bool:
        return self.answered < self.ticket

    # ── keys ──

    def press(self, key: Key) -> Action:
        escaped, self._escaped = self._escaped, False
        self.note, self._next = "", ""
        if key.name == "esc":
            self._escaped, self.focus = True, "box"
            self.note = say("Esc again quits")
            return "quit" if escaped else ""
        if key.name == "ctrl-d" and not self.box.text:
            return "quit"
        if key.name in _ANYWHERE:
            return self._anywhere(_ANYWHERE[key.name])
        if key.name == "tab":
            self.focus = "list" if self.focus == "box" and self.items else "box"
            return ""
        if key.name in _MOVES or key.name in _PAGES:
            return self._move(key.name)
        if self.focus == "list" and (action := self._command(key)) is not None:
            return action
        return self._type(key)

    def _anywhere(self, action: Action) -> Action:
        if action not in ("show", "resume"):
            return action
        if self.is_searching and (self.results is None or self.results.query != self.box.text):
            # What is chosen answers an older query: wait for what was asked last.
            self._next = action
            return ""
        return action if self.item else ""

    def _command(self, key: Key) -> Action | None:
        """Single letters, while the list has the cursor; None for what belongs into the box."""
        if key.name in ("home", "end"):
            self.chosen = 0 if key.name == "home" else max(len(self.items) - 1, 0)
        elif key.text == "/":
            self.focus = "box"
        elif key.text == "q":
            return "quit"
        elif key.text == "r":
            return self._anywhere("resume")
        else:
            return None
        return ""

    def _type(self, key: Key) -> Action:
        before = self.box.text
        if self.box.press(key):
            self.focus = "box"
        if self.box.text == before:
            return ""
        self.limit = STEP
        self.ticket += 1
        return "search"

    def _move(self, name: str) -> Action:
        if not self.items:
            return ""
        if self.focus == "box" and name in ("down", "page-down"):
            self.focus = "list"
            if name == "down":
                # The first is chosen already; from here on the arrows go through the list.
                return ""
        if name == "up" and self.chosen == 0:
            self.focus = "box"
            return ""
        wanted = self.chosen + (_MOVES.get(name) or _PAGES[name] * max(self.page, 1))
        last = len(self.items) - 1
        self.chosen = min(max(wanted, 0), last)
        if wanted > last and self.results and self.results.more and not self.is_searching:
            self.limit += STEP
            self.ticket += 1
            return "more"
        return ""

    # ── answers ──

    def take(self, answer: FinderAnswer) -> Action:
        """Show what was found, unless something else was asked for meanwhile."""
        if answer.ticket != self.ticket:
            return ""
        self.answered, self.is_slow = answer.ticket, False
        self.trouble = answer.trouble
        action, self._next = self._next, ""
        if answer.results is None:
            return ""
        same = self.results is not None and self.results.query == answer.results.query
        self.results, self.names = answer.results, answer.names
        self.items = [item for talk in answer.results.talks for item in _items(talk)]
        self.chosen = min(self.chosen, max(len(self.items) - 1, 0)) if same else 0
        self.seen = self.seen if same else {}
        if not self.items:
            self.focus = "box"
            return ""
        return action


def _items(talk: ConversationHits) -> list[FinderItem]:
    return [FinderItem(talk, hit) for hit in talk.hits] or [FinderItem(talk, None)]
