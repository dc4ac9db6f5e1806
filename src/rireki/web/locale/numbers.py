"""Numbers as a page tells them where there is little room: 1.2M, 120万."""

from __future__ import annotations

__all__ = ["compact", "share"]

_STEPS = {
    "en": ((1_000_000_000, "B"), (1_000_000, "M"), (1_000, "K")),
    "ja": ((1_000_000_000_000, "兆"), (100_000_000, "億"), (10_000, "万")),
}


def compact(locale: str, number: float) -> str:
    """With three digits at most that mean something."""
    steps = _STEPS.get(locale, _STEPS["en"])
    for place, (size, word) in enumerate(steps):
        if number >= size:
            told = _digits(number / size)
            # 999,999 is a million rather than a thousand thousands.
            if place and float(told.replace(",", "")) * size >= steps[place - 1][0]:
                size, word = steps[place - 1]
                told = _digits(number / size)
            return f"{told}{word}"
    return f"{number:,.0f}"


def _digits(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}".removesuffix(".0")


def share(part: float, whole: float) -> str:
    """A part in percent; a dash where there is no whole."""
    return f"{100 * part / whole:.1f}%" if whole else "–"
