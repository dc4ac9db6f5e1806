"""The app: Starlette, ChatKit's server, and rireki's store with attachments."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route

from rireki.chatkit import AttachmentRefused, RirekiAttachmentStore, RirekiStore, attachment_app

# After rireki.chatkit, which keeps quiet about what ChatKit warns of when it is imported.
from chatkit.server import ChatKitServer, StreamingResult  # isort: skip
from chatkit.store import NotFoundError  # isort: skip
from chatkit.types import (  # isort: skip
    AssistantMessageContent,
    AssistantMessageContentPartTextDelta,
    AssistantMessageItem,
    ThreadItemAddedEvent,
    ThreadItemDoneEvent,
    ThreadItemUpdatedEvent,
    ThreadMetadata,
    ThreadStreamEvent,
    UserMessageItem,
)

from examples.chatkit_app.model import answer

__all__ = ["make_app"]

Context = dict[str, str]
HERE = Path(__file__).parent
COOKIE = "example_user"
#: How much of a thread the model is shown.
MEMORY = 40


class Server(ChatKitServer[Context]):
    """Answers what people write, word by word."""

    async def respond(
        self, thread: ThreadMetadata, input_user_message: UserMessageItem | None, context: Context
    ) -> AsyncIterator[ThreadStreamEvent]:
        item = AssistantMessageItem(
            id=self.store.generate_item_id("message", thread, context),
            thread_id=thread.id,
            created_at=datetime.now(),
            content=[AssistantMessageContent(text="")],
        )
        yield ThreadItemAddedEvent(item=item)
        text = ""
        async for words in answer(await self._messages(thread, context)):
            text += words
            delta = AssistantMessageContentPartTextDelta(content_index=0, delta=words)
            yield ThreadItemUpdatedEvent(item_id=item.id, update=delta)
        content = [AssistantMessageContent(text=text.strip())]
        yield ThreadItemDoneEvent(item=item.model_copy(update={"content": content}))
        if thread.title is None and input_user_message is not None:
            thread.title = _text(input_user_message)[:60]

    async def _messages(self, thread: ThreadMetadata, context: Context) -> list[dict[str, Any]]:
        page = await self.store.load_thread_items(thread.id, None, MEMORY, "desc", context)
        roles = {"user_message": "user", "assistant_message": "assistant"}
        items = [item for item in reversed(page.data) if item.type in roles]
        return [{"role": roles[item.type], "content": _text(item)} for item in items]


def make_app(base_url: str, archive: str | None = None) -> Starlette:
    """`base_url` is where browsers reach the app."""
    store: RirekiStore[Context] = RirekiStore(user_key=_user, name="example", archive=archive)
    attachments = RirekiAttachmentStore(store, base_url=f"{base_url}/attachments")
    server = Server(store, attachments)

    async def chat(request: Request) -> Response:
        try:
            result = await server.process(await request.body(), _context(request))
        except NotFoundError as error:
            return JSONResponse({"error": str(error)}, 404)
        except AttachmentRefused as error:
            return JSONResponse({"error": error.message, "hint": error.hint}, error.status)
        except ValueError as error:
            return JSONResponse({"error": str(error)}, 400)
        if isinstance(result, StreamingResult):
            return StreamingResponse(result, media_type="text/event-stream")
        return Response(result.json, media_type="application/json")

    async def page(request: Request) -> Response:
        response = FileResponse(HERE / "index.html")
        if COOKIE not in request.cookies:
            # Everyone is somebody else: where people sign in, take their name in place of this.
            response.set_cookie(COOKIE, uuid4().hex, httponly=True, samesite="strict")
        return response

    async def script(request: Request) -> Response:
        return FileResponse(HERE / "chat.js", media_type="text/javascript")

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with store:
            yield

    routes = [
        Route("/", page),
        Route("/chat.js", script),
        Route("/chatkit", chat, methods=["POST"]),
        Mount("/attachments", attachment_app(attachments, _context)),
    ]
    return Starlette(routes=routes, lifespan=lifespan)


def _context(request: Request) -> Context:
    return {"user": request.cookies.get(COOKIE) or "nobody"}


def _user(context: Context) -> str:
    return context["user"]


def _text(item: Any) -> str:
    """What was said, and the names of the files that came with it."""
    files = [f"[{file.name}]" for file in getattr(item, "attachments", ())]
    return " ".join([*(part.text for part in item.content), *files])
