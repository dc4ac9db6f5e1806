"""The one door between text and HTML: everything that is not markup already is made harmless here.

`Markup` is what has passed; a plain `str` never has. Knows nothing about conversations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from markupsafe import Markup, escape

from rireki.show.safe import safe, safe_for_browsers

__all__ = ["EMPTY", "Markup", "anchor", "exact", "join", "tag", "text", "void"]

EMPTY = Markup("")
_ODD = re.compile(r"[^A-Za-z0-9_.:-]")


def text(value: str) -> Markup:
    """Words of a transcript: markup stays visible, control characters and turned text too."""
    return value if isinstance(value, Markup) else escape(safe_for_browsers(value))


def exact(value: str) -> Markup:
    """Code and the output of programs: every mark that is not a letter stays visible."""
    return value if isinstance(value, Markup) else escape(safe(value))


def tag(name: str, *content: str, **attributes: str | int | bool | None) -> Markup:
    """An element. `class_` is `class`, `data_message` is `data-message`; None and False leave out."""
    inner = "".join(map(text, content))
    return Markup(f"<{name}{_attributes(attributes)}>{inner}</{name}>")


def void(name: str, **attributes: str | int | bool | None) -> Markup:
    """An element that has no content."""
    return Markup(f"<{name}{_attributes(attributes)}>")


def join(pieces: Iterable[str], between: str = "") -> Markup:
    return text(between).join(map(text, pieces))


def anchor(id: str, prefix: str = "m") -> str:
    """The `id` of the element that tells a message; different messages never share one."""
    return f"{prefix}-{_ODD.sub(lambda odd: f'~{ord(odd[0]):x}~', id)}"


def _attributes(given: dict[str, str | int | bool | None]) -> str:
    told = []
    for name, value in given.items():
        name = name.rstrip("_").replace("_", "-")
        if value is True:
            told.append(f" {name}")
        elif value is not None and value is not False:
            told.append(f' {name}="{exact(value if isinstance(value, Markup) else str(value))}"')
    return "".join(told)
