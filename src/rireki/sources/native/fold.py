"""What a history comes to after a few more entries, from what it came to before them.

For a history that is closed after every request: reading all of it again would cost the whole
history each time. Of entries whose meaning may hang on earlier ones nothing is said here: those
are read with the whole story, by `messages.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import msgspec

from rireki.journals.history_entry import JournalEntry
from rireki.model.conversation import Answer, Conversation, Tally, pattern_of, total_usage
from rireki.model.times import from_iso
from rireki.providers import Call, Result
from rireki.sources.native.messages import ASK, read_entry, tally_of
from rireki.sources.native.parts import answer_of

__all__ = ["fold"]

Folded = tuple[Conversation, list[Answer]]
#: A repair stands elsewhere in the story, a title changes it all, an answer to a question is
#: told as its person's.
_PLAIN = frozenset({"user", "assistant", "tool", "system", "summary", "trim", "clear", "branch"})


def fold(
    known: Conversation,
    answers: Sequence[Answer],
    lines: Sequence[bytes],
    seq: int,
    is_new: Callable[[str], bool],
) -> Folded | None:
    """The conversation with these lines at its end, and its answers; None in any doubt.

    `seq` is the number of the entry before them; `is_new` says whether the id of a call cannot
    be one that stands there already.
    """
    if known.upstream != "present" or known.troubles or not known.title:
        return None
    entries = _entries(lines, seq)
    if entries is None or not _is_closed(entries, is_new):
        return None
    tally = tally_of(entries, known.finished)
    fresh = [answer for answer in map(answer_of, entries) if answer is not None]
    return _grown(known, entries, tally, [*answers, *fresh]), [*answers, *fresh]


def _entries(lines: Sequence[bytes], seq: int) -> list[JournalEntry] | None:
    """The entries, if each is a plain one that follows the one before."""
    found: list[JournalEntry] = []
    for number, line in enumerate(lines, seq + 1):
        entry = read_entry(line)
        if entry is None or entry.kind not in _PLAIN or entry.seq != number:
            return None
        if entry.text("title") or entry.text("project"):
            return None
        found.append(entry)
    return found


def _is_closed(entries: Sequence[JournalEntry], is_new: Callable[[str], bool]) -> bool:
    """Whether every result is that of a call among them, and no call was there before."""
    calls: set[str] = set()
    parts = (part for e in entries for turns in e.turns for turn in turns for part in turn.parts)
    for part in parts:
        if isinstance(part, Call):
            if not part.id or part.name == ASK or (part.id not in calls and not is_new(part.id)):
                return False
            calls.add(part.id)
        elif isinstance(part, Result) and (part.id not in calls or part.name == ASK):
            return False
    return True


def _grown(
    known: Conversation, entries: Sequence[JournalEntry], tally: Tally, answers: list[Answer]
) -> Conversation:
    times = [at for entry in entries if (at := from_iso(entry.at))]
    before = [at for at in (known.started_at, known.updated_at) if at]
    calls = known.tool_calls + len(tally.calls)
    tools = Counter(known.tools) + Counter(filter(None, tally.calls.values()))
    return msgspec.structs.replace(
        known,
        started_at=min(before + times, default=None),
        updated_at=max(before + times, default=None),
        messages=known.messages + tally.messages,
        turns=known.turns + tally.turns,
        entries=known.entries + len(entries),
        finished=tally.finished,
        tool_calls=calls,
        tools=dict(tools),
        tool_errors=dict(Counter(known.tool_errors) + Counter(tally.errors)),
        turns_at=[*known.turns_at, *tally.turns_at],
        tool_results=known.tool_results + len(tally.results),
        calls_without_result=known.calls_without_result + len(tally.calls) - len(tally.results),
        pattern=pattern_of(calls),
        usage=total_usage(answers),
        models=list(dict.fromkeys(answer.model for answer in answers)),
    )
