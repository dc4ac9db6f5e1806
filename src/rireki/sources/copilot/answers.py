"""What the response of a chat in VS Code says: words, thoughts, calls and their results, changed files.

The items of a response are made for the screen; what the model really called for, and what it got back, is
in the metadata of the result, under the same ids.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from rireki.model.parts import (
    Notice,
    Part,
    ResultStatus,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from rireki.sources.kit.decode import json_in
from rireki.sources.kit.fields import get, items, string, words

__all__ = ["ChatResponse", "read_response"]

#: Marks on the way of an answer, which say nothing themselves.
_SILENT = frozenset(
    (
        *("undoStop", "codeblockUri", "prepareToolInvocation", "references", "codeCitation"),
        *("progressMessage", "progressTask", "progressTaskSerialized", "progressTaskResult"),
        *("mcpServersStarting", "mcpServersStartingSerialized", "clearToPreviousToolInvocation"),
        *("command", "usedContext", "move", "externalToolInvocationUpdate", "hook"),
    )
)
_TEXTS = ("", "markdownContent", "markdownVuln", "treeData")
_CALLS = ("toolInvocationSerialized", "toolInvocation")
_EDITS = ("textEditGroup", "notebookEditGroup", "textEdit", "workspaceEdit")
#: Tools whose confirmation was refused, or skipped, as numbers of VS Code.
_REFUSED = (0, 5)


@dataclass(slots=True)
class ChatResponse:
    """A response, taken apart."""

    parts: list[Part] = field(default_factory=list)
    results: dict[str, ToolResult] = field(default_factory=dict)
    #: Changed files, each with what is new in it.
    edits: list[str] = field(default_factory=list)
    #: What sub-agents did, by the call that started them.
    agents: dict[str, ChatResponse] = field(default_factory=dict)
    #: What a call says about the sub-agent it started.
    tasks: dict[str, Any] = field(default_factory=dict)

    def add_text(self, text: str) -> None:
        """Pieces of text that follow each other are one."""
        if text and self.parts and isinstance(last := self.parts[-1], Text):
            self.parts[-1] = Text(last.text + text)
        elif text:
            self.parts.append(Text(text))


def read_response(request: Any) -> ChatResponse:
    metadata = get(request, "result", "metadata")
    rounds = items(metadata, "toolCallRounds")
    calls = {
        call_id(string(call, "id")): call for one in rounds for call in items(one, "toolCalls")
    }
    results = get(metadata, "toolCallResults")
    outputs = {
        call_id(id): _output(result)
        for id, result in (results.items() if isinstance(results, dict) else ())
    }
    response = ChatResponse()
    ids = _ids_of_calls(request, calls)
    for item in _items(request):
        agent = call_id(string(item, "subAgentInvocationId"))
        into = response.agents.setdefault(agent, ChatResponse()) if agent else response
        _add(into, _renamed(item, ids), calls, outputs)
    _add_rounds(response, rounds, calls, outputs)
    return response


def call_id(id: str) -> str:
    """VS Code adds a number of its own."""
    return id.partition("__vscode-")[0]


def _ids_of_calls(request: Any, calls: dict[str, Any]) -> dict[str, str]:
    """The ids that the model gave to calls, by those on the screen, where the editor made up its own."""
    shown = [
        call_id(string(item, "toolCallId"))
        for item in _items(request)
        if string(item, "kind") in _CALLS and not string(item, "subAgentInvocationId")
    ]
    made_up = [id for id in shown if id not in calls]
    left = [id for id in calls if id not in shown]
    # Only where it is plain which is which.
    return dict(zip(made_up, left, strict=True)) if len(made_up) == len(left) else {}


def _renamed(item: Any, ids: dict[str, str]) -> Any:
    id = ids.get(call_id(string(item, "toolCallId")))
    return item | {"toolCallId": id} if id else item


def _items(request: Any) -> list[Any]:
    """Very old chats have one text for a response, or texts."""
    found = get(request, "response")
    if isinstance(found, list):
        return found
    return [] if found is None else [found]


def _add(response: ChatResponse, item: Any, calls: dict[str, Any], outputs: dict[str, str]) -> None:
    kind = string(item, "kind")
    if isinstance(item, str):
        response.add_text(item)
    elif isinstance(item, dict) and kind in _TEXTS and _text(item):
        response.add_text(_text(item))
    elif kind == "inlineReference":
        response.add_text(_reference(item))
    elif kind == "thinking":
        value = get(item, "value")
        thought = "".join(map(words, value)) if isinstance(value, list) else words(value)
        response.parts += [Thinking(thought)] if thought else []
    elif kind in _CALLS:
        _add_call(response, item, calls, outputs)
    elif kind in _EDITS:
        response.edits.append(_edit(item))
    elif kind in ("confirmation", "elicitation", "elicitationSerialized", "warning"):
        told = "\n".join(filter(None, (_words(item, "title"), _words(item, "message"))))
        response.parts.append(Notice(told or _text(item) or kind))
    elif kind not in _SILENT and not (kind in _TEXTS and item == {}):
        response.parts.append(Unknown(kind or "response", item))


def _add_call(
    response: ChatResponse, item: dict[str, Any], calls: dict[str, Any], outputs: dict[str, str]
) -> None:
    id = call_id(string(item, "toolCallId"))
    call = calls.get(id)
    name = string(call, "name") or string(item, "toolId")
    specific = get(item, "toolSpecificData")
    arguments = (
        json_in(get(call, "arguments")) if call is not None else _shown_input(item, specific)
    )
    response.parts.append(ToolCall(id, name, arguments))
    if string(specific, "kind") == "subagent":
        response.tasks[id] = specific
    output = outputs.get(id)
    if output is not None or get(item, "isComplete") or get(item, "resultDetails"):
        told = _shown_output(item, specific) if output is None else output
        response.results[id] = ToolResult(id, _status(item, specific), told)


def _add_rounds(
    response: ChatResponse, rounds: list[Any], calls: dict[str, Any], outputs: dict[str, str]
) -> None:
    """Calls and thoughts that were not shown: each call after the one before it."""
    if not any(isinstance(part, Thinking) for part in response.parts):
        thoughts = [words(get(one, "thinking", "text")) for one in rounds]
        response.parts[:0] = [Thinking(thought) for thought in thoughts if thought]
    if not response.parts:
        for one in rounds:
            response.add_text(string(one, "response"))
    shown = {part.call_id for part in response.parts if isinstance(part, ToolCall)}
    before = ""
    for id, call in calls.items():
        if id not in shown:
            part = ToolCall(id, string(call, "name"), json_in(get(call, "arguments")))
            response.parts.insert(_place_after(response.parts, before), part)
            if id in outputs:
                response.results[id] = ToolResult(id, "ok", outputs[id])
        before = id


def _place_after(parts: list[Part], call: str) -> int:
    """Behind a call; before the first one where there is none."""
    places = [n for n, part in enumerate(parts) if isinstance(part, ToolCall)]
    after = [n + 1 for n in places if (part := parts[n]) and getattr(part, "call_id", "") == call]
    return after[0] if after else places[0] if places else len(parts)


# ── items ──


def _text(item: Any) -> str:
    """A text, or a text of Markdown with what VS Code notes about it."""
    found = get(item, "value")
    if found is None:
        found = get(item, "content")
    return found if isinstance(found, str) else string(found, "value")


def _words(item: Any, name: str) -> str:
    found = get(item, name)
    return found if isinstance(found, str) else string(found, "value")


def _reference(item: Any) -> str:
    """A name inside a sentence: of a symbol, or of a file."""
    target = get(item, "inlineReference")
    if isinstance(target, str):
        path = target
    else:
        uri = get(target, "uri") or get(target, "location", "uri") or target
        path = string(uri, "path") or string(uri, "fsPath") or string(uri, "external")
    last = path.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return string(item, "name") or string(target, "name") or last


def _edit(item: Any) -> str:
    uri = get(item, "uri")
    path = string(uri, "fsPath") or string(uri, "path") or words(uri)
    return "\n".join([path, *_texts(get(item, "edits"), "text")])


def _texts(value: Any, name: str) -> Iterator[str]:
    """Every text of this name in a tree; what is no tree has none."""
    stack = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, list):
            stack += reversed(one)
        elif isinstance(one, dict):
            if isinstance(one.get(name), str):
                yield one[name]
            stack += reversed([each for each in one.values() if isinstance(each, dict | list)])


def _shown_input(item: Any, specific: Any) -> Any:
    """What is known of a call that the metadata does not have."""
    if (raw := get(specific, "rawInput")) is not None:
        return raw
    line = get(specific, "commandLine")
    command = string(line, "userEdited") or string(line, "original") or string(specific, "command")
    if command:
        return {"command": command}
    details = get(item, "resultDetails")
    told = json_in(get(details, "input")) or _words(item, "invocationMessage")
    return told if isinstance(told, dict) else {"message": told} if told else None


def _shown_output(item: Any, specific: Any) -> str:
    output = get(item, "resultDetails", "output")
    texts = [words(get(one, "value")) for one in output] if isinstance(output, list) else []
    texts += [string(get(specific, "terminalCommandOutput"), "text"), string(specific, "result")]
    return "\n".join(filter(None, texts)) or _words(item, "pastTenseMessage")


def _status(item: Any, specific: Any) -> ResultStatus:
    confirmed = get(item, "isConfirmed")
    if confirmed is False or get(confirmed, "type") in _REFUSED:
        return "cancelled"
    code = get(specific, "terminalCommandState", "exitCode")
    failed = get(item, "resultDetails", "isError") is True or (isinstance(code, int) and code != 0)
    return "error" if failed else "ok"


def _output(result: Any) -> str:
    """The texts of a result; some are trees made for a prompt."""
    content = items(result, "content") or [result]
    said: list[str] = []
    for one in content:
        value = get(one, "value")
        if isinstance(value, dict):
            said.append("".join(_texts(value, "text")))
        elif value is not None:
            said.append(words(value))
        elif string(one, "mimeType"):
            said.append(f"[{string(one, 'mimeType')}]")
        elif one:
            said.append(words(one))
    return "\n".join(filter(None, said))
