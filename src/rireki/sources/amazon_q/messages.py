"""The story of a saved conversation: every entry ever seen, in order, from all its copies.

Rows of several databases and `/save` files of one conversation are woven into
one list. An entry that the source rewrote keeps both versions; what a
compaction, a tangent or a checkpoint did is said where it happened. Event logs
are not known here."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rireki.model.message import Entry, Message
from rireki.model.parts import Part, Text
from rireki.model.strand import Ref, weave
from rireki.model.times import from_ms
from rireki.sources.amazon_q.entries import (
    RequestMetadata,
    Said,
    drafts_of,
    open_entry,
    user_drafts,
)
from rireki.sources.amazon_q.join import LABEL, TYPED, add_witnessed
from rireki.sources.amazon_q.pending import SavedMessage, divider, short_hash
from rireki.sources.amazon_q.versions import Chronicle, RowVersion
from rireki.sources.kit.decode import fit_loosely, text_of
from rireki.sources.kit.fields import get
from rireki.sources.kit.pictures import Pictures

__all__ = ["SavedStory", "shown"]


REWRITTEN = "tool results, rewritten as a prompt"


class Rewrites:
    """Knows every entry that has versions; `build` makes the messages of one."""

    def __init__(
        self,
        said: Mapping[bytes, Said],
        order: Sequence[bytes],
        lists: Sequence[Sequence[bytes]],
        present: set[bytes],
        build: Callable[[bytes, str], list[SavedMessage]],
    ) -> None:
        self._said = said
        self._build = build
        #: The earlier versions, by the one that leads.
        self._earlier: dict[bytes, list[bytes]] = {}
        self._old: set[bytes] = set()
        groups: dict[str, dict[bytes, None]] = defaultdict(dict)
        for digest in order:
            groups[said[digest].identity].setdefault(digest)
        twins = self._twins(lists)
        for identity, versions in groups.items():
            if len(versions) > 1 and identity not in twins:
                self._lead(list(versions), present)

    def is_old(self, digest: bytes) -> bool:
        return digest in self._old

    def drafts(self, digest: bytes, name: str) -> list[SavedMessage]:
        """The messages of an entry, each after its earlier versions; none for an earlier version."""
        if self.is_old(digest):
            return []
        drafts = self._build(digest, name)
        earlier = self._earlier.get(digest, ())
        if any(_had_results(self._said[old]) for old in earlier):
            for draft in drafts:
                _unprompt(draft)
        before = self._before(drafts, earlier, name)
        return [one for draft in drafts for one in (*before[draft.message.id], draft)]

    def _twins(self, lists: Sequence[Sequence[bytes]]) -> set[str]:
        """Identities that one list holds twice with different content: two entries, not versions."""
        twins: set[str] = set()
        for ones in lists:
            seen: dict[str, bytes] = {}
            for digest in ones:
                identity = self._said[digest].identity
                if seen.setdefault(identity, digest) != digest:
                    twins.add(identity)
        return twins

    def _lead(self, versions: list[bytes], present: set[bytes]) -> None:
        standing = [digest for digest in versions if digest in present] or versions
        leader = standing[-1]
        versions.remove(leader)
        self._earlier[leader] = versions
        self._old.update(versions)

    def _before(
        self, drafts: Sequence[SavedMessage], earlier: Sequence[bytes], name: str
    ) -> dict[str, list[SavedMessage]]:
        """The earlier versions of messages, by what stands in their place now."""
        shown: dict[str, list[list[Part]]] = defaultdict(list)
        for draft in drafts:
            shown[draft.message.id].append(draft.message.parts)
        before: dict[str, list[SavedMessage]] = defaultdict(list)
        for digest in earlier:
            for draft in self._build(digest, name):
                versions = shown[draft.message.id]
                if draft.message.parts in versions:
                    # Nothing that a person can see is different.
                    continue
                versions.append(draft.message.parts)
                successor = _successor(draft.message.id, drafts)
                _retire(draft, successor, len(versions) - (successor == draft.message.id))
                before[successor].append(draft)
        return before


def _successor(name: str, drafts: Sequence[SavedMessage]) -> str:
    names = [draft.message.id for draft in drafts]
    return name if name in names else names[0]


def _retire(draft: SavedMessage, successor: str, number: int) -> None:
    message = draft.message
    message.replaced_by = successor
    message.id = f"{message.id}~{number}"
    message.upstream = "gone"
    draft.typed, draft.ends, draft.answer = False, None, None


def _had_results(said: Said) -> bool:
    content = said.user.get("content") if isinstance(said.user, dict) else None
    return isinstance(content, dict) and "ToolUseResults" in content


def _unprompt(draft: SavedMessage) -> None:
    """We saw the results that this prompt was made of, so nobody typed it."""
    message = draft.message
    if message.author == "person" and message.entry is not None:
        message.author, message.display, message.label = "harness", "chip", REWRITTEN
        message.entry = Entry(message.entry.position, "user", message.entry.flags, REWRITTEN)
        draft.typed = False


TANGENT = "tangent"
CHECKPOINT = "only in a checkpoint"
PENDING = "not answered yet"
COMPACTED = "context compacted"


class SavedStory:
    """Told from chronicles, the leading one first; `live` are those the agent itself works with."""

    def __init__(self, chronicles: Sequence[Chronicle], live: Sequence[Chronicle]) -> None:
        self.chronicles = chronicles
        self._live = [one for one in live if one.strand.present]
        self.said: dict[bytes, Said] = {}
        self._refs: dict[bytes, list[Ref]] = {}
        for one in chronicles:
            for digest, kept in one.entries.items():
                if digest not in self.said:
                    self.said[digest] = open_entry(kept.data, digest)
                    self._refs[digest] = kept.refs
        #: How many history entries there ever were; a rewritten one counts once.
        self.entries = 0
        self._versions = [version for one in chronicles for version in one.versions]

    def tell(self, pictures: Pictures) -> list[SavedMessage]:
        """The messages in order, what the transcript alone knows included."""
        flow: list[SavedMessage] = []
        dividers = self._dividers()
        for digest, drafts in self._blocks(pictures):
            flow += [mark for anchor, mark in dividers if anchor == digest]
            dividers = [waiting for waiting in dividers if waiting[0] != digest]
            flow += drafts
        flow += [mark for _, mark in dividers]
        flow += self._pending(flow, pictures)
        for one in self.chronicles:
            add_witnessed(flow, one.transcript)
        return flow

    @property
    def born_compacted(self) -> bool:
        """Whether it began with the summary of another conversation, as Kiro's compactions do."""
        return bool(self.chronicles) and bool(self.chronicles[0].versions[0].summaries)

    def _blocks(self, pictures: Pictures) -> Iterator[tuple[bytes, list[SavedMessage]]]:
        """Each entry's messages, marked with what is known about the entry as a whole."""
        present, talk = self._held_now()
        positions = self._positions()
        tangents = self._tangents()
        order = self._order()

        def build(digest: bytes, name: str) -> list[SavedMessage]:
            drafts = drafts_of(self.said[digest], name, positions.get(digest, 0), pictures)
            for draft in drafts:
                draft.refs = self._refs[digest]
                draft.message.upstream = "present" if digest in present else "gone"
                if digest in tangents or self.said[digest].in_tangent:
                    draft.message.label = draft.message.label or TANGENT
                elif digest in present and digest not in talk:
                    draft.message.label = draft.message.label or CHECKPOINT
            return drafts

        lists = [ones for version in self._versions for ones in version.lists]
        rewrites = Rewrites(self.said, order, lists, present, build)
        self.entries = sum(not rewrites.is_old(digest) for digest in order)
        for digest, name in _named(order, self.said, rewrites):
            yield digest, rewrites.drafts(digest, name)

    def _held_now(self) -> tuple[set[bytes], set[bytes]]:
        """The entries the source holds anywhere, and those that stand in its talk, main or side."""
        newest = [one.newest for one in self._live]
        present = {digest for version in newest for ones in version.lists for digest in ones}
        talk = {digest for version in newest for digest in version.talk}
        return present, talk

    def _tangents(self) -> set[bytes]:
        """Entries of a side talk, in whatever version one ran, that never stood in the main talk."""
        side = {d for v in self._versions if v.main is not None for d in v.history}
        main = {d for v in self._versions for d in (v.history if v.main is None else v.main)}
        return side - main

    def _positions(self) -> dict[bytes, int]:
        """The place of each entry in the newest list that held it."""
        found: dict[bytes, int] = {}
        for one in reversed(self.chronicles):
            for version in one.versions:
                for ones in reversed(version.lists):
                    found.update((digest, place) for place, digest in enumerate(ones, 1))
        return found

    def _order(self) -> list[bytes]:
        """Every entry, as often as any one list held it."""
        numbers = {digest: number for number, digest in enumerate(self.said)}
        talked = {digest for version in self._versions for digest in version.talk}
        states = []
        times: Counter[bytes] = Counter()
        for version in self._versions:
            # A snapshot that is but a copy of the talk adds nothing to the order.
            extra = [ones for ones in version.snapshots if not talked.issuperset(ones)]
            lists = [ones for ones in (version.main, version.history, *extra) if ones is not None]
            states.append([[numbers[digest] for digest in ones] for ones in lists])
            for ones in lists:
                times |= Counter(ones)
        digests = list(numbers)
        places = [(digests[number], flag) for number, flag, _ in weave(states)]
        return _at_most(places, times)

    def _dividers(self) -> list[tuple[bytes | None, SavedMessage]]:
        """A divider per summary, and the entry before which it stands."""
        found: dict[str, tuple[bytes | None, SavedMessage]] = {}
        for one in self.chronicles:
            for version in one.versions:
                for value, refs in version.summaries:
                    text, at = _summary(value)
                    anchor = version.history[0] if version.history else None
                    mark = divider(f"c{short_hash(text)}", COMPACTED, [Text(text)], at)
                    mark.message.upstream, mark.refs = "gone", refs
                    _, mark = found.setdefault(text, (anchor, mark))
                    if one in self._live and version is one.newest:
                        mark.message.upstream = "present"
        return list(found.values())

    def _pending(self, flow: Sequence[SavedMessage], pictures: Pictures) -> list[SavedMessage]:
        """Prompts that were typed and had no answer when the conversation was saved."""
        answered = {draft.witness for draft in flow}
        found: dict[str, SavedMessage] = {}
        for one in self.chronicles:
            for version in one.versions:
                current = one is self.chronicles[0] and version is one.newest
                for value in _unanswered(version):
                    name = f"n{short_hash(text_of(value))}"
                    for draft in user_drafts(value, name, len(version.history) + 1, pictures):
                        if current or draft.witness not in answered:
                            draft.group = name
                            _wait(draft, one in self._live and version is one.newest)
                            found.setdefault(draft.message.id, draft)
        return list(found.values())


def _wait(draft: SavedMessage, present: bool) -> None:
    draft.message.label = draft.message.label or PENDING
    draft.message.upstream = "present" if present else "gone"
    draft.ends = None
    draft.last = True


def _unanswered(version: RowVersion) -> list[Any]:
    aside = get(version.head, "tangent_state", "main_next_message")
    values = (get(version.head, "next_message"), aside)
    return [value for value in values if isinstance(value, dict)]


def _summary(value: Any) -> tuple[str, str | None]:
    """Text and time of a summary: a plain text up to 1.12, a pair since."""
    if isinstance(value, str):
        return value, None
    text, metadata, *_ = [*value, None, None] if isinstance(value, list) else [text_of(value), None]
    opened, _ = fit_loosely(metadata, RequestMetadata)
    moment = opened.stream_end_timestamp_ms
    return text if isinstance(text, str) else text_of(text), from_ms(moment) if moment else None


def _at_most(places: Sequence[tuple[bytes, bool]], times: Counter[bytes]) -> list[bytes]:
    """Weaving a changed order names an entry twice: keep where it stands now, else where it first stood."""
    spare = Counter(digest for digest, _ in places)
    spare.subtract(times)
    kept: list[bytes] = []
    drop_old = {digest for digest, held in places if held}
    for digest, held in places:
        if spare[digest] > 0 and (not held or digest not in drop_old):
            spare[digest] -= 1
            continue
        kept.append(digest)
    return kept


def _named(
    order: Sequence[bytes], said: dict[bytes, Said], rewrites: Rewrites
) -> Iterator[tuple[bytes, str]]:
    """A name per entry that stays the same over re-saves, and that no other entry has."""
    seen: Counter[str] = Counter()
    for digest in order:
        identity = said[digest].identity
        if not rewrites.is_old(digest):
            seen[identity] += 1
        number = seen[identity]
        yield digest, identity if number < 2 or rewrites.is_old(digest) else f"{identity}.{number}"


#: Held by the source, but not for the model; so are the chips of commands and answers to questions.
_ASIDE = (CHECKPOINT, LABEL, TYPED)


def shown(messages: Sequence[Message]) -> list[str]:
    """Ids of messages in the order a model gets them; all of them without a compaction."""
    summaries = [at for at, message in enumerate(messages) if message.label == COMPACTED]
    if not summaries:
        return [message.id for message in messages]
    last = summaries[-1]
    # An event log tells a compaction where it happened: what it spared stands before it.
    spared = [message for message in messages[:last] if _is_held(message)]
    return [message.id for message in [messages[last], *spared, *messages[last + 1 :]]]


def _is_held(message: Message) -> bool:
    said = message.display not in ("divider", "chip") and message.label not in _ASIDE
    return said and message.upstream == "present"
