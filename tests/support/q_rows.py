"""Amazon Q as a writer: saves conversations the way the real client does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import apsw

from rireki.model.conversation import Reading
from rireki.model.message import Message
from rireki.model.parts import Text, ToolResult
from rireki.sources.amazon_q.reader import READER
from tests.support.memory import Memory

Value = dict[str, Any]


def said(name: str, prompt: str, answer: str, **more: Any) -> Value:
    """A history entry: something typed and its answer."""
    return _entry(
        {"Prompt": {"prompt": prompt}},
        {"Response": {"message_id": name, "content": answer}},
        **more,
    )


def put_in(prompt: str, answer: str) -> Value:
    """A history entry that an MCP prompt brought along: no request was made for it."""
    return _entry(
        {"Prompt": {"prompt": prompt}},
        {"Response": {"message_id": None, "content": answer}},
    )


def called(
    name: str, prompt: str, answer: str, call: str, tool: str = "fs_read", **args: Any
) -> Value:
    """A history entry that ends in a call."""
    use = {"id": call, "name": tool, "orig_name": tool, "args": args, "orig_args": args}
    answered = {"ToolUse": {"message_id": name, "content": answer, "tool_uses": [use]}}
    return _entry({"Prompt": {"prompt": prompt}}, answered)


def returned(name: str, call: str, output: Any, answer: str) -> Value:
    """A history entry that brings a result back, a text or a value, and ends in an answer."""
    block = {"Text" if isinstance(output, str) else "Json": output}
    result = {"tool_use_id": call, "content": [block], "status": "Success"}
    content = {"ToolUseResults": {"tool_use_results": [result]}}
    return _entry(content, {"Response": {"message_id": name, "content": answer}})


def _entry(content: Value, assistant: Value, **more: Any) -> Value:
    user = {
        "additional_context": "",
        "env_context": {"env_state": None},
        "content": content,
        "timestamp": None,
        "images": None,
    }
    return {"user": {**user, **more}, "assistant": assistant, "request_metadata": None}


def shown(*entries: Value) -> list[str]:
    """The transcript lines the client notes for entries."""
    lines: list[str] = []
    for entry in entries:
        content = entry["user"]["content"]
        if "Prompt" in content:
            lines.append("> " + content["Prompt"]["prompt"].replace("\n", "> \n"))
        (side,) = entry["assistant"].values()
        names = ",".join(use["orig_name"] for use in side.get("tool_uses", ())) or "none"
        lines.append(f"{side['content']}\n[Tool uses: {names}]")
    return lines


def talk(conversation: str, *history: Value, **fields: Any) -> Value:
    """A whole saved conversation."""
    value: Value = {
        "conversation_id": conversation,
        "next_message": None,
        "history": list(history),
        "valid_history_range": [0, max(0, len(history) - 1)],
        "transcript": shown(*history),
        "tools": {"native___": []},
        "context_manager": None,
        "context_message_length": None,
        "latest_summary": None,
        "model_info": {"model_id": "claude-sonnet-4", "context_window_tokens": 200000},
        "file_line_tracker": {},
        "checkpoint_manager": None,
        "mcp_enabled": True,
    }
    return {**value, **fields}


class Client:
    """A machine with Amazon Q on it, and an archive that looks at it when told."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.database = home / ".local/share/amazon-q/data.sqlite3"
        self.database.parent.mkdir(parents=True, exist_ok=True)
        self.memory = Memory(READER)
        self.run("CREATE TABLE IF NOT EXISTS conversations (key TEXT PRIMARY KEY, value TEXT)")

    def run(self, statement: str, *values: object) -> None:
        connection = apsw.Connection(str(self.database))
        try:
            connection.execute(statement, values)
        finally:
            connection.close()

    def save(self, value: Value | str, directory: str = "/home/u/app") -> None:
        text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
        self.run("INSERT OR REPLACE INTO conversations VALUES (?, ?)", directory, text)

    def look(self) -> dict[str, Reading]:
        """Import, and read every conversation."""
        self.memory.import_home(self.home)
        return {one.conversation.native_id: one for one in self.memory.readings().values()}

    def save_and_look(self, value: Value, directory: str = "/home/u/app") -> Reading:
        self.save(value, directory)
        return self.look()[value["conversation_id"]]

    @property
    def stored(self) -> int:
        """How many bytes of records are kept."""
        return sum(len(piece) for lane in self.memory.lanes.values() for piece in lane)


def words(reading: Reading, upstream: str | None = None) -> list[str]:
    """What a reader of the whole story finds, in order."""
    return [
        text
        for message in reading.messages()
        if upstream in (None, message.upstream)
        for text in texts(message)
    ]


def to_a_model(reading: Reading) -> list[str]:
    """What a model is shown that goes on with it, in order."""
    assert reading.shown is not None
    told = {message.id: message for message in reading.messages()}
    return [text for id in reading.shown() for text in texts(told[id])]


def texts(message: Message) -> list[str]:
    return [
        part.text if isinstance(part, Text) else part.output
        for part in message.parts
        if isinstance(part, Text | ToolResult)
    ]


def message_saying(reading: Reading, text: str) -> Message:
    (found,) = [message for message in reading.messages() if text in texts(message)]
    return found
