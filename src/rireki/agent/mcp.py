"""Tools of MCP servers, over the official package `mcp` (optional).

async with mcp.Client(StdioServerParameters(command="my-server")) as client:
    agent = Agent(llm, await mcp_tools(client), history)
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from rireki.agent.clients.kit import package
from rireki.agent.tools import Output, Tool
from rireki.providers import plain

__all__ = ["mcp_server", "mcp_tools"]


def mcp_server(command: str, *args: str, **options: Any) -> AbstractAsyncContextManager[Any]:
    """A client of a server that runs as a program of its own; `options` such as env and cwd."""
    mcp = package("mcp", "mcp")
    asked = mcp.StdioServerParameters(command=command, args=list(args), **options)
    made: AbstractAsyncContextManager[Any] = mcp.Client(asked)
    return made


async def mcp_tools(client: Any, prefix: str = "") -> list[Tool]:
    """All tools of a server that a `mcp.Client` or `mcp.ClientSession` is connected to.

    A `prefix` keeps those of several servers apart.
    """
    found: list[Tool] = []
    cursor: str | None = None
    while True:
        page = plain(await client.list_tools(**({"cursor": cursor} if cursor else {})))
        found += [_tool(client, told, prefix) for told in page["tools"]]
        cursor = page.get("nextCursor")
        if not cursor:
            return found


def _tool(client: Any, told: dict[str, Any], prefix: str) -> Tool:
    name = told["name"]
    described = told.get("description") or told.get("title") or name
    return Tool(prefix + name, described, told["inputSchema"], _caller(client, name))


def _caller(client: Any, name: str) -> Callable[[dict[str, Any]], Awaitable[Output]]:
    async def run(arguments: dict[str, Any]) -> Output:
        result = plain(await client.call_tool(name, arguments))
        texts: list[str] = []
        images: list[Any] = []
        for block in result.get("content") or []:
            _read(block, texts, images)
        return Output("\n".join(texts) or "(no output)", images, bool(result.get("isError")))

    return run


def _read(block: dict[str, Any], texts: list[str], images: list[Any]) -> None:
    kind = block.get("type")
    if kind == "text":
        texts.append(block["text"])
    elif kind == "image":
        images.append((block["mimeType"], b64decode(block["data"])))
    elif kind == "resource" and "text" in block["resource"]:
        texts.append(f"{block['resource'].get('uri', '')}\n{block['resource']['text']}".strip())
    elif kind == "resource_link":
        texts.append(str(block.get("uri", "")))
    else:
        texts.append(f"[{kind} content that cannot be shown]")
