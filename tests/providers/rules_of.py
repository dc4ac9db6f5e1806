"""What each provider rejects, written down apart from the product: request in, complaints out.

Follows the table of provider rules row by row and shares nothing with the code under test.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

Message = dict[str, Any]


def complaints(provider: str, messages: list[Any], model: str = "", ends: bool = True) -> list[str]:
    """Everything the provider would answer with a 400; `ends`: the user must be last if so ruled."""
    found = list(_CHECKS[provider](messages, model))
    last = messages[-1].get("role") if messages else "user"
    if ends and provider in ("gemini", "bedrock") and last != "user":
        found.append("the last message is not the user's")
    return found


def blocks(message: Message) -> list[Any]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def kinds(message: Message, kind: str) -> list[Any]:
    return [block for block in blocks(message) if block.get("type") == kind]


# Anthropic ----------------------------------------------------------------------------------


def anthropic(messages: list[Message], model: str) -> Iterator[str]:
    if messages and messages[0]["role"] != "user":
        yield "the first message is not the user's"
    seen: set[str] = set()
    for index, message in enumerate(messages):
        if message.keys() != {"role", "content"}:
            yield f"{index}: extra inputs are not permitted: {sorted(message)}"
        if message["role"] not in ("user", "assistant"):
            yield f"{index}: role {message['role']!r}"
        yield from _anthropic_blocks(index, message, seen)
        called = [block["id"] for block in kinds(message, "tool_use")]
        answer = messages[index + 1] if index + 1 < len(messages) else {"content": []}
        told = [block["tool_use_id"] for block in kinds(answer, "tool_result")]
        if message["role"] == "assistant" and sorted(called) != sorted(told):
            yield f"{index}: calls {called} are followed by results {told}"
        before = messages[index - 1]["role"] if index else None
        if kinds(message, "tool_result") and before != "assistant":
            yield f"{index}: results do not follow the assistant"
        last = blocks(message)[-1]["type"] if blocks(message) else ""
        if "thinking" in last and answer.get("role") != "assistant":
            yield f"{index}: the final block cannot be thinking"
    if messages and messages[-1]["role"] == "assistant":
        last = blocks(messages[-1])[-1]
        if last.get("type") == "text" and last["text"] != last["text"].rstrip():
            yield "the last message ends with a space"


_ANTHROPIC_KEYS = {
    "tool_result": {"type", "tool_use_id", "content", "is_error", "cache_control"},
    "tool_use": {"type", "id", "name", "input", "cache_control", "caller"},
    "text": {"type", "text", "citations", "cache_control"},
}


def _anthropic_blocks(index: int, message: Message, seen: set[str]) -> Iterator[str]:
    behind = False
    if not blocks(message):
        yield f"{index}: empty content"
    for block in blocks(message):
        kind = block["type"]
        if kind in _ANTHROPIC_KEYS and not block.keys() <= _ANTHROPIC_KEYS[kind]:
            yield f"{index}: extra inputs are not permitted: {sorted(block)}"
        if kind == "text" and not block["text"].strip():
            yield f"{index}: text content blocks must be non-empty"
        if kind == "tool_result":
            if behind or message["role"] != "user":
                yield f"{index}: a result does not come first"
            inner = block.get("content", "")
            if not isinstance(inner, str) and any(i.get("text") == "" for i in inner):
                yield f"{index}: empty text in a result"
            if block.get("is_error") and not inner:
                yield f"{index}: an error without content"
        else:
            behind = True
        if kind == "tool_use":
            if not re.fullmatch(r"[a-zA-Z0-9_-]+", block["id"]):
                yield f"{index}: call id {block['id']!r}"
            if not re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", block["name"]):
                yield f"{index}: tool name {block['name']!r}"
            if block["id"] in seen:
                yield f"{index}: call id {block['id']!r} comes twice"
            if not isinstance(block["input"], dict) or message["role"] != "assistant":
                yield f"{index}: input is no object, or not the assistant's"
            seen.add(block["id"])
        if kind == "thinking" and not block.get("signature"):
            yield f"{index}: thinking without a signature"


# OpenAI Chat --------------------------------------------------------------------------------


def openai(messages: list[Message], model: str) -> Iterator[str]:
    waiting: list[str] = []
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                yield f"{index}: a tool message that no call asked for"
            else:
                waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            yield f"{index}: calls {waiting} are not answered"
        calls = message.get("tool_calls", [])
        waiting = [call["id"] for call in calls]
        if "tool_calls" in message and not calls:
            yield f"{index}: tool_calls is empty"
        if message["role"] == "assistant" and not calls and message.get("content") is None:
            yield f"{index}: neither content nor calls"
        if len(set(waiting)) != len(waiting):
            yield f"{index}: ids of one message repeat"
        for call in calls:
            yield from _openai_call(index, call, 40)
    if waiting:
        yield f"calls {waiting} are not answered"


def _openai_call(index: int, call: dict[str, Any], longest: int) -> Iterator[str]:
    if not 1 <= len(call["id"]) <= longest:
        yield f"{index}: call id {call['id']!r}"
    if call.get("type") == "custom":
        return
    yield from _function(index, call["function"]["name"], call["function"]["arguments"])


def _function(index: int, name: str, arguments: str) -> Iterator[str]:
    if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name):
        yield f"{index}: tool name {name!r}"
    try:
        if not isinstance(json.loads(arguments), dict):
            yield f"{index}: arguments are no object"
    except ValueError:
        yield f"{index}: arguments are not JSON: {arguments!r}"


# OpenAI Responses ---------------------------------------------------------------------------


#: Calls that a program has to answer, each with an output of its own kind.
_RUN_BY_US = frozenset(
    {"function_call", "custom_tool_call", "shell_call", "local_shell_call", "apply_patch_call"}
    | {"computer_call"}
)
_PREFIX = {"message": "msg_", "reasoning": "rs_", "function_call": "fc_"}


def responses(items: list[Any], model: str) -> Iterator[str]:
    called: dict[str, str] = {}
    for index, item in enumerate(items):
        kind = item.get("type", "message")
        if item.get("id") is not None and not item["id"].startswith(_PREFIX.get(kind, "")):
            yield f"{index}: id {item['id']!r} of a {kind}"
        if kind in _RUN_BY_US:
            if not 1 <= len(item["call_id"]) <= 64 or item["call_id"] in called:
                yield f"{index}: call id {item['call_id']!r}"
            called[item["call_id"]] = kind
            if kind == "function_call":
                yield from _function(index, item["name"], item["arguments"])
        asked = kind.removesuffix("_output")
        if kind != asked in _RUN_BY_US:
            answered = item.get("call_id") or item["id"]
            if called.pop(answered, None) != asked:
                yield f"{index}: a {kind} without its {asked}"
        if kind == "reasoning":
            after = items[index + 1] if index + 1 < len(items) else {"role": "user"}
            if after.get("role", "assistant") != "assistant" or "output" in after:
                yield f"{index}: reasoning without the item that it led to"
    if called:
        yield f"calls {sorted(called)} have no output"


# Gemini -------------------------------------------------------------------------------------


def gemini(contents: list[Any], model: str) -> Iterator[str]:
    for index, content in enumerate(contents):
        parts = content["parts"]
        if content["role"] not in ("user", "model") or not parts:
            yield f"{index}: role {content['role']!r} or empty parts"
        yield from _gemini_parts(index, content, model)
        calls = _of(parts, "functionCall", "function_call")
        answers = _of(parts, "functionResponse", "function_response")
        before = contents[index - 1] if index else None
        if calls and (content["role"] != "model" or before is None or before["role"] != "user"):
            yield f"{index}: a call turn must follow a user turn or a response turn"
        if answers and len(answers) != len(parts):
            yield f"{index}: responses share their content with something else"
        if answers:
            asked = _of(before["parts"], "functionCall", "function_call") if before else []
            if sorted(a["name"] for a in answers) != sorted(c["name"] for c in asked):
                yield f"{index}: the responses are not those of the calls before"
        if calls:
            after = contents[index + 1]["parts"] if index + 1 < len(contents) else []
            if len(_of(after, "functionResponse", "function_response")) != len(calls):
                yield f"{index}: the number of responses differs from that of the calls"


def _of(parts: list[Any], *names: str) -> list[Any]:
    return [part[name] for part in parts for name in names if name in part]


def _gemini_parts(index: int, content: Any, model: str) -> Iterator[str]:
    first = True
    for part in content["parts"]:
        if part.get("text", "x").strip() == "" and not part.get("thoughtSignature"):
            yield f"{index}: an empty part"
        if "functionCall" in part:
            signed = part.get("thoughtSignature") or part.get("thought_signature")
            if first and not signed and "gemini-3" in model:
                yield f"{index}: the first call of the step has no signature"
            first = False
            if not re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}", part["functionCall"]["name"]):
                yield f"{index}: tool name {part['functionCall']['name']!r}"
            if not isinstance(part["functionCall"].get("args", {}), dict):
                yield f"{index}: args are no object"
        if "functionResponse" in part:
            if not isinstance(part["functionResponse"]["response"], dict):
                yield f"{index}: the response is no object"
            if not part["functionResponse"].get("name"):
                yield f"{index}: the response has no name"


# Bedrock Converse ---------------------------------------------------------------------------


def bedrock(messages: list[Message], model: str) -> Iterator[str]:
    if messages and messages[0]["role"] != "user":
        yield "the first message is not the user's"
    for one, other in pairwise(messages):
        if one["role"] == other["role"]:
            yield f"two messages of the {one['role']} in a row"
    alone = re.search("llama|mistral", model) is not None
    for index, message in enumerate(messages):
        if message["role"] not in ("user", "assistant"):
            yield f"{index}: role {message['role']!r}"
        yield from _bedrock_blocks(index, message)
        if "claude" in model and "reasoningContent" in message["content"][-1]:
            yield f"{index}: the final block cannot be thinking"
        called = [b["toolUse"]["toolUseId"] for b in message["content"] if "toolUse" in b]
        after = messages[index + 1]["content"] if index + 1 < len(messages) else []
        told = [b["toolResult"]["toolUseId"] for b in after if "toolResult" in b]
        if message["role"] == "assistant" and sorted(called) != sorted(told):
            yield f"{index}: calls {called} are followed by results {told}"
        mine = [b for b in message["content"] if "toolResult" in b]
        if mine and index == 0:
            yield "0: results without calls"
        if mine and alone and len(mine) != len(message["content"]):
            yield f"{index}: results share their message with something else"
        if mine and message["content"][: len(mine)] != mine:
            yield f"{index}: results do not come first"
        if len(set(called)) != len(called):
            yield f"{index}: ids repeat"


def _bedrock_blocks(index: int, message: Message) -> Iterator[str]:
    if not message["content"]:
        yield f"{index}: empty content"
    for block in message["content"]:
        if "text" in block and not block["text"].strip():
            yield f"{index}: blank text"
        if "toolUse" in block:
            use = block["toolUse"]
            if not re.fullmatch(r"[a-zA-Z0-9_.:-]{1,64}", use["toolUseId"]):
                yield f"{index}: call id {use['toolUseId']!r}"
            if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", use["name"]):
                yield f"{index}: tool name {use['name']!r}"
            if not isinstance(use["input"], dict):
                yield f"{index}: input is no object"
        if "toolResult" in block:
            inner = block["toolResult"]["content"]
            if not inner or any(not i.get("text", "x").strip() for i in inner):
                yield f"{index}: an empty result"
        if message["role"] != "user" and block.keys() & {"image", "document"}:
            yield f"{index}: pictures and documents are the user's alone"
    inner = [i for b in message["content"] for i in b.get("toolResult", {}).get("content", ())]
    called = [b["document"]["name"] for b in [*message["content"], *inner] if "document" in b]
    if len(set(called)) != len(called):
        yield f"{index}: documents {called} share a name"
    has_document = any("document" in block for block in message["content"])
    if has_document and not any("text" in block for block in message["content"]):
        yield f"{index}: a document without a text"


# Ollama -------------------------------------------------------------------------------------


def ollama(messages: list[Message], model: str) -> Iterator[str]:
    waiting: list[str] = []
    for index, message in enumerate(messages):
        if not isinstance(message.get("content", ""), str):
            yield f"{index}: content is not a string"
        for call in message.get("tool_calls", ()):
            if not isinstance(call["function"]["arguments"], dict):
                yield f"{index}: arguments are no object"
        if message["role"] == "tool":
            # Nothing but order and name tells whose result it is.
            if waiting and message.get("tool_name") not in (None, waiting.pop(0)):
                yield f"{index}: results are not in the order of the calls"
        elif message["role"] == "assistant":
            waiting = [call["function"]["name"] for call in message.get("tool_calls", ())]


_CHECKS: dict[str, Callable[[list[Any], str], Iterator[str]]] = {
    "anthropic": anthropic,
    "openai": openai,
    "responses": responses,
    "gemini": gemini,
    "bedrock": bedrock,
    "ollama": ollama,
}
