"""How far an archive is from what agents wrote, for whoever is answered from it."""

from __future__ import annotations

from rireki.live.status import KeeperStatus

__all__ = ["told_of"]


def told_of(status: KeeperStatus) -> str:
    """What has to be said of it; nothing of one that is up to date."""
    if status.state in ("starting", "importing"):
        done = f" ({status.done:,} of {status.total:,})" if status.total else ""
        return f"history is being taken in right now{done}: what is in so far was looked at"
    if status.state == "failed":
        trouble = status.troubles[0].message if status.troubles else "nobody knows why"
        return f"newer history is not taken in: {trouble}"
    return ""
