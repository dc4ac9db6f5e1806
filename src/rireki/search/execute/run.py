"""One query over one view: candidates in order, checked, gathered by conversation.

They come from the index, from conversations it does not have yet, and from titles,
merged in order; they are checked where the index could not decide, and no more of
them than a page needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from heapq import merge
from itertools import islice
from math import log
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from rireki.archive.base import Heading, PendingGroup
from rireki.model.conversation import Conversation
from rireki.search.execute.plan import PERSON, Plan, Planner
from rireki.search.execute.view import SearchView, noted, titles
from rireki.search.language.match import Doc, Matcher
from rireki.search.language.query import And, FilterNode, Node, Or, Phrase, Query, Word
from rireki.search.results import SearchOptions
from rireki.search.text.text_store import TextStore
from rireki.search.text.tokens import fold, runs, terms

if TYPE_CHECKING:
    from rireki.masking import Masker

__all__ = ["LOOKS", "Candidate", "Group", "Hunt"]

#: Candidates of the first look into the index; grows while a page is not full. Those that come by
#: time, or in the order of the index, are of few conversations: so more of them are needed.
FIRST_LOOK, FIRST_LOOK_UNRANKED = 90, 1000
#: More conversations than this are not told apart when they are counted; and none are when more
#: messages than this answer, for that would take longer than all the rest.
COUNTED, MANY = 2000, 10_000
#: Titles that are checked one by one for being counted.
CHECKED = 50
#: Looks into the index for conversations that lack hits, each without those that have enough by then.
LOOKS = 10
#: Candidates whose texts are fetched together where they have to be checked.
AHEAD = 16
#: A title counts as much as what a person typed; so many characters is one usually long.
TITLE, USUAL_TITLE = PERSON, 60
_KEY_AND_COUNT = itemgetter("key", "doc_count")


class Candidate(msgspec.Struct):
    """A message that may answer. Found by the index it has a place there, else its text is at hand."""

    order: float
    heading: Heading
    #: Of none where it is not the index that found it.
    place: int | None = None
    doc: Doc | None = None
    #: Whether it is known to answer.
    checked: bool = False

    @property
    def is_title(self) -> bool:
        """Found in the conversation's own title or project."""
        return self.doc is not None and (self.doc.message is None or self.is_note)

    @property
    def is_note(self) -> bool:
        """Found in what a person noted."""
        return self.doc is not None and any(where == "note" for where, _ in self.doc.parts)

    def is_same(self, other: Candidate) -> bool:
        """Whether both are one message of a conversation, found twice."""
        if self.place is not None or other.place is not None:
            return self.place == other.place
        assert self.doc is not None and other.doc is not None, "what has no place has a text"
        return self.doc.message == other.doc.message


class Group(msgspec.Struct):
    """A conversation that answers, with what was found in it so far."""

    heading: Heading
    hits: list[Candidate]
    #: What has to be shown before all others.
    leading: list[Candidate] = msgspec.field(default_factory=list)
    total: int | None = None

    @property
    def rank(self) -> float:
        return max(hit.order for hit in self.hits)

    @property
    def messages(self) -> list[Candidate]:
        """Without the conversation's own title."""
        return [hit for hit in self.hits if not hit.is_title]


class Counts(NamedTuple):
    """How much answers."""

    messages: int
    conversations: int
    #: Whether there are more conversations than that.
    more: bool


class Hunt:
    """One query over one view."""

    def __init__(
        self, library: TextStore, view: SearchView, query: Query, wish: SearchOptions
    ) -> None:
        self.library = library
        self.view = view
        self.query = query
        self.wish = wish
        #: Takes the secrets out of what is shown; and how many hits of the page were nothing else.
        self.masker: Masker | None = None
        self.withheld = 0
        self.matcher = Matcher(query)
        #: Without words there is no rank: the newest come first.
        self.by_time = wish.newest or next(query.leaves(), None) is None
        self.planner: Planner | None = None
        self.plan = Plan(None, True)
        if view.reader is not None:
            self.planner = Planner(view.reader, view.numbers)
            self.plan = self._planned(self.planner)
        self.exhausted = False
        #: Documents of the index that answer, once its first look has counted them.
        self.matched: int | None = None
        #: Messages that answered so far, and how many of them the index did not know of.
        self.messages = 0
        self.direct = 0
        self.direct_conversations: set[str] = set()
        #: Conversations whose title answers, as far as they were met.
        self.title_conversations: set[str] = set()
        #: Conversations whose records changed and were not interpreted yet.
        self.uninterpreted: dict[str, Conversation] = {}
        #: The best hit of each conversation, as far as it was looked for.
        self.best: dict[str, Candidate] = {}
        #: Messages per conversation, once they are counted.
        self.totals: dict[int, int] = {}

    def _planned(self, planner: Planner) -> Plan:
        plan = planner.within(planner.plan(self.query.root), self.view.within)
        return planner.without(plan, self._unwanted())

    def _unwanted(self) -> list[int]:
        """Conversations whose documents are not to be looked at, by their numbers."""
        return [*self.view.stale, *(self._numbers(self.wish.without) or ())]

    def gather(self, among: set[str] | None = None) -> list[Group]:
        """Conversations in order, one more than asked for if there are more; maybe only `among` some."""
        wanted = self.wish.offset + self.wish.limit + 1
        groups: dict[str, Group] = {}
        for candidate in self._ahead(self._stream(among)):
            group = groups.get(candidate.heading.id)
            if group is None and len(groups) == wanted:
                break
            if not self._answers(candidate):
                continue
            self.messages += not candidate.is_title
            if group is None:
                group = groups[candidate.heading.id] = Group(candidate.heading, [candidate])
                group.leading += [candidate] if candidate.is_note else []
            elif candidate.is_note:
                group.leading.append(candidate)
            elif not candidate.is_title:
                group.hits.append(candidate)
        else:
            self.exhausted = True
        return list(groups.values())

    def _ahead(self, stream: Iterator[Candidate]) -> Iterator[Candidate]:
        """The same, with the texts that have to be looked at fetched a few ahead."""
        if self.plan.exact:
            yield from stream
            return
        while batch := list(islice(stream, AHEAD)):
            self.bring_texts(batch)
            yield from batch

    def bring_texts(self, candidates: Sequence[Candidate]) -> None:
        """Fetch what the candidates say, where it is not at hand."""
        lacking = [candidate for candidate in candidates if candidate.doc is None]
        docs = self.library.docs_at([c.place for c in lacking if c.place is not None])
        for candidate, doc in zip(lacking, docs, strict=True):
            candidate.doc = doc

    def _answers(self, candidate: Candidate) -> bool:
        if self.plan.exact or candidate.checked:
            return True
        if candidate.doc is None:
            self.bring_texts([candidate])
        assert candidate.doc is not None
        candidate.checked = self.matcher.matches(candidate.heading, candidate.doc)
        return candidate.checked

    def _stream(self, among: set[str] | None = None) -> Iterator[Candidate]:
        outside = sorted(self._direct(), key=lambda c: -c.order)
        found = [self._indexed(self._numbers(among)), outside]
        if next(self.query.leaves(), None) is not None:
            found += [self._titles(), iter(self._noted())]
        stream = merge(*found, key=lambda c: -c.order)
        return stream if among is None else (c for c in stream if c.heading.id in among)

    def _numbers(self, among: Iterable[str] | None) -> list[int] | None:
        if among is None:
            return None
        numbers = self.view.numbers_of(among)
        return [numbers[id] for id in among if id in numbers]

    def talks(self, among: set[str] | None) -> set[str]:
        """The conversations in which at least one message answers."""
        for candidate in self._direct():
            self._note(candidate)
        if next(self.query.leaves(), None) is not None:
            for candidate in (*self._titles(), *self._noted()):
                self._note(candidate)
        if self.planner is not None and self.view.reader is not None and self.plan.exact:
            answers = self.planner.messages(self.plan, self.query.root, None)
            totals = self.view.reader.per_conversation(answers)
            found = {*self.view.ids_of(totals).values(), *self.best}
            return found if among is None else found & among
        for candidate in self._indexed(self._numbers(among)):
            if candidate.heading.id not in self.best and self._answers(candidate):
                self._note(candidate)
        return set(self.best) if among is None else self.best.keys() & among

    def bests(self, among: set[str], looks: int = LOOKS) -> dict[str, Candidate]:
        """The best hit of each of the conversations that `talks` found, if so many looks suffice."""
        if self.plan.exact:
            lacking = {id: self.best.get(id) for id in among}
            lacking = {id: hit for id, hit in lacking.items() if hit is None or hit.is_title}
            for candidate in self._in_turn(lacking, looks):
                self._note(candidate)
                del lacking[candidate.heading.id]
        return self.best

    def _note(self, candidate: Candidate) -> None:
        """Keep it if it is the best of its conversation; a message is better than a title."""
        known = self.best.setdefault(candidate.heading.id, candidate)
        if (known.is_title, -known.order) > (candidate.is_title, -candidate.order):
            self.best[candidate.heading.id] = candidate

    # ── by the index ──

    def _indexed(self, talks: list[int] | None = None) -> Iterator[Candidate]:
        if self.planner is None or talks == []:
            return
        query = self.planner.messages(self.plan, self.query.root, talks)
        for order, place, heading in self._looked_up(query, counting=talks is None):
            yield Candidate(order, heading, place)

    def _titles(self) -> Iterator[Candidate]:
        """Conversations whose own title or project answers."""
        if self.planner is None:
            return
        planner, plan = self._title_plan()
        for order, _, heading in self._looked_up(planner.headings(plan)):
            for doc in titles(heading):
                if self.matcher.matches(heading, doc):
                    self.title_conversations.add(heading.id)
                    yield Candidate(order + self._boost(TITLE), heading, doc=doc, checked=True)
                    break

    def _noted(self) -> list[Candidate]:
        """What people noted, on conversations and messages: there is little of it."""
        weights = self._weights()
        found = [
            Candidate(self._order(doc, weights), heading, doc=doc, checked=True)
            for heading in self.view.added()
            if heading.notes and heading.id not in self.wish.without
            for doc in noted(heading)
            if self.matcher.matches(heading, doc)
        ]
        self.direct_conversations |= {candidate.heading.id for candidate in found}
        return sorted(found, key=lambda candidate: -candidate.order)

    def _title_plan(self) -> tuple[Planner, Plan]:
        assert self.view.reader is not None
        planner = Planner(self.view.reader, self.view.numbers, "title")
        return planner, self._planned(planner)

    def _boost(self, by: float) -> float:
        return 0.0 if self.by_time else by

    def _looked_up(
        self, query: Any, counting: bool = False
    ) -> Iterator[tuple[float, int, Heading]]:
        assert self.view.reader is not None
        searcher = self.view.reader.searcher
        field = "at" if self.by_time else None
        offset, size = 0, self._first_look
        while True:
            found: Any = searcher.search(
                query, limit=size, count=counting, offset=offset, order_by_field=field
            )
            hits = found.hits
            if counting:
                self.matched, counting = found.count, False
            addresses = [address for _, address in hits]
            places = searcher.fast_field_values("place", addresses)
            numbers = searcher.fast_field_values("talk", addresses)
            orders = [float(order or 0) for order, _ in hits]
            if not self.by_time:
                typed = searcher.fast_field_values("typed", addresses)
                orders = [
                    order + PERSON * int(by or 0) for order, by in zip(orders, typed, strict=True)
                ]
            talks = [int(number or 0) for number in numbers]
            headings = self.view.headings_of(talks)
            known = [
                (order, headings[talk].updated_at or "", int(place or 0), headings[talk])
                for order, place, talk in zip(orders, places, talks, strict=True)
                if talk in headings
            ]
            # What answers equally well: the newest first.
            known.sort(key=itemgetter(0, 1), reverse=True)
            for order, _, place, heading in known:
                yield order, place, heading
            if len(hits) < size:
                return
            offset += size
            size *= 4

    @property
    def _first_look(self) -> int:
        unranked = self.by_time or self._in_order_of_index
        return FIRST_LOOK_UNRANKED if unranked else FIRST_LOOK

    @property
    def _in_order_of_index(self) -> bool:
        """Whether all hits of a conversation come together: then no more of them are to be had."""
        return self.planner is not None and self.planner.unranked and not self.by_time

    def more_of(self, groups: list[Group]) -> None:
        """Look for further hits in the conversations of a page, as many times in each."""
        enough = self.wish.hits
        lacking = {g.heading.id: g for g in groups if len(g.messages) < enough}
        if self.exhausted or self._in_order_of_index:
            return
        tries = dict.fromkeys(lacking, 4 * enough)
        for candidate in self._in_turn(lacking):
            group = lacking[candidate.heading.id]
            if any(map(candidate.is_same, group.hits)):
                continue
            if self._answers(candidate):
                group.hits.append(candidate)
                self.messages += 1
            tries[group.heading.id] -= 1
            if len(group.messages) >= enough or not tries[group.heading.id]:
                del lacking[group.heading.id]

    def _in_turn(self, lacking: Mapping[str, object], looks: int = LOOKS) -> Iterator[Candidate]:
        """Candidates of conversations for as long as they are lacking.

        Those that lack nothing any more are not looked for again where they crowd out the others.
        """
        for _ in range(looks):
            in_the_way = 0
            for candidate in self._indexed(self._numbers(lacking)):
                if candidate.heading.id in lacking:
                    yield candidate
                else:
                    in_the_way += 1
                if not lacking or in_the_way == self._first_look:
                    break
            else:
                return

    def counts(self, page: Sequence[Group]) -> Counts | None:
        """How much answers, all counted; None when the index cannot tell. Takes down how many
        messages each conversation of the page has."""
        if self.planner is None or not self.plan.exact:
            return None
        shown = self._numbers([group.heading.id for group in page]) or []
        if self.matched is not None and self.matched > MANY:
            self.totals, _ = self._per_conversation(COUNTED, shown)
            talks = self.view.more_conversations_than(self.matched) or len(page)
            return Counts(self.matched + self.direct, talks, True)
        self.totals, rest = self._per_conversation(COUNTED)
        messages = sum(self.totals.values()) + rest
        titled, untold = self._titled()
        besides = self.direct_conversations | titled
        numbers = self.view.numbers_of(besides)
        more = sum(numbers.get(id) not in self.totals for id in besides)
        counts = Counts(messages + self.direct, len(self.totals) + more, bool(rest or untold))
        if rest and shown:
            self.totals, _ = self._per_conversation(COUNTED, shown)
        return counts

    def _titled(self) -> tuple[set[str], bool]:
        """The conversations whose title answers, and whether there may be more of them."""
        if self.exhausted or next(self.query.leaves(), None) is None:
            return self.title_conversations, False
        planner, plan = self._title_plan()
        if plan.exact and _needs_one_place(self.query.root):
            # Be it the title or the project: here the index can tell.
            totals, rest = self._counted(planner.headings(plan), COUNTED)
            return set(self.view.ids_of(totals).values()), rest > 0
        checked = sum(1 for _ in islice(self._titles(), CHECKED))
        return self.title_conversations, checked == CHECKED

    def _per_conversation(
        self, most: int, talks: list[int] | None = None
    ) -> tuple[dict[int, int], int]:
        """Messages per conversation, for so many at most, and how many messages the others have."""
        assert self.planner is not None and self.view.reader is not None
        return self._counted(self.planner.messages(self.plan, self.query.root, talks), most)

    def _counted(self, query: Any, most: int) -> tuple[dict[int, int], int]:
        """Documents per conversation, likewise."""
        assert self.view.reader is not None
        found = self.view.reader.searcher.aggregate(
            query, {"talks": {"terms": {"field": "talk", "size": most}}}
        )["talks"]
        totals: dict[int, int] = dict(map(_KEY_AND_COUNT, found["buckets"]))
        return totals, int(found.get("sum_other_doc_count") or 0)

    def total(self, id: str) -> int | None:
        """How many messages of a conversation answer, if they were counted."""
        return self.totals.get(self.view.numbers_of([id]).get(id, 0))

    # ── beside the index ──

    def _direct(self) -> Iterator[Candidate]:
        weights = self._weights()
        asked = next(self.query.leaves(), None) is not None
        for heading, docs in self.direct_docs():
            for doc in [*docs, *(titles(heading) if asked else ())]:
                if self.matcher.matches(heading, doc):
                    self.direct += doc.message is not None
                    self.direct_conversations.add(heading.id)
                    yield Candidate(self._order(doc, weights), heading, doc=doc, checked=True)

    def direct_docs(self) -> Iterator[tuple[Heading, list[Doc]]]:
        """Conversations that the index does not have as they are, with their messages."""
        changing = {group[:2] for group in self.view.pending}
        for heading in self.view.direct:
            if (heading.family, heading.grouping) in changing or heading.id in self.wish.without:
                continue
            yield heading, self.library.docs(heading)
        for group in self.view.pending:
            for id, read in self.library.group(group.family, group.conversation).items():
                if read.conversation.nature == "prompts" and id in self.uninterpreted:
                    # Its transcript waits as well, and outranks them.
                    continue
                if id in self.wish.without:
                    continue
                self.uninterpreted[id] = read.conversation
                yield self._heading(id, read.conversation, group), read.docs

    @property
    def unknown(self) -> int:
        """Conversations that nothing is known of but their records."""
        return sum(self.view.heading(id) is None for id in self.uninterpreted)

    def _heading(self, id: str, conversation: Conversation, group: PendingGroup) -> Heading:
        """A conversation whose records are in the archive, but not yet what they mean."""
        known = self.view.heading(id)
        return Heading(
            id,
            group.family,
            group.conversation,
            conversation.source,
            conversation.nature,
            conversation.project,
            conversation.title,
            conversation.updated_at,
            group.number,
            not conversation.unfinished,
            *((known.added, known.notes, known.machines) if known else ()),
        )

    def _order(self, doc: Doc, weights: list[float]) -> float:
        if self.by_time:
            moment = datetime.fromisoformat(doc.at) if doc.at else None
            return moment.timestamp() * 1000 if moment else 0.0
        if doc.message is None or doc.parts[0][0] == "note":
            return self.matcher.score(doc, weights, USUAL_TITLE) + TITLE
        score = self.matcher.score(doc, weights, self.view.usual)
        return score + (PERSON if "author:person" in doc.facts else 0.0)

    def _weights(self) -> list[float]:
        """How rare each wanted word is, as the index weighs it."""
        reader = self.view.reader
        if reader is None:
            return [1.0] * len(self.matcher.finders)
        total = reader.searcher.num_docs
        weights: list[float] = []
        for leaf in self.query.leaves():
            words = (
                [t for run in runs(fold(leaf.text)) for t in terms(run)]
                if isinstance(leaf, Word | Phrase)
                else []
            )
            counts = [reader.searcher.doc_freq("words", t) for t in words] or [total // 10]
            weights.append(
                sum(log(1 + (total - n + 0.5) / (n + 0.5)) for n in counts if n <= total)
            )
        return weights


def _needs_one_place(node: Node | None) -> bool:
    """Whether no two texts have to stand together: a title has one, and its project the other."""
    if isinstance(node, And):
        return sum(not isinstance(child, FilterNode) for child in node.children) <= 1 and all(
            map(_needs_one_place, node.children)
        )
    if isinstance(node, Or):
        return all(map(_needs_one_place, node.children))
    return isinstance(node, Word | Phrase | FilterNode)
