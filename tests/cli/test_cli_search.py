"""`search` on the command line, and `show` opened at what it found."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from rireki.cli.commands.search import pointed
from rireki.show.width import width
from tests.cli.conftest import CHILD, OTHER, TALK, Rireki, said, write
from tests.cli.test_cli_terminal import at_terminal

UUID = "7e9ed52f-0eed-50c0-a631-364c06a2943c"


def natives(ran_json: list[dict[str, list[dict[str, dict[str, str]]]]]) -> list[str]:
    return [talk["conversation"]["native_id"] for talk in ran_json[0]["talks"]]


# ── what is found ──


def test_a_conversation_with_its_hits(imported: Rireki) -> None:
    ran = imported("search", "設定")
    assert ran.code == 0 and ran.err == ""
    assert re.match(r"aaaa1111 .* toy .* 設定ファイルを読む$", ran.lines[0])
    assert re.fullmatch(r"  you · .* · #m1", ran.lines[1])
    assert ran.lines[2] == "    設定を読んで"


def test_what_it_prints_can_be_shown(imported: Rireki) -> None:
    head, facts, *_ = imported("search", "読みました").lines
    name, place = head.split()[0], facts.rpartition("#")[2]
    assert "読みました" in imported("show", f"{name}#{place}").out


def test_words_of_several_arguments_and_of_one(imported: Rireki) -> None:
    assert natives(imported("search", "--json", "設定", "読んで").json) == [TALK]
    assert natives(imported("search", "--json", "設定 読んで").json) == [TALK]
    assert natives(imported("search", "--json", '"one two"').json) == [TALK]
    assert natives(imported("search", "--json", '"two one"').json) == []
    # An argument with a space in it is no phrase by itself.
    assert natives(imported("search", "--json", "two one", "author:tool").json) == [TALK]


def test_a_word_with_a_minus_is_no_option(imported: Rireki) -> None:
    assert natives(imported("search", "--json", "author:person").json) == [OTHER, TALK]
    for query in (
        ["author:person", "-hello"],
        ["-hello", "author:person"],
        ["author:person", "-hello", "--limit", "5"],
        ["--", "author:person", "-hello"],
        ["-(hello)", "author:person"],
    ):
        assert natives(imported("search", "--json", *query).json) == [TALK]


@pytest.mark.parametrize("typed", ["--limti", "--limti=3", "--no-pagr", "--jsno", "--contxt"])
def test_a_mistyped_option_is_not_searched_for(imported: Rireki, typed: str) -> None:
    ran = imported("search", "hello", typed, "3")
    assert ran.code == 2 and "Did you mean --" in ran.err
    # Said that it is meant, it is text.
    assert imported("search", "--", "hello", typed).code == 1
    assert imported("search", "hello", f'"{typed}"').code == 1


def test_what_is_far_from_our_options_is_text(imported: Rireki, home: Path) -> None:
    write(home, "dddd4444", [{"about": {}}, said("d1", "person", "git rebase --interactive x", 20)])
    imported("import", "--home", str(home))
    assert natives(imported("search", "--json", "rebase", "--interactive").json) == ["dddd4444"]


def test_help_is_there_for_both_names(imported: Rireki) -> None:
    assert imported("search", "-h").out == imported("search", "--help").out
    assert imported("search", "-h").code == 0


def test_newest_limit_offset_and_hits(imported: Rireki) -> None:
    assert natives(imported("search", "author:person", "--newest", "--json").json) == [OTHER, TALK]
    (first,) = imported("search", "author:person", "--json", "--limit", "1").json
    assert len(first["talks"]) == 1 and first["more"] is True
    (rest,) = imported("search", "author:person", "--json", "--limit", "1", "--offset", "1").json
    assert natives([rest]) == [TALK] and rest["more"] is False
    (all_hits,) = imported("search", f"id:{TALK}", "--json", "--hits", "9").json
    (one_hit,) = imported("search", f"id:{TALK}", "--json", "--hits", "1").json
    assert len(all_hits["talks"][0]["hits"]) > len(one_hit["talks"][0]["hits"]) == 1


def test_context_brings_the_neighbours(imported: Rireki) -> None:
    lines = imported("search", '"one two"', "--context", "1").lines
    assert lines[-1] == "    agent: 読みました"


def test_the_json_contract(imported: Rireki) -> None:
    (value,) = imported("search", "読みました", "--json").json
    assert list(value) == [
        "query",
        "talks",
        "messages",
        "conversations",
        "exact",
        "more_conversations",
        "apart",
        "more",
        "scope",
        "near",
        "milliseconds",
    ]
    (talk,) = value["talks"]
    assert talk["conversation"]["id"] == f"toy/{TALK}"
    assert talk["hits"][0]["message"] == "m5"
    assert talk["hits"][0]["snippet"]["marks"] == [[0, 5]]


def test_html_marks_the_words_and_links_to_the_message(imported: Rireki) -> None:
    ran = imported("search", "読みました", "--html")
    assert "<mark>読みました</mark>" in ran.out
    assert f'href="/c/toy/{TALK}#m5"' in ran.out and ran.code == 0


def test_a_sub_agent_is_marked(imported: Rireki) -> None:
    (head, *_) = imported("search", "looked").lines
    assert "↳ look" in head
    assert natives(imported("search", "--json", "looked").json) == [CHILD]


def test_what_is_gone_is_marked(imported: Rireki, home: Path) -> None:
    file = home / ".toy" / f"{TALK}.jsonl"
    file.write_text("".join(file.read_text("utf-8").splitlines(True)[:-1]), "utf-8")
    imported("import", "--home", str(home))
    ran = imported("search", "読みました")
    assert "~ 設定ファイル" in ran.lines[0] and ran.lines[1].endswith("#m5 ✗")


def test_a_hostile_transcript_steers_nothing(imported: Rireki, home: Path) -> None:
    bad = "owned \x1b]0;title\x07 \x1b[2J\x9b2J needle\x1b[31m red \u202e"
    write(home, "eeee5555", [{"about": {"title": bad}}, said("e1", "person", bad, 30)])
    imported("import", "--home", str(home))
    for options in ([], ["--html"], ["--context", "2"]):
        ran = imported("search", "needle", *options)
        assert "needle" in ran.out and not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", ran.out)


# ── nothing, and not understood ──


def test_nothing_found_is_said_and_told_by_the_exit_code(imported: Rireki) -> None:
    ran = imported("search", "helllo")
    assert (ran.code, ran.out) == (1, "")
    assert "nothing found for helllo" in ran.err and "searched 3 conversations" in ran.err


def test_near_words_are_offered(imported: Rireki) -> None:
    assert "Did you mean: hello" in imported("search", "helloo").err


def test_programs_get_an_empty_result(imported: Rireki) -> None:
    ran = imported("search", "helllo", "--json")
    assert ran.code == 0 and ran.json[0]["talks"] == [] and ran.err == ""
    ran = imported("search", "helllo", "--html")
    assert ran.code == 0 and "nothing found" in ran.out


def test_an_offset_behind_the_end_says_so(imported: Rireki) -> None:
    ran = imported("search", "hello", "--offset", "5")
    assert ran.code == 1 and "nothing more: 1 conversation in all" in ran.err


def test_an_empty_archive_says_so(rireki: Rireki, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    rireki("import", "--home", str(tmp_path / "empty"))
    assert "rireki import" in rireki("search", "x").err


def test_no_archive_yet(rireki: Rireki) -> None:
    ran = rireki("search", "x")
    assert ran.code == 1 and ran.err.count("\n") == 2


def test_a_query_that_makes_no_sense_is_pointed_at(imported: Rireki) -> None:
    ran = imported("search", "設定 (foo")
    assert ran.code == 1 and ran.out == ""
    query, carets, error, hint = ran.err.splitlines()
    assert query == "  設定 (foo" and carets == "       ^^^^"
    assert error.startswith("error: the (") and hint.startswith("hint: ")
    assert imported("search", "設定 (foo", "--json").err.splitlines() == [error, hint]


def test_pointing_goes_by_columns_and_keeps_to_the_screen() -> None:
    assert pointed("一二三 x", 2, 1, 80) == ["  一二三 x", "      ^^"]
    assert pointed("abc", 3, 0, 80) == ["  abc", "     ^"]
    assert pointed("a\x1bb\tc", 4, 1, 80) == ["  a␛b c", "      ^"]
    for place in (0, 50, 999):
        line, carets = pointed("長い" * 500, place, 400, 60)
        assert width(line) <= 60 and width(carets) <= 60
        assert "^" in carets and line.strip(" …")


def test_without_a_query_in_a_pipe(imported: Rireki) -> None:
    for arguments in ([], [""], ["--json"], ["  ", "--html"]):
        ran = imported("search", *arguments)
        assert ran.code == 1 and "rireki search WORDS" in ran.err


def test_bytes_that_are_no_text_trip_nobody(imported: Rireki) -> None:
    ran = imported("search", "\udcff\udcfe")
    assert ran.code == 1 and ran.err.startswith("nothing found for ��")


# ── on a terminal ──


def test_a_terminal_gets_a_footer(imported: Rireki) -> None:
    shown = at_terminal("search", "author:person", "--limit", "1", PAGER="cat", NO_COLOR="1")
    assert re.search(r"message.* in .*conversation.* ms", shown)
    assert "more: --offset 1" in shown and "read: rireki show bbbb2222#n1" in shown
    command = re.findall(r"rireki (show \S+)", shown)[0]
    assert "hello" in imported(*shlex.split(command)).out


def test_the_footer_explains_the_signs(imported: Rireki) -> None:
    shown = at_terminal("search", "looked", PAGER="cat", NO_COLOR="1")
    assert "↳ a sub-agent" in shown


def test_matches_are_coloured_unless_colours_are_not_wanted(imported: Rireki) -> None:
    assert "\x1b[33m読みました" in at_terminal("search", "読みました", PAGER="cat")
    plain = at_terminal("search", "読みました", PAGER="cat", NO_COLOR="1")
    # Only the bar that tells of the index being made draws with escapes, and only on a terminal.
    assert "\x1b[33m" not in plain and "読みました" in plain


def test_results_go_through_the_pager(imported: Rireki) -> None:
    shown = at_terminal("search", "hello", PAGER="sed s/^/P:/", NO_COLOR="1")
    assert "P:    hello" in shown
    assert "P:" not in at_terminal("search", "hello", "--no-pager", PAGER="sed s/^/P:/")


# ── show, opened at a hit ──


def test_show_names_a_message_by_what_search_prints(imported: Rireki, home: Path) -> None:
    lines = [
        {"about": {}},
        said(f"{UUID}-u", "person", "asked", 20),
        said(UUID, "agent", "answered", 21),
    ]
    write(home, "dddd4444", lines)
    imported("import", "--home", str(home))
    assert imported("show", "dddd#7e9ed52f", "--json").json[0]["at"] == UUID
    assert imported("show", "dddd#7e9ed52f-u", "--json").json[0]["at"] == f"{UUID}-u"
    assert imported("show", "dddd#7e9ed5", "--json").json[0]["at"] == f"{UUID}-u"


def test_show_opens_at_an_earlier_version_by_telling_everything(
    imported: Rireki, home: Path
) -> None:
    lines = [
        {"about": {}},
        said("v1", "person", "first wording", 20, replaced_by="v2"),
        said("v2", "person", "second wording", 21),
        said("h1", "harness", "a reminder", 22, display="hidden"),
    ]
    write(home, "dddd4444", lines)
    imported("import", "--home", str(home))
    assert "first wording" not in imported("show", "dddd").out
    told = imported("show", "dddd#v1")
    assert told.code == 0 and "first wording" in told.out and "reminder" in told.out
    assert imported("show", "dddd#h1").code == 0
    assert "reminder" not in imported("show", "dddd#v2").out
    assert imported("show", "dddd#v3").code == 1


def test_show_opens_at_the_call_whose_result_was_found(imported: Rireki) -> None:
    told = imported("show", "aaaa#m3").out
    assert told.lstrip().startswith("agent") and "▸ Task look" in told
    assert "one" in told and "設定を読んで" not in told


def test_a_pager_that_opens_nowhere_is_given_what_follows(imported: Rireki) -> None:
    shown = at_terminal("show", "aaaa#m5", PAGER="sed s/^/P:/", NO_COLOR="1")
    assert "P:▌ 読みました" in shown and "設定を読んで" not in shown


def test_a_result_that_was_found_is_unfolded_and_marked(imported: Rireki, home: Path) -> None:
    call = {"kind": "tool_call", "call_id": "B", "name": "Bash", "arguments": {"command": "make"}}
    output = "\n".join(f"line {n}" for n in range(60)) + "\nthe numbat 有袋類"
    result = {"kind": "tool_result", "call_id": "B", "status": "ok", "output": output}
    lines = [
        {"about": {}},
        said("p1", "person", "build it", 20, turn=1),
        said("p2", "agent", "", 21, parts=[call]),
        said("p3", "tool", "", 22, display="fold", parts=[result]),
        said("p4", "agent", "numbat is done", 23),
    ]
    write(home, "dddd4444", lines)
    imported("import", "--home", str(home))
    assert "the numbat" not in imported("show", "dddd").out
    shown = imported("show", "dddd#p3").lines
    assert "▌   the numbat 有袋類" in shown
    assert "  numbat is done" in shown, "what follows is told as ever"
    coloured = at_terminal("show", "dddd#p3", "--find", "numbat OR 袋", "--no-pager")
    assert "\x1b[1m\x1b[33mnumbat\x1b[0m\x1b[0m" in coloured
    assert "\x1b[1m\x1b[33m袋\x1b[0m\x1b[0m" in coloured
    assert coloured.count("\x1b[33mnumbat") == 1, "only in the message that was opened"


def test_every_hit_in_a_tool_can_be_seen_where_it_is_opened(tmp_path: Path) -> None:
    """Of the invented home: every call and every result that a search finds."""
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "RIREKI_ARCHIVE": str(tmp_path / "archive.sqlite3"),
        "FORCE_COLOR": "1",
        "COLUMNS": "100",
    }

    def run(*arguments: str) -> str:
        command = [sys.executable, "-m", "rireki", *arguments]
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, encoding="utf-8", check=True
        ).stdout

    run("demo", "--dir", str(tmp_path / "demo"))
    environment["RIREKI_ARCHIVE"] = str(tmp_path / "demo" / "archive" / "archive.sqlite3")
    seen = 0
    for query in ("def", "test", "import", "接続"):
        (found,) = map(json.loads, run("search", query, "--json", "--hits", "4").splitlines())
        for talk in found["talks"]:
            for hit in talk["hits"]:
                if hit["where"] not in ("call", "result", "thinking", "unknown"):
                    continue
                id = f"{talk['conversation']['id']}#{hit['message']}"
                shown = run("show", id, "--find", query)
                start, end = hit["snippet"]["marks"][0]
                word = hit["snippet"]["text"][start:end]
                marked = f"\x1b[1m\x1b[33m{word}\x1b[0m\x1b[0m"
                assert marked in shown, (id, hit["where"], word)
                seen += 1
    assert seen > 15
