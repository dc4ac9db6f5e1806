"""The words of every code, per language; and finished English words known again.

A trouble in the archive and a line of a journal hold finished words, of any version. They are put
into another language by way of the same catalogues; nothing that is worded now needs that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from pathlib import Path

from rireki.errors import Wording

__all__ = ["Sentences", "catalogue", "filled", "reworded", "stored_sentences"]

#: Gaps in which several names stand, and those with a sentence of ours.
_LISTS = ("known", "names", "times")
_SENTENCES = ("why", "first")
#: How a value is written, behind its name.
_FORMAT = re.compile(r"(?<=\w)[!:][^{}]*\}")

_GAP = re.compile(r"\{(\w+)\}")


@cache
def catalogue(folder: Path, language: str) -> dict[str, tuple[str, str]]:
    """Message and hint of each code."""
    file = folder / f"{language}.json"
    found = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return {code: (message, "".join(hint)) for code, (message, *hint) in found.items()}


class Sentences:
    """One language: its sentences by the English ones. `fill` puts what stood in a gap into it."""

    def __init__(self, table: Mapping[str, str], fill: Callable[[str, str], str]) -> None:
        self._exact = {key: said for key, said in table.items() if not _GAP.search(key)}
        gapped = [(_ends(key), key, said) for key, said in table.items() if _GAP.search(key)]
        # The one that says most comes first: "{n} files" fits "nothing new in 3 files" as well.
        self._gapped = sorted(gapped, key=lambda each: len(_GAP.sub("", each[1])), reverse=True)
        self._fill = fill

    def find(self, sentence: str) -> str | None:
        if (said := self._exact.get(sentence)) is not None:
            # A brace that is no gap is written twice.
            return said.format()
        for (first, last), key, said in self._gapped:
            # Compiling takes a hundred times as long as looking at both ends.
            if not (sentence.startswith(first) and sentence.endswith(last)):
                continue
            if found := _pattern(key).fullmatch(sentence):
                return said.format(
                    **{name: self._fill(name, text) for name, text in found.groupdict().items()}
                )
        return None


def _ends(key: str) -> tuple[str, str]:
    pieces = _GAP.split(key)
    return pieces[0], pieces[-1]


def _gap(name: str) -> str:
    """`n` is a number: "{n} files" is not the end of a longer sentence about files."""
    return r"\S+?" if name == "n" else ".*?"


@lru_cache(maxsize=1024)
def _pattern(sentence: str) -> re.Pattern[str]:
    pieces = _GAP.split(sentence)
    spelled = [
        (f"(?P={piece})" if piece in pieces[1:place:2] else f"(?P<{piece}>{_gap(piece)})")
        if place % 2
        else re.escape(piece)
        for place, piece in enumerate(pieces)
    ]
    return re.compile("".join(spelled), re.DOTALL)


def reworded(sentence: str, language: str) -> str:
    """A finished English sentence in a language; as it is, where no catalogue has it."""
    if language == "en" or not sentence:
        return sentence
    return _stored(language).find(sentence) or sentence


def stored_sentences(language: str) -> dict[str, str]:
    """Every English sentence of the catalogue in a language."""
    english, other = (catalogue(Wording.catalogues, each) for each in ("en", language))
    pairs = (pair for code in other for pair in zip(english[code], other[code], strict=True))
    bare = {_FORMAT.sub("}", key): _FORMAT.sub("}", said) for key, said in pairs}
    return {key: said for key, said in bare.items() if key != said}


def filled(name: str, text: str, language: str = "ja") -> str:
    """What is ours as the language puts it; everything else is what somebody wrote."""
    if name in _SENTENCES:
        return reworded(text, language)
    return re.sub(", | and | or ", "、", text) if name in _LISTS else text


@cache
def _stored(language: str) -> Sentences:
    return Sentences(stored_sentences(language), lambda name, text: filled(name, text, language))
