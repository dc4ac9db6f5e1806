"""Two invented people who share with each other, on a database that lives as long as the demonstration."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from rireki.archive.base import Archive
from rireki.archive.open import open_archive
from rireki.shares.link import TeamRemote
from rireki.shares.pushing import TeamPush
from rireki.shares.rules import Level, ShareRule
from rireki.sync.http import HttpRemote
from rireki.sync.machine import Machine
from rireki.sync.outbox import Outbox
from rireki.sync.sender import Sender

__all__ = ["PEOPLE", "TEAM", "push_for"]

TEAM = "acme"
PEOPLE = ("ann", "ben")


def push_for(archive: Path, url: str, tokens: Mapping[str, str]) -> None:
    """An invented history has several projects: each has a half of them, and shares it."""
    with closing(open_archive(archive)) as opened:
        projects = sorted(opened.projects())
        for place, (person, token) in enumerate(tokens.items()):
            level: Level = "masked" if place else "full"
            own = [_rule(person, each, level) for each in projects[place :: len(tokens)]]
            _push(opened, url, person, token, own)


def _rule(person: str, project: str, level: Level) -> ShareRule:
    return ShareRule(what=project, kind="directory", team=TEAM, remote=person, level=level)


def _push(archive: Archive, url: str, person: str, token: str, rules: list[ShareRule]) -> None:
    with closing(TeamRemote(url, token)) as team, closing(HttpRemote(url, token)) as records:
        outgoing = TeamPush(archive, person, rules).prepare(team)
        outbox = Outbox(archive, Machine(f"demo-{person}", person), "team", outgoing)
        Sender(outbox, records, person, "team").push()
