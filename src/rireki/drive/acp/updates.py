"""What an agent of the protocol streams, told to a sink in our words.

Reads the messages as they came: a field that is missing or strange costs that field, not the
message. Knows no process.
"""

from __future__ import annotations

import json
from typing import Any, Literal

from rireki.drive.driver import Sink
from rireki.drive.values import Mode

__all__ = ["Updates", "diffs_of", "shown"]

_ENDED: dict[str, Literal["ok", "error"]] = {"completed": "ok", "failed": "error"}


class Updates:
    def __init__(self, sink: Sink) -> None:
        #: While an old conversation is loaded the agent repeats it: nothing of that is new.
        self.replaying = False
        #: How many updates came so far.
        self.heard = 0
        self.models: list[Mode] = []
        self.model: str | None = None
        self.modes: list[Mode] = []
        self.mode: str | None = None
        self._sink = sink
        #: The calls that have a name: the first one told of each may be a question whether it may run.
        self._named: set[str] = set()
        #: The option by which the model is chosen; None where there is a request for it.
        self._model_option: str | None = None
        self._kinds = {
            "agent_message_chunk": self._text,
            "agent_thought_chunk": self._thought,
            "tool_call": self.call,
            "tool_call_update": self.call,
            "plan": self._plan,
            "usage_update": self._usage,
        }

    def take(self, update: dict[str, Any]) -> None:
        self.heard += 1
        kind = update.get("sessionUpdate")
        if kind == "config_option_update":
            self._options(update)
        elif kind == "current_mode_update":
            self.mode_chosen(_text_or_none(update.get("currentModeId")))
        elif not self.replaying and not _of_a_helper(update):
            take = self._kinds.get(kind) if isinstance(kind, str) else None
            if take is not None:
                take(update)

    # ── what it says and does ──

    def _text(self, update: dict[str, Any]) -> None:
        self._sink.text(_said(update), message=_text_or_none(update.get("messageId")))

    def _thought(self, update: dict[str, Any]) -> None:
        self._sink.thought(_said(update), message=_text_or_none(update.get("messageId")))

    def call(self, update: dict[str, Any]) -> None:
        """A call, or more about one, or its end."""
        id = update.get("toolCallId")
        if not isinstance(id, str) or not id:
            return
        content = update.get("content")
        title, kind = _text_or_none(update.get("title")), _text_or_none(update.get("kind"))
        name = _tool_name(update)
        if id not in self._named:
            self._named.add(id)
            name = name or kind or title or "tool"
        self._sink.call(
            id,
            name=name,
            title=title,
            tool=kind,
            arguments=update.get("rawInput"),
            diffs=diffs_of(content) or None,
        )
        status = _ENDED.get(str(update.get("status")))
        if status is not None:
            self._sink.result(id, status, _output(update))

    def _plan(self, update: dict[str, Any]) -> None:
        entries = update.get("entries")
        if isinstance(entries, list):
            known = [entry for entry in entries if isinstance(entry, dict)]
            keys = ("content", "status", "priority")
            self._sink.plan([{key: entry[key] for key in keys if key in entry} for entry in known])

    def _usage(self, update: dict[str, Any]) -> None:
        numbers = {key: update[key] for key in ("used", "size") if isinstance(update.get(key), int)}
        if numbers:
            self._sink.usage(numbers)

    # ── what it offers ──

    def offered(self, said: dict[str, Any]) -> None:
        """The answer to a request that begins a conversation."""
        modes = said.get("modes")
        if isinstance(modes, dict):
            self.modes = _modes(modes.get("availableModes"), "id")
            self.mode_chosen(_text_or_none(modes.get("currentModeId")))
        models = said.get("models")
        if isinstance(models, dict):
            self.models = _modes(models.get("availableModels"), "modelId")
            self._tell_models(_text_or_none(models.get("currentModelId")))
        self._options(said)

    def _options(self, said: dict[str, Any]) -> None:
        options = said.get("configOptions")
        found: dict[str, dict[str, Any]] = {}
        for option in options if isinstance(options, list) else []:
            if isinstance(option, dict) and isinstance(id := option.get("id"), str):
                category = option.get("category")
                if "model" in (category, id) and category in ("model", None):
                    found[id] = option
        # Who makes the model may be an option of the same category.
        id = "model" if "model" in found else next(iter(found), "")
        if id:
            self._model_option = id
            self.models = _modes(_flat(found[id].get("options")), "value")
            self._tell_models(_text_or_none(found[id].get("currentValue")))

    def choosing(self, session: str, model: str) -> tuple[str, dict[str, Any]] | None:
        """The request that chooses a model; None when the agent offers no choice."""
        if self._model_option is not None:
            params = {"sessionId": session, "configId": self._model_option, "value": model}
            return "session/set_config_option", params
        if self.models:
            return "session/set_model", {"sessionId": session, "modelId": model}
        return None

    def chosen(self, said: dict[str, Any], model: str) -> None:
        self._tell_models(model)
        self._options(said)

    def mode_chosen(self, mode: str | None) -> None:
        self.mode = mode
        self._sink.modes(self.modes, mode)

    def _tell_models(self, current: str | None) -> None:
        self.model = current
        self._sink.models(self.models, current)


def diffs_of(content: Any) -> list[dict[str, Any]]:
    """The changes of files among the contents of a call."""
    return [
        {"path": item.get("path"), "old": item.get("oldText"), "new": item.get("newText")}
        for item in (content if isinstance(content, list) else [])
        if isinstance(item, dict) and item.get("type") == "diff"
    ]


def shown(content: Any) -> str:
    """A block of content as text."""
    if not isinstance(content, dict):
        return ""
    kind = content.get("type")
    if kind == "text":
        return _text_or_none(content.get("text")) or ""
    if kind == "resource_link":
        return f"[{content.get('name') or content.get('uri')}]({content.get('uri')})"
    if kind == "resource":
        resource = content.get("resource")
        return (
            str(resource.get("text") or resource.get("uri")) if isinstance(resource, dict) else ""
        )
    return f"[{kind}]" if isinstance(kind, str) else ""


def _said(update: dict[str, Any]) -> str:
    return shown(update.get("content"))


def _output(update: dict[str, Any]) -> str:
    """What a call gave back: as the tool said it, else as the agent shows it."""
    raw = update.get("rawOutput")
    if isinstance(raw, str):
        return raw
    if isinstance(raw, list) and raw:
        texts = [shown(item) for item in raw]
        if any(texts):
            return "\n".join(texts)
    content = update.get("content")
    items = content if isinstance(content, list) else []
    texts = [shown(item.get("content")) for item in items if isinstance(item, dict)]
    if any(texts):
        return "\n".join(text for text in texts if text)
    return "" if raw in (None, [], {}) else json.dumps(raw, ensure_ascii=False)


def _of_a_helper(update: dict[str, Any]) -> bool:
    """Whether it comes from an agent that the agent started: those have transcripts of their own."""
    return bool(_claude(update).get("parentToolUseId"))


def _tool_name(update: dict[str, Any]) -> str | None:
    return _text_or_none(_claude(update).get("toolName"))


def _claude(update: dict[str, Any]) -> dict[str, Any]:
    meta = update.get("_meta")
    claude = meta.get("claudeCode") if isinstance(meta, dict) else None
    return claude if isinstance(claude, dict) else {}


def _modes(offered: Any, key: str) -> list[Mode]:
    return [
        Mode(item[key], str(item.get("name") or item[key]), str(item.get("description") or ""))
        for item in (offered if isinstance(offered, list) else [])
        if isinstance(item, dict) and isinstance(item.get(key), str)
    ]


def _flat(options: Any) -> list[Any]:
    """Options may stand in groups."""
    items = options if isinstance(options, list) else []
    grouped = [
        item["options"]
        if isinstance(item, dict) and isinstance(item.get("options"), list)
        else [item]
        for item in items
    ]
    return [item for group in grouped for item in group]


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
