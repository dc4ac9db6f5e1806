"""Numbers as people read them: counts, sizes, tokens, ages of things in a line or two."""

from __future__ import annotations

from rireki.model.message import Usage

__all__ = ["count", "size", "tokens"]


def count(number: int, what: str, plural: str = "") -> str:
    return f"{number:,} {what if number == 1 else plural or what + 's'}"


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
