"""A person's decision is the person's: approvals, and answers to `ask_user`."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from rireki import MessageHistory
from rireki.archive.open import open_archive
from rireki.intake.interpret import read_conversation
from rireki.providers import turns_of
from tests.seeds.conftest import Rireki
from tests.support.driven import Journal


def asked(name: str, **input: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": "call_1", "name": name, "input": input}
    return {"role": "assistant", "content": [{"type": "text", "text": "Wait."}, block]}


def found(rireki: Rireki, query: str) -> list[dict[str, Any]]:
    talks = rireki("search", query, "--json").json[0]["talks"]
    return [hit for talk in talks for hit in talk["hits"]]


def shown(rireki: Rireki, name: str) -> list[tuple[str, str, str | None, Any]]:
    messages = rireki("show", name, "--json").json[0]["messages"]
    parts = [[p.get("text", p.get("output")) for p in m["parts"]] for m in messages]
    return [
        (m["author"], m["display"], m["label"], some[-1])
        for m, some in zip(messages, parts, strict=True)
    ]


def test_the_answer_to_ask_user_is_the_persons(archive_file: Path, rireki: Rireki) -> None:
    """The dialogue of the chapter on message history, word for word."""
    with MessageHistory.open("x", archive=archive_file) as history:
        history.add_user_message("ファイルを削除して")
        history.add_raw_message(asked("ask_user", question="削除してよいですか？"))
        history.add_tool_result("call_1", "はい、どうぞ", "ask_user")
        history.add_raw_message({"role": "assistant", "content": "削除しました。"})
    assert shown(rireki, "x") == [
        ("person", "bubble", None, "ファイルを削除して"),
        ("agent", "bubble", None, None),
        ("tool", "fold", None, "はい、どうぞ"),
        ("person", "bubble", "answered", "はい、どうぞ"),
        ("agent", "bubble", None, "削除しました。"),
    ]
    assert [hit["author"] for hit in found(rireki, "どうぞ author:person")] == ["person"]
    (about,) = rireki("list", "--json").json
    # It is no turn of its own, and whoever goes on with the history is not told it twice.
    assert (about["turns"], about["finished"], about["tool_results"]) == (1, True, 1)
    with closing(open_archive(archive_file)) as archive:
        reading = read_conversation(archive, archive.find("x"))
    assert [turn.role for turn in turns_of(reading.messages())] == [
        *("user", "assistant", "user", "assistant"),
    ]
    assert reading.shown is not None and len(reading.shown()) == 4


def test_what_was_not_answered_is_nobodys_decision(archive_file: Path, rireki: Rireki) -> None:
    with MessageHistory.open("x", archive=archive_file) as history:
        history.add_user_message("delete it")
        history.add_raw_message(asked("ask_user", question="Sure?"))
        history.add_tool_result("call_1", "[User cancelled the question]", "ask_user")
    assert [author for author, *_ in shown(rireki, "x")] == ["person", "agent", "tool"]


def test_a_call_that_waited_for_a_person_is_answered_by_them(
    archive_file: Path, rireki: Rireki
) -> None:
    with MessageHistory.open("x", archive=archive_file) as history:
        history.add_user_message("deploy")
        history.add_raw_message(asked("deploy", where="production"))
        history.waiting("call_1")
        history.add_tool_result("call_1", "not before Monday", "deploy")
    assert shown(rireki, "x")[-1] == ("person", "bubble", "answered", "not before Monday")


def test_an_approval_is_told_as_what_you_did(home: Path, rireki: Rireki) -> None:
    journal = Journal(home)
    journal.start(None)
    journal.send("p1", "clean up")
    options = [{"id": "y", "name": "Allow", "kind": "allow_once"}]
    title = "rm -rf build"
    journal.write("ask", id="a1", what="permission", title=title, detail=title, options=options)
    journal.write("answer", id="a1", outcome="selected", option="y", by="web")
    journal.write(
        "ask", id="a2", what="permission", title="rm -rf dist", detail="", options=options
    )
    journal.write("answer", id="a2", outcome="expired")
    rireki("import")
    told = {label: author for author, _, label, _ in shown(rireki, "drive-1")}
    assert told["You allowed once: rm -rf build"] == "person"
    assert told["expired: rm -rf dist"] == "harness"
    assert [hit["message"] for hit in found(rireki, '"rm -rf" author:person')] == ["a1"]
    assert "You allowed once: rm -rf build" in rireki("show", "drive-1", "--no-pager").out
    # The decision names no conversation: what was typed does.
    assert rireki("list", "--json").json[0]["title"] == "clean up"
