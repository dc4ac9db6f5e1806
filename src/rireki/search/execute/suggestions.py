"""Words of the archive that look like the ones nothing was found for."""

from __future__ import annotations

from itertools import islice
from typing import Any

from rireki.search.execute.plan import Plan, Planner, query_terms
from rireki.search.execute.view import SearchView
from rireki.search.language.query import Query

__all__ = ["OFFERED", "near_words"]

#: Words to offer, and words to look at with one beginning.
OFFERED, LOOKED_AT = 5, 20_000
#: Of the likeliest ones, so many are asked whether they may be known.
ASKED = 200
#: Longer words are hashes and the like: nobody mistypes them.
LONGEST = 40


def near_words(view: SearchView, query: Query) -> list[str]:
    if view.reader is None:
        return []
    words = view.reader.searcher
    found: dict[str, tuple[int, int]] = {}
    for word in dict.fromkeys(query_terms(query.root)):
        if len(word) < 3 or len(word) > LONGEST or _is_there(view, word):
            continue
        for term, count in words.terms_with_prefix("words", word, limit=LOOKED_AT):
            # What goes on from there is likeliest meant.
            found[term] = (0, -count)
        for start in dict.fromkeys((word[:2], word[0])):
            for term, count in words.terms_with_prefix("words", start, limit=LOOKED_AT):
                distance = _distance(word, term, 1 if len(word) < 6 else 2)
                if distance is not None:
                    found.setdefault(term, (distance, -count))
            if found:
                break
    likely = sorted(found, key=lambda term: found[term])[:ASKED]
    return list(islice((term for term in likely if _is_there(view, term)), OFFERED))


def _is_there(view: SearchView, word: str) -> bool:
    """Whether it stands in something that may be found."""
    assert view.reader is not None
    if not view.reader.searcher.doc_freq("words", word):
        return False
    planner = Planner(view.reader, view.numbers)
    plan = planner.within(Plan(planner.term(word), True), view.within)
    wanted: Any = planner.without(plan, view.stale).query
    return bool(view.reader.searcher.search(wanted, limit=1, count=False).hits)


def _distance(word: str, other: str, limit: int) -> int | None:
    """How many letters have to be changed, added, left out or swapped; None when more than `limit`."""
    if abs(len(word) - len(other)) > limit:
        return None
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(word, 1):
        before_that, before, row = before, row, [i]
        for j, against in enumerate(other, 1):
            cost = min(before[j] + 1, row[-1] + 1, before[j - 1] + (letter != against))
            if i > 1 and j > 1 and letter == other[j - 2] and word[i - 2] == against:
                cost = min(cost, before_that[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return None
    return row[-1] if row[-1] <= limit else None
