"""The server in a process of its own, asked by the client of the official SDK: stdio and HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import mcp_types as types
import pytest
from httpx2 import AsyncClient
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from mcp import ClientSession
from rireki.web.serve import Server
from tests.mcp.conftest import INJECTION, Past
from tests.web.conftest import BEARER, client_of, serving

Story = Callable[[ClientSession], Awaitable[None]]
SRC = Path(__file__).parents[2] / "src"
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
JSON = {"Accept": "application/json, text/event-stream"}


def over_stdio(archive: Path, story: Story, *more: str, **variables: str) -> None:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("CLAUDE")}
    environment |= {"PYTHONPATH": str(SRC), **variables}
    command = ["-P", "-m", "rireki", "mcp", "--archive", str(archive), *more]
    parameters = StdioServerParameters(command=sys.executable, args=command, env=environment)

    async def run() -> None:
        async with (
            asyncio.timeout(60),
            stdio_client(parameters) as (read, write),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            await story(session)

    asyncio.run(run())


def over_http(server: Server, story: Story) -> None:
    async def run() -> None:
        async with (
            asyncio.timeout(60),
            AsyncClient(headers=BEARER, verify=False) as client,
            streamable_http_client(f"{server.plain_url}mcp", http_client=client) as streams,
            ClientSession(streams[0], streams[1]) as session,
        ):
            await session.initialize()
            await story(session)

    asyncio.run(run())


def text_of(result: types.CallToolResult | types.InputRequiredResult) -> str:
    assert isinstance(result, types.CallToolResult)
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


async def everything(session: ClientSession) -> None:
    """What every client can do, over whatever transport."""
    tools = (await session.list_tools()).tools
    assert [tool.name for tool in tools] == ["search", "open", "list", "file", "error", "recover"]
    found = await session.call_tool("search", {"query": "staging database 5433"})
    assert isinstance(found, types.CallToolResult) and not found.is_error
    assert "port 5433" in text_of(found)
    assert found.structured_content["answer"] == text_of(found)
    ref = found.structured_content["hits"][0]["ref"]
    assert "> The staging database" in text_of(await session.call_tool("open", {"ref": ref}))
    for tool, given in (("nothing", {}), ("search", {}), ("open", {"ref": "nobody"})):
        failed = await session.call_tool(tool, given)
        assert isinstance(failed, types.CallToolResult) and failed.is_error
        assert len(text_of(failed).splitlines()) == 2
    (template,) = (await session.list_resource_templates()).resource_templates
    assert template.uri_template == "rireki://{conversation}#{message}"
    first, *_ = (await session.list_resources()).resources
    (outline,) = (await session.read_resource(first.uri)).contents
    assert isinstance(outline, types.TextResourceContents) and "messages" in outline.text
    (message,) = (await session.read_resource(f"rireki://{ref}")).contents
    assert isinstance(message, types.TextResourceContents) and "port 5433" in message.text
    with pytest.raises(MCPError, match="no conversation"):
        await session.read_resource("rireki://nobody#nothing")


def test_over_stdio(past: Past) -> None:
    over_stdio(past.archive, everything, "--no-keep")


@pytest.fixture(scope="module")
def server(past: Past) -> Iterator[Server]:
    with serving(past.archive, past.home) as server:
        yield server


def test_over_http(server: Server) -> None:
    over_http(server, everything)


def test_many_ask_at_once(server: Server) -> None:
    async def story(session: ClientSession) -> None:
        asked = [
            session.call_tool("search", {"query": word}) for word in ("staging", "marmalade") * 10
        ]
        answers = [text_of(answer) for answer in await asyncio.gather(*asked)]
        assert all(("5433" in answer) == (n % 2 == 0) for n, answer in enumerate(answers))

    over_http(server, story)


def test_what_agents_write_is_taken_in_and_their_own_session_left_out(
    past: Past, tmp_path: Path
) -> None:
    """The first start of all: there is no archive yet."""
    own = past.ids["ports"].removeprefix("claude-code/")

    async def story(session: ClientSession) -> None:
        answer = ""
        for _ in range(100):
            answer = text_of(await session.call_tool("search", {"query": "staging database"}))
            if "searched 8" in answer and "note:" not in answer:
                break
            # While it is being taken in, that is said.
            assert "note: history is being taken in" in answer or "searched" in answer
            await asyncio.sleep(0.1)
        assert f"left out: this session (claude-code/{own})" in answer
        assert "6543" in answer and "5433" not in answer

    new = tmp_path / "new" / "archive.sqlite3"
    over_stdio(new, story, "--home", str(past.home), CLAUDE_CODE_SESSION_ID=own)
    assert new.exists()


@pytest.mark.parametrize("end", ["input", "interrupt", "terminate", "gone"])
def test_however_the_agent_ends_it_it_ends_well(end: str, past: Past) -> None:
    command = [sys.executable, "-P", "-m", "rireki", "mcp", "--home", str(past.home)]
    with subprocess.Popen(
        [*command, "--archive", str(past.archive)],
        env={**os.environ, "PYTHONPATH": str(SRC)},
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdin.write(json.dumps(HELLO) + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["result"]["serverInfo"]["name"] == "rireki"
        if end == "interrupt":
            process.send_signal(signal.SIGINT)
        elif end == "terminate":
            process.terminate()
        elif end == "gone":
            process.stdout.close()
            process.stdin.write(json.dumps({**HELLO, "id": 2, "method": "tools/list"}) + "\n")
            process.stdin.flush()
        if end in ("input", "gone"):
            process.stdin.close()
        assert process.wait(30) == 0
        assert process.stderr.read() == ""


def test_without_the_sdk_it_says_what_to_install(past: Past, tmp_path: Path) -> None:
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp" / "__init__.py").write_text("raise ImportError('none', name='mcp')\n")
    ended = subprocess.run(
        [sys.executable, "-P", "-m", "rireki", "mcp", "--no-keep", "--archive", str(past.archive)],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{SRC}"},
        input="",
        text=True,
        capture_output=True,
        timeout=60,
    )
    assert ended.returncode == 1 and ended.stdout == ""
    told = ended.stderr.splitlines()
    assert len(told) == 2 and told[0].endswith("the package mcp is not installed")
    assert "pip install 'rireki[mcp]'" in told[1]


def test_without_an_archive_it_says_so(tmp_path: Path) -> None:
    async def story(session: ClientSession) -> None:
        failed = await session.call_tool("list", {})
        assert isinstance(failed, types.CallToolResult) and failed.is_error
        assert text_of(failed).startswith("there is no archive at")
        assert (await session.list_resources()).resources == []

    over_stdio(tmp_path / "none.sqlite3", story, "--no-keep")
    assert not (tmp_path / "none.sqlite3").exists()


def test_a_damaged_archive_gives_what_can_be_read(past: Past, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.sqlite3"
    data = bytearray(past.archive.read_bytes())
    data[len(data) // 2 :] = b"\xff" * (len(data) - len(data) // 2)
    damaged.write_bytes(data)

    async def story(session: ClientSession) -> None:
        for tool, given in (
            ("search", {"query": "staging"}),
            ("list", {}),
            ("file", {"path": "x.py"}),
        ):
            answer = text_of(await session.call_tool(tool, given))
            assert answer and "Traceback" not in answer

    over_stdio(damaged, story, "--no-keep")


# ── who may ask ──


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer wrong-token-wrong-token-wrong"}, 401),
        ({**BEARER, "Origin": "https://evil.example"}, 403),
        ({**BEARER, "Host": "evil.example:80"}, 403),
        ({**BEARER, "Sec-Fetch-Site": "cross-site"}, 403),
        ({**BEARER, "Content-Type": "text/plain"}, 415),
        (BEARER, 200),
    ],
)
def test_only_programs_with_the_token_may_ask(
    server: Server, headers: dict[str, str], status: int
) -> None:
    with httpx.Client(base_url=server.plain_url, verify=False) as client:
        sent = {**JSON, "Content-Type": "application/json", **headers}
        assert client.post("mcp", content=json.dumps(HELLO), headers=sent).status_code == status


def test_a_browser_that_was_let_in_may_not_ask(server: Server) -> None:
    with httpx.Client(base_url=server.plain_url, verify=False) as client:
        assert client.get(server.url, follow_redirects=True).status_code == 200
        sent = {**JSON, "Origin": server.plain_url.rstrip("/")}
        assert client.post("mcp", json=HELLO, headers=sent).status_code == 401


def test_nothing_is_got_and_nothing_deleted(server: Server) -> None:
    with client_of(server) as client:
        assert client.get("/mcp").status_code == client.delete("/mcp").status_code == 405


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'{"jsonrpc": 3}', b"\xff" * 50, b"[" * 100_000]
)
def test_nonsense_is_refused(server: Server, body: bytes) -> None:
    with client_of(server) as client:
        sent = {**JSON, "Content-Type": "application/json"}
        answer = client.post("/mcp", content=body, headers=sent)
        assert 400 <= answer.status_code < 500 and "Traceback" not in answer.text


def test_a_transcript_never_reaches_the_log(past: Past, server: Server, capfd: Any) -> None:
    with client_of(server) as client:
        call = {**HELLO, "method": "tools/call"}
        call["params"] = {"name": "search", "arguments": {"query": "marmalade"}}
        answer = client.post(
            "/mcp", json=call, headers={**JSON, "MCP-Protocol-Version": "2025-06-18"}
        )
        assert answer.status_code == 200 and "marmalade" in answer.text
    captured = capfd.readouterr()
    assert INJECTION.splitlines()[0] not in captured.out + captured.err
