"""What a conversation held at earlier times: a moment for every change its source made to it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from itertools import groupby
from typing import Any, NamedTuple

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from rireki.archive.base import Archive
from rireki.model.strand import State, Strand, expand
from rireki.model.when import when
from rireki.web.pages.conversation import as_of_of, last_window
from rireki.web.parts.comparison import compare
from rireki.web.parts.frame import answer, archive_reader_of, is_on, number_of, page, piece, told
from rireki.web.parts.render_cache import RenderedConversation, told_of

__all__ = ["Moment", "moments", "show_versions"]

#: More moments than this are thinned out: a slider has only so many pixels.
MOST = 200


class Moment(NamedTuple):
    """When the archive saw the source change, by how many records."""

    at: str
    gained: int
    lost: int
    #: The source was found without it.
    vanished: bool = False


@told
async def show_versions(request: Request) -> Response:
    """`/versions/ID?as_of=`: a slider over its moments, and the conversation as it was then."""
    number = await number_of(request)
    id = request.path_params["id"]
    found = await archive_reader_of(request).read(lambda archive: _moments_of(archive, id))
    if request.query_params.get("from") and len(found) > 1:
        return await _compared(request, number, found)
    chosen = _chosen(found, as_of_of(request))
    # A vanished conversation is told as it was last held, with what the source lost marked.
    as_of = found[chosen].at if found else None
    ready = await told_of(request, id, is_on(request, "all"), as_of)
    window = last_window(len(ready))
    units = await run_in_threadpool(lambda: [ready.render(i) for i in range(*window)])
    values: dict[str, Any] = {
        "about": ready.talk.conversation,
        "told": ready,
        "as_of": as_of,
        "moments": found,
        "chosen": chosen,
        "held": _held(ready),
        "window": window,
        "units": units,
    }
    if is_on(request, "fragment"):
        summary = piece(request, "_moment.html", **values)
        html = piece(request, "_units.html", **values)
        return answer({"summary": summary, "html": html, "total": len(ready), "as_of": as_of})
    return page(request, "versions.html", number=number, **values)


async def _compared(request: Request, number: int, found: list[Moment]) -> Response:
    """`from=` and `as_of=`: what changed between the two."""
    id = request.path_params["id"]
    since = when(request.query_params["from"], datetime.now(timezone.utc), end_of_day=True)
    first, last = sorted((_chosen(found, since), _chosen(found, as_of_of(request))))
    then = await told_of(request, id, True, found[first].at)
    now = await told_of(request, id, True, found[last].at)
    return page(
        request,
        "compared.html",
        number=number,
        about=now.talk.conversation,
        moments=found,
        first=first,
        last=last,
        comparison=await run_in_threadpool(compare, then, now),
    )


def moments(strands: Sequence[Strand]) -> list[Moment]:
    """Every moment at which one of these strands changed, oldest first."""
    seen = [moment for strand in strands for moment in _changes(strand)]
    seen.sort(key=lambda moment: moment.at)
    merged = [_merged(at, list(some)) for at, some in groupby(seen, lambda moment: moment.at)]
    return _thinned(merged)


def _moments_of(archive: Archive, id: str) -> list[Moment]:
    found = archive.find(id)
    return moments(archive.strands(found.family, found.grouping))


def _changes(strand: Strand) -> list[Moment]:
    changes = []
    before: State | None = None
    for state in strand.states:
        gained, lost = _difference(before, state)
        changes.append(Moment(state.at, gained, lost))
        before = state
    if strand.vanished_at is not None:
        gone = sum(map(len, _records(before).values())) if before else 0
        changes.append(Moment(strand.vanished_at, 0, gone, vanished=True))
    return changes


def _difference(before: State | None, state: State) -> tuple[int, int]:
    """How many records came and went between two states."""
    if before is not None and before.runs == state.runs:
        return 0, 0
    then, now = _records(before), _records(state)
    gained = sum(len(held - then.get(lane, set())) for lane, held in now.items())
    lost = sum(len(held - now.get(lane, set())) for lane, held in then.items())
    return gained, lost


def _records(state: State | None) -> dict[str, set[int]]:
    held: dict[str, set[int]] = {}
    for run in state.runs if state else ():
        held.setdefault(run.lane, set()).update(expand(run.records))
    return held


def _merged(at: str, some: Sequence[Moment]) -> Moment:
    """What changed in several strands at once."""
    return Moment(
        at,
        sum(moment.gained for moment in some),
        sum(moment.lost for moment in some),
        any(moment.vanished for moment in some),
    )


def _thinned(found: list[Moment]) -> list[Moment]:
    """Every loss and what stood before it; of mere growth as much as there is room for."""
    if len(found) <= MOST:
        return found
    kept = {0, len(found) - 1}
    for place, moment in enumerate(found):
        if moment.lost:
            kept |= {place, max(place - 1, 0)}
    step = max(len(found) // max(MOST - len(kept), 1), 1)
    kept |= set(range(0, len(found), step))
    return [found[place] for place in sorted(kept)]


def _chosen(found: Sequence[Moment], as_of: str | None) -> int:
    """The last moment by a time; the newest when none was asked for."""
    if as_of is None:
        return max(len(found) - 1, 0)
    by_then = [place for place, moment in enumerate(found) if moment.at <= as_of]
    return by_then[-1] if by_then else 0


def _held(ready: RenderedConversation) -> int:
    return sum(message.upstream == "present" for message in ready.story.messages)
