"""Tools of a real MCP server that runs as a program of its own."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from rireki.agent import Agent, Scripted
from rireki.agent.mcp import mcp_server, mcp_tools
from rireki.errors import RirekiError
from tests.agent.conftest import calls

SERVER = """
from mcp.server import MCPServer
from mcp.server.mcpserver import Image

server = MCPServer("test")

@server.tool()
def greet(name: str, times: int = 1) -> str:
    '''Greet somebody.'''
    return f"Hello {name}! " * times

@server.tool()
def fail() -> str:
    raise ValueError("it went wrong")

@server.tool()
def dot() -> Image:
    return Image(data=b"\\x89PNG\\r\\n\\x1a\\n", format="png")

server.run("stdio")
"""


def test_tools_of_a_server(tmp_path: Path) -> None:
    program = tmp_path / "server.py"
    program.write_text(SERVER)

    async def story() -> None:
        async with asyncio.timeout(60), mcp_server(sys.executable, str(program)) as client:
            tools = await mcp_tools(client, prefix="test_")
            assert [tool.name for tool in tools] == ["test_greet", "test_fail", "test_dot"]
            assert tools[0].description == "Greet somebody."
            assert tools[0].schema["required"] == ["name"]
            step = calls(
                ("a", "test_greet", {"name": "Ai", "times": 2}),
                ("b", "test_fail", {}),
                ("c", "test_dot", {}),
                ("d", "test_greet", {"times": "x"}),
            )
            agent = Agent(Scripted([step, "ok"]), tools)
            assert (await agent.run("go")).text == "ok"
            greeted, failed, shown, wrong = agent.history.messages[2]["content"]
            assert greeted["content"] == "Hello Ai! Hello Ai! " and "is_error" not in greeted
            assert failed["is_error"] and "fail" in failed["content"]
            assert shown["content"][-1]["source"]["media_type"] == "image/png"
            assert wrong["is_error"]

    asyncio.run(story())


def test_the_package_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(RirekiError, match=r"\(mcp\) is not installed") as caught:
        mcp_server("any")
    assert "rireki[mcp]" in caught.value.hint
