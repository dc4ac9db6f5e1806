"""Whether two large archives say the same of every conversation, without holding all of it."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator
from pathlib import Path

import msgspec

from rireki.archive.base import Archive, Filter
from rireki.model.conversation import Conversation
from rireki.show.figures import answers_once, count_all, tokens_by_model
from tests.support.pushing import said

__all__ = ["differences"]


def differences(
    here: Archive,
    there: Archive,
    folder: Path,
    groups: Collection[tuple[str, str]] | None = None,
    every: int = 1,
) -> Iterator[str]:
    """Ids of conversations that are not equal there, and `figures` where those are not: of these
    groups alone, where only they were pushed. Of all it is compared what lists tell of them, links
    and figures; of one in `every`, what it says and the files it comes to."""
    own, others = (_known(archive, groups) for archive in (here, there))
    for place, id in enumerate(sorted(own.keys() | others.keys())):
        equal = own.get(id) == others.get(id)
        if equal and place % every == 0:
            equal = _said(here, id, folder / "here") == _said(there, id, folder / "there")
        if not equal:
            yield id
        shutil.rmtree(folder, ignore_errors=True)
    if _figures(here, own) != _figures(there, others):
        yield "figures"


def _known(archive: Archive, groups: Collection[tuple[str, str]] | None) -> dict[str, Conversation]:
    wanted = {
        h.id for h in archive.headings() if groups is None or (h.family, h.grouping) in groups
    }
    found = archive.conversations(Filter(subagents=True))
    # Which machines there are is said where there are several.
    return {
        each.id: msgspec.structs.replace(each, machines=msgspec.UNSET)
        for each in found
        if each.id in wanted
    }


def _said(archive: Archive, id: str, folder: Path) -> dict[str, object]:
    return said(archive, archive.find(id), folder)


def _figures(archive: Archive, known: dict[str, Conversation]) -> dict[str, object]:
    answers = (each for each in archive.answers() if each[0] in known)
    return {**count_all([*known.values()]), "tokens": tokens_by_model(answers_once(answers))}
