"""Which records each message was made of: its lines, and the file an output was spilled into."""

from __future__ import annotations

from collections.abc import Sequence

from rireki.model.strand import Ref, Strand
from rireki.sources.claude_code.drafts import Draft
from rireki.sources.claude_code.entries import flat
from rireki.sources.claude_code.fold import Fold
from rireki.sources.claude_code.full import outcome_in
from rireki.sources.claude_code.lines import TranscriptLine
from rireki.sources.claude_code.order import results_of
from rireki.sources.claude_code.spills import SPILLED, Spills
from rireki.sources.kit.document import LANE as WHOLE
from rireki.sources.kit.jsonl import LANE

__all__ = ["record_of", "records_of"]

_MARK = SPILLED.encode()


def records_of(fold: Fold, strands: Sequence[Strand]) -> dict[str, list[Ref]]:
    spills = Spills(strands)
    found: dict[str, list[Ref]] = {}
    for draft in fold.drafts:
        refs = [ref for line in draft.lines for ref in record_of(line)]
        if spills and draft.what == "result" and _MARK in draft.line.data:
            refs += _spilled(draft, spills)
        found[draft.id] = refs
    return found


def record_of(line: TranscriptLine) -> list[Ref]:
    """The record that holds a line; the unfinished end of a file is none."""
    return [Ref(line.strand, LANE, line.record)] if line.record is not None else []


def _spilled(draft: Draft, spills: Spills) -> list[Ref]:
    path = outcome_in(draft.line).path
    previews = [flat(block.content) for block in results_of(draft)]
    files = [spills.file(text, path) for text in previews if text.startswith(SPILLED)]
    return [
        Ref(file.id, WHOLE, places[-1][0])
        for file in files
        if file is not None and (places := file.places(WHOLE))
    ]
