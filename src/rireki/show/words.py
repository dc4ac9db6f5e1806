"""Small things as people read them: counts, sizes, tokens, who spoke, where."""

from __future__ import annotations

import re

from rireki.model.message import Author, Usage
from rireki.show.safe import one_line

__all__ = ["AUTHORS", "NAMES", "count", "folder", "model_name", "size", "source_name", "tokens"]

#: Who said a message, in a word.
AUTHORS: dict[Author, str] = {
    "person": "you",
    "agent": "agent",
    "tool": "tool",
    "harness": "program",
}
#: The same as a heading.
NAMES: dict[Author, str] = {author: name.capitalize() for author, name in AUTHORS.items()}
#: The day, and sometimes a version of the offer, at the end of a model's name.
_RELEASED = re.compile(r"-(?:20\d{6}|20\d\d-\d\d-\d\d)(?:-v\d+(?::\d+)?)?$")
#: Sources whose id is a word of ours for a part of the program.
_SOURCES = {"bridge": "rireki (driven)"}


def source_name(source: str) -> str:
    """What a source is called where people read it; programs know it by its id."""
    return _SOURCES.get(source, source)


def count(number: int, what: str, plural: str = "") -> str:
    return f"{number:,} {what if number == 1 else plural or what + 's'}"


def folder(project: str | None) -> str:
    """The last part of a directory's name says most."""
    return one_line((project or "").rstrip("/\\").replace("\\", "/").rpartition("/")[2])


def model_name(model: str) -> str:
    """What tells a model from others: without who sells it, and the day of its release."""
    name = model.rpartition("/")[2] or model
    return _RELEASED.sub("", name) or name


def size(number: float) -> str:
    """A number of bytes."""
    unit = "B"
    for unit in ("B", "KB", "MB", "GB"):
        if number < 1000 or unit == "GB":
            break
        number /= 1000
    return f"{number:.0f} {unit}" if unit == "B" or number >= 10 else f"{number:.1f} {unit}"


def tokens(usage: Usage) -> str:
    """`≥` where the source noted only the start of a count."""
    least = "≥ " if usage.lower_bound else ""
    words = [f"{usage.input_tokens:,} in", f"{least}{usage.output_tokens:,} out"]
    if usage.cache_read_tokens:
        words.append(f"{usage.cache_read_tokens:,} from cache")
    if usage.cache_write_tokens:
        words.append(f"{usage.cache_write_tokens:,} into cache")
    return ", ".join(words)
