"""Entries that the source wrote again with other content: which version stands, which was before.

The client renames tools, completes arguments, and turns tool results into a
prompt when it trims; a newer client writes old pairs as objects. The newest
version leads; an earlier one is kept where something a person can see differs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from rireki.model.message import Entry
from rireki.model.parts import Part
from rireki.sources.amazon_q.draft import Draft
from rireki.sources.amazon_q.entries import Said

__all__ = ["Rewrites"]

REWRITTEN = "tool results, rewritten as a prompt"


class Rewrites:
    """Knows every entry that has versions; `build` makes the messages of one."""

    def __init__(
        self,
        said: Mapping[bytes, Said],
        order: Sequence[bytes],
        lists: Sequence[Sequence[bytes]],
        present: set[bytes],
        build: Callable[[bytes, str], list[Draft]],
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

    def drafts(self, digest: bytes, name: str) -> list[Draft]:
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
        self, drafts: Sequence[Draft], earlier: Sequence[bytes], name: str
    ) -> dict[str, list[Draft]]:
        """The earlier versions of messages, by what stands in their place now."""
        shown: dict[str, list[list[Part]]] = defaultdict(list)
        for draft in drafts:
            shown[draft.message.id].append(draft.message.parts)
        before: dict[str, list[Draft]] = defaultdict(list)
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


def _successor(name: str, drafts: Sequence[Draft]) -> str:
    names = [draft.message.id for draft in drafts]
    return name if name in names else names[0]


def _retire(draft: Draft, successor: str, number: int) -> None:
    message = draft.message
    message.replaced_by = successor
    message.id = f"{message.id}~{number}"
    message.upstream = "gone"
    draft.typed, draft.ends, draft.answer = False, None, None


def _had_results(said: Said) -> bool:
    content = said.user.get("content") if isinstance(said.user, dict) else None
    return isinstance(content, dict) and "ToolUseResults" in content


def _unprompt(draft: Draft) -> None:
    """We saw the results that this prompt was made of, so nobody typed it."""
    message = draft.message
    if message.author == "person" and message.entry is not None:
        message.author, message.display, message.label = "harness", "chip", REWRITTEN
        message.entry = Entry(message.entry.position, "user", message.entry.flags, REWRITTEN)
        draft.typed = False
