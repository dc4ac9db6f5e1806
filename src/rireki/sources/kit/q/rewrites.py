"""Entries that the source wrote again with other content: which version stands, which was before.

The client renames tools, completes arguments, and turns tool results into a
prompt when it trims; a newer client writes old pairs as objects. The newest
version leads; an earlier one is kept where something a person can see differs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from rireki.model.message import Entry
from rireki.sources.kit.q.draft import Draft
from rireki.sources.kit.q.entries import Said

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
        #: For an earlier version: the one that leads, and its own number, from 1.
        self._leader: dict[bytes, bytes] = {}
        self._number: dict[bytes, int] = {}
        self._earlier: dict[bytes, list[bytes]] = defaultdict(list)
        groups: dict[str, dict[bytes, None]] = defaultdict(dict)
        for digest in order:
            groups[said[digest].identity].setdefault(digest)
        twins = self._twins(lists)
        for identity, versions in groups.items():
            if len(versions) > 1 and identity not in twins:
                self._lead(list(versions), present)

    def is_old(self, digest: bytes) -> bool:
        return digest in self._leader

    def drafts(self, digest: bytes, name: str) -> list[Draft]:
        drafts = self._build(digest, name)
        if digest in self._leader:
            return self._old(digest, name, drafts)
        if any(_had_results(self._said[old]) for old in self._earlier[digest]):
            for draft in drafts:
                _unprompt(draft)
        return drafts

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
        for number, digest in enumerate(versions, 1):
            self._leader[digest] = leader
            self._number[digest] = number

    def _old(self, digest: bytes, name: str, drafts: list[Draft]) -> list[Draft]:
        """The messages of an earlier version that differ from what stands now."""
        now = {draft.message.id: draft.message for draft in self._build(self._leader[digest], name)}
        kept: list[Draft] = []
        for draft in drafts:
            message = draft.message
            successor = now.get(message.id)
            if successor is not None and successor.parts == message.parts:
                continue
            message.replaced_by = message.id if successor else next(iter(now))
            message.id = f"{message.id}~{self._number[digest]}"
            message.upstream = "gone"
            draft.typed, draft.ends, draft.answer = False, None, None
            kept.append(draft)
        return kept


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
