"""What an answer or a search refers to: pages, files, things of the app."""

from __future__ import annotations

from typing import Any

from rireki.sources.kit.fields import get, string, words

__all__ = ["reference"]


def reference(source: Any) -> str:
    """One source on one line: its title, and where it is."""
    if not isinstance(source, dict):
        return words(source)
    kind = string(source, "type")
    where = string(source, {"url": "url", "file": "filename", "entity": "id"}.get(kind, "url"))
    title = string(source, "title") or string(source, "label")
    told = [word for word in (title, where if where != title else "") if word]
    about = [words(get(source, name)) for name in ("description", "attribution", "timestamp")]
    line = " — ".join([*told, *filter(None, about)])
    return line or words(source)
