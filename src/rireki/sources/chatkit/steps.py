"""Workflows and their tasks: what an agent did or thought on its way to an answer."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

from rireki.model.parts import Notice, Part, Text, Thinking, Unknown
from rireki.sources.kit.fields import get, items, string, words
from rireki.sources.kit.pending import PendingMessage, pending, unknown

__all__ = ["doubled_workflows", "reference", "task_drafts", "workflow_drafts"]


def reference(source: Any) -> str:
    """One source on one line: its title, and where it is."""
    if not isinstance(source, dict):
        return words(source)
    kind = string(source, "type")
    where = string(source, {"url": "url", "file": "filename", "entity": "id"}.get(kind, "url"))
    title = string(source, "title") or string(source, "label")
    told = [word for word in (title, where if where != title else "") if word]
    about = [words(get(source, name)) for name in ("description", "attribution", "timestamp")]
    line = " — ".join([*told, *filter(None, about)])
    return line or words(source)


DOUBLED = "Every task stood here twice, as ChatKit 1.4 wrote it; each is shown once."
_RUNNING = {"loading": " (running)"}


def doubled_workflows(rows: Sequence[dict[str, Any]]) -> set[int]:
    """Which of a thread's rows are workflows that ChatKit 1.4 wrote with every task doubled.

    One task twice in a row may have been done twice; two different ones, each of them twice,
    are the store's doing. From a list of another shape on, a later version wrote.
    """
    doubled: set[int] = set()
    certain = False
    for place, row in enumerate(rows):
        tasks = _tasks(row)
        if not tasks:
            continue
        if tasks[::2] != tasks[1::2]:
            break
        doubled.add(place)
        certain = certain or any(task != tasks[0] for task in tasks)
    return doubled if certain else set()


def workflow_drafts(name: str, item: dict[str, Any], doubled: bool) -> list[PendingMessage]:
    """Folded thinking: the steps of a model's reasoning, or those that the app told of."""
    workflow, tasks = item.get("workflow"), _tasks(item)
    if not isinstance(workflow, dict) or tasks is None:
        return [unknown(name, "workflow", workflow)]
    parts = [part for task in (tasks[::2] if doubled else tasks) for part in _parts(task)]
    parts += [Notice(DOUBLED)] if doubled else []
    reasoning = workflow.get("type") == "reasoning"
    draft = pending(
        name,
        "agent",
        "fold",
        parts,
        "reasoning" if reasoning else "workflow",
        label=_label(workflow, reasoning),
        flags=("doubled tasks",) if doubled else (),
    )
    return [draft]


def task_drafts(name: str, item: dict[str, Any]) -> list[PendingMessage]:
    task = item.get("task")
    if not isinstance(task, dict):
        return [unknown(name, "task", task)]
    title = string(task, "title") or string(task, "title_query") or string(task, "type")
    label = f"task: {title}{_RUNNING.get(string(task, 'status_indicator'), '')}"
    return [pending(name, "agent", "fold", _parts(task), "task", label=label)]


def _tasks(item: dict[str, Any]) -> list[Any] | None:
    tasks = get(item.get("workflow"), "tasks")
    return tasks if isinstance(tasks, list) else None


def _label(workflow: dict[str, Any], reasoning: bool) -> str:
    summary = workflow.get("summary")
    title, seconds = string(summary, "title"), get(summary, "duration")
    if title:
        return title
    what = "thought" if reasoning else "worked"
    if isinstance(seconds, int | float) and not isinstance(seconds, bool) and isfinite(seconds):
        return f"{what} for {_duration(int(seconds))}"
    return "thinking" if reasoning else "steps"


def _duration(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _parts(task: Any) -> list[Part]:
    kind = string(task, "type")
    title = string(task, "title")
    if kind == "thought":
        return [Thinking("\n\n".join(filter(None, [title, words(get(task, "content"))])))]
    if kind == "custom":
        lines = [title, words(get(task, "content"))]
    elif kind == "web_search":
        asked = [words(query) for query in items(task, "queries")]
        head = title or string(task, "title_query") or "web search"
        lines = [f"{head}: {', '.join(asked)}" if asked else head, *_found(task)]
    elif kind == "file":
        lines = [title or "file", *_found(task)]
    elif kind == "image":
        lines = [title or "image"]
    else:
        return [Unknown(f"task: {kind}" if kind else "task", task)]
    text = "\n".join(filter(None, lines))
    return [Text(text)] if text else []


def _found(task: Any) -> list[str]:
    return [f"- {reference(source)}" for source in items(task, "sources")]
