"""Attachments: uploaded in two steps, for their user only, and nothing that was not agreed on."""

from __future__ import annotations

import asyncio
import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from chatkit.server import ChatKitServer, NonStreamingResult, StreamingResult
from chatkit.store import NotFoundError
from chatkit.types import AttachmentCreateParams
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Mount
from starlette.testclient import TestClient

from rireki.chatkit import AttachmentRefused, RirekiAttachmentStore, RirekiStore, attachment_app
from rireki.chatkit.conformance.samples import thread, typed
from rireki.chatkit.files import Incoming
from tests.chatkit.stores import Context, user_of

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(200))
ALICE, BOB = {"user_id": "alice"}, {"user_id": "bob"}


def _context(request: Request) -> Context:
    return {"user_id": request.headers.get("x-user", "")}


class App:
    """A server with attachments, as an app has it."""

    def __init__(self, folder: Path, erase: bool = False) -> None:
        archive = folder / "archive.sqlite3"
        self.store: RirekiStore[Context] = RirekiStore(
            user_key=user_of, archive=archive, erase=erase, sync="os"
        )
        self.attachments = RirekiAttachmentStore(
            self.store, base_url="http://testserver/files", max_bytes=1000
        )

        class Server(ChatKitServer[Context]):
            async def respond(self, *_: Any) -> Any:  # type: ignore[override]
                raise AssertionError("nothing is said here")

        self.server = Server(self.store, self.attachments)
        app = Starlette(routes=[Mount("/files", attachment_app(self.attachments, _context))])
        self.browser = TestClient(app)

    def ask(self, type: str, user: Context = ALICE, **params: Any) -> Any:
        async def process() -> Any:
            request = json.dumps({"type": type, "params": params})
            result = await self.server.process(request, user)
            assert isinstance(result, NonStreamingResult)
            return json.loads(result.json)

        return asyncio.run(process())

    def create(self, name: str = "a.png", size: int = len(PNG), type: str = "image/png") -> Any:
        return self.ask("attachments.create", name=name, size=size, mime_type=type)

    def send(self, made: Any, data: bytes = PNG, user: str = "alice", **more: Any) -> Any:
        headers = {"x-user": user}
        return self.browser.put(_upload(made), content=data, headers=headers, **more)

    def files(self) -> list[Path]:
        folder = self.store.blobs.folder
        return [file for file in folder.rglob("*") if file.is_file()] if folder.exists() else []


def _upload(made: Any) -> str:
    """Where ChatKit, in its way of the version, says that the bytes go."""
    address: str = made["upload_url"] if "upload_url" in made else made["upload_descriptor"]["url"]
    return urlsplit(address).path


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    app = App(tmp_path)
    yield app
    asyncio.run(app.store.close())


def test_a_picture_is_announced_sent_shown_and_saved(app: App) -> None:
    made = app.create()
    assert app.browser.get(_upload(made), headers={"x-user": "alice"}).status_code == 404
    sent = app.send(made)
    assert sent.status_code == 200, sent.text
    assert "upload_descriptor" not in sent.json() and "upload_url" not in sent.json()
    saved = app.browser.get(_upload(made), headers={"x-user": "alice"})
    assert saved.content == PNG and saved.headers["content-disposition"].startswith("attachment")
    shown = app.browser.get(made["preview_url"])
    assert shown.content == PNG and shown.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in shown.headers["content-security-policy"]
    assert app.send(made).status_code == 200, "a browser that did not hear the answer asks again"
    assert app.send(made, b"\x89PNG\r\n\x1a\n" + b"x" * 200).status_code == 409
    assert len(app.files()) == 1


def test_a_form_is_taken_as_well(app: App) -> None:
    made = app.create("notes.txt", 5, "text/plain")
    headers = {"x-user": "alice"}
    form = {"file": ("other.txt", b"hello", "text/html")}
    assert app.browser.post(_upload(made), files=form, headers=headers).status_code == 200
    saved = app.browser.get(_upload(made), headers=headers)
    assert saved.content == b"hello" and saved.headers["content-type"].startswith("text/plain")
    again = app.create("notes.txt", 5, "text/plain")
    wrong = app.browser.post(_upload(again), files={"x": b"hello"}, headers=headers)
    assert wrong.status_code == 400 and "field 'file'" in wrong.json()["hint"]
    large = {"file": ("l.txt", b"x" * 40_000)}
    assert app.browser.post(_upload(again), files=large, headers=headers).status_code == 413


def test_another_user_gets_nothing(app: App) -> None:
    made = app.create()
    assert app.send(made, user="bob").status_code == 404
    assert app.send(made).status_code == 200
    assert app.browser.get(_upload(made), headers={"x-user": "bob"}).status_code == 404
    app.ask("attachments.delete", BOB, attachment_id=made["id"])
    assert app.browser.get(_upload(made), headers={"x-user": "alice"}).content == PNG


def test_another_user_cannot_send_it_with_a_message(app: App) -> None:
    made = app.create()
    app.send(made)
    content = [{"type": "input_text", "text": "see what I have"}]
    message = {"content": content, "attachments": [made["id"]], "inference_options": {}}

    async def send() -> None:
        request = json.dumps({"type": "threads.create", "params": {"input": message}})
        result = await app.server.process(request, BOB)
        assert isinstance(result, StreamingResult)
        with pytest.raises(NotFoundError):
            async for _ in result.json_events:
                continue
        (thread,) = (await app.store.load_threads(9, None, "asc", BOB)).data
        assert not (await app.store.load_thread_items(thread.id, None, 9, "asc", BOB)).data

    asyncio.run(send())


@pytest.mark.parametrize("key", ["", "x", "%00", "a" * 5000])
def test_a_guessed_key_shows_nothing(app: App, key: str) -> None:
    made = app.create()
    app.send(made)
    assert app.browser.get(f"/files/{made['id']}/preview?key={key}").status_code == 404
    assert app.browser.get(f"/files/{made['id']}/preview").status_code == 404


@pytest.mark.parametrize(
    "id", ["atc_00000000", "..", "%2e%2e", "..%2f..%2fetc%2fpasswd", "%00", "' OR 1=1 --"]
)
def test_a_guessed_id_is_not_there(app: App, id: str) -> None:
    app.send(app.create())
    for method in ("GET", "PUT"):
        answer = app.browser.request(method, f"/files/{id}", headers={"x-user": "alice"})
        assert answer.status_code in (404, 405)


@pytest.mark.parametrize(
    "name", ["../a.png", "a/b.png", "a\\b.png", "..", ".", "", " ", "a\0.png", "a\n.png", "x" * 300,
             "gnp.\u202egpj"],
)  # fmt: skip
def test_a_name_that_is_a_way_is_refused(app: App, name: str) -> None:
    with pytest.raises(AttachmentRefused) as told:
        app.create(name)
    assert told.value.status == 400


@pytest.mark.parametrize("size", [0, -1, 1001, 10**15])
def test_a_size_beyond_the_limit_is_refused(app: App, size: int) -> None:
    with pytest.raises(AttachmentRefused) as told:
        app.create(size=size)
    assert told.value.status == 413


@pytest.mark.parametrize("kind", ["image/svg+xml", "text/html", "nonsense", "", "image/*"])
def test_a_type_that_is_not_allowed_is_refused(app: App, kind: str) -> None:
    with pytest.raises(AttachmentRefused) as told:
        app.create(type=kind)
    assert told.value.status == 415


def test_bytes_that_are_not_what_was_announced_are_refused_and_not_kept(app: App) -> None:
    made = app.create(size=20)
    assert app.send(made, b"\x89PNG\r\n\x1a\n" + b"x" * 99).status_code == 413
    assert app.send(made, b"\x89PNG\r\n\x1a\n").status_code == 400
    assert app.send(made, b"<script>alert(1)</sc").status_code == 415
    text = app.create("a.txt", 4, "text/plain")
    assert app.send(text, b"a\0bc").status_code == 415
    assert app.files() == []


def test_the_same_bytes_are_kept_once_and_go_with_the_last_that_refers_to_them(
    tmp_path: Path,
) -> None:
    app = App(tmp_path, erase=True)
    one, two = app.create(), app.create()
    assert app.send(one).status_code == app.send(two).status_code == 200
    assert len(app.files()) == 1
    app.ask("attachments.delete", attachment_id=one["id"])
    assert len(app.files()) == 1

    async def delete_its_thread() -> None:
        await app.store.save_thread(thread(), ALICE)
        file = await app.store.load_attachment(two["id"], ALICE)
        await app.store.add_thread_item("thr_0000000a", typed(1, (file,)), ALICE)
        await app.store.delete_thread("thr_0000000a", ALICE)
        await app.store.close()

    asyncio.run(delete_its_thread())
    assert app.files() == []


def test_an_attachment_is_known_as_soon_as_it_is_announced(app: App) -> None:
    """ChatKit before 1.5 does not save it itself."""

    async def announce() -> None:
        params = AttachmentCreateParams(name="a.png", size=9, mime_type="image/png")
        made = await app.attachments.create_attachment(params, ALICE)
        assert (await app.store.load_attachment(made.id, ALICE)) == made

    asyncio.run(announce())


def test_what_a_killed_upload_left_is_cleared_away_a_day_later(app: App) -> None:
    """Bytes in part, or whole and of no attachment; but nothing that is on its way, or referred to."""
    app.send(app.create())
    (kept,) = app.files()
    folder = app.store.blobs.folder
    orphan, part, fresh = (
        folder / "ab" / ("ab" + "0" * 62),
        folder / ".dead.new",
        folder / ".on.new",
    )
    orphan.parent.mkdir(exist_ok=True)
    for file in (orphan, part, fresh):
        file.write_bytes(b"left")
    for file in (orphan, part, kept):
        os.utime(file, (1, 1))
    asyncio.run(app.store.purge())
    assert sorted(app.files()) == sorted([kept, fresh])


def test_bytes_that_are_lost_are_not_there(app: App) -> None:
    made = app.create()
    app.send(made)
    app.files()[0].unlink()
    assert app.browser.get(_upload(made), headers={"x-user": "alice"}).status_code == 404
    assert app.browser.get(made["preview_url"]).status_code == 404


def test_a_disk_that_is_full_is_told(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    made = app.create()

    def full(self: Incoming, data: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(Incoming, "write", full)
        refused = app.send(made)
    assert refused.status_code == 507 and "No space left" in refused.json()["error"]
    assert app.files() == []
    assert app.send(made).status_code == 200
