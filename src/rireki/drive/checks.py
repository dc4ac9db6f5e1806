"""What is refused before anything is stored: prompts, answers and directories that cannot be meant."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from rireki.drive.values import Ask, AskAnswer, Prompt
from rireki.errors import RirekiError

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
        raise RirekiError(
            f"{prompt.id!r} cannot be the id of a prompt",
            "Use letters, digits, '.', '_', ':' and '-', up to 128 of them.",
        )
    if not prompt.text.strip() and not prompt.images:
        raise RirekiError("the prompt is empty", "Write something first.")
    if len(prompt.text) > LONGEST:
        raise RirekiError(
            f"the prompt is too long ({len(prompt.text):,} characters)",
            "Put it in a file of the project, and mention the file.",
        )
    if sum(len(image.data) for image in prompt.images) > LARGEST:
        raise RirekiError("the images are too large", "Send fewer of them, or smaller ones.")
    for image in prompt.images:
        if image.media_type not in _IMAGES or not _BASE64.fullmatch(image.data):
            raise RirekiError(
                f"{image.name or 'an image'} is no image that can be sent ({image.media_type})",
                "PNG, JPEG, GIF and WebP can.",
            )
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
        raise RirekiError(
            f"there is no file {name} in {project}", "Mention one that is there."
        ) from error
    if not path.is_relative_to(project.resolve()):
        raise RirekiError(
            f"{name} does not lie in {project}", "Only files of the project can be mentioned."
        )
    return path.relative_to(project.resolve()).as_posix()


def checked_project(project: str, roots: Iterable[Path]) -> Path:
    """The directory, with all links followed; refused when agents may not work there."""
    path = Path(project)
    if not path.is_absolute():
        raise RirekiError(
            f"{project!r} is not an absolute path", "Begin at the root, like /home/me/x."
        )
    try:
        path = path.resolve(strict=True)
    except (OSError, ValueError) as error:
        raise RirekiError(
            f"there is no directory {project}", "Check its name, or make it."
        ) from error
    if not path.is_dir():
        raise RirekiError(f"{project} is not a directory", "Name the directory that it lies in.")
    if not os.access(path, os.R_OK | os.X_OK):
        raise RirekiError(f"{project} may not be read", "Check its permissions.")
    allowed = [root.resolve() for root in roots]
    if not any(path.is_relative_to(root) for root in allowed):
        raise RirekiError(
            f"{project} lies outside of the directories agents may work in",
            f"Allowed: {', '.join(map(str, allowed)) or 'none'}. `--root` allows another one.",
        )
    return path


def checked_start(project: Path, roots: Iterable[Path]) -> None:
    """Asked before every start of an agent, not only when its conversation began: the roots may be
    narrower now, and another directory may have taken the place of the one that was allowed."""
    found = checked_project(str(project), roots)
    if found != project:
        raise RirekiError(
            f"{project} leads to another directory now: {found}",
            "Start a new conversation there, if that is where the agent should work.",
        )


def checked_name(value: str, what: str) -> str:
    """A model, or the id of a conversation: never something that a program takes for an option."""
    if not _NAME.fullmatch(value):
        raise RirekiError(
            f"{value!r} cannot be {what}", "It begins with '-', or is no name at all."
        )
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
            f"{answer.option!r} is not among the options of {ask.title!r}",
            f"They are: {', '.join(o.id for o in ask.options)}.",
        )
    refused = chosen.kind.startswith("reject")
    more = {"option": chosen.id, "name": chosen.name, "option_kind": chosen.kind, **reason}
    return ("refused" if refused else "selected"), more


def _checked_values(ask: Ask, values: dict[str, list[str]]) -> dict[str, list[str]]:
    by_id = {question.id: question for question in ask.questions}
    for id, given in values.items():
        question = by_id.get(id)
        if question is None:
            raise RirekiError(f"there is no question {id!r} in {ask.title!r}", "Reload the page.")
        labels = {choice.label for choice in question.options}
        strange = [value for value in given if labels and value not in labels]
        if strange and not question.free:
            raise RirekiError(
                f"{strange[0]!r} is not among the answers to {question.question!r}",
                f"They are: {', '.join(sorted(labels))}.",
            )
        if len(given) > 1 and not question.multiple:
            raise RirekiError(f"only one answer is wanted to {question.question!r}", "Choose one.")
    for question in ask.questions:
        if question.required and not any(values.get(question.id, [])):
            raise RirekiError(f"{question.question!r} has to be answered", "Or refuse all of it.")
    return values
