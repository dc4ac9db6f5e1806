"""What a transcript and a journal both have, message by message.

Knows messages only: the rules and flags that `journal_message.py` gave those of the journal, and of the
transcript's nothing but what every reader's messages have.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Container, Iterator, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from itertools import islice
from typing import Any

from rireki.model.message import Message
from rireki.model.parts import Text, Thinking, ToolCall, ToolResult

__all__ = ["MessageMatcher", "before_mentions", "is_given", "rule_of"]

#: Values nested deeper than this are not walked.
DEEPEST = 40


def is_typed(message: Message) -> bool:
    shown = message.display != "hidden" and message.replaced_by is None
    return message.author == "person" and shown


def rule_of(message: Message) -> str:
    return message.entry.rule if message.entry is not None else ""


def flags_of(message: Message) -> tuple[str, ...]:
    return message.entry.flags if message.entry is not None else ()


def is_given(message: Message) -> bool:
    return rule_of(message) == "prompt" and "given" in flags_of(message)


def is_provisional(message: Message) -> bool:
    return "provisional" in flags_of(message)


def words_of(message: Message) -> str:
    return squeezed(texts_of(message, Text))


def texts_of(message: Message, *kinds: type[Text] | type[Thinking]) -> list[str]:
    return [part.text for part in message.parts if isinstance(part, kinds)]


def squeezed(texts: Sequence[str]) -> str:
    """Words without any white space: nobody keeps it as it was."""
    return "".join("".join(text.split()) for text in texts)


#: How Copilot begins what it adds to a prompt for a file that was mentioned; it ends with a bracket.
LINK = "[Resource link: "
#: No more files than these are looked for at the end of a prompt.
MENTIONS = 50


def before_mentions(text: str) -> str:
    """A text without the names of files that an agent put at its end."""
    for _ in range(MENTIONS):
        text = text.rstrip()
        begin = text.rfind(LINK) if text.endswith("]") else -1
        if begin < 0 or "\n" in text[begin:]:
            *_, last = text.rsplit(None, 1) or [""]
            if not is_path(last):
                break
            begin = len(text) - len(last)
        text = text[:begin]
    return text


def is_path(word: str) -> bool:
    """Whether it names a file by its whole path, as Gemini CLI adds it."""
    return word.startswith("@/") or (word[:1] == "@" and word[2:3] == ":")


def strings_in(value: Any, depth: int = 0) -> list[str]:
    """Every text in a JSON value that is not nested beyond all reason."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list) or depth == DEEPEST:
        return []
    return [text for one in value for text in strings_in(one, depth + 1)]


class TranscriptTurn:
    """What the transcript has of one turn: where each thing stands, and its words."""

    def __init__(self, transcript: Sequence[Message], start: int) -> None:
        self.said: dict[str, list[tuple[int, str]]] = {"text": [], "thought": [], "plan": []}
        self.answers: list[int] = []
        for at, message in _messages_of(transcript, start):
            if message.author in ("agent", "harness"):
                words = words_of(message)
                self.said["text"].append((at, words))
                self.said["thought"].append((at, squeezed(texts_of(message, Thinking))))
                self.answers += [at] if words and message.author == "agent" else []
            calls = [part.arguments for part in message.parts if isinstance(part, ToolCall)]
            self.said["plan"].append((at, squeezed(strings_in(calls))))
        self.whole = {kind: "".join(words for _, words in said) for kind, said in self.said.items()}

    def has(self, message: Message) -> bool:
        kind = rule_of(message)
        if kind == "plan":
            steps = [
                squeezed([line[6:]])
                for text in texts_of(message, Text)
                for line in text.split("\n")
            ]
            return any(all(step in words for step in steps) for _, words in self.said[kind])
        if is_provisional(message):
            return bool(self.answers)
        return (
            kind in self.whole and squeezed(texts_of(message, Text, Thinking)) in self.whole[kind]
        )

    def place_of(self, message: Message) -> int | None:
        """The message that has all of it; the first answer, for words that it replaces."""
        if is_provisional(message):
            return self.answers[0]
        words = squeezed(texts_of(message, Text, Thinking))
        return next((at for at, said in self.said[rule_of(message)] if words in said), None)


def _messages_of(transcript: Sequence[Message], start: int) -> Iterator[tuple[int, Message]]:
    """From what a person typed to the next thing a person typed."""
    turn = transcript[start].turn
    for at in range(start, len(transcript)):
        message = transcript[at]
        if turn is None and at > start and is_typed(message):
            return
        if turn is not None and message.turn is not None and message.turn != turn:
            return
        yield at, message


#: How much earlier than it was given a transcript may say that a prompt came.
SLACK = timedelta(seconds=2)
#: After every time there is.
LATEST = "9999"


class MessageMatcher:
    """Finds what both have: the place in the transcript by the place in the journal.

    None stands for what the transcript has somewhere in the turn, in no message alone. What only
    the journal has is left out.
    """

    def __init__(
        self, transcript: Sequence[Message], journal: Sequence[Message], running: Container[str]
    ) -> None:
        self.transcript = transcript
        self.journal = journal
        self.running = running
        self.prompts = [(at, m) for at, m in enumerate(journal) if rule_of(m) == "prompt"]
        self.words = [words_of(message) for _, message in self.prompts]
        self.twins: dict[int, int | None] = {}
        #: The prompts that have a twin, by their number, and where those twins stand.
        self.known: list[int] = []
        self.taken: dict[int, int] = {}
        #: The turns of the transcript that were looked into, by where they begin.
        self.turns: dict[int, TranscriptTurn] = {}

    def find(self) -> dict[int, int | None]:
        self._prompts_by_id()
        self._prompts_by_time()
        self._prompts_by_order()
        turn: TranscriptTurn | None = None
        for at, message in enumerate(self.journal):
            rule = rule_of(message)
            if rule == "prompt":
                turn = self._turn(self.twins.get(at)) if is_given(message) else turn
            elif rule in ("call", "result"):
                self._work(at, message)
            elif turn is not None and turn.has(message):
                self.twins[at] = turn.place_of(message)
        return self.twins

    # ── prompts ──

    def _prompts_by_id(self) -> None:
        known = {m.id: at for at, m in enumerate(self.transcript) if is_typed(m)}
        for number, (_, message) in enumerate(self.prompts):
            if message.id in known:
                self._note(number, known[message.id])

    def _prompts_by_time(self) -> None:
        """In order, each at most once: the first thing of these words typed since it was given."""
        for number in range(len(self.prompts)):
            places = self._open(number)
            if places:
                since, until = self._span(number)
                times = [(place, self.transcript[place].at) for place in places]
                self._take(number, [place for place, at in times if at and since <= at <= until])

    def _prompts_by_order(self) -> None:
        """Where the transcript has no times: what was typed last is what was given last.

        What is typed has been kept when its turn has ended. Before that, and if the turn was cut
        short, equal words may be far older ones; unless they stand behind another twin.
        """
        ended: dict[str, list[int]] = {}
        others: list[int] = []
        for number, (_, message) in enumerate(self.prompts):
            if self._open(number):
                certain = message.id not in self.running and "cut" not in flags_of(message)
                (ended.setdefault(self.words[number], []) if certain else others).append(number)
        for words, numbers in ended.items():
            places = self._untimed(self.typed[words])[-len(numbers) :]
            for number, place in zip(numbers, places, strict=False):
                self._take(number, [place])
        for number in others:
            if self._bounds(number)[0]:
                self._take(number, self._untimed(self._open(number)))

    def _take(self, number: int, places: Sequence[int]) -> None:
        """The first of some places that is open to a prompt."""
        free = set(self._open(number))
        found = next((place for place in places if place in free), None)
        if found is not None:
            self._note(number, found)

    def _note(self, number: int, place: int) -> None:
        self.twins[self.prompts[number][0]] = place
        self.taken[place] = number
        insort(self.known, number)

    def _untimed(self, places: Sequence[int]) -> list[int]:
        return [at for at in places if self.transcript[at].at is None and at not in self.taken]

    def _open(self, number: int) -> list[int]:
        """Where a prompt that is still without a twin may have one."""
        at, message = self.prompts[number]
        if at in self.twins or not is_given(message):
            return []
        start, end = self._bounds(number)
        places = self.typed.get(self.words[number], [])
        between = places[bisect_left(places, start) : bisect_left(places, end)]
        return [place for place in between if place not in self.taken]

    def _bounds(self, number: int) -> tuple[int, int]:
        """Behind the twins of the prompts before, before those of the prompts behind."""
        at = bisect_left(self.known, number)
        before, after = self.known[max(0, at - 1) : at], self.known[at : at + 1]
        start = next((self._place(other) + 1 for other in before), 0)
        return start, next((self._place(other) for other in after), len(self.transcript))

    def _place(self, number: int) -> int:
        place = self.twins[self.prompts[number][0]]
        assert place is not None
        return place

    @cached_property
    def typed(self) -> dict[str, list[int]]:
        """Where each text was typed. What is mentioned in a prompt may follow it, in a part of its own
        or at its end."""
        found: dict[str, list[int]] = {}
        for place, message in enumerate(self.transcript):
            if is_typed(message):
                texts = texts_of(message, Text)
                alone = [squeezed([each]) for one in texts for each in (one, before_mentions(one))]
                for words in {squeezed(texts), *filter(None, alone)}:
                    found.setdefault(words, []).append(place)
        return found

    def _span(self, number: int) -> tuple[str, str]:
        """From when on, and until when, the agent may have noted a prompt.

        What came after the next one of these words was given is the copy of that one; what came
        after a turn was cut short was typed again by somebody.
        """
        at, message = self.prompts[number]
        rival = self._rivals[number]
        until = rival.at or LATEST if rival is not None else LATEST
        if "cut" in flags_of(message):
            behind = islice(self.journal, at + 1, None)
            end = next((m.at for m in behind if rule_of(m) in ("turn_end", "state")), None)
            until = min(until, _moved(end, SLACK) if end else until)
        return _moved(message.at, -SLACK) if message.at else LATEST, until

    @cached_property
    def _rivals(self) -> list[Message | None]:
        """For each prompt the next one that says the same."""
        found: list[Message | None] = []
        newest: dict[str, Message] = {}
        for (_, message), words in zip(reversed(self.prompts), reversed(self.words), strict=True):
            found.append(newest.get(words))
            if is_given(message):
                newest[words] = message
        return found[::-1]

    # ── what the agent did ──

    @cached_property
    def _calls(self) -> dict[tuple[str, str], int]:
        found: dict[tuple[str, str], int] = {}
        for at, message in enumerate(self.transcript):
            for part in message.parts:
                if isinstance(part, ToolCall):
                    found.setdefault(("call", part.call_id), at)
                elif isinstance(part, ToolResult):
                    found.setdefault(("result", part.call_id), at)
        return found

    def _work(self, at: int, message: Message) -> None:
        for part in message.parts:
            if isinstance(part, ToolCall | ToolResult):
                twin = self._calls.get((rule_of(message), part.call_id))
                if twin is not None:
                    self.twins[at] = twin

    def _turn(self, start: int | None) -> TranscriptTurn | None:
        """The turn that a message of the transcript begins; None when it has none of it."""
        if start is None:
            return None
        if start not in self.turns:
            self.turns[start] = TranscriptTurn(self.transcript, start)
        return self.turns[start]


def _moved(at: str, by: timedelta) -> str:
    try:
        moment = datetime.fromisoformat(at) + by
    except (OverflowError, ValueError):
        # A day that never was, or one at the end of all days.
        return at
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
