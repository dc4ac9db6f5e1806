"""Errors meant for people: a code and its values. The words are in `en.json` and `ja.json` beside this.

    RirekiError            something the user can act on: a message and a hint, exit code 1
    ├── NotFound           no conversation, file or archive of that name
    ├── Ambiguous          the name fits several conversations; the hint lists them
    ├── ArchiveTrouble     the archive is damaged, locked or from a newer rireki
    ├── SourceTrouble      a file or database of an agent cannot be read just now
    └── QueryError         a search query that cannot be understood (search/language/query.py); says where

Anything else that is raised is a bug and keeps its traceback.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

__all__ = [
    "Ambiguous",
    "ArchiveTrouble",
    "NotFound",
    "Wording",
    "RirekiError",
    "SourceTrouble",
]


class Wording:
    """Words of ours that are put into a language where they are shown: a code, and values for its gaps.

    A value may be another phrase, or a list of names; the value `hint` goes before the catalogue's.
    A code that is in no catalogue stands for itself: a reader's author may use plain words, and so
    does whoever passes on what was stored in English.
    """

    #: The folder with a catalogue per language. Errors of another package may have their own.
    catalogues: ClassVar[Path] = Path(__file__).parent

    def __init__(self, code: str, hint: object = "", /, **values: object) -> None:
        self.code = code
        self.values = {"hint": hint} | values

    def lines(self, language: str = "en") -> tuple[str, str]:
        """What it says, and what to do about it."""
        # Imported late: a command that succeeds needs no words.
        from rireki.errors.catalogues import catalogue, reworded

        found = catalogue(self.catalogues, language) or catalogue(self.catalogues, "en")
        message, hint = found.get(self.code) or (_plain(reworded(self.code, language)), "")
        if self.values.get("hint"):
            hint = "{hint}"
        values = {name: _worded(value, language) for name, value in self.values.items()}
        if isinstance(advice := self.values["hint"], str) and advice:
            values["hint"] = Wording(advice).lines(language)[0]
        return message.format_map(values), hint.format_map(values)

    @property
    def message(self) -> str:
        return self.lines()[0]

    @property
    def hint(self) -> str:
        return self.lines()[1]

    def __str__(self) -> str:
        return self.message


class RirekiError(Wording, Exception):
    """What went wrong, in one line, and what to do about it, in another."""


class NotFound(RirekiError):
    pass


class Ambiguous(RirekiError):
    pass


class ArchiveTrouble(RirekiError):
    pass


class SourceTrouble(RirekiError):
    pass


class _Names:
    """Names in a row: `{names}` joins them by commas, `{names:or}` has a word before the last."""

    def __init__(self, names: Iterable[object], comma: str) -> None:
        self.names = [str(name) for name in names]
        self.comma = comma

    def __format__(self, word: str) -> str:
        *first, last = self.names or [""]
        if not first or not word or self.comma != ", ":
            return self.comma.join(self.names)
        return f"{self.comma.join(first)} {word} {last}"


def _worded(value: object, language: str) -> object:
    if isinstance(value, Wording):
        return value.lines(language)[0]
    if isinstance(value, list | tuple):
        return _Names(
            (_worded(each, language) for each in value), "、" if language == "ja" else ", "
        )
    return value


def _plain(words: str) -> str:
    return words.replace("{", "{{").replace("}", "}}")
