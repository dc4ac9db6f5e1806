"""What was asked of a person and how it ended, in one line and in all words.

Pure: takes the two entries, knows no journal.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from rireki.model.activity import WORDS, state_of_ask
from rireki.model.parts import Notice, Part, Text
from rireki.sources.bridge.entry import BridgeEntry

__all__ = ["ask_label", "ask_parts", "is_decided", "pretty"]

_ALLOWED = {"allow_once": "allowed once", "allow_always": "always allowed"}
#: What a person did, told to them.
_DONE = {
    "allowed once": "You allowed once",
    "always allowed": "You always allowed",
    "answered": "You answered",
    "plan approved": "You approved the plan",
    "plan rejected": "You rejected the plan",
    "refused": "You refused",
}


def is_decided(answer: BridgeEntry | None) -> bool:
    """Whether a person decided it; what nobody answered in time, or was withdrawn, ended by itself."""
    return answer is not None and answer.text("outcome") in ("selected", "refused", "answered")


def ask_label(ask: BridgeEntry, answer: BridgeEntry | None) -> str:
    """How it stands, and what it was about."""
    stands = _stands(ask, answer)
    told = _DONE.get(stands, stands) if is_decided(answer) else stands
    return ": ".join(filter(None, [told, " ".join(ask.text("title").split())]))


def ask_parts(ask: BridgeEntry, answer: BridgeEntry | None) -> list[Part]:
    """Exactly what was asked, and exactly what was answered, by whom."""
    asked = [pretty(ask.more.get("detail")), *_questions(ask)]
    told: list[Part] = [Text(words) for words in asked if words.strip()]
    return [*told, Notice(_outcome(ask, answer))]


def pretty(value: Any) -> str:
    """A value for reading: text as it is, everything else as indented JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, indent=2)


def _stands(ask: BridgeEntry, answer: BridgeEntry | None) -> str:
    if answer is None:
        return WORDS[state_of_ask(ask.text("what"))]
    outcome = answer.text("outcome")
    if outcome in ("expired", "cancelled"):
        return outcome
    kind = _option(ask, answer).get("kind")
    refused = outcome == "refused" or kind in ("reject_once", "reject_always")
    if ask.text("what") == "plan":
        return "plan rejected" if refused else "plan approved"
    if refused:
        return "refused"
    return _ALLOWED.get(str(kind), "answered")


def _outcome(ask: BridgeEntry, answer: BridgeEntry | None) -> str:
    if answer is None:
        return "not answered yet"
    words = [_option(ask, answer).get("name"), answer.text("reason"), *_values(ask, answer)]
    said = "; ".join(word for word in words if isinstance(word, str) and word)
    by = f" by {answer.text('by')}" if answer.text("by") else ""
    return f"{_stands(ask, answer)}{by}{': ' if said else ''}{said}"


def _option(ask: BridgeEntry, answer: BridgeEntry) -> dict[str, Any]:
    """The option that was chosen; empty when none was."""
    chosen = answer.more.get("option")
    found = (one for one in _dicts(ask.more.get("options")) if one.get("id") == chosen)
    return next(found, {"name": chosen} if chosen else {})


def _questions(ask: BridgeEntry) -> Iterator[str]:
    for question in _dicts(ask.more.get("questions")):
        lines = [str(question.get("question") or "")]
        for option in _dicts(question.get("options")):
            words = [option.get("label"), option.get("description")]
            lines.append("- " + ": ".join(str(word) for word in words if word))
        yield "\n".join(lines)


def _values(ask: BridgeEntry, answer: BridgeEntry) -> Iterator[str]:
    """What was answered to each question, by its words where they are known."""
    values = answer.more.get("values")
    asked = _dicts(ask.more.get("questions"))
    names = {id: one.get("question") for one in asked if isinstance(id := one.get("id"), str)}
    for id, value in values.items() if isinstance(values, dict) else ():
        chosen = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        yield f"{names.get(id) or id} {chosen}"


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
