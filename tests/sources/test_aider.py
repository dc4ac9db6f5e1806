"""Aider: Markdown in projects, in which roles are a heuristic."""

from __future__ import annotations

import json
import os
import random
import time
from pathlib import Path

import pytest

from rireki.archive.base import Archive, Filter
from rireki.archive.open import open_archive
from rireki.intake.interpret import read_conversation
from rireki.intake.parallel.worker import FreshGroup, PackedGroup, PackTask, pack_files
from rireki.intake.restore import restore
from rireki.intake.survey import survey
from rireki.intake.sweep import import_history
from rireki.model.conversation import Conversation
from rireki.model.message import Message
from rireki.model.parts import Text
from rireki.sources.aider import READER
from rireki.sources.kit.places import Places
from tests.support.homes import FIXTURES, lay_out

CHECKED = json.loads((FIXTURES / "aider" / "hand-checked.json").read_text("utf-8"))
CHAT = ".aider.chat.history.md"
START = (
    "\n# aider chat started at 2026-11-17 12:00:00\n\n> /usr/bin/aider --model m  \n"
    "> Model: openai/gpt-lab with whole edit format  \n"
)
TOKENS = "> Tokens: 1 sent, 1 received.  \n"


def take_in(archive: Archive, folder: Path) -> dict[str, Conversation]:
    import_history(archive, places=Places.at(folder), paths=[folder])
    return {one.native_id: one for one in archive.conversations(Filter(subagents=True))}


def told(archive: Archive, conversation: Conversation) -> list[tuple[str, str, str]]:
    said = read_conversation(archive, archive.find(conversation.id)).messages()
    return [(one.author, one.display, text_of(one)) for one in said]


def text_of(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if isinstance(part, Text))


def said_in(archive: Archive, folder: Path, text: str) -> list[tuple[str, str]]:
    """Who said what in the one session of a file, without its start."""
    (folder / CHAT).write_text(START + text, encoding="utf-8")
    (one,) = take_in(archive, folder).values()
    return [(author, text) for author, _, text in told(archive, one)[1:]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("one", CHECKED["conversations"], ids=lambda one: one["native_id"])
def test_every_session_says_what_was_typed_and_answered(
    one: dict[str, object], archive: Archive, home: Path
) -> None:
    lay_out("aider-0.86.2-japanese" if "日本語" in str(one["project"]) else "aider-0.86.2", home)
    found = {
        id.replace(str(home), "/home/dev"): each for id, each in take_in(archive, home).items()
    }
    there = [each for each in CHECKED["conversations"] if each["project"] == one["project"]]
    assert set(found) == {each["native_id"] for each in there}
    session = found[str(one["native_id"])]
    said = told(archive, session)
    bubbles = [(author, text) for author, display, text in said if display == "bubble"]
    assert [text for author, text in bubbles if author == "person"] == one["prompts"]
    assert [text for author, text in bubbles if author == "agent"] == one["agent_messages"]
    commands = [text for author, display, text in said if (author, display) == ("person", "chip")]
    assert commands == one.get("commands", [])
    assert str(session.project).replace(str(home), "/home/dev") == one["project"]
    assert session.models == one["models"]
    used = session.usage
    tokens = {"sent": used.input_tokens, "received": used.output_tokens} if used else None
    assert tokens == one.get("token_totals")
    assert session.finished
    assert READER.resume(session) == f"cd {_quoted(session)} && aider --restore-chat-history"


def _quoted(session: Conversation) -> str:
    return f"'{session.project}'" if "日" in str(session.project) else str(session.project)


def test_prompts_get_the_time_at_which_they_were_typed(archive: Archive, home: Path) -> None:
    lay_out("aider-0.86.2", home)
    session = take_in(archive, home)[f"{home}/proj/demo-app@2026-11-17 12:05:30"]
    said = read_conversation(archive, archive.find(session.id)).messages()
    times = [(text_of(m), str(m.at)[11:19]) for m in said if m.author == "person"]
    assert times == [
        ("Hello typed in the terminal", "12:06:09"),
        ("/add README.md", "12:06:18"),
        ("/ask A third question?", "12:06:39"),
        ("A third question?", "12:06:39"),
        ("multi line one: hello\nmulti line two", "12:06:52"),
        ("/clear", "12:06:59"),
        ("/exit", "12:07:02"),
    ]


@pytest.mark.usefixtures("in_tokyo")
def test_times_are_those_of_the_machine_that_reads_them(archive: Archive, home: Path) -> None:
    lay_out("aider-0.86.2", home)
    found = take_in(archive, home)[f"{home}/proj/demo-app@2026-11-17 12:01:38"]
    assert found.started_at == "2026-11-17T03:01:38.000Z"
    assert found.updated_at == "2026-11-17T03:02:40.135Z"


@pytest.mark.usefixtures("in_tokyo")
def test_another_processor_knows_the_zone_as_well(home: Path) -> None:
    lay_out("aider-0.86.2-japanese", home)
    origins = READER.discover(Places.at(home)).origins
    group = FreshGroup("aider", origins[0].conversation, origins, True)
    (packed,) = [one for one in pack_files(PackTask([group])) if isinstance(one, PackedGroup)]
    ((conversation, *_),) = packed.readings
    assert conversation.started_at == "2026-11-17T03:03:51.000Z"


# ── the heuristic ──


def test_marks_in_a_code_block_are_the_answers(archive: Archive, project: Path) -> None:
    code = (
        "```\n\n# aider chat started at 2026-11-16 09:00:00\n\n#### no prompt  \n> no status  \n```"
    )
    text = f"\n#### What is in it?  \n\nThis:\n\n{code}\n\n> Tokens: 2.3k sent, 7 received.  \n"
    assert said_in(archive, project, text) == [
        ("person", "What is in it?"),
        ("agent", f"This:\n\n{code}"),
        ("harness", "Tokens: 2.3k sent, 7 received."),
    ]
    (one,) = take_in(archive, project).values()
    assert one.usage is not None
    assert one.usage.input_tokens == 2300


def test_a_code_block_that_is_never_closed_hides_no_later_prompt(
    archive: Archive, project: Path
) -> None:
    text = "\n#### one  \n\n```python\nx = 1\n\n> Tokens: 1 sent, 2 received.  \n\n#### two  \n\nYes.\n"
    text += "\n> Tokens: 1 sent, 2 received.  \n\n# aider chat started at 2026-11-18 08:00:00\n\n"
    (project / CHAT).write_text(START + text, encoding="utf-8")
    first, second = sorted(take_in(archive, project).values(), key=lambda one: str(one.started_at))
    assert [text for who, _, text in told(archive, first) if who == "person"] == ["one", "two"]
    assert second.turns == 0


def test_headings_and_quotations_of_an_answer_are_no_prompts(
    archive: Archive, project: Path
) -> None:
    answer = "Steps:\n\n#### First\n\n> as they say\n\nDone."
    text = f"\n#### How?  \n\n{answer}\n\n> Tokens: 1 sent, 2 received.  \n"
    said = said_in(archive, project, text)
    assert said[:2] == [("person", "How?"), ("agent", answer)]


def test_what_was_never_typed_is_no_prompt_in_the_midst_of_an_answer(
    archive: Archive, project: Path
) -> None:
    typed = "\n# 2026-11-17 12:00:10.000001\n+How?\n"
    (project / ".aider.input.history").write_text(typed, encoding="utf-8")
    answer = "Steps:\n\n#### First  \n\nDone."
    text = f"\n#### How?  \n\n{answer}\n\n> Tokens: 1 sent, 2 received.  \n"
    said = said_in(archive, project, text)
    assert said[:2] == [("person", "How?"), ("agent", answer)]


def test_a_text_of_aider_may_have_several_lines(archive: Archive, project: Path) -> None:
    text = "\n#### /run ls  \n> one.txt\n\n#### two.txt\nthree.txt  \n\n#### next  \n\nYes.\n"
    assert said_in(archive, project, text) == [
        ("person", "/run ls"),
        ("harness", "one.txt\n\n#### two.txt\nthree.txt"),
        ("person", "next"),
        ("agent", "Yes."),
    ]


def test_empty_lines_of_a_prompt_are_kept(archive: Archive, project: Path) -> None:
    text = "\n#### one  \n####   \n####\u00a0  \n#### two  \n\nYes.\n"
    assert said_in(archive, project, text)[0] == ("person", "one\n\n\ntwo")


def test_a_file_whose_lines_were_trimmed_is_still_read(archive: Archive, project: Path) -> None:
    text = "\n#### one\n#### two\n\nYes.\n\n> Tokens: 1 sent, 2 received.\n"
    (project / CHAT).write_text(START.replace("  \n", "\n") + text, encoding="utf-8")
    (one,) = take_in(archive, project).values()
    assert [text for _, _, text in told(archive, one)[1:3]] == ["one\ntwo", "Yes."]


def test_an_interrupted_answer_is_kept_and_not_finished(archive: Archive, project: Path) -> None:
    said = said_in(archive, project, "\n#### go  \n\nHalf an ans\n\n> ^C again to exit  \n")
    assert said[:2] == [("person", "go"), ("agent", "Half an ans")]
    (one,) = take_in(archive, project).values()
    assert not one.finished


# ── the file through time ──


def test_an_answer_that_was_interrupted_in_a_code_block_hides_no_later_prompt(
    archive: Archive, project: Path
) -> None:
    text = (
        "\n#### go  \n\nSo:\n\n```py\nhalf\n> ^C again to exit  \n\n#### next  \n\n```py\nx\n```\n"
    )
    assert [text for author, text in said_in(archive, project, text) if author == "person"] == [
        "go",
        "next",
    ]


def test_what_was_typed_ends_a_code_block_that_was_left_open(
    archive: Archive, project: Path
) -> None:
    typed = "\n# 2026-11-17 12:00:05.000001\n+go\n\n# 2026-11-17 12:00:09.000001\n+next\n"
    (project / ".aider.input.history").write_text(typed)
    text = "\n#### go  \n\nSo:\n\n```py\n#### no  \n\n#### next  \n\n```py\nx\n```\n"
    assert [text for author, text in said_in(archive, project, text) if author == "person"] == [
        "go",
        "next",
    ]


def test_where_tokens_are_counted_an_answer_goes_on_until_they_are(
    archive: Archive, project: Path
) -> None:
    text = (
        "\n#### go  \n\nFirst.\n\n#### Heading  \n\nThen.\n\n> Tokens: 2.3k sent, 45 received.  \n"
    )
    assert said_in(archive, project, text)[:2] == [
        ("person", "go"),
        ("agent", "First.\n\n#### Heading  \n\nThen."),
    ]


def test_an_answer_that_aider_gave_itself_is_no_prompt(archive: Archive, project: Path) -> None:
    ask = "Add file to the chat? (Y)es/(N)o/(A)ll/(S)kip all/(D)on't ask again [Yes]: "
    text = f"\n#### go  \n> a.py  \n> {ask}a  \n> b.py  \n\n#### {ask}all  \n> {ask}a  \n\nDone.\n"
    said = said_in(archive, project, text)
    assert [text for author, text in said if author == "person"] == ["go"]
    assert ("harness", f"{ask}all") in said
    assert said[-1] == ("agent", "Done.")


def test_an_empty_line_is_no_prompt(archive: Archive, project: Path) -> None:
    said = said_in(archive, project, "\n#### <blank>  \n\n#### go  \n\nDone.\n")
    assert said == [("harness", "<blank>"), ("person", "go"), ("agent", "Done.")]


def test_early_versions_counted_no_tokens(archive: Archive, project: Path) -> None:
    text = (
        "\n#### go  \n\nPlease add a.py to the chat.\n\n\n#### /add a.py  \n> Added a.py to the chat  \n"
        "\nDone.\n\n> Applied edit to a.py  \n> Commit 8c7927a aider: Done.  \n\n#### 次は？  \n\nText.\n"
    )
    assert [text for author, text in said_in(archive, project, text) if author == "person"] == [
        "go",
        "/add a.py",
        "次は？",
    ]


@pytest.mark.parametrize(
    "lines",
    [
        "> a\nb\n",
        "```\n> Tokens: 1 sent, 1 received.  \n\n#### x  \n\n",
        "```py\n> Tokens: 1 sent, 1 received.  \n",
    ],
    ids=["never ending", "counted", "never closed"],
)
def test_a_long_session_is_read_in_time(lines: str, archive: Archive, project: Path) -> None:
    started = time.process_time()
    assert said_in(archive, project, "\n#### go  \n\n" + lines * 10_000)[0] == ("person", "go")
    assert time.process_time() - started < 8


def test_two_starts_in_one_second_are_two_sessions(archive: Archive, project: Path) -> None:
    (project / CHAT).write_text(START + START, encoding="utf-8")
    id = f"{project}@2026-11-17 12:00:00"
    assert set(take_in(archive, project)) == {id, f"{id}#2"}


def test_a_history_that_was_deleted_and_begun_anew_keeps_both(
    archive: Archive, project: Path, tmp_path: Path
) -> None:
    chat = project / CHAT
    chat.write_text(START + "\n#### old words  \n\nYes.\n", encoding="utf-8")
    take_in(archive, project)
    fresh = START.replace("-17 12", "-18 12") + "\n#### new words  \n\nNo.\n"
    chat.write_text(fresh, encoding="utf-8")
    found = take_in(archive, project)
    old, new = (found[f"{project}@2026-11-{day} 12:00:00"] for day in (17, 18))
    assert [text for _, _, text in told(archive, old)[1:]] == ["old words", "Yes."]
    assert [text for _, _, text in told(archive, new)[1:]] == ["new words", "No."]
    assert new.upstream == "present"
    assert {m.upstream for m in _messages(archive, old)} == {"gone"}
    (file,) = restore(archive, archive.find(new.id), tmp_path / "back")
    assert file.read_bytes() == chat.read_bytes()


def _messages(archive: Archive, one: Conversation) -> list[Message]:
    return read_conversation(archive, archive.find(one.id)).messages()


def test_however_it_grew_it_says_the_same(archive: Archive, home: Path, tmp_path: Path) -> None:
    whole = (lay_out("aider-0.86.2", home) / "proj" / "demo-app" / CHAT).read_bytes()
    take_in(archive, home)
    expected = _told(archive)
    chance = random.Random(1)
    grown = open_archive(tmp_path / "grown.sqlite3", create=True)
    for end in [*sorted(chance.choices(range(len(whole)), k=20)), len(whole)]:
        (home / "proj" / "demo-app" / CHAT).write_bytes(whole[:end])
        take_in(grown, home)
    assert _told(grown) == expected
    grown.close()


def _told(archive: Archive) -> dict[str, list[tuple[str, str, str, str]]]:
    return {
        one.id: [(m.id, m.author, m.display, text_of(m)) for m in _messages(archive, one)]
        for one in archive.conversations(Filter(subagents=True))
    }


# ── where it is found ──


def test_a_project_of_any_agent_is_looked_into(home: Path, project: Path) -> None:
    (project / ".git").mkdir()
    (project / "src").mkdir()
    (project / CHAT).write_text(START, encoding="utf-8")
    places = Places.at(home).knowing(lambda: [str(project / "src"), "/nowhere"])
    assert [one.place for one in READER.discover(places).origins] == [str(project / CHAT)]
    assert READER.locate(places, str(project / CHAT))
    assert str(project) in {one.folder for one in READER.watched(places)}


def test_settings_and_variables_name_files(home: Path, tmp_path: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "kept.md").write_text(START, encoding="utf-8")
    (tmp_path / "other.md").write_text(START, encoding="utf-8")
    (home / ".aider.conf.yml").write_text("model: m\nchat-history-file: '~/kept.md' # mine\n")
    places = Places(home, {"AIDER_CHAT_HISTORY_FILE": str(tmp_path / "other.md")})
    found = {one.place for one in READER.discover(places).origins}
    assert found == {str(home / "kept.md"), str(tmp_path / "other.md")}


def test_a_project_may_have_settings_of_its_own(home: Path, project: Path) -> None:
    (project / "talk.md").write_text(START, encoding="utf-8")
    (project / ".aider.conf.yml").write_text("chat-history-file: talk.md\n")
    places = Places.at(home).knowing(lambda: [str(project)])
    (found,) = READER.discover(places).origins
    assert (found.place, found.role) == (str(project / "talk.md"), "chat")
    assert READER.locate(places, found.place) == [found]


def test_a_pipe_in_place_of_settings_or_a_history_is_not_opened(home: Path, project: Path) -> None:
    """Somebody else's project may have one, and whoever opens it waits for ever."""
    (project / CHAT).write_text(START, encoding="utf-8")
    for name in (".aider.conf.yml", "talk.md"):
        os.mkfifo(project / name)
    places = Places.at(home).knowing(lambda: [str(project)])
    assert [one.place for one in READER.discover(places).origins] == [str(project / CHAT)]
    assert READER.recognise(project / "talk.md") == []


def test_a_file_that_was_named_is_told_by_how_it_begins(project: Path) -> None:
    (project / "talk.md").write_text(START, encoding="utf-8")
    (project / "notes.md").write_text("# notes\n", encoding="utf-8")
    assert [o.role for o in READER.recognise(project / "talk.md")] == ["chat"]
    assert READER.recognise(project / "notes.md") == []


def test_what_was_named_is_told_by_sources_and_looked_at_again(
    archive: Archive, home: Path, project: Path
) -> None:
    (project / CHAT).write_text(START, encoding="utf-8")
    take_in(archive, project)
    with (project / CHAT).open("a", encoding="utf-8") as file:
        file.write("\n#### more  \n")
    import_history(archive, places=Places.at(home))
    (one,) = archive.conversations(Filter(subagents=True))
    assert one.turns == 1
    (surveyed,) = [s for s in survey(archive, Places.at(home)) if s.source == "aider"]
    assert (surveyed.found, surveyed.conversations) == (1, 1)
