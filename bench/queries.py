"""Queries of every kind, made of a corpus' own words by a seeded choice."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from rireki.search.language.match import Doc

__all__ = ["KINDS", "Kind", "Vocabulary"]

_WORD = re.compile(r"[A-Za-z]{2,}")
_RUN = re.compile("[\u3041-\u30ff\u4e00-\u9fff]{2,}")
_IDENTIFIER = re.compile(
    r"\b(?:[a-z]{2,}_[a-z_]*[a-z]|[a-z]{2,}[A-Z][a-z]{2,}\w*|[a-z]{2,}\.[a-z]{2,}(?:\.[a-z]+)*)\b"
)
_PHRASE = re.compile(r"\b[A-Za-z]{2,} [A-Za-z]{2,} [A-Za-z]{2,}\b")
#: Texts of which phrases, identifiers and the like are taken.
SAMPLES = 4000
#: Words of this many messages or fewer are rare; of the most frequent so many are common.
RARE, COMMON = 3, 120


class Vocabulary:
    """What stands in a corpus: how often each word does, and a sample of its texts."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.words: Counter[str] = Counter()
        self.texts: list[str] = []
        self.seen = 0
        self._ranked: tuple[list[str], list[str], list[str]] | None = None

    def take(self, doc: Doc) -> None:
        whole = "\n".join(text for _, text in doc.parts)
        self.words.update({word.lower() for word in _WORD.findall(whole)})
        self.seen += 1
        # Every text has the same chance to stay, however many come.
        if len(self.texts) < SAMPLES:
            self.texts.append(whole)
        elif (at := self.chance.randrange(self.seen)) < SAMPLES:
            self.texts[at] = whole

    def _ranks(self) -> tuple[list[str], list[str], list[str]]:
        if self._ranked is None:
            ordered = [word for word, _ in self.words.most_common()]
            rare = sorted(word for word in ordered if self.words[word] <= RARE)
            self._ranked = rare, ordered[:COMMON], sorted(ordered)
        return self._ranked

    def rare(self) -> str:
        return self.chance.choice(self._ranks()[0])

    def common(self) -> str:
        return self.chance.choice(self._ranks()[1])

    def any(self) -> str:
        return self.chance.choice(self._ranks()[2])

    def piece(self, pattern: re.Pattern[str]) -> str:
        """Something of this form out of some text."""
        while True:
            text = self.chance.choice(self.texts)
            at = self.chance.randrange(len(text) + 1)
            found = pattern.search(text, at) or pattern.search(text)
            if found:
                return found[0]

    def joined(self, least: int, most: int) -> str:
        """A stretch of Japanese."""
        run = self.piece(_RUN)
        length = min(len(run), self.chance.randint(least, most))
        at = self.chance.randrange(len(run) - length + 1)
        return run[at : at + length]


class Kind(NamedTuple):
    name: str
    query: Callable[[Vocabulary], str]
    newest: bool = False
    #: Milliseconds that 95 of 100 may take at most; those that have to be checked on the texts have no limit.
    limit: float = 25

    def queries(self, vocabulary: Vocabulary, number: int) -> list[str]:
        """That many different ones; fewer when there are no more."""
        found: dict[str, None] = {}
        for _ in range(50 * number):
            found[self.query(vocabulary)] = None
            if len(found) == number:
                break
        return list(found)


def _filters(vocabulary: Vocabulary) -> str:
    choose = vocabulary.chance.choice
    day = f"2026-{choose(('09', '10'))}-{vocabulary.chance.randint(17, 30)}"
    return " ".join(
        [
            choose(("author:person", "author:agent", "tool:bash", "tool:read", "has:error", "")),
            choose((f"since:{day}", f"before:{day}")),
            choose(("project:api-server", "model:opus", "-is:subagent", "source:claude", "")),
        ]
    ).strip()


def _prefix(vocabulary: Vocabulary) -> str:
    word = vocabulary.any()
    return word[: vocabulary.chance.randint(2, max(2, min(5, len(word) - 1)))] + "*"


def _substring(vocabulary: Vocabulary) -> str:
    phrase = vocabulary.piece(_PHRASE)
    return f"={phrase[1:-1]}="


def _regex(vocabulary: Vocabulary) -> str:
    one, other, *_ = vocabulary.piece(_PHRASE).split()
    return rf"/{one}\s+{other[:3]}\w*/"


KINDS: tuple[Kind, ...] = (
    Kind("rare", Vocabulary.rare),
    Kind("very common", Vocabulary.common),
    Kind("phrase", lambda v: f'"{v.piece(_PHRASE)}"', limit=3),
    Kind("prefix", _prefix),
    Kind("two characters of CJK", lambda v: v.joined(2, 2)),
    Kind("one character of CJK", lambda v: v.joined(1, 1)),
    Kind("longer CJK", lambda v: v.joined(4, 9)),
    Kind("filters only", _filters),
    Kind("word and filters", lambda v: f"{v.any()} {_filters(v)}"),
    Kind("common word and filters", lambda v: f"{v.common()} {_filters(v)}"),
    Kind("newest", Vocabulary.any, newest=True),
    Kind("newest of a common word", Vocabulary.common, newest=True),
    Kind("common words together", lambda v: f"{v.common()} {v.common()} {v.common()}"),
    Kind("one or the other", lambda v: f"{v.common()} OR {v.any()} OR {v.rare()}"),
    Kind("one without the other", lambda v: f"{v.common()} -{v.common()}"),
    Kind("identifiers", lambda v: v.piece(_IDENTIFIER)),
    Kind("=substring=", _substring, limit=0),
    Kind("/regex/", _regex, limit=0),
)
