"""The tools and resources as the official SDK of MCP speaks them, over whatever transport.

The library is asked in threads, so that a long search keeps nobody from hearing pings. Nothing a
transcript holds is ever logged or raised: an error that is not for people becomes one plain sentence.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError

from rireki import __version__
from rireki.errors import RirekiError
from rireki.library import Library
from rireki.mcp.answers import ToolAnswer
from rireki.mcp.caller import Caller, HostSession, host_session
from rireki.mcp.opening import open_reference
from rireki.mcp.recall import Memory, Recall
from rireki.mcp.references import uri_of
from rireki.mcp.tools import INSTRUCTIONS, TOOLS, call
from rireki.sources.kit.places import Places

__all__ = ["RecallServer", "listed_tools"]

logger = logging.getLogger(__name__)

#: Conversations that are listed as resources.
RESOURCES = 20
#: Calls that are worked on at the same time.
AT_ONCE = 4


def listed_tools() -> list[types.Tool]:
    """What a client is told there is."""
    return [
        types.Tool(
            name=tool.name,
            title=tool.title,
            description=tool.description,
            input_schema=tool.schema,
            annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
        )
        for tool in TOOLS
    ]


class RecallServer:
    """One archive, for any number of clients."""

    def __init__(
        self,
        library: Callable[[Any], Library],
        places: Places,
        environment: Mapping[str, str] | None = None,
        parent: int | None = None,
        directory: str | None = None,
        coverage: Callable[[], str] = str,
    ) -> None:
        """`library` is what a request may read, or a host that sends none. `environment`, `parent` and
        `directory` are those of the host's process, where there is one; `coverage` says what an
        archive that is not up to date has, and may wait for that."""
        self._library = library
        self._places = places
        self._environment = environment
        self._parent = parent
        self._directory = directory
        self._coverage = coverage
        #: What was read for one reader is not at hand for another.
        self._memories: WeakKeyDictionary[Library, Memory] = WeakKeyDictionary()
        self._limiter: anyio.CapacityLimiter | None = None
        self.server: Server[Any] = Server(
            "rireki",
            version=__version__,
            title="rireki: the history of your AI agents",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
        )

    async def _in_thread(self, work: Callable[[], Any]) -> Any:
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(AT_ONCE)
        # A client that goes away does not wait for a search to end.
        return await anyio.to_thread.run_sync(work, limiter=self._limiter, abandon_on_cancel=True)

    async def run_stdio(self) -> None:
        """One client, over our standard input and output."""
        try:
            async with stdio_server() as (read, write):
                await self.server.run(read, write, self.server.create_initialization_options())
        except* BrokenPipeError:
            logger.debug("the client is gone, in the middle of an answer")

    def over_http(self, largest: int) -> StreamableHTTPSessionManager:
        """Any number of clients; each request, of so many bytes at most, stands for itself."""
        return StreamableHTTPSessionManager(
            self.server, json_response=True, stateless=True, max_request_body_size=largest
        )

    # ── tools ──

    async def _list_tools(
        self, context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=listed_tools())

    async def _call_tool(
        self, context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        session = self._session(context, params.meta)
        # Claude Code shows its model the values alone, as JSON, where there are any.
        bare = "claude" in _client(context, params.meta).lower()
        try:
            answer: ToolAnswer = await self._in_thread(
                partial(self._answer, context.request, session, params.name, params.arguments)
            )
        except RirekiError as error:
            return _failed(error.message, error.hint)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=answer.text)],
            structured_content=None if bare else {"answer": answer.text, **answer.data},
        )

    def _answer(
        self,
        request: Any,
        session: HostSession | None,
        name: str,
        arguments: Mapping[str, Any] | None,
    ) -> ToolAnswer:
        return call(self.recall(request, session), name, arguments)

    def recall(self, request: Any, session: HostSession | None) -> Recall:
        coverage = self._coverage()
        library = self._library(request)
        return Recall(
            library,
            Caller.of(session, library),
            self._places,
            datetime.now(timezone.utc),
            self._memories.setdefault(library, Memory()),
            self._directory,
            coverage,
        )

    def _session(self, context: ServerRequestContext[Any], meta: Any) -> HostSession | None:
        return host_session(meta, _client(context, meta), self._environment, self._parent)

    # ── resources ──

    async def _list_resources(
        self, context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        session = self._session(context, params.meta if params else None)
        try:
            found = await self._in_thread(partial(self._newest, context.request, session))
        except RirekiError:
            # Hosts ask for this unasked: that there is no archive is said by the tools.
            found = []
        return types.ListResourcesResult(resources=found)

    def _newest(self, request: Any, session: HostSession | None) -> list[types.Resource]:
        recall = self.recall(request, session)
        newest = recall.library.conversations(limit=RESOURCES + 1)
        return [
            types.Resource(
                uri=uri_of(each.id),
                name=recall.title(each),
                description=f"{each.source}, {recall.place(each)}",
                mime_type="text/plain",
            )
            for each in newest
            if each.id not in recall.without
        ][:RESOURCES]

    async def _list_templates(
        self, context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        template = types.ResourceTemplate(
            uri_template="rireki://{conversation}#{message}",
            name="message",
            description="A message of a past conversation; without #message the outline of its turns",
            mime_type="text/plain",
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def _read_resource(
        self, context: ServerRequestContext[Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        session = self._session(context, params.meta)
        try:
            answer = await self._in_thread(
                lambda: open_reference(self.recall(context.request, session), uri, None, None)
            )
        except RirekiError as error:
            raise MCPError(types.INVALID_PARAMS, f"{error.message}. {error.hint}".strip()) from None
        text = types.TextResourceContents(uri=uri, mime_type="text/plain", text=answer.text)
        return types.ReadResourceResult(contents=[text])


def _failed(message: str, hint: str) -> types.CallToolResult:
    text = f"{message}\n{hint}".strip()[:4000]
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)


def _client(context: ServerRequestContext[Any], meta: Any) -> str:
    """What the host calls itself: at the beginning, with each call, or to every server of the web."""
    params = context.session.client_params
    if params is not None and params.client_info.name:
        return params.client_info.name
    told = (meta or {}).get(types.CLIENT_INFO_META_KEY)
    if isinstance(told, Mapping) and isinstance(name := told.get("name"), str):
        return name
    headers = getattr(context.request, "headers", {})
    return str(headers.get("user-agent", ""))
