"""Words of the archive that look like the ones nothing was found for."""

from __future__ import annotations

from rireki.search.execute.plan import query_terms
from rireki.search.execute.view import IndexView
from rireki.search.language.query import Query

__all__ = ["near_words"]

#: Words to offer, and words to look at with one beginning.
OFFERED, LOOKED_AT = 5, 20_000
#: Longer words are hashes and the like: nobody mistypes them.
LONGEST = 40


def near_words(view: IndexView, query: Query) -> list[str]:
    if view.reader is None:
        return []
    found: dict[str, tuple[int, int]] = {}
    for word in dict.fromkeys(query_terms(query.root)):
        if len(word) < 3 or len(word) > LONGEST or view.reader.searcher.doc_freq("words", word):
            continue
        for term, count in view.reader.searcher.terms_with_prefix("words", word, limit=LOOKED_AT):
            # What goes on from there is likeliest meant.
            found[term] = (0, -count)
        for start in dict.fromkeys((word[:2], word[0])):
            for term, count in view.reader.searcher.terms_with_prefix(
                "words", start, limit=LOOKED_AT
            ):
                distance = _distance(word, term, 1 if len(word) < 6 else 2)
                if distance is not None:
                    found.setdefault(term, (distance, -count))
            if found:
                break
    return sorted(found, key=lambda term: found[term])[:OFFERED]


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
