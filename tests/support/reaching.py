"""Every way into somebody's conversations by HTTP or MCP, each with how it is asked.

A route or a tool that is not listed here fails the tests of rights: whoever adds one says what it
gives, and of whom.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple
from urllib.parse import quote

from starlette.routing import BaseRoute, Mount, Route

from rireki.web.api.call import OPERATIONS, PREFIX, TALK

__all__ = ["ROUTES", "TOOL_CALLS", "Asked", "Way", "addresses", "filled", "names_of"]

#: `one`: something of one conversation, and nothing for who may not see it. `all`: of all there
#: are, without what one may not see. `machine`: of this machine. `agents`: lets agents work.
#: `plain`: nothing of anybody.
#: `own`: for who has the machine alone, where nobody signs in.
Gives = Literal["one", "all", "machine", "agents", "plain", "own"]


class Way(NamedTuple):
    gives: Gives
    #: Addresses with `{source}`, `{native}`, `{message}`, `{digest}`, `{project}`, `{word}` in them.
    asked: tuple[str, ...] = ()


class Asked(NamedTuple):
    """A conversation that is asked for."""

    id: str
    message: str
    digest: str
    project: str
    #: Stands in it, and nowhere else.
    word: str


_ONE = "{source}/{native}"
#: By the path of the route; those of one conversation of the API by the path of the operation.
ROUTES: dict[str, Way] = {
    "/": Way("all", ("/", "/?source={source}", "/?project={project}&below=1")),
    "/c/{id:path}": Way("one", ("/c/" + _ONE, "/c/{beginning}", "/c/" + _ONE + "?at={message}")),
    "/versions/{id:path}": Way("one", ("/versions/" + _ONE,)),
    "/explain/{id:path}": Way("one", ("/explain/" + _ONE,)),
    "/raw/{id:path}": Way("one", ("/raw/" + _ONE + "?message={message}",)),
    "/export/{id:path}": Way(
        "one", ("/export/" + _ONE, "/export/" + _ONE + "?format=native", "/export/{beginning}")
    ),
    "/share/{id:path}": Way("one", ("/share/" + _ONE, "/share/" + _ONE + "?file=html")),
    "/files/{id:path}": Way("one", ("/files/" + _ONE,)),
    "/curate/{id:path}": Way("own", ("/curate/" + _ONE, "/curate/" + _ONE + "?message={message}")),
    "/forget/{id:path}": Way("own", ("/forget/" + _ONE,)),
    "/searches": Way("own"),
    "/devices": Way("own", ("/devices", "/devices?fragment=1")),
    "/pair": Way("own", ("/pair",)),
    "/manifest.webmanifest": Way("own", ("/manifest.webmanifest",)),
    "/sw.js": Way("own", ("/sw.js",)),
    "/offline": Way("own", ("/offline",)),
    "/new": Way("agents", ("/new", "/new?from=" + _ONE)),
    "/inbox": Way("agents", ("/inbox",)),
    "/fragments/asks": Way("agents", ("/fragments/asks",)),
    "/fragments/home": Way("all", ("/fragments/home", "/fragments/home?ids=" + _ONE)),
    "/fragments/status": Way("machine", ("/fragments/status",)),
    "/fragments/{id:path}": Way("one", ("/fragments/" + _ONE + "?outline=1",)),
    "/search": Way("all", ("/search?q={word}", "/search?q={half}&fragment=1", "/search?q={typo}")),
    "/sources": Way("machine", ("/sources",)),
    "/stats": Way("all", ("/stats",)),
    "/digest": Way("all", ("/digest", "/digest?day=2026-11-01")),
    "/usage": Way("all", ("/usage",)),
    "/project": Way("one", ("/project?path={project}",)),
    "/help": Way("plain", ("/help",)),
    "/talk.css": Way("plain", ("/talk.css",)),
    "/static": Way("plain", ("/static/frame.css",)),
    "/mcp": Way("all"),
    PREFIX + "/health": Way("all", (PREFIX + "/health",)),
    PREFIX + "/sources": Way("machine", (PREFIX + "/sources",)),
    PREFIX + "/stats": Way("all", (PREFIX + "/stats",)),
    PREFIX + "/search": Way("all", (PREFIX + "/search?q={word}", PREFIX + "/search?q={typo}")),
    PREFIX + "/conversations": Way("all", (PREFIX + "/conversations?subagents=true",)),
    PREFIX + "/conversations/{rest:path}": Way("one", (PREFIX + "/conversations/{beginning}",)),
    PREFIX + TALK: Way("one", (PREFIX + "/conversations/" + _ONE,)),
    PREFIX + TALK + "/messages": Way("one", (PREFIX + "/conversations/" + _ONE + "/messages",)),
    PREFIX + TALK + "/messages/{message}": Way(
        "one", (PREFIX + "/conversations/" + _ONE + "/messages/{message}",)
    ),
    PREFIX + TALK + "/messages/{message}/raw": Way(
        "one", (PREFIX + "/conversations/" + _ONE + "/messages/{message}/raw",)
    ),
    PREFIX + TALK + "/explain": Way("one", (PREFIX + "/conversations/" + _ONE + "/explain",)),
    PREFIX + TALK + "/versions": Way("one", (PREFIX + "/conversations/" + _ONE + "/versions",)),
    PREFIX + TALK + "/raw": Way("one", (PREFIX + "/conversations/" + _ONE + "/raw?all=true",)),
    PREFIX + TALK + "/attachments/{digest}": Way(
        "one", (PREFIX + "/conversations/" + _ONE + "/attachments/{digest}",)
    ),
    PREFIX + "/events": Way("all"),
    PREFIX + "/openapi.json": Way("plain", (PREFIX + "/openapi.json",)),
    PREFIX + "/{rest:path}": Way("plain"),
    PREFIX + "/drive/events": Way("agents", (PREFIX + "/drive/events",)),
    PREFIX + "/drive": Way("agents", (PREFIX + "/drive",)),
    PREFIX + "/drive/directory": Way("agents", (PREFIX + "/drive/directory?path=/",)),
    PREFIX + "/drive/files": Way("agents", (PREFIX + "/drive/files?project=/&q=a",)),
    PREFIX + "/drive/{session}": Way("agents", (PREFIX + "/drive/x",)),
    # What is sent there, and nothing is got.
    PREFIX + "/drive/{session}/answers": Way("agents"),
    PREFIX + "/drive/{session}/kill": Way("agents"),
    PREFIX + "/drive/{session}/proceed": Way("agents"),
    PREFIX + "/drive/{session}/prompts": Way("agents"),
    PREFIX + "/drive/{session}/prompts/{prompt}": Way("agents"),
    PREFIX + "/drive/{session}/restart": Way("agents"),
    PREFIX + "/drive/{session}/stop": Way("agents"),
}
#: How each tool is asked for the conversation.
TOOL_CALLS: dict[str, tuple[dict[str, Any], ...]] = {
    "search": ({"query": "{word}"}, {"query": "{typo}"}),
    "open": ({"ref": "{id}"}, {"ref": "{beginning}"}),
    "list": ({}, {"project": "{project}"}),
    "file": ({"path": "{project}/notes.txt"}, {"path": "notes.txt"}),
    "error": ({"text": "{word}"},),
    "recover": ({}, {"session": "{id}"}),
}


def addresses(way: Way, asked: Asked) -> Iterator[str]:
    for address in way.asked:
        yield filled(address, asked)


def filled(text: str, asked: Asked) -> str:
    source, _, native = asked.id.partition("/")
    values = {
        "source": source,
        "native": native,
        "id": asked.id,
        "beginning": asked.id[: len(source) + 9],
        "message": quote(asked.message, safe=""),
        "digest": asked.digest,
        "project": asked.project,
        "word": asked.word,
        "half": asked.word[: len(asked.word) // 2],
        "typo": asked.word[:-2] + "xx",
    }
    for name, value in values.items():
        text = text.replace("{" + name + "}", value)
    return text


def names_of(routes: list[BaseRoute]) -> set[str]:
    """What has to be listed above, of the routes of an app."""
    found = {route.path for route in routes if isinstance(route, Route | Mount)}
    return found | {PREFIX + each.path for each in OPERATIONS if each.path.startswith(TALK)}
