"""What rireki says to people, in their language. The English sentence, with gaps, is the key.

A terminal speaks one language, chosen once by the environment (`speak`); pages choose with every
request (`errors.py`, `web/locale/words.py`). What was said in a conversation, `--help` and
JSON are never translated. To add a translation: wrap the sentence in `say(…)` where it is printed
(errors need nothing), and put it with its Japanese into `terminal.py`, values as `{gaps}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rireki.late import LateModule

# Most terminals are English, and a short command stays short.
if TYPE_CHECKING:
    from rireki.show.catalogue import readings, terminal
else:
    readings = LateModule("rireki.show.catalogue.readings")
    terminal = LateModule("rireki.show.catalogue.terminal")

__all__ = ["LANGUAGES", "language", "language_of", "say", "say_label", "say_reading", "speak"]

LANGUAGES = ("en", "ja")
_spoken = "en"


def language_of(environment: Mapping[str, str]) -> str:
    """What the environment asks for: the first of these variables that is set decides."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if wanted := environment.get(name):
            return "ja" if wanted.lower().split(".")[0].split("_")[0] == "ja" else "en"
    return "en"


def speak(name: str) -> None:
    """The language of this process's terminal from now on."""
    global _spoken
    _spoken = name if name in LANGUAGES else "en"


def language() -> str:
    return _spoken


def say(sentence: str) -> str:
    """A finished sentence in the language of the terminal; as it is, where there is none for it."""
    if _spoken == "en" or not sentence:
        return sentence
    return terminal.in_japanese(sentence)


def say_label(words: str) -> str:
    """What a reader calls a message, or the rule that decided about it."""
    return say(say_reading(words))


def say_reading(words: str) -> str:
    """Words of a reader, in the language of the terminal. Not for what others said."""
    if _spoken == "en" or not words:
        return words
    return readings.reading_in_japanese(words)
