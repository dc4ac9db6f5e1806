"""Real files through the real archive: links from both ends, and the same story as without it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from rireki.archive.base import Archive, Filter
from rireki.intake.interpret import read_at, read_conversation
from rireki.intake.rebuild import rebuild
from rireki.intake.sweep import import_history
from rireki.intake.verify import verify
from rireki.model.conversation import Conversation, Reading
from rireki.sources.kit.places import Places
from tests.sources.transcripts import FIXTURES, SESSION, Transcript, fixtures, lay

VERSIONS = ("1.0.51", "2.0.76", "2.1.197", "2.1.325")


class Child(NamedTuple):
    kind: str
    child: str
    parent: str


def take_in(archive: Archive, home: Path) -> dict[str, Conversation]:
    import_history(archive, places=Places.at(home), sources=["claude-code"])
    found = archive.conversations(Filter(subagents=True))
    return {conversation.native_id: conversation for conversation in found}


def links(found: dict[str, Conversation]) -> set[Child]:
    """Every link, as its child tells it; its parent must tell the same."""
    told: dict[str, set[Child]] = {"parent": set(), "child": set()}
    for name, conversation in found.items():
        for link in conversation.links:
            other = link.id.partition("/")[2]
            child, parent = (name, other) if link.side == "parent" else (other, name)
            told[link.side].add(Child(link.kind, child[:14], parent[:14]))
    assert told["parent"] == told["child"]
    return told["parent"]


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        (
            "1.0.51",
            {
                ("fork", "810fc42b-6806-", "16224542-3cd1-"),
                ("fork", "0c9ba80e-77f2-", "16224542-3cd1-"),
                ("subagent", "4d2eee1d-26d3-", "4d2eee1d-26d3-"),
            },
        ),
        (
            "2.0.76",
            {
                ("fork", "78a8eb3e-8646-", "c2337036-c197-"),
                ("subagent", "agent-aaade07", "eb51c70e-fb31-"),
            },
        ),
        (
            "2.1.197",
            {
                ("fork", "22222222-2222-", "11111111-1111-"),
                ("fork", "4ca55770-4cd1-", "becdaf4e-5d54-"),
                ("subagent", "agent-accbf713", "d23a3610-9308-"),
                ("subagent", "agent-a5161a64", "agent-accbf713"),
                ("subagent", "agent-acd87854", "15a3592f-0e28-"),
                ("plan", "plan/scene-pla", "a6ad046e-2314-"),
                ("plan", "plan/scene-pla", "b6aceb4a-2cd3-"),
            },
        ),
        (
            "2.1.325",
            {
                ("subagent", "agent-af6c87b8", "02fd2ac1-8788-"),
                ("subagent", "agent-a61817a1", "e06af518-d76b-"),
                ("subagent", "agent-acfc3f2f", "agent-a61817a1"),
                ("subagent", "agent-ad487db9", "a398fe36-6c61-"),
            },
        ),
    ],
)
def test_real_sessions_are_linked_as_they_were_made_and_no_others(
    archive: Archive, version: str, expected: set[tuple[str, str, str]]
) -> None:
    assert links(take_in(archive, FIXTURES / version)) == expected


def test_a_continued_session_and_its_successor_know_each_other(
    archive: Archive, home: Path
) -> None:
    successor = f"b{SESSION[1:]}"
    before, after = Transcript(), Transcript(successor)
    before.user("first", uuid="one")
    before.meta("continued-in", continuedInSessionId=successor)
    after.user("second", uuid="two")
    lay(home, before.bytes())
    lay(home, after.bytes(), successor)
    assert links(take_in(archive, home)) == {("continuation", successor[:14], SESSION[:14])}


def test_a_summary_in_another_file_gives_a_session_its_title(archive: Archive, home: Path) -> None:
    later = f"b{SESSION[1:]}"
    before, after = Transcript(), Transcript(later)
    before.user("the first prompt", uuid="one")
    before.answer("the last answer", uuid="two")
    # What the person did to leave comes after it.
    for text in ("<local-command-caveat>x", "<command-name>/exit</command-name>", "bye"):
        before.user(text)
    after.meta("summary", summary="Fixing the flaky test", leafUuid="two")
    after.user("something else", uuid="three")
    for name, transcript in ((SESSION, before), (later, after)):
        lay(home, transcript.bytes(), name)
        found = take_in(archive, home)
    assert found[SESSION].title == "Fixing the flaky test"
    assert found[later].title == "something else"
    (listed,) = [
        s for s in archive.sightings("/home/dev/app") if s.conversation.native_id == SESSION
    ]
    assert listed.conversation.title == "Fixing the flaky test"
    assert (
        read_conversation(archive, archive.find(SESSION)).conversation.title
        == listed.conversation.title
    )


def summaries(**titles: str) -> bytes:
    """A file with nothing but titles, by the leaves they belong to."""
    lines = ({"type": "summary", "summary": t, "leafUuid": leaf} for leaf, t in titles.items())
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def asked(*prompts: str) -> bytes:
    """A session; the answer to the n-th prompt is the line `answer<n>`."""
    file = Transcript()
    for number, prompt in enumerate(prompts):
        file.user(prompt)
        file.answer("Ok.", uuid=f"answer{number}")
    return file.bytes()


@pytest.mark.parametrize(
    ("title", "failed"),
    [
        ("Invalid API key · Please run /login", True),
        ('API Error: 500 {"type":"error"}', True),
        ("API Error: Connection error.", True),
        ("API Error (Request timed out.)", True),
        ("Credit balance is too low", True),
        ("Claude AI usage limit reached|1753207200", True),
        ("Prompt is too long", True),
        ("OAuth token has expired · Please run /login", True),
        ("API Error Handling in the Fetch Layer", False),
        ("Invalid API Keys Rejected Before the Request", False),
        ("Fixing the flaky test", False),
    ],
)
def test_a_summary_that_failed_gives_way_to_the_first_prompt(
    archive: Archive, home: Path, title: str, failed: bool
) -> None:
    lay(home, asked("the first prompt", "and more"), SESSION)
    lay(home, summaries(answer1=title), TITLES)
    found = take_in(archive, home)
    assert found[SESSION].title == ("the first prompt" if failed else title)


TITLES = f"b{SESSION[1:]}"
MORE_TITLES = f"c{SESSION[1:]}"


@pytest.mark.parametrize("order", [(SESSION, TITLES), (TITLES, SESSION), (None,)])
def test_a_file_with_nothing_but_summaries_gives_others_their_titles(
    archive: Archive, home: Path, order: tuple[str | None, ...]
) -> None:
    files = {
        SESSION: asked("the first prompt"),
        TITLES: summaries(elsewhere="Another one", answer0="Fixing the flaky test"),
    }
    for name in order:
        for session, data in files.items():
            if name in (session, None):
                lay(home, data, session)
        take_in(archive, home)
    for _ in range(2):
        found = take_in(archive, home)
        assert {name: one.title for name, one in found.items()} == {
            SESSION: "Fixing the flaky test"
        }
        rebuild(archive)
    assert verify(archive) == []


def test_titles_without_their_conversation_are_kept_and_are_none(
    archive: Archive, home: Path, tmp_path: Path
) -> None:
    lay(home, summaries(answer0="Fixing the flaky test"), TITLES)
    assert take_in(archive, home) == {}
    assert (archive.count(), list(archive.pending()), verify(archive)) == (0, [], [])
    (strand,) = archive.strands("claude-code", TITLES)
    assert strand.document() == summaries(answer0="Fixing the flaky test")


def test_a_title_stays_when_either_file_goes_on(archive: Archive, home: Path) -> None:
    def title() -> str:
        return take_in(archive, home)[SESSION].title

    lay(home, summaries(answer0="Early"), TITLES)
    lay(home, asked("first"))
    assert title() == "Early"
    lay(home, asked("first", "more"))
    assert title() == "Early"
    lay(home, summaries(answer1="Late"), MORE_TITLES)
    assert title() == "Late"
    # What was a file of titles becomes a session, as it does when a person begins to type.
    before = archive.number()
    begun = Transcript(TITLES)
    begun.user("something else")
    lay(home, summaries(answer0="Early") + begun.bytes(), TITLES)
    assert title() == "Late"
    assert archive.find(TITLES).conversation.title == "something else"
    assert read_at(archive, archive.find(TITLES), before) is None, "it had not begun"
    lay(home, summaries(answer1="Later"), MORE_TITLES)
    assert title() == "Later"
    rebuild(archive)
    assert title() == "Later"
    assert verify(archive) == []


@pytest.mark.parametrize("version", VERSIONS)
def test_the_archive_gives_back_what_was_read(archive: Archive, version: str) -> None:
    take_in(archive, FIXTURES / version)
    for reading in fixtures(version).values():
        conversation = reading.conversation
        found = archive.find(conversation.id)
        if found.conversation.nature == conversation.nature:
            kept = read_conversation(archive, found)
            # Links, and sometimes a title, come from other files.
            kept.conversation.links = []
            kept.conversation.title = conversation.title
            assert _told(kept) == _told(reading)


def _told(reading: Reading) -> object:
    return msgspec.to_builtins(
        (reading.conversation, reading.messages(), reading.answers, reading.link_tokens)
    )


def test_a_prompt_more_touches_only_its_own_conversation(archive: Archive, tmp_path: Path) -> None:
    history = tmp_path / ".claude" / "history.jsonl"
    history.parent.mkdir()
    names = [f"00000000-0000-4000-8000-00000000000{n}" for n in range(4)]

    def typed(name: str, text: str, at: int) -> str:
        line = {"display": text, "timestamp": at, "project": "/src", "sessionId": name}
        return json.dumps(line) + "\n"

    history.write_text("".join(typed(n, "hello", 1760000000000) for n in names))
    assert set(take_in(archive, tmp_path)) == set(names)
    start = archive.number()
    with history.open("a") as file:
        file.write(typed(names[2], "again", 1760000060000))
    take_in(archive, tmp_path)
    touched = archive.changes(start, archive.number())
    assert [change.conversation for change in touched] == [f"claude-code/{names[2]}"]
