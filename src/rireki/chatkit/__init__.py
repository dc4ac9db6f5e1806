"""The public door of the ChatKit store: `pip install 'rireki[chatkit]'`. See docs/chatkit.md."""

from __future__ import annotations

import warnings

with warnings.catch_warnings():
    # ChatKit deprecates classes that it derives others from, and so warns of itself.
    warnings.simplefilter("ignore", DeprecationWarning)
    try:
        import chatkit.server  # noqa: F401 - so that its absence is told in words
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "rireki.chatkit needs openai-chatkit; install it with: pip install 'rireki[chatkit]'",
            name=error.name,
        ) from error

from rireki.chatkit.adopt import Adopted
from rireki.chatkit.attachments import AttachmentRefused, RirekiAttachmentStore
from rireki.chatkit.endpoints import attachment_app
from rireki.chatkit.store import RirekiStore

__all__ = ["Adopted", "AttachmentRefused", "RirekiAttachmentStore", "RirekiStore", "attachment_app"]
