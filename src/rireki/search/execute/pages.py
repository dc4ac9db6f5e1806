"""A page of results: candidates made into what people see, with snippets and neighbours."""

from __future__ import annotations

from collections.abc import Sequence

from rireki.archive.base import Archive
from rireki.model.conversation import Conversation
from rireki.model.message import Author
from rireki.search.execute.run import Candidate, Group, Hunt
from rireki.search.execute.snippet import beginning, best_snippet, marks_in
from rireki.search.language.match import Doc
from rireki.search.results import ConversationHits, Hit, Neighbour, Snippet, Where

__all__ = ["page_of"]

_AUTHORS: dict[str, Author] = {
    "author:person": "person",
    "author:agent": "agent",
    "author:tool": "tool",
    "author:harness": "harness",
}


def page_of(archive: Archive, hunt: Hunt, groups: list[Group]) -> list[ConversationHits]:
    hunt.more_of(groups)
    known = archive.pick([group.heading.id for group in groups])
    conversations = known | hunt.uninterpreted
    conversations |= _dropped(hunt, [g for g in groups if g.heading.id not in conversations])
    # It may have been forgotten in this very moment.
    left = [group for group in groups if group.heading.id in conversations]
    hunt.bring_texts([hit for group in left for hit in _shown_of(hunt, group)])
    told = [_talk(hunt, group, conversations[group.heading.id]) for group in left]
    # Where all that was found is masked, there is nothing to tell.
    return [talk for talk in told if talk.hits or not hunt.masker]


def _dropped(hunt: Hunt, groups: list[Group]) -> dict[str, Conversation]:
    """Conversations that the archive dropped since it was looked at, for being read anew."""
    found = {}
    for heading in (group.heading for group in groups):
        read = hunt.library.group(heading.family, heading.grouping).get(heading.id)
        if read is not None:
            found[heading.id] = read.conversation
    return found


def _talk(hunt: Hunt, group: Group, conversation: Conversation) -> ConversationHits:
    total = hunt.total(group.heading.id)
    if total is None and (hunt.exhausted or group.heading.id in hunt.direct_conversations):
        total = len(group.messages)
    shown = _shown_of(hunt, group)
    hits = [hit for candidate in shown if (hit := _hit(hunt, group, candidate)) is not None]
    if hunt.masker is not None:
        conversation = hunt.masker.conversation(conversation)
        # Otherwise the number would tell whether a guess is right.
        total = total if len(hits) == len(shown) else len(hits)
    return ConversationHits(
        conversation=conversation,
        hits=hits,
        total=total,
        title_marks=marks_in(conversation.title, hunt.matcher),
    )


def _shown_of(hunt: Hunt, group: Group) -> list[Candidate]:
    """The best hits of a conversation: messages where there are any, else its title."""
    enough, leading = hunt.wish.hits, group.leading
    best = sorted(group.messages or group.hits, key=lambda hit: -hit.order)
    others = [hit for hit in best[: enough + len(leading)] if not any(map(hit.is_same, leading))]
    return [*leading, *others][:enough]


def _hit(hunt: Hunt, group: Group, candidate: Candidate) -> Hit | None:
    """None where what was found is masked."""
    doc = candidate.doc
    assert doc is not None, "its text was fetched before"
    found = _shown(hunt, doc)
    if found is None:
        hunt.withheld += 1
        return None
    where, shown = found
    before, after = _neighbours(hunt, group, doc) if hunt.wish.context else ([], [])
    return Hit(
        message=doc.message,
        author=_author(doc),
        at=doc.at,
        where=where,
        tools=[fact.removeprefix("tool:") for fact in doc.facts if fact.startswith("tool:")],
        upstream="gone" if "is:gone" in doc.facts else "present",
        snippet=shown,
        before=before,
        after=after,
    )


def _shown(hunt: Hunt, doc: Doc) -> tuple[Where, Snippet] | None:
    parts = _parts(hunt, doc)
    best = best_snippet(parts, hunt.matcher)
    if best is not None:
        return best
    if parts != doc.parts and best_snippet(doc.parts, hunt.matcher) is not None:
        return None
    where, text = next(iter(parts), ("text", ""))
    return where, beginning(text)


def _parts(hunt: Hunt, doc: Doc) -> Sequence[tuple[Where, str]]:
    """Its texts. Masked whole: half a secret at the edge of a snippet would not be known for one."""
    masker = hunt.masker
    if masker is None:
        return doc.parts
    return [(where, masker.text(text)) for where, text in doc.parts]


def _author(doc: Doc) -> Author | None:
    return next((_AUTHORS[fact] for fact in doc.facts if fact in _AUTHORS), None)


def _neighbours(hunt: Hunt, group: Group, doc: Doc) -> tuple[list[Neighbour], list[Neighbour]]:
    docs = hunt.library.docs(group.heading)
    at = next((place for place, each in enumerate(docs) if each.message == doc.message), None)
    if at is None or doc.message is None:
        return [], []
    reach = hunt.wish.context
    return (
        [_neighbour(hunt, each) for each in docs[max(0, at - reach) : at]],
        [_neighbour(hunt, each) for each in docs[at + 1 : at + 1 + reach]],
    )


def _neighbour(hunt: Hunt, doc: Doc) -> Neighbour:
    text = beginning(next((text for _, text in _parts(hunt, doc)), ""))
    return Neighbour(
        message=doc.message or "",
        author=_author(doc) or "harness",
        at=doc.at,
        text=text.text + ("…" if text.cut_after else ""),
    )
