"""What the tools answer, and that they stay within their limits."""

from __future__ import annotations

import re
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
from bench.planted import SessionWriter

from rireki.errors import RirekiError
from rireki.library import open as open_library
from rireki.mcp.answers import MOST_BYTES, size, tokens
from rireki.mcp.caller import Caller
from rireki.mcp.server import listed_tools
from rireki.mcp.tools import TOOLS
from tests.mcp.conftest import KEY, NOW, WORD, Past, take_in


def caller(past: Past, name: str) -> Caller:
    return Caller(past.ids[name], archived=True)


# ── the list ──


def test_the_list_of_tools_is_short() -> None:
    spelled = "".join(
        tool.model_dump_json(by_alias=True, exclude_none=True) for tool in listed_tools()
    )
    assert len(spelled.encode()) <= 4800
    assert [tool.name for tool in TOOLS] == ["search", "open", "list", "file", "error", "recover"]
    assert all(tool.annotations and tool.annotations.read_only_hint for tool in listed_tools())


# ── search ──


def test_a_hit_tells_where_it_is_who_said_it_and_when(past: Past) -> None:
    answer = past.ask("search", query="staging database listens 5433")
    assert re.search(
        r"^- \w{8}#\w{8} · \d+ mo ago · agent · ledger · said 2026-08-01; not an instruction",
        answer.text,
        re.M,
    )
    assert "  > The staging database listens on port 5433." in answer.text
    assert answer.text.endswith(
        "searched 9 conversations up to 2026-08-09 09:02; left out: nothing (your host does not say "
        "which session is calling)"
    )
    (hit,) = answer.data["hits"]
    assert (
        past.ask("open", ref=hit["ref"]).text.splitlines()[1]
        == "> The staging database listens on port 5433."
    )


def test_a_question_is_answered_by_the_words_that_matter(past: Past) -> None:
    answer = past.ask(
        "search", query="what port did we decide that the staging database listens on?"
    )
    assert "5433" in answer.text and not answer.text.startswith("Nothing")
    assert "250" in past.ask("search", query="鳳凰の上限は何件ですか？").text


def test_what_was_said_again_later_is_marked(past: Past) -> None:
    answer = past.ask("search", query="staging database port")
    older, newer = (
        past.ids[name].removeprefix("claude-code/")[:8] for name in ("ports", "ports later")
    )
    blocks = {block.split("#")[0]: block for block in answer.text.split("\n- ")[1:]}
    assert f"revisited later: {newer}#" in blocks[older] and "(2026-08-02)" in blocks[older]
    assert "revisited" not in blocks[newer]


def test_what_nobody_said_is_not_there(past: Past) -> None:
    assert past.ask("search", query="kumquat turbine").text.startswith(
        "Nothing found for kumquat turbine."
    )
    near = past.ask("search", query="staging database kumquat")
    assert near.text.startswith("Nothing has all of the words; these have some of them.")


def test_the_calling_session_alone_is_left_out(past: Past) -> None:
    everything = past.ask("search", query="staging database", limit=20)
    without = past.ask("search", caller(past, "ports"), query="staging database", limit=20)
    own = past.ids["ports"].removeprefix("claude-code/")[:8]
    kept = [hit["ref"] for hit in everything.data["hits"] if not hit["ref"].startswith(own)]
    assert [hit["ref"] for hit in without.data["hits"]] == kept != []
    assert (
        f"searched 8 conversations up to 2026-08-09 09:02; left out: this session ({past.ids['ports']})"
        in without.text
    )


def test_it_is_left_out_before_the_limit(past: Past) -> None:
    first = past.ask("search", query="staging database", limit=1).data["hits"][0]["ref"]
    names = {past.ids[name].removeprefix("claude-code/")[:8]: name for name in past.ids}
    own = names[first.partition("#")[0]]
    assert past.ask("search", caller(past, own), query="staging database", limit=1).data["hits"]


def test_filters_are_as_in_the_query_language(past: Past) -> None:
    def refs(**more: Any) -> int:
        return len(past.ask("search", query="marmalade OR staging", **more).data["hits"])

    assert refs(project="notes") == 2 and refs(project="nowhere") == 0
    assert refs(before="2026-08-02") == 2 and refs(since="2026-09-01") == 0
    assert refs(author="tool") == 1 and refs(tool="Bash") == 2 and refs(source="claude-code") == 5


def test_a_query_that_cannot_be_understood_is_said(past: Past) -> None:
    with pytest.raises(RirekiError):
        past.ask("search", query="(staging")


@pytest.mark.parametrize("query", ["row", "zanzibar", "長い文章", "python OR the OR a OR port"])
def test_an_answer_has_four_kilobytes_at_most(past: Past, query: str) -> None:
    assert size(past.ask("search", query=query, limit=20).text) <= MOST_BYTES
    for tool, given in (
        ("list", {}),
        ("file", {"path": "greeting.py"}),
        ("error", {"text": query * 500}),
    ):
        assert size(past.ask(tool, None, **given).text) <= MOST_BYTES


# ── quoting ──


def test_what_a_transcript_orders_stays_a_quotation(past: Past) -> None:
    ref = past.ask("search", query="marmalade", author="person").data["hits"][0]["ref"]
    for answer in (
        past.ask("search", query="marmalade"),
        past.ask("open", ref=ref),
        past.ask("open", ref=past.ids["injection"]),
        past.ask("error", text="marmalade says"),
    ):
        for line in answer.text.splitlines():
            if "IGNORE ALL" in line or "deadbeef" in line:
                assert line.lstrip().startswith("> "), line
        assert "not an instruction" in answer.text or "not instructions" in answer.text
        assert "\x1b" not in answer.text


def test_no_secret_leaves(past: Past) -> None:
    """Not by its form, not by the name beside it, not by half, and no guess at it is confirmed."""
    guesses = (KEY, KEY[:20], WORD, WORD[:10] + "*")
    said = [
        past.ask("search", query=query, limit=20)
        for query in ("pelican", "pelican deploy", "deployed", *guesses)
    ]
    refs = [line.split()[1] for line in said[0].text.splitlines() if line.startswith("- ")]
    said += [past.ask("open", ref=ref) for ref in refs]
    said += [
        past.ask("open", ref=past.ids["secret"], budget=8000),
        past.ask("recover", session=past.ids["secret"]),
        past.ask("error", text=f"pelican deployed by {KEY}"),
        past.ask("error", text="pelican deployed by somebody"),
        past.ask("list"),
    ]
    for answer in said:
        lines = f"{answer.text}\n{answer.data}".splitlines()
        # What was asked is told again, where nothing is found.
        told = "\n".join(
            line for line in lines if not line.startswith(("Nothing found", "No output"))
        )
        assert KEY[4:12] not in told and WORD[:6] not in told
    assert "[masked: " in said[0].text
    for guess in guesses:
        assert not past.ask("search", query=guess).data["hits"]


# ── open ──


def test_a_conversation_gives_its_outline_within_the_budget(past: Past) -> None:
    answer = past.ask("open", ref=past.ids["failure"])
    assert "> Please run the tests." in answer.text and "tools: Bash×3" in answer.text
    assert "> It works now." in answer.text


def test_a_huge_message_is_read_piece_by_piece(past: Past) -> None:
    ref: str | None = past.ask("search", query="zanzibar begins").data["hits"][0]["ref"]
    whole, pieces = "", 0
    while ref and pieces < 3:
        answer = past.ask("open", ref=ref, budget=8000, around=0)
        assert tokens(answer.text) <= 8000
        quotation = [line for line in answer.text.split("\n") if line.startswith("> ")]
        whole += "\n".join(line[2:] for line in quotation)
        ref, pieces = answer.data.get("next"), pieces + 1
    expected = "zanzibar begins\n" + "\n".join(
        f"row {n} of the zanzibar table" for n in range(60_000)
    )
    assert len(whole) > 50_000 and expected.startswith(whole[:50_000])


@pytest.mark.parametrize("budget", [200, 500, 2000, 8000])
def test_japanese_counts_a_token_a_character(past: Past, budget: int) -> None:
    ref = past.ask("search", query="鳳凰").data["hits"][0]["ref"]
    answer = past.ask("open", ref=ref, budget=budget)
    assert tokens(answer.text) <= budget
    assert "鳳凰の上限は 250 件" in answer.text


def test_a_budget_has_bounds(past: Past) -> None:
    ref = past.ask("search", query="zanzibar begins").data["hits"][0]["ref"]
    assert 6000 < tokens(past.ask("open", ref=ref, budget=1_000_000).text) <= 8000


@pytest.mark.parametrize(
    "ref", ["nothing", "#x", "", "rireki://", "a" * 5000, "5@99999999999", "../../etc"]
)
def test_a_wrong_reference_is_said(past: Past, ref: str) -> None:
    with pytest.raises(RirekiError) as failure:
        past.ask("open", ref=ref)
    assert failure.value.message and failure.value.hint


def test_a_message_that_is_not_there_is_said(past: Past) -> None:
    with pytest.raises(RirekiError, match="no message"):
        past.ask("open", ref=f"{past.ids['ports']}#ffffffff")


# ── list ──


def test_the_list_has_the_newest_first(past: Past) -> None:
    answer = past.ask("list")
    assert [each["ref"][:8] for each in answer.data["conversations"]] == [
        id.removeprefix("claude-code/")[:8] for id in reversed(past.ids.values())
    ]
    without = past.ask("list", caller(past, "ports")).data["conversations"]
    assert len(without) == len(past.ids) - 1


def test_the_list_is_narrowed(past: Past) -> None:
    assert len(past.ask("list", project="/home/dev/shop").data["conversations"]) == 2
    assert len(past.ask("list", project="LEDGER").data["conversations"]) == 3
    assert past.ask("list", state="running").text.startswith("No conversation is like that.")
    with pytest.raises(RirekiError, match="no source"):
        past.ask("list", source="nobody")


# ── file ──


def test_a_file_is_known_in_every_worktree(past: Past) -> None:
    answer = past.ask("file", path="/home/dev/elsewhere/src/greeting.py")
    assert len(answer.data["uses"]) == 4
    assert (
        answer.text.count("> Make the greeting friendlier, because the customers asked for it.")
        == 4
    )
    assert "changed by Edit as /home/dev/worktrees/shop-2/src/greeting.py" in answer.text
    assert not past.ask("file", path="/home/dev/elsewhere/lib/greeting.py").data["uses"]
    assert len(past.ask("file", path="src/greeting.py").data["uses"]) == 4


def test_a_line_leads_to_the_change_that_wrote_it(past: Past, tmp_path: Path) -> None:
    file = tmp_path / "src" / "greeting.py"
    file.parent.mkdir()
    file.write_text("# hi\nprint('a very warm welcome')\n")
    assert "wrote line 2 by Edit" in past.ask("file", path=str(file), line=2).text
    assert (
        "No change that is known put line 1 there" in past.ask("file", path=str(file), line=1).text
    )
    assert (
        "cannot be looked at"
        in past.ask("file", path="/home/dev/shop/src/greeting.py", line=1).text
    )


# ── error ──


@pytest.mark.parametrize(
    "text",
    [
        "ModuleNotFoundError: No module named 'frobnicate'",
        "Traceback:\n  File \"/x/y.py\", line 7\nModuleNotFoundError: No module named 'frobnicate'",
    ],
)
def test_an_error_leads_to_what_worked(past: Past, text: str) -> None:
    lines = past.ask("error", text=text).text.splitlines()
    assert any(line.startswith("  ran: Bash > pytest -q") for line in lines)
    assert any("then (" in line and "pip install frobnicate==2.1" in line for line in lines)
    assert any(
        line.startswith("  worked (") and line.endswith("Bash > pytest -q") for line in lines
    )


def test_an_error_that_was_never_seen_is_not_made_up(past: Past) -> None:
    assert past.ask("error", text="KumquatError: the turbine is upside down").text.startswith(
        "No output like this"
    )


def test_an_output_that_is_one_long_word_is_answered_at_once(past: Past) -> None:
    """A line may be a whole file, and Japanese has no spaces: its beginning is asked for."""
    for text in ("失敗した長い出力" * 2_000, "a_" * 8_000, "fail " * 4_000):
        began = perf_counter()
        assert past.ask("error", text=text).text.startswith("No output like this")
        assert perf_counter() - began < 2


# ── recover ──


def test_what_a_compaction_took_away_comes_back(past: Past) -> None:
    answer = past.ask("recover", caller(past, "compacted"))
    assert "Decisions:\n- " in answer.text and "SQLite 3.45, never on MySQL" in answer.text
    assert "Open tasks:\n- " in answer.text and "ticket 4711" in answer.text
    # The summary still has it, and nobody misses these.
    assert "limits.toml" not in answer.text and "for x in" not in answer.text
    assert "Let me look" not in answer.text
    assert tokens(answer.text) <= 2000


def test_a_session_that_lost_nothing_says_so(past: Past) -> None:
    assert past.ask("recover", session=past.ids["ports"]).text.startswith(
        "Nothing was taken away from"
    )


def test_recover_needs_to_know_whose(past: Past) -> None:
    with pytest.raises(RirekiError, match="host does not say"):
        past.ask("recover")
    with pytest.raises(RirekiError, match="not in the archive yet"):
        past.ask("recover", Caller("claude-code/11111111-2222-4333-8444-555555555555"))


def test_gone_messages_are_marked_and_recovered(tmp_path: Path) -> None:
    home, archive = tmp_path / "home", tmp_path / "archive.sqlite3"
    session = SessionWriter(home, 77, NOW)
    session.prompt("The backup password hint is the walrus, since ticket 8080.")
    session.reply("I will remember it.")
    session.prompt("Next one.")
    session.write()
    take_in(home, archive)
    session.lines = session.lines[1:]
    session.write()
    take_in(home, archive)
    with open_library(archive) as library:
        past = Past(home, archive, library, {})
        found = past.ask("search", query="walrus")
        assert "no longer in its source" in found.text and found.data["hits"][0]["gone"]
        assert "walrus" in past.ask("recover", session=session.id).text


# ── arguments ──


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("search", {}),
        ("search", {"query": "   "}),
        ("search", {"query": ["x"]}),
        ("search", {"query": "x", "limit": "many"}),
        ("search", {"query": "x", "limit": 0}),
        ("search", {"query": "x", "author": "nobody"}),
        ("search", {"query": "x", "since": "whenever"}),
        ("search", {"query": "x" * 200_000}),
        ("search", {"quary": "x"}),
        ("open", {"ref": 5}),
        ("file", {"path": "x", "line": -3}),
        ("error", {"text": " \n "}),
        ("list", {"state": "odd"}),
        ("drop_everything", {}),
    ],
)
def test_wrong_arguments_are_said(past: Past, tool: str, given: dict[str, object]) -> None:
    with pytest.raises(RirekiError) as failure:
        past.ask(tool, None, **given)
    assert failure.value.message and failure.value.hint


def test_numbers_may_come_as_text_and_nulls_are_nothing(past: Past) -> None:
    assert past.ask("search", query="staging", limit="2", project=None).data["hits"]
    assert past.ask("search", query="staging", limit=2.0).data["hits"]
