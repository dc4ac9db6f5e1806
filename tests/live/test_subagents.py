"""A sub-agent begins to work while its parent's page is open."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rireki.archive.base import Archive
from rireki.intake.interpret import read_conversation
from rireki.intake.sweep import Report
from rireki.live.feed import Feed
from tests.support.homes import lay_out


def test_a_sub_agent_that_appears_names_the_message_that_started_it(
    archive: Archive, home: Path, tmp_path: Path, take_in: Callable[[], Report]
) -> None:
    lay_out("claude-code-2.1.197", home)
    folder = next(home.glob(".claude/projects/*/*/subagents"))
    folder.rename(tmp_path / "later")
    take_in()
    parent = f"claude-code/{folder.parent.name}"
    start = archive.number()
    (tmp_path / "later").rename(folder)
    take_in()
    told = {t.conversation: t.messages for t in Feed(archive).since(start).changes}
    links = archive.find(parent).conversation.links
    calls = {link.call_id for link in links if link.side == "child" and link.call_id}
    assert calls
    messages = {m.id: m for m in read_conversation(archive, archive.find(parent)).messages()}
    assert told[parent]
    for id in told[parent] or ():
        assert calls & {getattr(part, "call_id", None) for part in messages[id].parts}
    assert all(link.id in told for link in links if link.side == "child")
