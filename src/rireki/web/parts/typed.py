"""Queries that are still being typed: what can be understood of them, and what may be meant.

Goes by what was typed alone, and does not search.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from rireki.search.language.query import QueryError

__all__ = ["begun", "instead", "understood"]

#: A word at the end of a query that may go on: no filter, no pattern, nothing in quotes or unwanted.
_HALF_WORD = re.compile(r"(?:^|\s)(?:[^\W_][\w./-]+|[/._~](?=\S*[^\W_])[\w./-]*[\w.-])$")
#: A phrase at the end, and its last word, which may go on.
_HALF_PHRASE = re.compile(r'(?:^|(?<=\s))"(?P<before>[^"]*\s)?(?P<last>[^\W_][\w./-]*)"$')
#: What closes a phrase, by what opens it.
_QUOTES = {'"': '"', "“": "”", "”": "”", "＂": "＂"}
_FILTER = re.compile(r"[-(]*[A-Za-z]+[:：]")
_WORD = re.compile(r"\w{3,}")


def understood(query: str, error: QueryError) -> str | None:
    """The query with its end closed or left out; None where the fault does not lie at the end."""
    if re.search(r"\s\S", query[error.position + error.length :]):
        return None
    typed, sign = query.rstrip(), query[error.position : error.position + 1]
    inside = typed[error.position + 1 :].strip()
    if sign in _QUOTES and inside and not inside.endswith(_QUOTES[sign]):
        return typed + _QUOTES[sign]
    if sign == "(" and inside.strip("()- "):
        return typed + ")"
    *_, run = re.split(r"\s", query[: error.position])
    return query[: error.position - len(run)]


def begun(query: str, typed: str) -> str | None:
    """The query with its last word as the beginning of one; None where it has no such word."""
    if query.count('"') % 2 == 0 and _HALF_WORD.search(query):
        return f"{query}*"
    phrase = _HALF_PHRASE.search(query)
    # A phrase that the person closed themselves is as they want it.
    if phrase is None or typed.rstrip().endswith('"'):
        return None
    before = f'"{phrase["before"].strip()}" ' if (phrase["before"] or "").strip() else ""
    return f"{query[: phrase.start()]}{before}{phrase['last']}*"


def instead(query: str, word: str) -> str:
    """The query with this word in the place of the one it is most like."""
    places = [
        piece
        for run in re.finditer(r"\S+", query)
        if not _FILTER.match(run[0])
        for piece in _WORD.finditer(query, run.start(), run.end())
        if piece[0].lower() != word
    ]
    if not places:
        return word
    best = max(places, key=lambda piece: _likeness(piece[0].lower(), word))
    return query[: best.start()] + word + query[best.end() :]


def _likeness(typed: str, word: str) -> float:
    return 1.0 if word.startswith(typed) else SequenceMatcher(None, typed, word).ratio()
