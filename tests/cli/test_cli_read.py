"""`list`, `show`, `path`, `latest`, `explain`, `stats`: reading back what was taken in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rireki.show.width import width
from tests.cli.conftest import CHILD, OTHER, TALK, Rireki, said, write


def ids(ran_json: list[dict[str, str]]) -> list[str]:
    return [value["native_id"] for value in ran_json]


# ── list ──


def test_newest_first_with_ids_one_can_type(imported: Rireki) -> None:
    first, second = imported("list").lines
    assert first.startswith("bbbb2222  ") and "Other talk" in first
    assert second.startswith("aaaa1111  ") and "設定ファイルを読む" in second
    assert imported("show", "aaaa1111").code == 0


def test_each_filter(imported: Rireki) -> None:
    def listed(*options: str) -> list[str]:
        found = imported("list", "--json", *options).json
        return ids([one for one in found if one["nature"] != "subagent"])

    assert listed() == [OTHER, TALK]
    assert listed("--limit", "1") == [OTHER]
    assert listed("--title", "talk other") == [OTHER]
    assert listed("--title", "設定") == [TALK]
    assert listed("--source", "toy", "--project", "/w") == [OTHER, TALK]
    assert listed("--project", "/elsewhere") == []
    assert listed("--since", "2026-11-15T18:10:00Z") == [OTHER]
    assert listed("--before", "2026-11-15T18:10:00Z") == [TALK]
    assert listed("--upstream", "gone") == []


def test_people_see_sub_agents_when_they_ask_programs_always(imported: Rireki) -> None:
    assert ids(imported("list", "--json").json) == [OTHER, TALK, CHILD]
    assert len(imported("list").lines) == 2
    assert len(imported("list", "--subagents").lines) == 3


def test_the_relative_project_is_this_directory(
    imported: Rireki, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, home: Path
) -> None:
    write(home, "dddd4444", [{"about": {"project": str(tmp_path)}}, said("d", "person", "x", 20)])
    imported("import", "--home", str(home))
    monkeypatch.chdir(tmp_path)
    assert ids(imported("list", "--json", "--project", ".").json) == ["dddd4444"]


def test_what_became_of_it_is_marked(imported: Rireki, home: Path) -> None:
    (home / ".toy" / f"{TALK}.jsonl").unlink()
    imported("import", "--home", str(home))
    unfinished, gone = imported("list").lines
    assert "… Other talk" in unfinished and "✗ 設定ファイル" in gone


def test_rows_fit_a_narrow_screen(
    imported: Rireki, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(home, "dddd4444", [{"about": {"title": "長い題名" * 30}}, said("d", "person", "x", 20)])
    imported("import", "--home", str(home))
    for columns in (60, 80, 120):
        monkeypatch.setenv("COLUMNS", str(columns))
        assert all(width(line) <= columns for line in imported("list").lines)


def test_one_long_id_moves_its_own_row_alone(
    imported: Rireki, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    long = "0199a000-0000-7000-8000-00000000000"
    for last in "12":
        write(home, long + last, [said(last, "person", "x", 20)])
    imported("import", "--home", str(home))
    lines = imported("list").lines
    (with_long,) = [line for line in lines if line.startswith(long + "1")]
    assert width(with_long) <= 100
    assert {line[8:16] for line in lines if not line.startswith(long)} == {" " * 8}


def test_an_empty_list_says_why(imported: Rireki) -> None:
    ran = imported("list", "--title", "nothing like this")
    assert ran.out == "" and "Nothing in the archive fits" in ran.err


def test_no_archive_yet_is_said_in_two_lines(rireki: Rireki) -> None:
    ran = rireki("list", "--json")
    assert ran.code == 1 and ran.out == ""
    assert ran.err.count("\n") == 2 and "rireki import" in ran.err


def test_the_archive_may_be_named_before_or_after_the_command(
    imported: Rireki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "archive.sqlite3")
    monkeypatch.setenv("RIREKI_ARCHIVE", str(tmp_path / "none.sqlite3"))
    assert imported("list").code == 1
    assert imported("--archive", path, "list").code == 0
    assert imported("list", "--archive", path).code == 0
    assert imported("--archive", "/nowhere", "list", "--archive", path).code == 0


# ── show ──


def test_the_whole_story(imported: Rireki) -> None:
    told = imported("show", "aaaa").out
    for words in ("設定を読んで", "▸ Task look", "one", "読みました", f"↳ sub-agent toy/{CHILD}"):
        assert words in told
    assert "reminder" not in told and "looked" not in told


def test_all_and_nested_tell_more(imported: Rireki) -> None:
    assert "system reminder · hidden" in imported("show", "aaaa", "--all").out
    assert "┊   looked" in imported("show", "aaaa", "--nested").out


def test_the_json_contract(imported: Rireki) -> None:
    (value,) = imported("show", "aaaa", "--json").json
    assert list(value) == ["conversation", "messages"]
    assert [m["id"] for m in value["messages"]] == ["m1", "m2", "m3", "m5"]
    assert value["conversation"]["links"][0]["id"] == f"toy/{CHILD}"
    (value,) = imported("show", "aaaa", "--json", "--all").json
    assert len(value["messages"]) == 5
    (value,) = imported("show", "aaaa", "--format", "json", "--nested").json
    assert value["subagents"][0]["messages"][0]["id"] == "c1"


def test_markdown(imported: Rireki) -> None:
    assert imported("show", "aaaa", "--format", "markdown").lines[0] == "# 設定ファイルを読む"


def test_what_the_source_rewrote_is_still_told(imported: Rireki, home: Path) -> None:
    file = home / ".toy" / f"{OTHER}.jsonl"
    about = file.read_text().splitlines()[0]
    file.write_text(about + "\n" + json.dumps(said("n2", "person", "bye", 12)) + "\n")
    imported("import", "--home", str(home))
    told = imported("show", OTHER).out
    assert "hello" in told and "no longer in the source" in told and "bye" in told
    assert "hello" not in imported("show", OTHER, "--upstream").out
    assert "hello" not in imported("show", OTHER, "--raw").out
    assert "hello" in imported("show", OTHER, "--raw", "--all").out
    assert "~ Other talk" in imported("list").out


def test_as_of_a_time_before_it_was_known(imported: Rireki) -> None:
    ran = imported("show", "aaaa", "--as-of", "2020-01-01")
    assert ran.code == 1 and "had not begun" in ran.err
    assert imported("show", "aaaa", "--as-of", "now").code == 0


def test_raw_is_the_bytes_the_agent_wrote(imported: Rireki, home: Path) -> None:
    written = (home / ".toy" / f"{TALK}.jsonl").read_text()
    assert imported("show", "aaaa", "--raw").out == written


def test_opening_at_a_message(imported: Rireki) -> None:
    told = imported("show", "aaaa#m5").out
    assert "読みました" in told and "設定を読んで" not in told
    assert imported("show", "aaaa#m5", "--json").json[0]["at"] == "m5"
    assert imported("show", "aaaa#nope").code == 1


def test_an_ambiguous_prefix_names_what_it_may_mean(imported: Rireki, home: Path) -> None:
    write(home, "aaaa9999", [{"about": {"title": "x"}}, said("d", "person", "x", 20)])
    imported("import", "--home", str(home))
    ran = imported("show", "aaaa")
    assert ran.code == 1 and TALK in ran.err and "aaaa9999" in ran.err


def test_a_hostile_transcript_reaches_no_screen(imported: Rireki, home: Path) -> None:
    evil = "\x1b]0;pwned\x07\x1b[2J\u202e"
    about = {"title": evil, "project": f"/w/{evil}"}
    write(home, "eeee5555", [{"about": about}, said("e", "agent", evil, 20, label=evil)])
    imported("import", "--home", str(home))
    for command in (["list"], ["show", "eeee"], ["explain", "eeee"], ["path", f"/w/{evil}"]):
        assert not {"\x1b", "\x07", "\u202e"} & set(imported(*command).out), command


# ── path, latest ──


def test_a_directory_and_its_conversations(imported: Rireki, home: Path) -> None:
    seen = imported("path", "/w/api", "--json").json
    assert ids(seen) == [OTHER, TALK]
    assert [s["current"] for s in seen] == [True, False]
    assert seen[0]["directory"] == "/w/api" and seen[0]["first_seen"] <= seen[0]["last_seen"]
    assert imported("path", "/w/api").lines[0].startswith("* bbbb2222  toy · 1 turn · current")
    assert imported("path", "/w").code == 1
    assert len(imported("path", "/w", "--below", "--json").json) == 2


def test_a_directory_by_its_link(
    imported: Rireki, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    real = {"project": str(tmp_path / "real"), "title": "by its name"}
    write(home, "dddd4444", [{"about": real}, said("d", "agent", "there", 20)])
    imported("import", "--home", str(home))
    monkeypatch.chdir(tmp_path / "link")
    assert ids(imported("path", "--json").json) == ["dddd4444"]
    assert ids(imported("path", str(tmp_path / "link"), "--json").json) == ["dddd4444"]


def test_the_latest_words_are_the_agents(imported: Rireki) -> None:
    assert imported("latest", "/w/api").out == "読みました\n"
    (value,) = imported("latest", "/w/api", "--json").json
    assert (value["conversation"]["native_id"], value["message"]["id"]) == (TALK, "m5")


# ── explain, stats ──


def test_explain_tells_every_entry_in_the_users_name(imported: Rireki) -> None:
    told = imported("explain", "aaaa", "--all", "--json").json
    assert [(d["position"], d["author"], d["display"]) for d in told] == [
        (1, "person", "bubble"),
        (3, "tool", "fold"),
        (4, "harness", "hidden"),
    ]
    assert told[2]["label"] == "system reminder" and told[2]["words"] == "reminder"
    assert imported("explain", "aaaa", "--all").lines[-1] == (
        "3 entries, 1 by person, 1 by tool, 1 by harness"
    )
    # Nobody has to ask whether the result of a tool was typed.
    assert imported("explain", "aaaa").lines[-1] == (
        "2 entries, 1 by person, 1 by harness, 1 more with --all"
    )
    assert imported("explain", "aaaa").out == imported("explain", "aaaa", "--typed").out


def test_stats_count_each_answer_once(imported: Rireki) -> None:
    (figures,) = imported("stats", "--json").json
    assert figures["conversations"] == 2 and figures["subagents"] == 1
    assert figures["patterns"]["single tool"] == {"count": 1, "percent": 50.0}
    assert figures["entries"] == {"min": 1, "mean": 3.0, "max": 5}
    assert figures["tool_uses"] == {"total": 1, "max": 1}
    assert figures["tools"] == {"Task": 1}
    assert figures["flags"] == {"isMeta": 2}
    assert figures["tokens"]["m-1"]["output_tokens"] == 12
    assert figures["tokens"]["m-1"]["lower_bound"] is True
    assert "≥ 12" in imported("stats").out
    assert imported("stats", "--source", "toy", "--json").json[0]["conversations"] == 2
