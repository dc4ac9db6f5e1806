"""Models on Amazon Bedrock (Converse), over the package `boto3`."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

import msgspec

from rireki.agent.clients.kit import Client, package
from rireki.agent.events import Tell, TextDelta, ThinkingDelta
from rireki.agent.tools import Tool
from rireki.providers import Request

__all__ = ["Bedrock"]

_GONE = "Was there earlier in this conversation, and is no longer. Do not call it."


class Bedrock(Client):
    provider = "bedrock"

    def make(self) -> Any:
        return package("boto3", "bedrock").client("bedrock-runtime")

    def ask(self, request: Request, tools: Sequence[Tool], tell: Tell) -> Any:
        asked = dict(self.options)
        if request.system is not None:
            asked["system"] = request.system
        told = [_told(tool.name, tool.description, tool.schema) for tool in tools]
        if not told and "toolConfig" not in asked:
            told = _called(request.messages)
        if told:
            asked["toolConfig"] = {"tools": told}
        answered = self.sdk.converse_stream(modelId=self.model, messages=request.messages, **asked)
        answer = _Answer()
        for event in answered["stream"]:
            answer.add(event, tell)
        return answer.whole()


def _told(name: str, description: str, schema: dict[str, Any]) -> dict[str, Any]:
    spec = {"name": name, "description": description, "inputSchema": {"json": schema}}
    return {"toolSpec": spec}


def _called(messages: Sequence[Any]) -> list[dict[str, Any]]:
    """The tools of the history: Converse takes calls and results only where tools are declared."""
    blocks = [block for message in messages for block in message["content"]]
    names = dict.fromkeys(block["toolUse"]["name"] for block in blocks if "toolUse" in block)
    return [_told(name, _GONE, {"type": "object"}) for name in names]


class _Answer:
    """The answer that a stream of events comes to, as `converse` would have returned it."""

    def __init__(self) -> None:
        self._blocks: dict[int, dict[str, Any]] = {}
        self._rest: dict[str, Any] = {}

    def add(self, event: dict[str, Any], tell: Tell) -> None:
        if "contentBlockStart" in event:
            start = event["contentBlockStart"]
            use = start["start"].get("toolUse")
            if use:
                self._blocks[start["contentBlockIndex"]] = {"toolUse": {**use, "input": ""}}
        elif "contentBlockDelta" in event:
            piece = event["contentBlockDelta"]
            block = self._blocks.setdefault(piece["contentBlockIndex"], {})
            _grow(block, piece["delta"], tell)
        elif "messageStop" in event:
            self._rest["stopReason"] = event["messageStop"]["stopReason"]
        elif "metadata" in event:
            self._rest["usage"] = event["metadata"].get("usage")

    def whole(self) -> dict[str, Any]:
        content = [_finished(self._blocks[index]) for index in sorted(self._blocks)]
        return {"output": {"message": {"role": "assistant", "content": content}}, **self._rest}


def _grow(block: dict[str, Any], delta: dict[str, Any], tell: Tell) -> None:
    if "text" in delta:
        block["text"] = block.get("text", "") + delta["text"]
        tell(TextDelta(delta["text"]))
    elif "toolUse" in delta:
        block["toolUse"]["input"] += delta["toolUse"]["input"]
    elif "reasoningContent" in delta:
        said = delta["reasoningContent"]
        kept = block.setdefault("reasoningContent", {})
        if "redactedContent" in said:
            kept["redactedContent"] = b64encode(said["redactedContent"]).decode()
            return
        thought = kept.setdefault("reasoningText", {"text": ""})
        thought["text"] += said.get("text", "")
        if "signature" in said:
            thought["signature"] = thought.get("signature", "") + said["signature"]
        if said.get("text"):
            tell(ThinkingDelta(said["text"]))


def _finished(block: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call come as pieces of JSON; what was cut off stays text."""
    use = block.get("toolUse")
    if use is None:
        return block
    try:
        given = msgspec.json.decode(use["input"] or "{}")
    except msgspec.DecodeError:
        given = use["input"]
    return {"toolUse": {**use, "input": given}}
