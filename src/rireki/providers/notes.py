"""Every code that a report or a list of problems can hold, with what it means and what helps."""

from __future__ import annotations

from rireki.providers.neutral import Note

__all__ = ["CODES", "Notes"]

#: code: what helps. The page docs/providers.md explains them one by one.
CODES: dict[str, str] = {
    "arguments-unfinished": "The copy carries the unfinished text as the argument `unfinished`.",
    "broken-characters": "The copy has U+FFFD in place of half a surrogate pair.",
    "call-interrupted": "The copy answers the call with a marked error; repair() records that.",
    "call-misplaced": "The copy tells the call as text: only the assistant can call tools.",
    "empty-dropped": "The copy leaves the empty text out.",
    "empty-result": "The copy says '(no output)' instead.",
    "ends-with-assistant": "Add the user's next message before you send, or give encode a `nudge`.",
    "error-as-text": "The copy begins the result with 'Error:'.",
    "id-changed": "The copy uses another id for the call and its result.",
    "media-as-text": "The copy tells in words what stood here; send it in a form the provider takes.",
    "media-moved": "The copy shows it after the results, in the user's name.",
    "name-changed": "The copy writes the tool's name with the characters the provider allows.",
    "not-carried": "Only the provider it came from understands this; the copy leaves it out.",
    "opaque-as-text": "The copy tells it in words.",
    "opaque-dropped": "Only the provider it came from can use this; the copy leaves it out.",
    "orphan-result": "The copy tells the result as text: no call before it has its id.",
    "result-moved": "The copy has the result directly after its call.",
    "same-role": "The copy puts neighbours of one role together.",
    "signed-by-nobody": "The copy has the signature Gemini accepts for calls it did not make.",
    "starts-with-assistant": "The copy begins with a short user turn.",
    "system-among-messages": "The copy has it as user text between <system> tags.",
    "thinking-as-text": "The copy has it as text between <thinking> tags.",
    "thinking-dropped": "The copy leaves it out.",
    "thinking-leads-nowhere": "The copy leaves out reasoning that nothing followed.",
    "trailing-space": "The copy ends without it.",
}


class Notes:
    """Collects notes for a report, or for nobody."""

    def __init__(self, report: list[Note] | None = None) -> None:
        self.report = report
        self.wanted = report is not None

    def add(self, code: str, place: int, message: str) -> None:
        if self.report is not None:
            self.report.append(Note(code, place, message))
