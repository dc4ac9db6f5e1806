"""All of a server's notices: what is watched, where they go, and how that is doing."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from rireki.home import Home
from rireki.late import LateModule
from rireki.masking.masker import Masker
from rireki.web.notices.sending import Channel, ChannelStatus, NoticeSender, Ntfy, Webhook
from rireki.web.notices.settings import NoticeSettings
from rireki.web.notices.subscriptions import Subscriptions
from rireki.web.notices.watch import AskWatch

if TYPE_CHECKING:
    from rireki.web.driving import Driving
    from rireki.web.notices import push
else:
    # What it encrypts with may not be installed.
    push = LateModule("rireki.web.notices.push")

__all__ = ["Notices"]


class Notices:
    """Made before there is a loop; `open` and `close` are called in it."""

    def __init__(self, settings: NoticeSettings, home: Home, link: str) -> None:
        self.settings = settings
        self.subscriptions = Subscriptions(home, settings.push_services)
        self._home = home
        self._link = settings.link or link
        self._key = home.sync / "push.pem"
        self._sender = NoticeSender(self._channels())
        self._watching: asyncio.Task[None] | None = None

    def _channels(self) -> list[Channel]:
        channels: list[Channel] = []
        if self.settings.ntfy:
            channels.append(Ntfy(self.settings.ntfy, self.settings.ntfy_token))
        if self.settings.webhook:
            channels.append(Webhook(self.settings.webhook))
        if self.can_push:
            channels.append(push.BrowserPush(self.subscriptions, self._key, self.settings.contact))
        return channels

    @property
    def can_push(self) -> bool:
        try:
            return bool(push.BrowserPush)
        except ImportError:
            return False

    @property
    def public_key(self) -> str:
        return push.public_key(self._key) if self.can_push else ""

    @property
    def channels(self) -> list[ChannelStatus]:
        """Those of the settings, and that of browsers as soon as there is one."""
        subscribed = bool(self.subscriptions.all())
        return [e for e in self._sender.channels if subscribed or e.name != "Web Push"]

    def open(self, driving: Driving) -> None:
        masked = Masker.for_home(self._home).text if self.settings.text else None
        watch = AskWatch(
            driving,
            self._sender.send,
            after=self.settings.after,
            link=self._link,
            masked=masked,
        )
        self._sender.start()
        self._watching = asyncio.create_task(watch.run(), name="rireki notices")

    async def close(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            with suppress(asyncio.CancelledError):
                await self._watching
            self._sender.close()
