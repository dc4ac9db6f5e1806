"""The OpenAPI document: made of the table of addresses and the types they ask and give."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from rireki import __version__
from rireki.live.feed import News
from rireki.web.api.answers import Failure
from rireki.web.api.call import OPERATIONS, PREFIX, Operation
from rireki.web.api.parameters import EventsAsked

__all__ = ["document"]

_REF = "#/components/schemas/{name}"
_PATHS = {
    "source": "The source of the conversation: `claude-code`.",
    "native_id": "The agent's own id of it, or a beginning that means one only; percent-encoded.",
    "message": "The id of a message.",
    "session": "The id of a session, as whoever began it chose it.",
    "prompt": "The id of a prompt, as whoever sent it chose it.",
    "digest": "The sha256 of an attachment, from its part of the message.",
}
#: What may go wrong anywhere, and what only where a conversation or a query is named.
_EVERYWHERE = {
    "400": "A parameter cannot be understood.",
    "401": "The token is missing or wrong.",
    "403": "The request comes from another site, or names another host.",
    "503": "The archive cannot be read just now.",
}
_NAMED = {"404": "There is no such thing.", "409": "The id fits several conversations."}
_DRIVEN = {
    "404": "There is no such session, or driving agents is off.",
    "409": "It is over already: answered, given, or ended.",
}
_SENT = {"413": "More was sent than is taken.", "415": "What was sent is no JSON."}
_QUERY = {"422": "The query cannot be understood; `position` and `length` tell where."}


@cache
def document() -> dict[str, Any]:
    types = [operation.gives for operation in OPERATIONS if operation.gives is not bytes]
    types += [operation.takes for operation in OPERATIONS if operation.takes]
    schemas, components = msgspec.json.schema_components([*types, Failure, News], ref_template=_REF)
    schema_of = dict(zip(map(str, types), schemas, strict=False))
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        told = _operation(operation, schema_of)
        paths.setdefault(PREFIX + operation.path, {})[operation.method.lower()] = told
    paths[f"{PREFIX}/events"] = {"get": _events()}
    paths[f"{PREFIX}/drive/events"] = {"get": _drive_events()}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "rireki",
            "version": __version__,
            "description": "Conversations with AI agents, kept and found. docs/api.md tells more.",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "cookie": {"type": "apiKey", "in": "cookie", "name": "rireki_PORT"},
            },
        },
        "security": [{"token": []}, {"cookie": []}],
    }


def _operation(operation: Operation, schema_of: dict[str, dict[str, Any]]) -> dict[str, Any]:
    schema = schema_of.get(str(operation.gives))
    parts = [part.strip("{}") for part in operation.path.split("/") if part.startswith("{")]
    content = (
        {"application/json": {"schema": schema}}
        if schema is not None
        else {kind: {} for kind in _kinds(operation)}
    )
    wrong = _EVERYWHERE | (_NAMED if parts else {}) | (_QUERY if _has_query(operation) else {})
    if operation.path.startswith("/drive"):
        wrong |= _DRIVEN | (_SENT if operation.method != "GET" else {})
    taken: dict[str, Any] = {}
    if operation.takes:
        content_taken = {"application/json": {"schema": schema_of[str(operation.takes)]}}
        taken["requestBody"] = {"required": True, "content": content_taken}
    return {
        **taken,
        "summary": operation.summary,
        "operationId": operation.answer.__name__,
        "parameters": [*map(_in_path, parts), *_parameters(operation.asks)],
        "responses": {
            "200": {"description": "As asked.", "content": content},
            **{status: _failure(words) for status, words in wrong.items()},
        },
    }


def _kinds(operation: Operation) -> list[str]:
    """What is not JSON: bytes, or a picture that was proved to be one."""
    pictures = ["image/png", "image/jpeg", "image/gif", "image/webp"]
    return ["application/octet-stream", *(pictures if "{digest}" in operation.path else [])]


def _has_query(operation: Operation) -> bool:
    return operation.path == "/search"


def _in_path(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "in": "path",
        "required": True,
        "description": _PATHS[name],
        "schema": {"type": "string", "minLength": 1},
    }


def _parameters(asks: type[msgspec.Struct]) -> list[dict[str, Any]]:
    (_, components) = msgspec.json.schema_components([asks], ref_template=_REF)
    schema = components[asks.__name__]
    required = set(schema.get("required", []))
    return [
        {"name": name, "in": "query", "required": name in required, "schema": _value(value)}
        for name, value in schema["properties"].items()
    ]


def _value(schema: dict[str, Any]) -> dict[str, Any]:
    """A parameter that is left out is left out: there is no way to say null in an address."""
    choices = [choice for choice in schema.get("anyOf", []) if choice.get("type") != "null"]
    plain = {k: v for k, v in schema.items() if k != "anyOf" and (k, v) != ("default", None)}
    if "enum" in plain:
        plain["enum"] = [value for value in plain["enum"] if value is not None]
    return {**plain, **(choices[0] if choices else {})}


def _failure(words: str) -> dict[str, Any]:
    schema = {"$ref": _REF.format(name="Failure")}
    return {"description": words, "content": {"application/json": {"schema": schema}}}


def _events() -> dict[str, Any]:
    heard = {
        "name": "Last-Event-ID",
        "in": "header",
        "description": "The id of the last event that was heard; counts more than `after`.",
        "schema": {"type": "string", "pattern": "^[0-9]{1,18}$"},
    }
    told = (
        "Server-sent events. `hello`: the connection stands. `change`: a News; its `id` is the "
        "number that is reached with it. `activity`: what agents are doing. `reset`: the archive "
        "is an older one than you know, begin anew."
    )
    parameters = [*_parameters(EventsAsked), heard]
    return _stream("What changes, as it happens.", told, "events", parameters, _EVERYWHERE)


def _drive_events() -> dict[str, Any]:
    told = (
        "Server-sent events. `hello`: all `sessions` as they are. `status`: one of them, whole, "
        "without its blocks. `delta`: a further stretch of a block. `settled`: the block stands in "
        "the journal. `call`: a tool call. `gone`: a session that is not running any more. Whoever "
        "comes back is told everything anew."
    )
    summary = "What the driven agents do, as it happens."
    return _stream(summary, told, "drive_events", [], _EVERYWHERE | _DRIVEN)


def _stream(
    summary: str, told: str, name: str, parameters: list[dict[str, Any]], wrong: dict[str, str]
) -> dict[str, Any]:
    stream = {"text/event-stream": {"schema": {"type": "string"}}}
    return {
        "summary": summary,
        "description": told,
        "operationId": name,
        "parameters": parameters,
        "responses": {
            "200": {"description": told, "content": stream},
            **{status: _failure(words) for status, words in wrong.items()},
        },
    }
