"""Calls of Claude Code's tools with the two forms of their results: the model's and the program's."""

from __future__ import annotations

import difflib
from typing import Any

from rireki.intake.demo.steps import DemoAnswer, DemoCall, Json, SubAgent

__all__ = ["ask", "bash", "denied", "edit", "patch", "read", "start_agent", "write"]

_CURRENT = "(file state is current in your context — no need to Read it back)"
_REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected "
    "(eg. if it was a file edit, the new_string was NOT written to the file). "
    "To tell you how to proceed, the user said:\n"
)


def bash(command: str, why: str, output: str, *, failed: int = 0, meanwhile: str = "") -> DemoCall:
    given: Json = {"command": command, "description": why}
    if failed:
        text = f"Exit code {failed}\n{output}"
        return DemoCall("Bash", given, text, f"Error: {text}", error=True, meanwhile=meanwhile)
    rich = {
        "stdout": output,
        "stderr": "",
        "interrupted": False,
        "isImage": False,
        "noOutputExpected": False,
    }
    return DemoCall("Bash", given, output, rich, meanwhile=meanwhile)


def read(path: str, content: str) -> DemoCall:
    lines = content.split("\n")
    numbered = "\n".join(f"{number}\t{line}" for number, line in enumerate(lines, 1))
    file: Json = {
        "filePath": path,
        "content": content,
        "numLines": len(lines),
        "startLine": 1,
        "totalLines": len(lines),
    }
    return DemoCall("Read", {"file_path": path}, numbered, {"type": "text", "file": file})


def write(path: str, content: str) -> DemoCall:
    rich: Json = {
        "type": "create",
        "filePath": path,
        "content": content,
        "structuredPatch": [],
        "originalFile": None,
        "userModified": False,
    }
    said = f"File created successfully at: {path} {_CURRENT}"
    return DemoCall("Write", {"file_path": path, "content": content}, said, rich)


def edit(path: str, before: str, old: str, new: str) -> DemoCall:
    """An edit of a file whose whole text was `before`."""
    if before.count(old) != 1:
        raise ValueError(f"{old!r} is not exactly once in the file")
    given: Json = {"replace_all": False, "file_path": path, "old_string": old, "new_string": new}
    rich: Json = {
        "filePath": path,
        "oldString": old,
        "newString": new,
        "originalFile": before,
        "structuredPatch": patch(before, before.replace(old, new)),
        "userModified": False,
        "replaceAll": False,
    }
    said = f"The file {path} has been updated successfully. {_CURRENT}"
    return DemoCall("Edit", given, said, rich)


def patch(before: str, after: str) -> list[Json]:
    """The hunks between two texts, with three lines around each."""
    old, new = before.splitlines(), after.splitlines()
    groups = difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(3)
    return [_hunk(old, new, group) for group in groups]


def _hunk(old: list[str], new: list[str], group: list[tuple[str, int, int, int, int]]) -> Json:
    lines: list[str] = []
    for tag, old_start, old_end, new_start, new_end in group:
        if tag == "equal":
            lines += [" " + line for line in old[old_start:old_end]]
            continue
        lines += ["-" + line for line in old[old_start:old_end]]
        lines += ["+" + line for line in new[new_start:new_end]]
    first, last = group[0], group[-1]
    return {
        "oldStart": first[1] + 1,
        "oldLines": last[2] - first[1],
        "newStart": first[3] + 1,
        "newLines": last[4] - first[3],
        "lines": lines,
    }


def ask(question: str, header: str, options: dict[str, str], answer: str) -> DemoCall:
    """A question with choices, and what the person chose."""
    choices = [{"label": label, "description": text} for label, text in options.items()]
    asked: list[Any] = [
        {"question": question, "header": header, "options": choices, "multiSelect": False}
    ]
    said = (
        f'Your questions have been answered: "{question}"="{answer}". '
        "You can now continue with these answers in mind."
    )
    rich: Json = {"questions": asked, "answers": {question: answer}, "annotations": {}}
    return DemoCall("AskUserQuestion", {"questions": asked}, said, rich)


def denied(call: DemoCall, reason: str) -> DemoCall:
    """A call that the person did not allow, and why."""
    text = _REFUSED + reason
    return DemoCall(call.tool, call.input, text, f"Error: {text}", error=True)


def start_agent(
    kind: str, description: str, prompt: str, *steps: DemoAnswer, meanwhile: str = ""
) -> DemoCall:
    given: Json = {"description": description, "prompt": prompt, "subagent_type": kind}
    agent = SubAgent(kind, description, prompt, steps)
    return DemoCall("Agent", given, steps[-1].text, agent=agent, meanwhile=meanwhile)
