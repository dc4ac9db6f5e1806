"""Workflows and their tasks: what an agent did or thought on its way to an answer."""

from __future__ import annotations

from typing import Any

from rireki.model.parts import Notice, Part, Text, Thinking, Unknown
from rireki.sources.chatkit.draft import Draft, make, unknown
from rireki.sources.chatkit.fields import get, items, string, words
from rireki.sources.chatkit.references import reference

__all__ = ["task_drafts", "workflow_drafts"]

DOUBLED = "Every task stood here twice, as ChatKit 1.4 wrote it; each is shown once."
_RUNNING = {"loading": " (running)"}


def workflow_drafts(name: str, item: dict[str, Any]) -> list[Draft]:
    """Folded thinking: the steps of a model's reasoning, or those that the app told of."""
    workflow = item.get("workflow")
    if not isinstance(workflow, dict) or not isinstance(workflow.get("tasks"), list):
        return [unknown(name, "workflow", workflow)]
    tasks, doubled = _once(workflow["tasks"])
    parts = [part for task in tasks for part in _parts(task)]
    parts += [Notice(DOUBLED)] if doubled else []
    reasoning = workflow.get("type") == "reasoning"
    draft = make(
        name,
        "agent",
        "fold",
        parts,
        "reasoning" if reasoning else "workflow",
        label=_label(workflow, reasoning),
        flags=("doubled tasks",) if doubled else (),
    )
    return [draft]


def task_drafts(name: str, item: dict[str, Any]) -> list[Draft]:
    task = item.get("task")
    if not isinstance(task, dict):
        return [unknown(name, "task", task)]
    title = string(task, "title") or string(task, "title_query") or string(task, "type")
    label = f"task: {title}{_RUNNING.get(string(task, 'status_indicator'), '')}"
    return [make(name, "agent", "fold", _parts(task), "task", label=label)]


def _once(tasks: list[Any]) -> tuple[list[Any], bool]:
    """The tasks without their doubles; only where each of them stands twice in a row."""
    firsts, seconds = tasks[::2], tasks[1::2]
    return (firsts, True) if tasks and firsts == seconds else (tasks, False)


def _label(workflow: dict[str, Any], reasoning: bool) -> str:
    summary = workflow.get("summary")
    title, seconds = string(summary, "title"), get(summary, "duration")
    if title:
        return title
    what = "thought" if reasoning else "worked"
    if isinstance(seconds, int | float) and not isinstance(seconds, bool):
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
