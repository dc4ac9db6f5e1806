"""What is refused before anything is stored: prompts, answers and directories that cannot be meant."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from rireki.drive.values import Ask, AskAnswer, Prompt
from rireki.errors import RirekiError, Wording

__all__ = [
    "Outcome",
    "checked_name",
    "checked_project",
    "checked_prompt",
    "checked_start",
    "outcome_of",
]

Outcome: TypeAlias = Literal["selected", "refused", "answered"]

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")
#: Something that is put in an argument or a request: a word, nothing that looks like an option.
_NAME = re.compile(r"[^\s\-\x00-\x1f][^\x00-\x1f]{0,299}")
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_IMAGES = {"image/png", "image/jpeg", "image/gif", "image/webp"}
#: Characters of a prompt, and of its images in base64.
LONGEST = 2_000_000
LARGEST = 30_000_000


def checked_prompt(prompt: Prompt, project: str) -> dict[str, Any]:
    """The fields of its entry besides id and text."""
    if not _ID.fullmatch(prompt.id):
        raise RirekiError("bad-prompt-id", id=prompt.id)
    if not prompt.text.strip() and not prompt.images:
        raise RirekiError("empty-prompt")
    if len(prompt.text) > LONGEST:
        raise RirekiError("prompt-too-long", n=len(prompt.text))
    if sum(len(image.data) for image in prompt.images) > LARGEST:
        raise RirekiError("images-too-large")
    for image in prompt.images:
        if image.media_type not in _IMAGES or not _BASE64.fullmatch(image.data):
            name = image.name or Wording("an-image")
            raise RirekiError("bad-image", name=name, type=image.media_type)
    more: dict[str, Any] = {}
    if prompt.images:
        more["images"] = msgspec.to_builtins(prompt.images)
    if prompt.mentions:
        more["mentions"] = [_mentioned(name, Path(project)) for name in prompt.mentions]
    return more


def _mentioned(name: str, project: Path) -> str:
    try:
        path = (project / name).resolve(strict=True)
    except (OSError, ValueError) as error:
        raise RirekiError("no-such-mention", name=name, project=project) from error
    if not path.is_relative_to(project.resolve()):
        raise RirekiError("mention-outside", name=name, project=project)
    return path.relative_to(project.resolve()).as_posix()


def checked_project(project: str, roots: Iterable[Path]) -> Path:
    """The directory, with all links followed; refused when agents may not work there."""
    path = Path(project)
    if not path.is_absolute():
        raise RirekiError("path-not-absolute", path=project)
    try:
        path = path.resolve(strict=True)
    except (OSError, ValueError) as error:
        raise RirekiError("no-such-directory", path=project) from error
    if not path.is_dir():
        raise RirekiError("not-a-directory", path=project)
    if not os.access(path, os.R_OK | os.X_OK):
        raise RirekiError("directory-unreadable", path=project)
    allowed = [root.resolve() for root in roots]
    if not any(path.is_relative_to(root) for root in allowed):
        names = [*allowed] or Wording("no-directory")
        raise RirekiError("directory-not-allowed", path=project, names=names)
    return path


def checked_start(project: Path, roots: Iterable[Path]) -> None:
    """Asked before every start of an agent, not only when its conversation began: the roots may be
    narrower now, and another directory may have taken the place of the one that was allowed."""
    found = checked_project(str(project), roots)
    if found != project:
        raise RirekiError("project-moved", project=project, found=found)


def checked_name(value: str, code: str) -> str:
    """A model, or the id of a conversation: never something that a program takes for an option."""
    if not _NAME.fullmatch(value):
        raise RirekiError(code, value=value)
    return value


def outcome_of(ask: Ask, answer: AskAnswer) -> tuple[Outcome, dict[str, Any]]:
    """How an answer ends an ask, and the fields of its entry; refused when it does not fit."""
    reason = {"reason": answer.reason} if answer.reason else {}
    if ask.questions:
        if answer.values is None:
            return "refused", reason
        return "answered", {"values": _checked_values(ask, answer.values), **reason}
    if answer.option is None:
        refusals = [o for o in ask.options if o.kind.startswith("reject")]
        named = {"option": refusals[0].id, "name": refusals[0].name} if refusals else {}
        return "refused", {**named, **reason}
    chosen = next((o for o in ask.options if o.id == answer.option), None)
    if chosen is None:
        raise RirekiError(
            "no-such-option",
            option=answer.option,
            title=ask.title,
            names=[o.id for o in ask.options],
        )
    refused = chosen.kind.startswith("reject")
    more = {"option": chosen.id, "name": chosen.name, "option_kind": chosen.kind, **reason}
    return ("refused" if refused else "selected"), more


def _checked_values(ask: Ask, values: dict[str, list[str]]) -> dict[str, list[str]]:
    by_id = {question.id: question for question in ask.questions}
    for id, given in values.items():
        question = by_id.get(id)
        if question is None:
            raise RirekiError("no-such-question", id=id, title=ask.title)
        labels = {choice.label for choice in question.options}
        strange = [value for value in given if labels and value not in labels]
        if strange and not question.free:
            raise RirekiError(
                "no-such-answer",
                answer=strange[0],
                question=question.question,
                names=sorted(labels),
            )
        if len(given) > 1 and not question.multiple:
            raise RirekiError("one-answer-only", question=question.question)
    for question in ask.questions:
        if question.required and not any(values.get(question.id, [])):
            raise RirekiError("answer-missing", question=question.question)
    return values
