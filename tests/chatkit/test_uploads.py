"""A file that was uploaded to a store is archived with its thread, shown there, and given back."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

from chatkit.types import AttachmentCreateParams, UserMessageItem
from click.testing import CliRunner

from rireki.archive.open import open_archive
from rireki.chatkit import RirekiAttachmentStore, RirekiStore
from rireki.chatkit.conformance.samples import reply, thread, typed
from rireki.cli.main import cli
from rireki.intake.interpret import read_conversation
from rireki.intake.restore import restore
from rireki.model.parts import Attachment
from tests.chatkit.stores import Context, user_of

ALICE = {"user_id": "alice"}
THREAD = "thr_0000000a"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 400


async def upload(
    files: RirekiAttachmentStore[Context], data: bytes, name: str = "a.png", kind: str = "image/png"
) -> Any:
    params = AttachmentCreateParams(name=name, size=len(data), mime_type=kind)
    made = await files.create_attachment(params, ALICE)

    async def chunks() -> AsyncIterator[bytes]:
        yield data

    return await files.receive(made.id, chunks(), ALICE)


def with_files(number: int, *attached: Any) -> UserMessageItem:
    message = typed(number)
    assert isinstance(message, UserMessageItem)
    return message.model_copy(update={"attachments": list(attached)})


async def talk(place: Path, **more: Any) -> None:
    async with RirekiStore(user_key=user_of, archive=place, sync="os", **more) as store:
        files = RirekiAttachmentStore(store, base_url="https://example.org/files")
        picture = await upload(files, PNG)
        text = await upload(files, b"hello", "note.txt", "text/plain")
        await upload(files, b"never sent", "draft.txt", "text/plain")
        await store.save_thread(thread(title="Pictures"), ALICE)
        await store.add_thread_item(THREAD, with_files(1, picture, text), ALICE)
        await store.add_thread_item(THREAD, reply(2), ALICE)


def attached(place: Path) -> tuple[list[Attachment], list[bytes | None]]:
    with closing(open_archive(place)) as archive:
        reading = read_conversation(archive, archive.find(f"chatkit/{THREAD}"))
        parts = [part for message in reading.messages() for part in message.parts]
        found = [part for part in parts if isinstance(part, Attachment)]
        return found, [reading.attachment(part.digest) for part in found]


def test_the_bytes_of_a_file_are_in_the_archive(place: Path) -> None:
    asyncio.run(talk(place))
    parts, data = attached(place)
    assert [part.name for part in parts] == ["a.png", "note.txt"]
    assert [part.size for part in parts] == [len(PNG), 5]
    assert [part.digest for part in parts] == [
        sha256(PNG).hexdigest(),
        sha256(b"hello").hexdigest(),
    ]
    assert data == [PNG, b"hello"]


def test_they_stay_when_the_app_erased_its_folder(place: Path) -> None:
    asyncio.run(talk(place))
    for file in (place.parent / "chatkit" / "chatkit.files").rglob("*"):
        if file.is_file():
            file.unlink()
    shown = CliRunner().invoke(cli, ["--archive", str(place), "import", "--quiet"])
    assert shown.exit_code in (0, 2), shown.output
    assert attached(place)[1] == [PNG, b"hello"]


def test_a_file_is_read_once_however_often_its_thread_changes(place: Path) -> None:
    asyncio.run(talk(place))
    size = place.stat().st_size

    async def more() -> None:
        async with RirekiStore(user_key=user_of, archive=place, sync="os") as store:
            for number in range(3, 9):
                await store.add_thread_item(THREAD, reply(number), ALICE)

    asyncio.run(more())
    assert attached(place)[1] == [PNG, b"hello"]
    assert place.stat().st_size - size < len(PNG) // 10


def test_show_tells_of_the_file_and_restore_gives_it_back(place: Path, tmp_path: Path) -> None:
    asyncio.run(talk(place))
    with closing(open_archive(place)) as archive:
        written = restore(archive, archive.find(f"chatkit/{THREAD}"), tmp_path / "back")
    assert PNG in [file.read_bytes() for file in written]
    shown = CliRunner().invoke(cli, ["--archive", str(place), "show", THREAD])
    assert "a.png, image/png, 102 KB" in shown.output
    page = CliRunner().invoke(cli, ["--archive", str(place), "show", THREAD, "--format", "html"])
    assert b64encode(PNG[:30]).decode() in page.output


def test_an_erased_thread_takes_its_files_out_of_the_archive(place: Path) -> None:
    asyncio.run(talk(place))

    async def erase() -> None:
        async with RirekiStore(user_key=user_of, archive=place, sync="os", erase=True) as store:
            await store.delete_thread(THREAD, ALICE)

    asyncio.run(erase())
    with closing(open_archive(place)) as archive:
        assert list(archive.strands("chatkit", THREAD)) == []
