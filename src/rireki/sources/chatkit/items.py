"""What each type of thread item becomes: the classification table of this source.

| item | author | display |
|---|---|---|
| user_message | person | bubble; starts a turn |
| assistant_message, widget with a copy text, generated_image | agent | bubble |
| client_tool_call | agent, and the result as tool | bubble, fold |
| structured_input | agent, and the choice as person | bubble |
| workflow, task, widget without a copy text | agent | fold |
| hidden_context_item, sdk_hidden_context, end_of_turn | harness | hidden |
| anything else | harness | fold |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from rireki.model.parts import Attachment, Notice, Part, Text, ToolCall, ToolResult, Unknown
from rireki.sources.chatkit.steps import reference, task_drafts, workflow_drafts
from rireki.sources.chatkit.uploads import ThreadPictures
from rireki.sources.kit.fields import get, items, string, words
from rireki.sources.kit.pending import PendingMessage, pending, unknown

__all__ = ["drafts_of"]

_CANCELLED = "The user cancelled the stream"


def drafts_of(
    name: str, item: dict[str, Any], pictures: ThreadPictures, doubled: bool
) -> list[PendingMessage]:
    """The messages of one item, their ids beginning with its name; of `doubled` tasks, each once."""
    kind = string(item, "type")
    if kind == "generated_image":
        return _image(name, item, pictures)
    if kind == "user_message":
        return _user(name, item, pictures)
    if kind == "workflow":
        return workflow_drafts(name, item, doubled)
    build = _BUILD.get(kind)
    return build(name, item) if build else [unknown(name, kind or "item without a type", item)]


# ── a person ──


def _user(name: str, item: dict[str, Any], pictures: ThreadPictures) -> list[PendingMessage]:
    quote = string(item, "quoted_text")
    parts: list[Part] = [Text(_quoted(quote))] if quote.strip() else []
    parts += _typed(item.get("content"))
    parts += [_attached(file, pictures) for file in items(item, "attachments")]
    wishes = _wishes(item.get("inference_options"))
    parts += [Notice(wishes)] if wishes else []
    flags = {
        "quote": bool(quote.strip()),
        "tags": any(string(one, "type") == "input_tag" for one in items(item, "content")),
        "attachments": bool(items(item, "attachments")),
        "inference options": bool(wishes),
    }
    told = tuple(flag for flag, stands in flags.items() if stands)
    draft = pending(name, "person", "bubble", parts, "user message", flags=told, ends=False)
    draft.typed = True
    return [draft]


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.split("\n"))


def _typed(content: Any) -> list[Part]:
    """Text and tags as one text, as they stood in the composer; then what each tag means."""
    if not isinstance(content, list):
        return [Text(content)] if isinstance(content, str) else [Unknown("content", content)]
    line: list[str] = []
    others: list[Part] = []
    for one in content:
        kind, text = string(one, "type"), string(one, "text")
        if kind == "input_text":
            line.append(text)
        elif kind == "input_tag":
            line.append(f"@{text}")
            others.append(Notice(_tag(one)))
        else:
            others.append(Unknown(kind or "content", one))
    typed = "".join(line)
    return [*([Text(typed)] if typed else []), *others]


def _tag(tag: Any) -> str:
    about = [string(tag, "id"), string(tag, "group"), words(get(tag, "data") or None)]
    return f"@{string(tag, 'text')}: {', '.join(filter(None, about))}"


def _attached(file: Any, pictures: ThreadPictures) -> Part:
    """A file that came with a message: with its bytes, where the store had them."""
    if not isinstance(file, dict):
        return Unknown("attachment", file)
    name = string(file, "name") or string(file, "id")
    stored = pictures.files.get(string(file, "id"))
    if stored is not None:
        return Attachment(string(file, "mime_type"), stored.digest, name, stored.size)
    size = get(file.get("metadata"), "size")
    return Attachment(
        string(file, "mime_type"),
        name=name,
        size=size if isinstance(size, int) and 0 <= size < 1 << 53 else 0,
    )


def _wishes(options: Any) -> str:
    """The tool and the model that the person chose for the answer."""
    wishes = {
        "tool": string(get(options, "tool_choice"), "id"),
        "model": string(options, "model"),
    }
    chosen = [f"{what} {wish}" for what, wish in wishes.items() if wish]
    return f"Asked for: {', '.join(chosen)}" if chosen else ""


# ── the agent ──


def _assistant(name: str, item: dict[str, Any]) -> list[PendingMessage]:
    content = item.get("content")
    parts: list[Part] = []
    references: list[str] = []
    for one in content if isinstance(content, list) else [content]:
        text = one if isinstance(one, str) else string(one, "text")
        if isinstance(one, str) or string(one, "type") == "output_text":
            parts += [Text(text)] if text else []
            references += [reference(get(note, "source")) for note in items(one, "annotations")]
        elif one is not None:
            parts.append(Unknown(string(one, "type") or "content", one))
    if references:
        parts.append(Notice(f"Refers to: {'; '.join(dict.fromkeys(references))}"))
    if not parts:
        notice = Notice("An answer without words.")
        return [pending(name, "agent", "hidden", [notice], "empty answer", label="empty answer")]
    flags = ("annotations",) if references else ()
    return [pending(name, "agent", "bubble", parts, "answer", flags=flags, ends=True)]


def _call(name: str, item: dict[str, Any]) -> list[PendingMessage]:
    """A tool that runs in the person's browser: the call, and the result once it is there."""
    call_id = string(item, "call_id") or name
    call = ToolCall(call_id, string(item, "name"), item.get("arguments"))
    status = string(item, "status")
    flags = (status,) if status else ()
    drafts = [pending(name, "agent", "bubble", [call], "client tool call", flags=flags)]
    drafts[0].ends = False
    output = item.get("output")
    if status == "completed" or (status != "pending" and output is not None):
        result = ToolResult(call_id, "ok", words(output))
        drafts.append(
            pending(f"{name}-r", "tool", "fold", [result], "client tool result", ends=False)
        )
    return drafts


def _widget(name: str, item: dict[str, Any]) -> list[PendingMessage]:
    copy, tree = string(item, "copy_text"), item.get("widget")
    if copy.strip():
        parts: list[Part] = [Text(copy)]
        if isinstance(tree, dict | list) and any(said not in copy for said in said_in(tree)):
            # What is copied is not all that was shown.
            parts.append(Text(outline(tree)))
        return [pending(name, "agent", "bubble", parts, "widget", label="widget", ends=True)]
    if not isinstance(tree, dict | list):
        return [unknown(name, "widget", tree)]
    label = f"widget: {string(tree, 'type')}".rstrip(": ")
    return [
        pending(name, "agent", "fold", [Text(outline(tree))], "widget tree", label=label, ends=True)
    ]


def _image(name: str, item: dict[str, Any], pictures: ThreadPictures) -> list[PendingMessage]:
    image = item.get("image")
    if image is None:
        notice = Notice("The picture was not finished.")
        return [pending(name, "agent", "bubble", [notice], "picture to come", ends=False)]
    return [
        pending(
            name, "agent", "bubble", [pictures.add_image(image)], "generated picture", ends=True
        )
    ]


def _asked(name: str, item: dict[str, Any]) -> list[PendingMessage]:
    """Questions in a form, and what the person chose."""
    inputs = items(item, "inputs")
    if not inputs:
        return [unknown(name, "structured_input", item)]
    status = string(item, "status")
    questions = Text("\n\n".join(map(_question, inputs)))
    drafts = [pending(name, "agent", "bubble", [questions], "questions", label="questions")]
    drafts[0].ends = False
    chosen = [f"{string(one, 'question')} → {_choice(one)}" for one in inputs if get(one, "answer")]
    if chosen or status == "skipped":
        text = "\n".join(chosen) or "No question was answered."
        label = "skipped" if status == "skipped" else "answered"
        answer = pending(f"{name}-a", "person", "bubble", [Text(text)], "choice", label=label)
        answer.ends = False
        drafts.append(answer)
    return drafts


def _question(one: Any) -> str:
    lines = [string(one, "question") or words(one), string(one, "description")]
    for option in items(one, "options"):
        about = [string(option, name) for name in ("value", "label", "description")]
        lines.append(f"- {' — '.join(dict.fromkeys(filter(None, about))) or words(option)}")
    return "\n".join(filter(None, lines))


def _choice(one: Any) -> str:
    answer = get(one, "answer")
    values = [words(value) for value in items(answer, "values")]
    if values:
        return ", ".join(values)
    return "(skipped)" if get(answer, "skipped") else words(answer)


# ── the program ──


def _hidden(name: str, item: dict[str, Any]) -> list[PendingMessage]:
    text = words(item.get("content"))
    return [
        pending(name, "harness", "hidden", [Text(text)], "hidden context", label="hidden context")
    ]


def _note(name: str, item: dict[str, Any]) -> list[PendingMessage]:
    """What ChatKit notes for the model. A person who stopped an answer left it unfinished."""
    text = words(item.get("content"))
    stopped = text.startswith(_CANCELLED)
    label = "cancelled" if stopped else "hidden context"
    draft = pending(name, "harness", "hidden", [Text(text)], "note of ChatKit", label=label)
    draft.ends = False if stopped else None
    return [draft]


def _end(name: str, item: dict[str, Any]) -> list[PendingMessage]:
    notice = Notice("The agent ended its turn.")
    return [
        pending(name, "harness", "hidden", [notice], "end of turn", label="end of turn", ends=True)
    ]


_BUILD: dict[str, Callable[[str, dict[str, Any]], list[PendingMessage]]] = {
    "assistant_message": _assistant,
    "client_tool_call": _call,
    "widget": _widget,
    "structured_input": _asked,
    "task": task_drafts,
    "hidden_context_item": _hidden,
    "sdk_hidden_context": _note,
    "end_of_turn": _end,
}


#: What lies deeper or comes later is in the record, and not shown.
_DEEPEST = 40
_LINES = 2000
#: Fields of a widget whose text is seen.
_SHOWN = ("value", "label", "title", "text", "caption", "description", "placeholder", "alt")


def outline(tree: Any) -> str:
    lines: list[str] = []
    for line in _lines(tree, 0):
        if len(lines) == _LINES:
            lines.append("…")
            break
        lines.append(line)
    return "\n".join(lines)


def said_in(tree: Any, depth: int = 0) -> Iterator[str]:
    """The words of a widget that people see."""
    if depth > _DEEPEST:
        return
    for key, item in tree.items() if isinstance(tree, dict) else enumerate(tree):
        if isinstance(item, dict | list):
            yield from said_in(item, depth + 1)
        elif isinstance(item, str) and key in _SHOWN:
            yield item


def _lines(value: Any, depth: int, name: str = "") -> Iterator[str]:
    indent = "  " * depth
    head = f"{name}: " if name else ""
    if depth > _DEEPEST:
        yield f"{indent}{head}…"
    elif isinstance(value, dict):
        inner = {key: item for key, item in value.items() if isinstance(item, dict | list)}
        plain = [
            words(item) if key == "value" else f"{key}={words(item)}"
            for key, item in value.items()
            if key not in inner and key != "type" and item is not None
        ]
        yield indent + head + " ".join(filter(None, [string(value, "type"), *plain]))
        for key, item in inner.items():
            yield from _lines(item, depth + 1, "" if key == "children" else key)
    elif isinstance(value, list):
        for item in value:
            yield from _lines(item, depth, name)
    else:
        yield f"{indent}{head}{words(value)}"
