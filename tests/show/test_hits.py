"""What a search found, on a terminal and as HTML: marks stay on their words, transcripts steer nothing."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from html.parser import HTMLParser
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rireki.search.results import ConversationHits, Hit, Neighbour, Results, Scope, Snippet
from rireki.show.hits import HitsView, counted, html_results, nothing, quoted, render_results, who
from rireki.show.safe import Style
from rireki.show.transcript import short_message
from rireki.show.width import Marked, around, cut, marked, painted, width, wrapped
from tests.show.made import conversation

NOW = datetime(2026, 11, 16, tzinfo=timezone.utc)
UUID = "7e9ed52f-0eed-50c0-a631-364c06a2943c"


def hit(text: str, *marks: tuple[int, int], **facts: Any) -> Hit:
    values: dict[str, Any] = {
        "message": UUID,
        "author": "agent",
        "at": "2026-11-15T18:29:46.542Z",
        "where": "text",
        "snippet": Snippet(text, list(marks)),
    }
    return Hit(**(values | facts))


def talk(
    *hits: Hit, title_marks: list[tuple[int, int]] | None = None, **facts: Any
) -> ConversationHits:
    total = facts.pop("total", None)
    return ConversationHits(
        conversation=conversation(**facts),
        hits=list(hits),
        total=total,
        title_marks=title_marks or [],
    )


def results(*talks: ConversationHits, **facts: Any) -> Results:
    values: dict[str, Any] = {
        "query": "設定",
        "talks": list(talks),
        "messages": 3,
        "conversations": 1,
        "exact": True,
        "more": False,
        "scope": Scope(conversations=19, until="2026-11-15T18:29:46.542Z"),
        "milliseconds": 8.4,
    }
    return Results(**(values | facts))


def told(found: Results, **facts: Any) -> list[str]:
    return list(render_results(found, HitsView(NOW, **facts)))


def brackets(line: Marked) -> str:
    return painted(line, lambda text: f"[{text}]")


# ── text with marks ──


def test_a_mark_stays_on_its_words_while_the_text_is_cleaned() -> None:
    assert brackets(marked("  a\t\tb\nc  d", [(5, 6), (7, 10)])) == "a [b] [c ]d"
    assert brackets(marked("\x1b[31mred\x1b[0m alert", [(5, 8)])) == "[red] alert"
    assert brackets(marked("a\x07b\u202ec", [(1, 4)])) == "a[␇b‹U+202E›]c"


def test_marks_that_make_no_sense_hurt_nobody() -> None:
    assert brackets(marked("abc", [(1, 2), (0, 2), (2, 99), (50, 60)])) == "a[b][c]"


def test_an_escape_sequence_does_not_come_together_over_a_mark() -> None:
    assert "\x1b" not in painted(marked("\x1b[2J", [(1, 2)]), str)


def test_a_snippet_shows_where_it_is_cut() -> None:
    found = quoted(Snippet("the word here", [(4, 8)], cut_before=True, cut_after=True))
    assert brackets(found) == "…the [word] here…"


def test_cutting_and_looking_around() -> None:
    line = marked("一二三四五六七八九十", [(7, 9)])
    assert brackets(cut(line, 17)) == "一二三四五六七[八]…"
    assert brackets(cut(line, 20)) == "一二三四五六七[八九]十"
    assert brackets(around(line, 12)) == "…六七[八九]十"
    assert brackets(around(line, 8)) == "…七[八九]…"


def test_wrapping_keeps_the_marks() -> None:
    line = marked("alpha beta gamma delta", [(8, 13)])
    assert [brackets(part) for part in wrapped(line, 10)] == ["alpha be[ta]", "[ga]mma", "delta"]


marks = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=4).map(sorted)


@given(st.text(max_size=60), marks, st.integers(2, 30))
def test_whatever_the_text_nothing_is_lost_nor_too_wide(
    text: str, marks: list[tuple[int, int]], columns: int
) -> None:
    line = marked(text, marks)
    assert painted(line, str) == line.text
    assert not re.search(r"[\x00-\x1f\x7f-\x9f]", line.text)
    parts = list(wrapped(line, columns))
    inside = "".join(part.text[a:b] for part in parts for a, b in part.marks)
    whole = "".join(line.text[a:b] for a, b in line.marks)
    assert inside.replace(" ", "") == whole.replace(" ", "")
    for shown in (*parts, cut(line, columns), around(line, columns)):
        assert width(shown.text) <= columns or len(shown.text) == 1
        assert all(0 <= a < b <= len(shown.text) for a, b in shown.marks)


# ── small things ──


def test_what_to_type_for_a_message() -> None:
    assert short_message(UUID) == "7e9ed52f"
    assert short_message(f"{UUID}-u") == "7e9ed52f-u"
    assert short_message(f"{UUID}#said") == "7e9ed52f#said"
    assert short_message("line-b504a50d169c8ef5") == "line-b504a50d169c8ef5"


def test_who_said_it() -> None:
    assert who(hit("x", author="person")) == "you"
    assert who(hit("x", tools=["bash", "read"])) == "agent ▸ bash, read"
    assert who(hit("x", author="tool", tools=["bash"])) == "tool ▸ bash"
    assert who(hit("x", where="thinking")) == "agent · thinking"
    assert who(hit("x", author="harness")) == "program"
    assert who(hit("x", author=None, where="project", message=None)) == "project"


def test_how_much_was_found() -> None:
    assert counted(results()) == "3 messages in 1 conversation, 8 ms"
    assert counted(results(exact=False)).startswith("at least 3 messages")
    assert counted(results(more_conversations=True)).startswith(
        "3 messages in more than 1 conversation,"
    )


def test_nothing_says_where_it_looked_and_what_comes_near() -> None:
    lines = list(nothing(results(near=["設定ファイル"], query="a\x1b[2Jb")))
    assert lines[0] == "nothing found for ab"
    assert lines[1] == "Did you mean: 設定ファイル"
    assert lines[2].startswith("searched 19 conversations, up to 2026-11-15")
    (empty,) = nothing(results(scope=Scope(conversations=0, until=None)))
    assert "rireki import" in empty


# ── on a terminal ──


def test_a_conversation_with_its_hits() -> None:
    found = talk(hit("設定を読む", (0, 2), author="person"), hit("more", tools=["bash"]), total=5)
    lines = told(results(found), names={"toy/0001": "0001"}, columns=60)
    assert re.fullmatch(r"0001           –  toy    設定ファイルを読む", lines[0])
    assert re.fullmatch(r"  you · 2026-11-1\d \d\d:\d\d · #7e9ed52f", lines[1])
    assert lines[2] == "    設定を読む"
    assert lines[3].startswith("  agent ▸ bash · ")
    assert lines[5:] == ["  … 3 more messages"]


def test_matches_are_painted_in_title_and_snippet() -> None:
    found = talk(hit("設定を読む", (0, 2)), title_marks=[(0, 2)])
    lines = told(results(found), style=Style(True))
    painted = "\x1b[1m\x1b[33m設定\x1b[0m\x1b[0m"
    assert f"{painted}ファイルを読む" in lines[0] and f"{painted}を読む" in lines[2]


def test_what_is_gone_and_what_a_sub_agent_said_is_marked() -> None:
    gone = hit("x", upstream="gone")
    lines = told(results(talk(gone, nature="subagent")), sign=lambda c: "~")
    assert "~ ↳ 設定" in lines[0] and lines[1].endswith(" ✗")
    # Of a conversation that is gone it is said once.
    lines = told(results(talk(gone, upstream="gone")), sign=lambda c: "✗")
    assert "✗ 設定" in lines[0] and not lines[1].endswith("✗")


def test_the_title_is_not_told_twice_where_it_fits() -> None:
    found = talk(hit("設定ファイルを読む", (0, 2), where="title", author=None, message=None))
    assert len(told(results(found))) == 1
    long = talk(*found.hits, title="設定ファイルを読む" * 9)
    assert told(results(long))[1].strip() == "title"


def test_the_project_has_its_column_where_there_is_room() -> None:
    assert "設定  " not in told(results(talk(hit("x"))), columns=80)[0]
    assert "設定    設定ファイル" in told(results(talk(hit("x"))), columns=120)[0]


def test_neighbours_stand_around_their_hit() -> None:
    before = Neighbour(message="a", author="person", at=None, text="asked\n  this")
    after = Neighbour(message="b", author="tool", at=None, text="y " * 900)
    lines = told(results(talk(hit("x", before=[before], after=[after]), hit("z"))))
    assert lines[1] == "    you: asked this" and lines[3] == "    x"
    assert lines[4].startswith("    tool: y y") and lines[-3] == ""
    assert sum(len(line) for line in lines) < 500


def test_every_line_fits_the_screen() -> None:
    wide = "長い文章です。" * 40
    found = results(talk(hit(wide, (120, 130), tools=["工具" * 40]), title=wide, source="s" * 20))
    for columns in (40, 60, 80, 110, 200):
        assert all(width(line) <= columns for line in told(found, columns=columns))


def test_a_long_id_takes_the_place_of_the_time() -> None:
    found = results(talk(hit("x", message="msg_" + "0" * 48)))
    for columns in (70, 80):
        lines = told(found, columns=columns)
        assert all(width(line) <= columns for line in lines)
        assert "#msg_" + "0" * 48 in lines[1]


def test_a_hostile_transcript_steers_nothing() -> None:
    bad = "a\x1b]0;owned\x07b\x1b[2J\x9b2Jc\r\u202e"
    found = talk(
        hit(bad, (1, 4), tools=[bad], message=bad, before=[]), title=bad, project=f"/{bad}"
    )
    lines = told(results(found), columns=120, names={"toy/0001": bad})
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202e]", "".join(lines))


# ── as HTML ──


def link(conversation: str, message: str | None) -> str:
    return f"/c/{conversation}#{message}" if message else f"/c/{conversation}"


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.marks: list[str] = []
        self.links: list[str | None] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.links += [value for name, value in attrs if name == "href"]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "mark":
            self.marks.append(data)


def test_html_escapes_everything_and_marks_matches() -> None:
    bad = '<script>alert("x")</script>\x1b[2J'
    neighbour = Neighbour(message="n", author="person", at=None, text=bad)
    found = talk(
        hit(bad, (1, 7), tools=[bad], after=[neighbour]),
        title=bad,
        project=f'/"><b>{bad}',
        title_marks=[(0, 4)],
    )
    html = html_results(results(found), link)
    tags = Tags(html)
    assert tags.open == [] and tags.marks == ["<scr", "script"]
    assert tags.links == ["/c/toy/0001", f"/c/toy/0001#{UUID}"]
    assert "<script" not in html and "<b>" not in html and "\x1b" not in html


def test_html_of_nothing_says_so() -> None:
    html = html_results(results(query="<x>"), link)
    assert "nothing found for &lt;x&gt;" in html and Tags(html).open == []


@given(st.text("ab 語　\u3000.", max_size=60), st.integers(0, 12), st.integers(4, 20), st.data())
def test_an_indented_line_keeps_its_marks_when_it_is_wrapped(
    text: str, indent: int, columns: int, data: st.DataObject
) -> None:
    line = " " * indent + text
    start = data.draw(st.integers(0, len(line)))
    end = data.draw(st.integers(start, len(line)))
    marks = [(start, end)] if line[start:end].strip() else []
    parts = list(wrapped(Marked(line, marks), columns))
    told = "".join(part.text[a:b] for part in parts for a, b in part.marks)
    kept = "".join(line[a:b] for a, b in marks)
    assert re.sub(r"\s", "", told) == re.sub(r"\s", "", kept)
