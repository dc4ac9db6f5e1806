"""The rows of the table in `classify.py`, told in words: why an entry is shown as it is."""

from __future__ import annotations

__all__ = ["REASONS"]

REASONS = {
    "1": "result of a tool",
    "1a": "a person refused, in their words",
    "1b": "a person answered a question",
    "1c": "a person decided about a plan",
    "2": "written by the agent that started this one",
    "3": "summary of a compacted context",
    "4": "skill that the model loaded",
    "5": "text of a command that was typed",
    "6": "caveat before the output of commands",
    "7": "path of a pasted picture",
    "8": "hook that sent the agent on",
    "9": "put in by the program",
    "10": "sent by something else than a person",
    "11": "a background task ended",
    "12": "sent by another agent",
    "13": "command that was typed",
    "14": "output of a command",
    "15": "shell command that was typed, or its output",
    "16": "a person interrupted",
    "17": "context that an editor or a loop put in",
    "18": "note that was typed for the memory",
    "19": "typed prompt with a picture",
    "20": "typed prompt",
    "A1": "typed while the agent worked",
    "A2": "queued by something else than a person",
    "A3": "typed, and never sent",
    "A4": "output of a hook",
    "A5": "file or folder that a prompt mentions",
    "A6": "context for the model",
    "S1": "unknown command that was typed",
    "S2": "notice of the program",
    "answer": "answer of the model",
    "api error": "error in place of an answer",
    "filler": "put in where no answer was wanted",
    "unknown": "not understood",
}
