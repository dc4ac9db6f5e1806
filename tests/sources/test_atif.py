"""Trajectories of ATIF that somebody gives us: read, and given back equal."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from atif import Trajectory

from rireki.archive.base import Archive, Filter
from rireki.archive.open import open_archive
from rireki.export.documents import Wish, document
from rireki.intake.interpret import read_conversation
from rireki.intake.sweep import import_history
from rireki.model.conversation import Conversation
from rireki.model.message import Message
from rireki.model.parts import Attachment, Text, Thinking, ToolCall, ToolResult
from rireki.show.formats import FormatOptions, write
from rireki.show.transcript import Transcript
from rireki.sources.kit.places import Places
from tests.support.homes import FIXTURES, NAMES, lay_out

FILES = FIXTURES / "exports"
ALL = sorted(FILES.glob("atif-*.json"))


def take_in(archive: Archive, *paths: Path) -> dict[str, Conversation]:
    import_history(archive, paths=list(paths), places=Places.at(paths[0].parent))
    return {one.native_id: one for one in archive.conversations(Filter(subagents=True))}


def said(archive: Archive, id: str) -> list[Message]:
    return read_conversation(archive, archive.find(id)).messages()


def exported(archive: Archive, id: str) -> Any:
    return json.loads("".join(document(archive, id, Wish("atif", everything=True)).pieces()))


def texts(messages: list[Message]) -> list[str]:
    return ["".join(p.text for p in one.parts if isinstance(p, Text)) for one in messages]


def test_the_fixtures_are_trajectories() -> None:
    assert len([Trajectory.model_validate_json(path.read_text("utf-8")) for path in ALL]) == 3


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_what_came_in_goes_out_equal(path: Path, archive: Archive) -> None:
    found = take_in(archive, path)
    (root,) = [one.id for one in found.values() if one.nature == "conversation"]
    assert exported(archive, root) == json.loads(path.read_text("utf-8"))
    for one in found.values():
        Trajectory.model_validate(exported(archive, one.id))


def test_a_trajectory_says_what_was_typed_answered_and_called(archive: Archive) -> None:
    found = take_in(archive, FILES / "atif-1.2.json")["run-7"]
    assert (found.source, found.turns, found.tool_calls, found.tool_results) == ("atif", 1, 2, 2)
    assert found.finished and found.models == ["gpt-5"] and found.troubles == []
    assert found.title == "ディスクの空きを調べて"
    assert found.usage and found.usage.input_tokens == 20 and found.usage.cache_read_tokens == 100
    system, asked, answer, first, second, around, last, notes = said(archive, found.id)
    assert (system.author, system.display, asked.author) == ("harness", "fold", "person")
    assert [type(part) for part in answer.parts] == [Thinking, Text, ToolCall, ToolCall]
    assert first.parts == [ToolResult("c1", "ok", "/dev/sda1 91%")]
    assert second.parts == [ToolResult("c2", "ok", "4.0K\t.")]
    assert texts([around, last]) == ["the terminal scrolled", "91 % が使われています。"]
    assert notes.label == "notes" and notes.display == "chip"


def test_segments_of_a_run_that_share_its_id_stay_apart_and_are_linked(
    archive: Archive, tmp_path: Path
) -> None:
    for path in FILES.glob("atif-1.2*.json"):
        shutil.copyfile(path, tmp_path / path.name)
    found = take_in(archive, tmp_path)
    assert sorted(found) == ["run-7", "run-7~2"]
    parents = {
        one.native_id: [link.kind for link in one.links if link.side == "parent"]
        for one in found.values()
    }
    assert sorted(map(tuple, parents.values())) == [(), ("continuation",)]
    (later,) = [one for one in found.values() if parents[one.native_id]]
    copied, asked, _ = said(archive, later.id)
    assert (copied.display, copied.label, asked.display) == ("fold", "copied context", "bubble")
    assert later.turns == 1


def test_pictures_sub_agents_and_what_a_later_version_adds(archive: Archive) -> None:
    found = take_in(archive, FILES / "atif-1.8.json")
    assert sorted(found) == ["main-8", "main-8.sub-1"]
    child = found["main-8.sub-1"]
    assert child.nature == "subagent" and child.links[0].call_id == "t1"
    asked, _, back, system, _ = said(archive, "atif/main-8")
    pictures = [part for part in asked.parts if isinstance(part, Attachment)]
    assert [one.name for one in pictures] == ["", "images/step_1.png", "a.wav"]
    reading = read_conversation(archive, archive.find("atif/main-8"))
    assert reading.attachment(pictures[0].digest) == b"\x89PNG\r\n\x1a\n"
    assert isinstance(back.parts[1], Attachment) and system.author == "harness"


def test_a_trajectory_that_grew_is_the_same_conversation(archive: Archive, tmp_path: Path) -> None:
    whole = json.loads((FILES / "atif-1.2.json").read_text("utf-8"))
    file = tmp_path / "trajectory.json"
    file.write_text(json.dumps({**whole, "steps": whole["steps"][:2]}))
    assert take_in(archive, file)["run-7"].finished is False
    file.write_text(json.dumps(whole))
    assert list(take_in(archive, file)) == ["run-7"]
    assert len(said(archive, "atif/run-7")) == 8


def test_what_a_step_said_before_it_was_rewritten_stays(archive: Archive, tmp_path: Path) -> None:
    whole = json.loads((FILES / "atif-1.2.json").read_text("utf-8"))
    file = tmp_path / "trajectory.json"
    file.write_text(json.dumps(whole))
    take_in(archive, file)
    whole["steps"][3]["message"] = "told anew"
    file.write_text(json.dumps(whole))
    take_in(archive, file)
    gone = [one for one in said(archive, "atif/run-7") if one.upstream == "gone"]
    assert "91 % が使われています。" in texts(gone)
    assert "told anew" in texts(said(archive, "atif/run-7"))


#: The fields that our messages have a place for.
CORE = ("source", "message", "timestamp", "reasoning_content", "tool_calls", "is_copied_context")


@pytest.mark.parametrize("name", ["atif-1.2.json"])
def test_also_without_the_document_at_hand_every_step_says_the_same(
    name: str, archive: Archive
) -> None:
    (found,) = take_in(archive, FILES / name).values()
    transcript = Transcript(found, said(archive, found.id))
    made = json.loads("".join(write("atif", transcript, FormatOptions())))
    Trajectory.model_validate(made)
    steps = json.loads((FILES / name).read_text("utf-8"))["steps"]
    ours = [step for step in made["steps"] if step["source"] != "system"]
    assert len(ours) == 3
    for mine, theirs in zip(ours, steps[1:], strict=True):
        for field in CORE:
            assert _plain(mine.get(field)) == _plain(theirs.get(field))
    observed = [one["content"] for one in ours[1]["observation"]["results"]]
    assert observed == ["/dev/sda1 91%", "4.0K\t."]


def _plain(value: Any) -> Any:
    return value.replace(".000Z", "Z") if isinstance(value, str) else value


@pytest.mark.parametrize("name", NAMES)
def test_what_we_write_we_read_with_the_same_words_and_give_back_equal(
    name: str, archive: Archive, home: Path, tmp_path: Path, clock: Callable[[], str]
) -> None:
    import_history(archive, places=Places.at(lay_out(name, home)))
    folder = tmp_path / "out"
    folder.mkdir()
    originals = [one for one in archive.conversations(Filter()) if one.messages]
    written = {}
    for n, each in enumerate(originals):
        made = document(archive, each.id, Wish("atif", everything=True))
        text = "".join(made.pieces())
        (folder / f"{n}.atif.json").write_bytes(text.encode(errors="replace"))
        left = [one for one in made.transcript.messages if not (one.abandoned or one.replaced_by)]
        written[each.id] = (json.loads(text), left)
    with_others = open_archive(tmp_path / "other" / "archive.sqlite3", create=True, clock=clock)
    try:
        if written:
            found = take_in(with_others, folder)
            assert set(written) <= set(found)
        for id, (value, left) in written.items():
            assert exported(with_others, f"atif/{id}") == json.loads(
                json.dumps(value).encode(errors="replace")
            )
            told = said(with_others, f"atif/{id}")
            everything = "\n".join(texts(told))
            for part in (part for one in left for part in one.parts):
                assert not isinstance(part, Text) or part.text in everything
            calls = [
                part.call_id for one in left for part in one.parts if isinstance(part, ToolCall)
            ]
            back = [
                part.call_id for one in told for part in one.parts if isinstance(part, ToolCall)
            ]
            assert [id for id in back if id in calls] == [id for id in calls if id]
    finally:
        with_others.close()


@pytest.mark.parametrize(
    "text",
    [
        '{"schema_version": "ATIF-v1.7"}',
        '{"schema_version": "ATIF-v1.7", "steps": 3, "agent": []}',
        '{"schema_version": "ATIF-v1.7", "steps": [1, null, {"source": 5, "message": {}}]}',
        '{"schema_version": "ATIF-v1.7", "steps": [{"source": "agent", "message": [[], {"type": "x"}],'
        ' "tool_calls": [7], "observation": {"results": [0, {"content": 4}]}, "metrics": []}]}',
        '{"schema_version": "ATIF-v1.7", "subagent_trajectories": [5, {"trajectory_id": null}]}',
        '{"schema_version": "ATIF-v1.7", "steps": [',
    ],
)
def test_what_is_odd_ends_in_no_traceback(text: str, archive: Archive, tmp_path: Path) -> None:
    file = tmp_path / "odd.json"
    file.write_text(text)
    for one in take_in(archive, file).values():
        assert said(archive, one.id) is not None


def test_other_json_is_no_trajectory(archive: Archive, tmp_path: Path) -> None:
    from rireki.sources.exports import ATIF

    file = tmp_path / "x.json"
    for text in (
        '{"a": "\\"schema_version\\": \\"ATIF-v1.7\\""}',
        '[{"schema_version": "ATIF-v1.7"}]',
        "{}",
    ):
        file.write_text(text)
        assert ATIF.recognise(file) == []
