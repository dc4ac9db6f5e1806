"""Amazon Q in the IDE: tabs in files that are written whole, and everything the server does to them."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.base import Archive, Filter
from rireki.intake.interpret import read_conversation
from rireki.intake.restore import restore
from rireki.intake.sweep import import_history
from rireki.model.conversation import Conversation
from rireki.model.message import Message
from rireki.model.parts import Attachment, Text, ToolCall, ToolResult
from rireki.sources.amazon_q_ide import READER
from rireki.sources.kit.places import Places
from tests.support.homes import FIXTURES, lay_out

CHECKED = sorted((FIXTURES / "amazon-q-ide").glob("*/hand-checked.json"))
FOLDER = "/home/dev/proj/demo-app"
#: md5 of the folder, and another one.
FILE, OTHER = (
    f"chat-history-{name}.json" for name in ("1348a1f7fe075ef558ff0f09865ca2ce", "x" * 32)
)


def take_in(archive: Archive, home: Path) -> dict[str, Conversation]:
    import_history(archive, places=Places.at(home))
    return {c.native_id: c for c in archive.conversations(Filter(subagents=True))}


def messages(archive: Archive, id: str) -> list[Message]:
    return read_conversation(archive, archive.find(f"amazon-q-ide/{id}")).messages()


def text_of(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if isinstance(part, Text))


def prompts(said: list[Message]) -> list[str]:
    return [text_of(m) for m in said if m.author == "person" and m.display == "bubble"]


def at(second: int) -> str:
    return f"2026-11-17T10:00:{second:02d}.000Z"


def prompt(text: str, when: str | None = at(0), /, **more: Any) -> dict[str, Any]:
    state = {"workspaceFolders": [FOLDER]}
    about = {"body": text, "type": "prompt", "origin": "IDE", "shouldDisplayMessage": True}
    about |= {"userInputMessageContext": {"editorState": state}, "timestamp": when}
    return {name: value for name, value in (about | more).items() if value is not None}


def answer(text: str, when: str | None = at(1), /, **more: Any) -> dict[str, Any]:
    about = {"body": text, "type": "answer", "shouldDisplayMessage": True, "timestamp": when}
    return {name: value for name, value in (about | more).items() if value is not None}


def tab(id: str, *talk: dict[str, Any], conversation: str = "", **more: Any) -> dict[str, Any]:
    conversations = [{"conversationId": conversation or f"c-{id}", "messages": list(talk)}]
    about = {"historyId": id, "updatedAt": 1794909600000, "isOpen": True, "title": "the latest"}
    return about | {"conversations": conversations} | more


def write(home: Path, *tabs: dict[str, Any], name: str = FILE, **settings: Any) -> Path:
    path = home / ".aws" / "amazonq" / "history" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    collections = [
        {"name": "tabs", "data": list(tabs), "idIndex": None},
        {"name": "settings", "data": [settings] if settings else []},
    ]
    text = json.dumps({"filename": name, "collections": collections}, ensure_ascii=False)
    path.write_text(text, encoding="utf-8")
    return path


# ── what the real server wrote ──


@pytest.mark.parametrize("checked", CHECKED, ids=lambda path: path.parent.name)
def test_every_tab_says_what_was_typed_answered_and_called(
    checked: Path, archive: Archive, home: Path
) -> None:
    lay_out(f"amazon-q-ide-{checked.parent.name}", home)
    found = take_in(archive, home)
    tabs = {
        one["native_id"]: one for one in json.loads(checked.read_text("utf-8"))["conversations"]
    }
    assert found.keys() == tabs.keys()
    for id, one in tabs.items():
        said = messages(archive, id)
        parts = [part for message in said for part in message.parts]
        assert prompts(said) == one["prompts"]
        agents = [text_of(m) for m in said if m.author == "agent" and text_of(m)]
        assert agents == one["agent_messages"]
        calls = [(part.call_id, part.name) for part in parts if isinstance(part, ToolCall)]
        assert calls == [(call["id"], call["name"]) for call in one["tool_calls"]]
        results = {part.call_id: part.status for part in parts if isinstance(part, ToolResult)}
        assert len(results) == one["results"]
        assert {id for id, status in results.items() if status != "ok"} == {
            call["id"] for call in one["tool_calls"] if call.get("error")
        }
        put_in = [text_of(m) for m in said if m.author == "harness" and m.entry.role == "user"]  # type: ignore[union-attr]
        assert put_in == [*one.get("compaction_summaries", []), *one["injected_prompts"]]
        assert len([m for m in said if m.display == "divider"]) == one["compacted"]
        pictures = [part for part in parts if isinstance(part, Attachment)]
        assert sum(p.media_type == "image/png" for p in pictures) == one.get("images", 0)
        assert found[id].project == one["project"]
        assert found[id].models == one["models"]


def test_a_torn_and_an_empty_file_are_named_and_kept(archive: Archive, home: Path) -> None:
    lay_out("amazon-q-ide-composed", home)
    report = import_history(archive, places=Places.at(home))
    (source,) = [one for one in report.sources if one.source == "amazon-q-ide"]
    assert sorted(one.message for one in source.troubles) == [
        "the file is empty",
        "the file is not whole",
    ]


def test_a_picture_comes_back(archive: Archive, home: Path) -> None:
    lay_out("amazon-q-ide-0.0.128", home)
    take_in(archive, home)
    found = archive.find("amazon-q-ide/dd18ab06-34da-420b-900c-f585b39dc4b7")
    reading = read_conversation(archive, found)
    (picture,) = [p for m in reading.messages() for p in m.parts if isinstance(p, Attachment)]
    assert reading.attachment(picture.digest) == b"\x89PNG\r\n\x1a\n"


# ── what happens to tabs ──

ONE = tab("one", prompt("first"), answer("yes"))
TWO = tab("two", prompt("second", at(2)), answer("no", at(3)))


def _cleared(home: Path) -> None:
    write(home, TWO)


def _emptied(home: Path) -> None:
    write(home).write_bytes(b"")


def _torn(home: Path) -> None:
    path = write(home, ONE, TWO)
    path.write_bytes(path.read_bytes()[:200])


def _removed(home: Path) -> None:
    write(home).unlink()


def _renamed(home: Path) -> None:
    path = write(home, ONE, TWO)
    path.rename(path.with_name(OTHER))


@pytest.mark.parametrize(
    ("fate", "upstream"),
    [
        *((_cleared, "gone"), (_removed, "gone")),
        *((_emptied, "present"), (_torn, "present"), (_renamed, "present")),
    ],
)
def test_whatever_happens_to_a_tab_it_stays_and_is_told_once(
    fate: Callable[[Path], None], upstream: str, archive: Archive, home: Path
) -> None:
    write(home, ONE, TWO)
    take_in(archive, home)
    fate(home)
    found = take_in(archive, home)
    assert found.keys() == {"one", "two"}
    assert found["one"].upstream == upstream
    assert [text_of(m) for m in messages(archive, "one")] == ["first", "yes"]


def test_windows_that_erase_each_others_tabs_lose_nothing(archive: Archive, home: Path) -> None:
    for tabs in ([ONE], [TWO], [ONE], [TWO], [TWO, ONE]):
        write(home, *tabs)
        found = take_in(archive, home)
    assert {id: one.upstream for id, one in found.items()} == {"one": "present", "two": "present"}
    assert [one.turns for one in found.values()] == [1, 1]


def test_trimmed_messages_stay_where_they_stood(archive: Archive, home: Path) -> None:
    talk = [m for n in range(0, 8, 2) for m in (prompt(f"p{n}", at(n)), answer(f"a{n}", at(n + 1)))]
    write(home, tab("one", *talk))
    take_in(archive, home)
    write(home, tab("one", *talk[4:], prompt("new", at(9))))
    found = take_in(archive, home)["one"]
    said = messages(archive, "one")
    assert prompts(said) == ["p0", "p2", "p4", "p6", "new"]
    assert [m.upstream for m in said] == ["gone"] * 4 + ["present"] * 5
    assert (found.upstream, found.turns) == ("changed", 5)


@pytest.mark.parametrize("context", [{}, {"newer": {"by": 1}}], ids=["", "newer"])
def test_a_compacted_tab_continues_the_one_that_was_deleted(
    archive: Archive, home: Path, context: dict[str, Any]
) -> None:
    write(home, tab("one", prompt("remember 42"), answer("yes"), conversation="same"))
    take_in(archive, home)
    summary = prompt("42 was said", at(5), origin=None, userInputMessageContext=context)
    waits = answer("Working...", at(5), shouldDisplayMessage=False)
    later = [prompt("which?", at(6)), answer("42", at(7))]
    write(home, tab("two", summary, waits, *later, conversation="same"))
    found = take_in(archive, home)
    assert found["one"].upstream == "gone"
    links = [(one.kind, one.side, one.id) for one in found["two"].links]
    assert links == [("continuation", "parent", "amazon-q-ide/one")]
    assert (found["two"].title, prompts(messages(archive, "two"))) == ("which?", ["which?"])


def test_a_tab_in_two_files_is_one_conversation(archive: Archive, home: Path) -> None:
    write(home, ONE)
    more = [prompt("first"), answer("yes"), prompt("and?", at(4)), answer("so", at(5))]
    write(home, tab("one", *more), name=OTHER)
    assert take_in(archive, home)["one"].turns == 2
    assert [text_of(m) for m in messages(archive, "one")] == ["first", "yes", "and?", "so"]


def test_a_tab_without_a_prompt_is_no_conversation(archive: Archive, home: Path) -> None:
    write(home, ONE, {"historyId": "pinned", "conversations": [], "tabContext": {}})
    assert take_in(archive, home).keys() == {"one"}


def test_a_tab_comes_back_as_the_same_json(archive: Archive, home: Path, tmp_path: Path) -> None:
    write(home, ONE, TWO)
    take_in(archive, home)
    write(home, TWO)
    take_in(archive, home)
    (file,) = restore(archive, archive.find("amazon-q-ide/one"), tmp_path / "back")
    assert json.loads(file.read_bytes()) == ONE


def test_only_the_tab_that_changed_is_kept_again(archive: Archive, home: Path) -> None:
    long = tab("long", *(prompt("word " * 2000, at(n)) for n in range(20)))
    write(home, long, ONE, name=OTHER)
    take_in(archive, home)
    write(home, long, tab("one", prompt("first"), answer("yes"), prompt("more", at(5))), name=OTHER)
    report = import_history(archive, places=Places.at(home))
    (source,) = [one for one in report.sources if one.source == "amazon-q-ide"]
    assert (source.changed_conversations, source.new_bytes < 2000) == (1, True)


# ── who typed what ──


@pytest.mark.parametrize(
    ("stored", "when", "typed"),
    [
        ("1 &lt; 2 &amp;&amp; &#39;a&#39;", "2026-11-17T10:00:00.000Z", "1 < 2 && 'a'"),
        ("say &amp;lt;", "2026-11-17T10:00:00.000Z", "say &lt;"),
        ("1 &amp;lt; 2", "2025-09-20T10:00:00.000Z", "1 < 2"),
        ("1 &lt; 2", "2025-09-20T10:00:00.000Z", "1 < 2"),
        ("1 < 2 &lt;", "2026-11-17T10:00:00.000Z", "1 < 2 &lt;"),
        ("write &lt;", "2025-08-01T10:00:00.000Z", "write &lt;"),
        ("write &lt;", None, "write &lt;"),
    ],
)
def test_a_prompt_is_shown_as_it_was_typed(
    stored: str, when: str | None, typed: str, archive: Archive, home: Path
) -> None:
    write(home, tab("one", prompt(stored, when), answer("&lt;", when)))
    take_in(archive, home)
    assert [text_of(m) for m in messages(archive, "one")] == [typed, "&lt;"]


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        (prompt("There was an error processing one or more tool uses. Try again, do not apologize.",
                shouldDisplayMessage=None), "asked to try again"),
        (prompt("You are Amazon Q, write tests.", None, shouldDisplayMessage=None),
         "put in by the extension"),
        (prompt("anything", shouldDisplayMessage=False), "put in by the extension"),
        (prompt("The conversation history has overflowed, clearing state"),
         "put in by the extension"),
        (prompt("You are Amazon Q, aren't you?"), "typed prompt"),
        (prompt("42 was said", origin=None, userInputMessageContext={}), "typed prompt"),
    ],
)  # fmt: skip
def test_a_prompt_that_nobody_typed_is_told_by_a_rule(
    message: dict[str, Any], rule: str, archive: Archive, home: Path
) -> None:
    write(home, tab("one", message, answer("fine")))
    take_in(archive, home)
    told = messages(archive, "one")[0]
    assert told.entry is not None
    assert told.entry.rule == rule
    assert rule in READER.reasons
    assert (told.author == "person") == (rule == "typed prompt")


def test_the_same_words_twice_are_two_messages_where_no_time_tells(
    archive: Archive, home: Path
) -> None:
    again = [prompt("go on", None), answer("done", None)]
    write(home, tab("one", *again, *again))
    assert take_in(archive, home)["one"].turns == 2


def test_half_a_character_spoils_nothing(archive: Archive, home: Path) -> None:
    """The server cuts texts at a length, JavaScript writes what is left of a character."""
    cut = tab(
        "one", prompt("first"), answer("cut HERE"), prompt("more", at(2)), answer("yes", at(3))
    )
    path = write(home, cut, TWO)
    path.write_text(path.read_text("utf-8").replace("HERE", "\\ud83d"), "utf-8")
    assert take_in(archive, home).keys() == {"one", "two"}
    said = messages(archive, "one")
    assert [text_of(m) for m in said] == ["first", "cut \ufffd", "more", "yes"]
    (strand,) = archive.strands("amazon-q-ide", "one")
    assert {run.lane for run in strand.states[-1].runs} == {"head", "messages"}
    assert rb"cut \ud83d" in strand.document()


def test_pictures_beside_results_are_a_tools(archive: Archive, home: Path) -> None:
    results = [{"toolUseId": "t", "status": "success", "content": [{"text": "a.png"}]}]
    picture = {"format": "png", "source": {"bytes": [137, 80]}}
    given = prompt("", at(2), userInputMessageContext={"toolResults": results}, images=[picture])
    call = answer("", toolUses=[{"toolUseId": "t", "name": "fsRead", "input": {}}])
    write(home, tab("one", prompt("look"), call, given, answer("Red.", at(3))))
    take_in(archive, home)
    said = messages(archive, "one")
    assert prompts(said) == ["look"]
    assert [type(part) for part in said[2].parts] == [ToolResult, Attachment]


def test_an_answer_without_words_is_none(archive: Archive, home: Path) -> None:
    write(home, tab("one", prompt("first"), answer("")))
    assert not take_in(archive, home)["one"].finished
    assert [m.display for m in messages(archive, "one")] == ["bubble", "hidden"]


# ── project and model ──


def test_the_project_is_told_by_the_name_of_the_file_once_it_is_known(
    archive: Archive, home: Path
) -> None:
    bare = prompt("first", userInputMessageContext={})
    write(home, tab("one", bare, answer("yes")))
    assert take_in(archive, home)["one"].project is None
    write(home, tab("two", prompt("second"), answer("yes")), name=OTHER)
    assert take_in(archive, home)["one"].project == FOLDER


@pytest.mark.parametrize(
    ("project", "pathname"),
    [
        ("/home/dev/proj/日本語 a", "/home/dev/proj/%E6%97%A5%E6%9C%AC%E8%AA%9E%20a"),
        ("C:\\Users\\dev\\x", "/c%3A/Users/dev/x"),
        ("/srv/a(b)", "/srv/a(b)"),
    ],
)
def test_a_folder_is_hashed_as_the_path_of_its_url(project: str, pathname: str, home: Path) -> None:
    from hashlib import md5

    name = md5(pathname.encode(), usedforsecurity=False).hexdigest()
    write(home, ONE, name=f"chat-history-{name}.json")
    places = Places.at(home).knowing(lambda: [project])
    (origin,) = READER.discover(places).origins
    assert origin.project == project
    assert READER.locate(places, origin.place) == [origin]


@pytest.mark.parametrize(
    ("project", "file"),
    [
        ("/home/dev/app", "/home/dev/app/app.code-workspace"),
        ("c:\\dev\\app", "c:\\dev\\app\\app.code-workspace"),
    ],
)
def test_a_saved_workspace_goes_by_the_path_of_its_file(
    project: str, file: str, home: Path
) -> None:
    write(home, ONE, name=f"chat-history-{sha256(file.encode()).hexdigest()}.json")
    (origin,) = READER.discover(Places.at(home).knowing(lambda: [project])).origins
    assert origin.project == project


def test_without_folders_the_calls_tell_where_it_was(archive: Archive, home: Path) -> None:
    call = {"toolUseId": "t", "name": "executeBash", "input": {"command": "ls", "cwd": FOLDER}}
    bare = prompt("first", userInputMessageContext={})
    write(home, tab("one", bare, answer("", toolUses=[call])))
    found = take_in(archive, home)["one"]
    assert (found.project, found.finished) == (FOLDER, False)


def test_an_older_file_has_one_model_for_all_tabs(archive: Archive, home: Path) -> None:
    write(home, ONE, TWO, modelId="sonnet")
    assert take_in(archive, home)["one"].models == ["sonnet"]
    write(home, ONE, tab("two", prompt("x"), modelId="opus"), modelId="opus")
    assert take_in(archive, home)["two"].models == ["opus"]


def test_there_is_no_command_that_resumes_a_tab(archive: Archive, home: Path) -> None:
    write(home, ONE)
    assert READER.resume(take_in(archive, home)["one"]) is None


def test_nothing_but_the_history_is_taken(archive: Archive, home: Path) -> None:
    canary = "CANARY-SECRET-TOKEN"
    write(home, ONE)
    for name in (
        ".aws/credentials",
        ".aws/amazonq/active-user-state.json",
        ".aws/sso/cache/a.json",
    ):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(json.dumps({"accessToken": canary}))
    take_in(archive, home)
    strands = [s for g in archive.groups() for s in archive.strands(g.family, g.conversation)]
    assert strands
    assert not any(canary.encode() in strand.document() for strand in strands)
    assert not any("active-user-state" in one.place for one in archive.origins())


def test_a_file_that_was_named_by_hand_is_told_by_its_content(home: Path) -> None:
    path = write(home, ONE)
    copied = home / "backup" / path.name
    copied.parent.mkdir()
    copied.write_bytes(path.read_bytes())
    assert [one.place for one in READER.recognise(copied)] == [str(copied)]
    copied.write_text('{"something": "else"}')
    assert READER.recognise(copied) == []
