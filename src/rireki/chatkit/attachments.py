"""`RirekiAttachmentStore`: the bytes of attachments, uploaded in two steps, for their user only.

First the app is told of a file and answers with an address; then the browser sends the bytes
there. The addresses are served by `endpoints.py`; rows and bytes lie with the store.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import AsyncIterable, Callable, Collection
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import quote

from chatkit.store import AttachmentStore, NotFoundError
from chatkit.types import Attachment, AttachmentCreateParams, FileAttachment, ImageAttachment

from rireki.chatkit import files
from rireki.chatkit.kinds import HEAD, INLINE, TYPES, is_kind, plain_name, plain_type
from rireki.chatkit.store import RirekiStore
from rireki.chatkit.values import attachment_of
from rireki.errors import RirekiError

__all__ = ["AttachmentRefused", "AttachmentContent", "RirekiAttachmentStore"]

TContext = TypeVar("TContext")

MAX_BYTES = 20 << 20


class AttachmentRefused(RirekiError):
    """A file that is not taken; `status` is what HTTP calls the reason."""

    def __init__(self, status: int, code: str, **values: object) -> None:
        super().__init__(code, **values)
        self.status = status


class AttachmentContent(NamedTuple):
    """The bytes of an attachment, ready to be sent."""

    path: Path
    name: str
    mime_type: str

    @property
    def is_inline(self) -> bool:
        """Whether a browser may show it; anything else is only ever saved."""
        return self.mime_type in INLINE


class RirekiAttachmentStore(AttachmentStore[TContext], Generic[TContext]):
    """`base_url` is where the endpoints are mounted, as the browser knows it."""

    def __init__(
        self,
        store: RirekiStore[TContext],
        *,
        base_url: str,
        max_bytes: int = MAX_BYTES,
        types: Collection[str] = TYPES,
        upload_headers: Callable[[TContext], dict[str, str]] | None = None,
    ) -> None:
        self.store = store
        self.base_url = base_url.rstrip("/")
        self.max_bytes = max_bytes
        self.types = frozenset(types)
        self._headers = upload_headers or (lambda context: {})

    def generate_attachment_id(self, mime_type: str, context: TContext) -> str:
        return f"atc_{secrets.token_hex(16)}"

    async def create_attachment(
        self, input: AttachmentCreateParams, context: TContext
    ) -> Attachment:
        """The first step: what will come, and where to send it."""
        user = self.store.user(context)
        kind = self._check(input)
        id = self.generate_attachment_id(kind, context)
        key = secrets.token_urlsafe(24)
        attachment = self._announced(id, input.name, kind, key, context)
        data = attachment.model_dump_json()
        # Saved here, because ChatKit before 1.5 leaves it to us.
        await self.store.work.change(
            lambda sql: files.announce(sql, user, id, data, input.size, key), user
        )
        return attachment

    async def delete_attachment(self, attachment_id: str, context: TContext) -> None:
        await self.store.delete_attachment(attachment_id, context)

    async def receive(
        self, attachment_id: str, chunks: AsyncIterable[bytes], context: TContext
    ) -> Attachment:
        """The second step: the bytes, whole or not at all."""
        user = self.store.user(context)
        upload = await self.store.work.read(lambda sql: files.find_upload(sql, user, attachment_id))
        incoming = await self.store.work.aside(self.store.blobs.receive)
        try:
            await self._fill(incoming, chunks, upload, attachment_id)
            digest = await self.store.work.aside(incoming.seal)
            if upload.digest is not None:
                return self._again(attachment_id, upload, digest)
            attachment = _uploaded(attachment_of(upload.data))
            data = attachment.model_dump_json()
            await self.store.work.change(
                lambda sql: files.finish(sql, user, attachment_id, data, digest, incoming), user
            )
            return attachment
        except OSError as error:
            why = error.strerror or str(error)
            raise AttachmentRefused(
                507, "attachment-not-kept", id=attachment_id, why=why
            ) from error
        finally:
            await self.store.work.aside(incoming.drop)

    async def content(self, attachment_id: str, context: TContext) -> AttachmentContent:
        """The bytes for their user."""
        user = self.store.user(context)
        upload = await self.store.work.read(lambda sql: files.find_upload(sql, user, attachment_id))
        return await self._content(attachment_id, upload)

    async def preview(self, attachment_id: str, key: str) -> AttachmentContent:
        """A picture for whoever has its key: pictures in a page are asked for without any sign-in."""
        upload = await self.store.work.read(
            lambda sql: files.find_upload(sql, None, attachment_id, key)
        )
        content = await self._content(attachment_id, upload)
        if not (content.is_inline and hmac.compare_digest(upload.key, key)):
            raise NotFoundError(f"there is no preview of {attachment_id}")
        return content

    def _check(self, input: AttachmentCreateParams) -> str:
        """What may not be uploaded is refused before a byte is sent."""
        kind = plain_type(input.mime_type)
        if not plain_name(input.name):
            raise AttachmentRefused(400, "bad-attachment-name", name=input.name[:100])
        if kind is None or kind not in self.types:
            allowed = ", ".join(sorted(self.types))
            raise AttachmentRefused(
                415,
                "bad-attachment-type",
                name=input.name,
                type=input.mime_type[:100],
                types=allowed,
            )
        if not 0 < input.size <= self.max_bytes:
            raise AttachmentRefused(
                413, "bad-attachment-size", name=input.name, size=input.size, most=self.max_bytes
            )
        return kind

    def _announced(
        self, id: str, name: str, kind: str, key: str, context: TContext
    ) -> FileAttachment | ImageAttachment:
        place = f"{self.base_url}/{quote(id)}"
        value: dict[str, Any] = {"id": id, "name": name, "mime_type": kind}
        if "upload_descriptor" in FileAttachment.model_fields:
            descriptor = {"url": place, "method": "PUT", "headers": self._headers(context)}
            value["upload_descriptor"] = descriptor
        else:
            value["upload_url"] = place
        if kind in INLINE:
            value["preview_url"] = f"{place}/preview?key={key}"
            return ImageAttachment.model_validate(value)
        return FileAttachment.model_validate(value)

    async def _fill(
        self,
        incoming: files.Incoming,
        chunks: AsyncIterable[bytes],
        upload: files.StoredUpload,
        id: str,
    ) -> None:
        head = b""
        async for chunk in chunks:
            if incoming.size + len(chunk) > upload.size:
                raise AttachmentRefused(413, "attachment-too-long", id=id, size=upload.size)
            head += chunk[: HEAD - len(head)]
            await self.store.work.aside(lambda chunk=chunk: incoming.write(chunk))  # type: ignore[misc]
        if incoming.size != upload.size:
            raise AttachmentRefused(
                400, "attachment-incomplete", id=id, size=incoming.size, announced=upload.size
            )
        kind = attachment_of(upload.data).mime_type
        if not is_kind(kind, head):
            raise AttachmentRefused(415, "attachment-of-another-type", id=id, type=kind)

    def _again(self, id: str, upload: files.StoredUpload, digest: str) -> Attachment:
        """A browser that did not hear the answer sends the same once more."""
        if digest != upload.digest:
            raise AttachmentRefused(409, "attachment-exists", id=id)
        return attachment_of(upload.data)

    async def _content(self, id: str, upload: files.StoredUpload) -> AttachmentContent:
        if upload.digest is None:
            raise NotFoundError(f"the bytes of attachment {id} were not uploaded yet")
        attachment, path = attachment_of(upload.data), self.store.blobs.path(upload.digest)
        if not await self.store.work.aside(path.is_file):
            raise NotFoundError(f"the bytes of attachment {id} are not there any more")
        return AttachmentContent(path, attachment.name, attachment.mime_type)


def _uploaded(attachment: Attachment) -> Attachment:
    """The same, with nowhere to send it any more."""
    fields = {"upload_descriptor", "upload_url"} & set(type(attachment).model_fields)
    return attachment.model_copy(update=dict.fromkeys(fields))
