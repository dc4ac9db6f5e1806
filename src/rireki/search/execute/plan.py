"""A query in the index's words: which documents may answer it.

The plan never leaves out a document that answers the query. Where the index cannot
decide (signs between words, substrings, patterns), it lets through too many and says so.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import normalize

from rireki.late import LateModule
from rireki.model.conversation import Curation
from rireki.model.times import to_datetime
from rireki.search.index.words import HEADING, WordReader
from rireki.search.language.match import ConversationFacts, fact_test, talk_test
from rireki.search.language.query import And, Exact, FilterNode, Node, Not, Or, Phrase, Regex, Word
from rireki.search.text.documents import TOO_LONG, project_in
from rireki.search.text.normalized import melts
from rireki.search.text.tokens import (
    LONG,
    fold,
    is_joined,
    is_named,
    piece_spans,
    pieces,
    runs,
    spelled,
    stretches,
    terms,
)

if TYPE_CHECKING:
    import tantivy
else:
    tantivy = LateModule("tantivy")

__all__ = ["PERSON", "Plan", "Planner", "literals", "positions", "query_terms", "tells_all"]

#: Beginnings with more words than this are looked up as a pattern, without ranking.
FEW_TERMS, MANY_TERMS = 64, 2000
#: What a person typed counts a little more than what was printed.
PERSON = 1.0
#: Tantivy takes patterns of a thousand states, which are bytes: so many letters at most.
LONGEST_PATTERN = 100
#: Filters that are about a conversation and told by each of its messages.
_TOLD = {"source": "source", "project": "project", "is:subagent": "nature"}
#: Shorter pieces of a word are too frequent to be worth a look through all words.
SHORTEST_PIECE = 3


#: Behind a kana, or a Burmese letter, they make another one of it.
_SOUND_MARKS = ("\u3099", "\u309a", "\u102e")
#: Letters and syllables that may grow by another letter.
_HANGUL = re.compile("[\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff]")


@cache
def _with_marks(letter: str) -> str:
    """A letter, and all that it becomes with a mark: what follows it in a text is not known."""
    base = normalize("NFD", letter)[0]
    alike = (chr(code) for code in range(0xC0, 0x2000))
    forms = {fold(form) for form in alike if normalize("NFD", form)[0].lower() == base}
    return re.escape(letter) + "".join(form for form in sorted(forms) if len(form) == 1)


class Plan(NamedTuple):
    """`query` is None when every document may answer; `exact` when those it finds all do."""

    query: tantivy.Query | None
    exact: bool


EVERYTHING = Plan(None, True)
UNDECIDED = Plan(None, False)


class Planner:
    """`numbers` tells which conversations pass a filter and which do not, by their numbers in the index."""

    def __init__(
        self,
        reader: WordReader,
        numbers: Callable[
            [FilterNode, Callable[[ConversationFacts], bool]], tuple[list[int], list[int] | None]
        ],
        field: str = "words",
    ) -> None:
        self.query: Any = tantivy.Query
        self.occur: Any = tantivy.Occur
        self.field_type: Any = tantivy.FieldType
        self.schema = reader.schema
        self.searcher = reader.searcher
        self.numbers = numbers
        self.field = field
        #: Whether what was planned says too little about rank: then what stands in the index first
        #: comes first, and that is a few conversations.
        self.unranked = False

    def plan(self, node: Node | None) -> Plan:
        if node is None:
            return EVERYTHING
        if isinstance(node, And):
            return self._all([self.plan(child) for child in node.children])
        if isinstance(node, Or):
            return self._any([self.plan(child) for child in node.children])
        if isinstance(node, Not):
            return self._not(self.plan(node.child))
        if isinstance(node, FilterNode):
            return self._filter(node)
        if isinstance(node, Word):
            return self._word(node)
        if isinstance(node, Phrase):
            return self._written(fold(node.text))
        if isinstance(node, Exact):
            return self._substrings([node.text])
        assert isinstance(node, Regex)
        return self._substrings(literals(node.pattern))

    def within(self, plan: Plan, facts: Sequence[Sequence[str]]) -> Plan:
        """The same, but only of documents that have one of each of these facts."""
        plans = [
            Plan(self._silent(self._either(list(map(self._fact, some)))), True) for some in facts
        ]
        return self._all([plan, *plans])

    def without(self, plan: Plan, talks: Iterable[int]) -> Plan:
        """The same, but nothing of these conversations."""
        numbers = list(talks)
        if not numbers:
            return plan
        unwanted = self.query.term_set_query(self.schema, "talk", numbers)
        return Plan(self._minus(plan.query, [unwanted]), plan.exact)

    def both(self, plan: Plan, other: Plan) -> Plan:
        """What both let through."""
        return self._all([plan, other])

    def messages(self, plan: Plan, node: Node | None, talks: list[int] | None = None) -> Any:
        """The messages that `plan`, made of `node`, lets through; maybe of some conversations only."""
        clauses = []
        if not needs_words(node):
            # Only what has words is a message for certain.
            clauses.append((self.occur.MustNot, self._fact(HEADING)))
        if talks is not None:
            chosen = self.query.term_set_query(self.schema, "talk", talks)
            clauses.append((self.occur.Must, self._silent(chosen)))
        wanted = self._silent(self.query.all_query()) if plan.query is None else plan.query
        if not clauses:
            # A query for one word alone is answered many times faster than one with conditions.
            return wanted
        return self.query.boolean_query([(self.occur.Must, wanted), *clauses])

    def headings(self, plan: Plan) -> Any:
        """The conversations whose title or project answers; the planner must be one for titles."""
        heading = self._silent(self._fact(HEADING))
        wanted = self._silent(self.query.all_query()) if plan.query is None else plan.query
        return self.query.boolean_query([(self.occur.Must, wanted), (self.occur.Must, heading)])

    def _fact(self, fact: str) -> Any:
        return self.query.term_query(self.schema, "facts", fact, index_option="basic")

    # ── combining ──

    def _all(self, plans: list[Plan]) -> Plan:
        wanted = [plan.query for plan in plans if plan.query is not None]
        exact = all(plan.exact for plan in plans)
        if not wanted:
            return Plan(None, exact)
        if len(wanted) == 1:
            return Plan(wanted[0], exact)
        return Plan(self.query.boolean_query([(self.occur.Must, each) for each in wanted]), exact)

    def _any(self, plans: list[Plan]) -> Plan:
        exact = all(plan.exact for plan in plans)
        if any(plan.query is None for plan in plans):
            return Plan(None, exact)
        return Plan(self._either([plan.query for plan in plans]), exact)

    def _either(self, queries: list[Any]) -> Any:
        if not queries:
            return self.query.empty_query()
        return self.query.boolean_query([(self.occur.Should, each) for each in queries])

    def _not(self, plan: Plan) -> Plan:
        # A title and a project share a field; what one of them holds, the other may lack.
        if not plan.exact or self.field == "title":
            return UNDECIDED
        if plan.query is None:
            return Plan(self.query.empty_query(), True)
        return Plan(self._minus(None, [plan.query]), True)

    def _minus(self, wanted: Any, unwanted: list[Any]) -> Any:
        wanted = wanted if wanted is not None else self._silent(self.query.all_query())
        clauses = [(self.occur.Must, wanted), *((self.occur.MustNot, each) for each in unwanted)]
        return self.query.boolean_query(clauses)

    def _silent(self, query: Any) -> Any:
        """A condition that says nothing about rank."""
        return self.query.const_score_query(query, 0.0)

    # ── words ──

    def term(self, term: str) -> Any:
        return self.query.term_query(self.schema, self.field, term, index_option="freq")

    def _word(self, node: Word) -> Plan:
        folded = fold(node.text)
        if runs(folded) != [folded]:
            return self._written(folded, node.prefix)
        if is_joined(folded):
            return self._joined(folded)
        word = spelled(node.text, folded)
        parts = pieces(word)
        if node.prefix:
            whole = Plan(self._beginning(folded), len(folded) <= LONG)
            return self._any([whole, self._begun(word)]) if parts else whole
        whole = self._all([Plan(self.term(term), True) for term in terms(folded)])
        numbered = self._numbered(folded) if is_named(folded) else []
        if numbered:
            whole = Plan(self._either([whole.query, *numbered]), True)
        if not parts:
            return Plan(whole.query, len(folded) < LONG)
        *others, last = parts
        plans = [Plan(self.term(term), False) for part in others for term in terms(part)]
        if len(last) > LONG:
            plans += [Plan(self.term(term), False) for term in terms(last)]
        else:
            plans.append(Plan(self._either([self.term(last), *self._numbered(last)]), False))
        return self._any([whole, self._all(plans)])

    def _begun(self, word: str) -> Plan:
        """Pieces of an identifier, the last of which may go on."""
        *others, last = (word[start:end] for start, end in piece_spans(word))
        whole = [part.lower() for part in others if len(part) > 1]
        plans = [Plan(self.term(term), False) for part in whole for term in terms(part)]
        if len(last) == 1:
            # Where it does not go on, no piece tells of it.
            return self._all(plans)
        plans.append(Plan(self._beginning(last.lower()), False))
        if last.isupper():
            # In `isACat`, what `isAC` ends with begins another piece.
            before = [last[:-1].lower()] if len(last) > 2 else []
            apart = [*map(self.term, before), self._beginning(last[-1].lower())]
            plans[-1] = self._any([plans[-1], self._all([Plan(each, False) for each in apart])])
        return self._all(plans)

    def _numbered(self, word: str) -> list[Any]:
        """The word with numbers behind it, as they occur."""
        known = self.searcher.terms_with_prefix(self.field, word, limit=MANY_TERMS)
        if len(known) == MANY_TERMS and len(word) <= LONGEST_PATTERN:
            return [self.query.regex_query(self.schema, self.field, f"{word}[0-9]+")]
        ends = ((term, term[len(word) :]) for term, _ in known)
        found = [term for term, end in ends if end.isascii() and end.isdigit()]
        if len(found) > FEW_TERMS:
            return [self.query.term_set_query(self.schema, self.field, found)]
        return [self.term(term) for term in found]

    def _joined(self, run: str) -> Plan:
        if len(run) == 1:
            return Plan(self._beginning(run), True)
        return Plan(self._phrase(list(enumerate(terms(run)[:-1]))), True)

    def _phrase(self, spots: list[tuple[int, str]]) -> Any:
        """Terms at these positions, counted from any one on."""
        if len(spots) == 1:
            return self.term(spots[0][1])
        return self.query.phrase_query(self.schema, self.field, spots)

    def _beginning(self, start: str) -> Any:
        found = self.searcher.terms_with_prefix(self.field, start[:LONG], limit=FEW_TERMS + 1)
        if len(found) <= FEW_TERMS:
            return self._either([self.term(term) for term, _ in found])
        self.unranked = True
        if len(start) > LONGEST_PATTERN:
            everything = self.searcher.terms_with_prefix(self.field, start[:LONG])
            return self.query.term_set_query(self.schema, self.field, [t for t, _ in everything])
        return self.query.regex_query(self.schema, self.field, re.escape(start[:LONG]) + ".*")

    def _written(self, folded: str, prefix: bool = False) -> Plan:
        """Several words, or words with signs between them, as they stand."""
        folded = " ".join(folded.split())
        spots, rest = positions(folded, prefix=prefix)
        queries = [self._phrase(spots)] if spots else []
        queries += [self._beginning(rest)] if rest else []
        exact = tells_all(folded, spots, rest)
        return self._all([Plan(query, exact) for query in queries] or [UNDECIDED])

    def _substrings(self, texts: list[str]) -> Plan:
        """Texts that must all stand somewhere, maybe beginning and ending inside a word."""
        plans: list[Plan] = [UNDECIDED]
        for text in texts:
            # A mark at its beginning melts into what stands before it.
            folded = fold(
                text[next((at for at, c in enumerate(text) if not melts(c)), len(text)) :]
            )
            # One at its end may be moved by another that follows in the text.
            while folded and melts(folded[-1]):
                folded = folded[:-1]
            found = runs(folded)
            for place, run in enumerate(found):
                opened = place == 0 and folded.startswith(run)
                closed = place == len(found) - 1 and folded.endswith(run)
                if is_joined(run):
                    plans += [self._joined_inside(run)] if closed else []
                elif opened or closed:
                    plans.append(self._inside(run, opened, closed))
            spots, _ = positions(folded, inside=True)
            plans += [Plan(self._phrase(spots), False)] if spots else []
        return self._all(plans)

    def _joined_inside(self, run: str) -> Plan:
        """Joined script whose last letter may have a mark behind it in the text."""
        forms = {normalize("NFC", run[-1] + mark) for mark in ("", *_SOUND_MARKS)}
        if _HANGUL.match(run[-1]):
            return self._joined(run[:-1]) if len(run) > 1 else UNDECIDED
        return self._any([self._joined(run[:-1] + form) for form in forms if len(form) == 1])

    def _inside(self, run: str, opened: bool, closed: bool) -> Plan:
        """A word of which the beginning or the end may be missing."""
        if not SHORTEST_PIECE <= len(run) <= LONG // 2:
            return UNDECIDED
        # A part of a long word carries a mark in front.
        before = ".*" if opened else "\x01?"
        if len(run) > LONGEST_PATTERN:
            after = re.escape(run[:LONGEST_PATTERN]) + ".*"
        elif closed:
            after = f"{re.escape(run[:-1])}[{_with_marks(run[-1])}].*"
        else:
            after = re.escape(run)
        pattern = before + after
        return Plan(self._silent(self.query.regex_query(self.schema, self.field, pattern)), False)

    # ── filters ──

    def _filter(self, node: FilterNode) -> Plan:
        if node.name in ("since", "before"):
            return Plan(self._silent(self._times(node)), True)
        about_conversation = talk_test(node)
        if about_conversation is not None:
            kind = _TOLD.get(node.name) or _TOLD.get(f"{node.name}:{node.value}")
            if kind is None:
                return self._talks(node, about_conversation)
            return self._told(kind, node, about_conversation)
        passes = fact_test(node)
        known = self.searcher.terms_with_prefix("facts", f"{node.name}:")
        found = [fact for fact, _ in known if passes(fact)]
        if not found:
            return Plan(self.query.empty_query(), True)
        return Plan(self._silent(self.query.term_set_query(self.schema, "facts", found)), True)

    def _told(self, kind: str, node: FilterNode, test: Callable[[ConversationFacts], bool]) -> Plan:
        """By what every message tells of its conversation: a few facts are looked up many times faster
        than thousands of conversations. Those with too long a project are asked themselves."""
        known = [fact for fact, _ in self.searcher.terms_with_prefix("facts", f"{kind}:")]
        too_long = f"project:{TOO_LONG}"
        passing = [fact for fact in known if fact != too_long and test(_talk_with(kind, fact))]
        if len(passing) == len(known) > 0:
            return EVERYTHING
        told = Plan(self.query.empty_query(), True)
        if passing:
            wanted = self.query.term_set_query(self.schema, "facts", passing)
            told = Plan(self._silent(wanted), True)
        return self._any([told, self._talks(node, test)]) if too_long in known else told

    def _talks(self, node: FilterNode, test: Callable[[ConversationFacts], bool]) -> Plan:
        """The messages of the conversations that pass; said by the fewer, those or the others."""
        passing, others = self.numbers(node, test)
        if not passing:
            return Plan(self.query.empty_query(), True)
        if others == []:
            return EVERYTHING
        if others is not None and len(others) < len(passing):
            unwanted = self.query.term_set_query(self.schema, "talk", others)
            return Plan(self._minus(None, [unwanted]), True)
        wanted = self.query.term_set_query(self.schema, "talk", passing)
        return Plan(self._silent(wanted), True)

    def _times(self, node: FilterNode) -> Any:
        moment = to_datetime(node.value)
        assert moment is not None, "the parser spells times our way"
        milliseconds = round(moment.timestamp() * 1000)
        integer = self.field_type.Integer
        if node.name == "since":
            lower = max(1, milliseconds)
            return self.query.range_query(self.schema, "at", integer, lower_bound=lower)
        # Nothing is said to be before or after a time when its own is not known.
        return self.query.range_query(
            self.schema, "at", integer, lower_bound=1, upper_bound=milliseconds, include_upper=False
        )


def positions(
    folded: str, *, prefix: bool = False, inside: bool = False
) -> tuple[list[tuple[int, str]], str]:
    """The terms of a text in its order with their positions, and what it ends with if that is none.

    Its last word may be the beginning of one (`prefix`); or it begins and ends `inside` of something. A run
    of joined script may always be part of a longer one.
    """
    spots: list[tuple[int, str]] = []
    at = 0
    for gap, run in stretches(folded):
        last = run.end() == len(folded)
        found = terms(run[0])
        at += gap
        if is_joined(run[0]) and last:
            # Inside of something, a mark behind the last letter may make another one of it.
            found = found[: -2 if inside else -1]
        elif not is_joined(run[0]) and (
            (last and (prefix or inside)) or (inside and not run.start())
        ):
            found = []
        if last and not found:
            return spots, run[0]
        spots += enumerate(found, at)
        at += len(found)
    return spots, ""


def tells_all(folded: str, spots: Sequence[tuple[int, str]], rest: str) -> bool:
    """Whether a text with single spaces is wherever its terms are at these positions."""
    found = runs(folded)
    if " ".join(found) != folded:
        return False
    if len(found) == 1:
        # By a word alone, pieces of identifiers are found as well.
        return is_joined(folded)
    return len(spots) > 1 and not rest and all(len(run) < LONG for run in found)


class _Talk(NamedTuple):
    """A conversation of which one thing is known."""

    id: str = ""
    source: str = ""
    project: str | None = None
    nature: str = ""
    finished: bool = True
    added: Curation = Curation()
    notes: tuple[tuple[str, str, str], ...] = ()
    machines: tuple[str, ...] = ()


def _talk_with(kind: str, fact: str) -> _Talk:
    value = fact.partition(":")[2]
    if kind == "project":
        return _Talk(project=project_in(fact))
    return _Talk(source=value) if kind == "source" else _Talk(nature=value)


def needs_words(node: Node | None) -> bool:
    """Whether nothing without words of its own can answer."""
    if isinstance(node, And):
        return any(map(needs_words, node.children))
    if isinstance(node, Or):
        return all(map(needs_words, node.children))
    return isinstance(node, Word | Phrase) and bool(runs(fold(node.text)))


def literals(pattern: str) -> list[str]:
    """Texts that stand in everything a pattern matches; empty when none is certain."""
    # By its name: type checkers do not agree whether this module is there.
    parser: Any = import_module("re._parser")
    found: list[str] = []
    text = ""
    with warnings.catch_warnings():
        # What may mean something else in some later Python is no matter of whoever searches.
        warnings.simplefilter("ignore")
        parsed = parser.parse(pattern)
    for kind, value in [*parsed, (None, None)]:
        if str(kind) == "LITERAL":
            text += chr(value)
            continue
        if text:
            found.append(text)
        text = ""
    return found


def query_terms(node: Node | None) -> list[str]:
    """The single words of a query, for suggesting near ones."""
    if isinstance(node, And | Or):
        return [term for child in node.children for term in query_terms(child)]
    if isinstance(node, Word | Phrase):
        return [run for run in runs(fold(node.text)) if not is_joined(run)]
    return []
