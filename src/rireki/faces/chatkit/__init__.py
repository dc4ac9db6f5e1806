"""A store for ChatKit apps whose threads are conversations of the archive as well."""

from __future__ import annotations

from rireki.faces.chatkit.adopt import Adopted
from rireki.faces.chatkit.attachments import AttachmentRefused, RirekiAttachmentStore
from rireki.faces.chatkit.endpoints import attachment_app
from rireki.faces.chatkit.store import RirekiStore

__all__ = ["Adopted", "AttachmentRefused", "RirekiAttachmentStore", "RirekiStore", "attachment_app"]
