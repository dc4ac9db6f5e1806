"""Whose a text is that stands in a person's or the model's place, how it was typed, and how tools ended."""

from __future__ import annotations

import re
from typing import Any

from rireki.model.parts import ResultStatus
from rireki.sources.kit.fields import get, items, string, words
from rireki.sources.kit.rules import TextRule, rule_of

__all__ = ["NO_ANSWER", "is_injected", "output_of", "rule_of_answer", "typed_text"]

#: Stands where an answer never came.
NO_ANSWER = "Working..."
_CANCELLED = "Tool use was cancelled by the user"
#: What the extension writes in a person's place, whatever the client's flag says, or does not say.
_OVERFLOW = TextRule(
    "put in by the extension",
    "the history was too long, and is cleared",
    "The conversation history has overflowed, clearing state",
)
_PUT_IN = TextRule("put in by the extension", "put in by the extension", "")
_PROMPTS = (
    _OVERFLOW,
    *(
        TextRule("asked to try again", "asked to try again", opens)
        for opens in (
            "There was an error processing one or more tool uses. Try again, do not apologize.",
            "Your toolUse input is incomplete, try again.",
            "You took too long to respond - try to split up the work into smaller steps.",
        )
    ),
    _PUT_IN._replace(opens="You are Amazon Q", display="fold"),
)
_ANSWERS = (
    TextRule("no answer", "no answer", NO_ANSWER, exact=True, display="hidden"),
    TextRule(
        "no answer",
        "timed out",
        "Response timed out - message took too long to generate",
        exact=True,
    ),
)
_HIDDEN = TextRule("hidden by the editor", "hidden by the editor", "", display="fold")


def is_injected(text: str, shown: Any) -> TextRule | None:
    """The rule of a prompt that nobody typed. Clients up to 2025-05 did not say so: the text tells."""
    if shown is True:
        return rule_of(text, [_OVERFLOW])
    rule = rule_of(text, _PROMPTS)
    return rule or (_PUT_IN if shown is False else None)


def rule_of_answer(text: str, shown: Any) -> TextRule | None:
    """The rule of an answer that no model gave."""
    if shown is True:
        return None
    rule = rule_of(text, _ANSWERS)
    return rule or (_HIDDEN if shown is False else None)


# ── what was typed ──

_ENTITIES = {"&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": '"', "&#39;": "'"}
_ENTITY = re.compile("|".join(map(re.escape, _ENTITIES)))
_RAW = re.compile("[<>\"']")
#: From when on prompts were escaped, and until when they may have been twice.
_ESCAPED, _ONCE = "2025-09-08", "2025-10-15"


def typed_text(text: str, at: str | None) -> str:
    """A prompt as it was typed: for the window of the editor, the client escapes it as HTML."""
    if at is None or at < _ESCAPED or _RAW.search(text):
        return text
    text = _unescaped(text)
    return _unescaped(text) if at < _ONCE and not _RAW.search(text) else text


def _unescaped(text: str) -> str:
    return _ENTITY.sub(lambda found: _ENTITIES[found[0]], text)


# ── results ──


def output_of(result: Any) -> tuple[str, ResultStatus]:
    """What a tool gave back, and how it ended."""
    failed = string(result, "status") == "error"
    texts = []
    for one in items(result, "content"):
        value = get(one, "json")
        wrapped = get(value, "output")
        if isinstance(wrapped, dict) and "content" in wrapped:
            failed = failed or wrapped.get("success") is False
            value = wrapped["content"]
        elif isinstance(value, dict) and value.keys() == {"items"}:
            value = value["items"]
        elif isinstance(value, dict) and value.keys() == {"error"}:
            failed, value = True, value["error"]
        known = isinstance(get(one, "text"), str) or (isinstance(one, dict) and "json" in one)
        texts.append(string(one, "text") if value is None and known else words(value or one))
    text = "\n".join(filter(None, texts))
    if failed and text == _CANCELLED:
        return text, "cancelled"
    return text, "error" if failed else "ok"
