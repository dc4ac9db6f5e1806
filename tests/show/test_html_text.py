"""Words, code, diffs and terminals as HTML."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rireki.show.html import prose as prose_module
from rireki.show.html.code import highlight, highlight_lines, language_of
from rireki.show.html.diff import TextChange, diff
from rireki.show.html.markup import anchor, tag
from rireki.show.html.page import Page, RenderOptions, cut
from rireki.show.html.prose import prose
from rireki.show.html.render import TranscriptRenderer
from rireki.show.html.terminal import paint, settled
from rireki.show.safe import safe
from rireki.show.transcript import Transcript
from tests.show.made import conversation, message
from tests.support.payloads import Node, parsed, problems


def page(**facts: Any) -> Page:
    return Page(RenderOptions(**facts), "m-1", "1")


def said(words: str) -> Node:
    html = prose(words, page())
    assert problems(html) == []
    return parsed(html)


# ── Prose ──


def test_markdown() -> None:
    words = "## One\n\n#### Two\n\n- a\n- **b** ~~c~~\n\n| x | y |\n|--:|:-:|\n| 1 | 2 |\n\n3. c"
    found = said(words)
    # The text's own headings begin right below the heading of its message.
    assert (found.one("h3").text, found.one("h5").text) == ("One", "Two")
    assert [item.text for item in found.find("li")] == ["a", "b c", "c"]
    assert found.one("ol").attributes == {"start": "3"}
    assert [cell.attributes["class"] for cell in found.find("td")] == ["right", "center"]


def test_what_was_typed_keeps_its_lines_and_its_tags() -> None:
    for words in ("one\ntwo <tag attr> &lt; &amp;amp;", "one\ntwo &lt;"):
        found = said(words)
        assert found.text.replace("\n\n", "\n") == words.replace("\n\n", "\n")
        assert len(found.find("br")) == 1


def test_text_without_marks_takes_the_short_way_to_the_same_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = ["一行目\n  二行目\n\n\n三 (four): five, 100%.\n \nsix's", "a\nb  ", "x\n\n\ty"]
    short = [prose(text, page()) for text in words]
    monkeypatch.setattr(prose_module, "_MARKS", re.compile(""))
    long = [prose(text, page()) for text in words]
    assert [parsed(html).text.split() for html in short] == [
        parsed(html).text.split() for html in long
    ]
    assert [html.count("<p>") for html in short[:2]] == [html.count("<p>") for html in long[:2]]


def test_addresses_in_the_text_are_links_without_the_punctuation_around_them() -> None:
    found = said("see https://example.org/a_b(c), (https://x.jp/?q=1). 「https://y.jp/日本」です")
    assert [node.text for node in found.find("a")] == [
        "https://example.org/a_b(c)",
        "https://x.jp/?q=1",
        "https://y.jp/日本",
    ]


def test_a_picture_elsewhere_is_not_fetched() -> None:
    found = said("![a cat](https://example.org/cat.png)")
    assert found.one("a").text == "image: a cat (https://example.org/cat.png)"
    badge = said("[![ok](https://example.org/b.svg)](https://example.org)").one("a")
    assert badge.text == "image: ok (https://example.org/b.svg)"


def test_an_address_that_is_not_allowed_stays_as_it_was_written() -> None:
    assert said("[a](docs/x.md) [b](javascript:c)").text == "[a](docs/x.md) [b](javascript:c)"


@pytest.mark.parametrize("piece", ["[", "![", "*a ", "`", "<", "> ", "- ", "|a", "_", "a]("])
def test_no_text_takes_long(piece: str) -> None:
    started = time.process_time()
    html = prose(piece * (59_000 // len(piece)), page())
    assert problems(html) == []
    assert time.process_time() - started < 10
    assert prose(piece * 200_000, page()).startswith('<div class="plain">')


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="ab*_`[]()<>!&;:#|-~\\/ \n\t'\"=.ht\u202e\ud800", max_size=80))
def test_any_text_becomes_harmless_html(words: str) -> None:
    html = prose(words, page())
    assert problems(html) == [] and safe(html) == html


# ── Code ──


def test_code_has_the_colours_of_the_language_that_was_named() -> None:
    block = said("```python\nif x: pass  # <b>\n```").one(kind="code")
    assert block.one(kind="lang").text == "python"
    assert [node.text.strip() for node in block.find(kind="h-k")] == ["if", "pass"]
    assert block.one("pre").text == "if x: pass  # <b>"
    assert not said("```\nif x: pass\n```").find(kind="h-k")
    assert not said("```no-such-language\nif x: pass\n```").find(kind="h-k")


def test_code_comes_out_as_it_went_in() -> None:
    code = "\n\n  def f():\n\treturn '''a\nb''' \r\n\n"
    for language in ("python", "html", "yaml", "diff", "nonsense", ""):
        assert parsed(highlight(code, language)).text == safe(code)
        assert len(highlight_lines(code, language)) == safe(code).count("\n") + 1


def test_huge_code_has_no_colours() -> None:
    assert "<span" in highlight("x = 1\n" * 1000, "python")
    assert "<span" not in highlight("x = 1\n" * 20_000, "python")
    assert "<span" not in highlight("x = 1;" * 1000, "python")


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("/w/a.py", "python"),
        ("C:\\w\\A.TSX", "tsx"),
        ("Makefile", "make"),
        ("x/Dockerfile.dev", "docker"),
        ("notes", ""),
        (".", ""),
        ("a.b/c", ""),
    ],
)
def test_the_language_of_a_file(path: str, language: str) -> None:
    assert language_of(path) == language


# ── Terminal ──


@pytest.mark.parametrize(
    ("codes", "classes"),
    [
        ("31", "a-f1"),
        ("1;32", "a-bold a-f2"),
        ("97;101", "a-f15 a-b9"),
        ("38;5;208", "a-f208"),
        ("48:5:22", "a-b22"),
        ("38;2;255;0;0", "a-f196"),
        ("38;2;128;128;128", "a-f244"),
        ("3;4", "a-italic a-underline"),
        ("2", "a-dim"),
        ("1;22;31;39", None),
        ("38;5;999", None),
        ("38", None),
        ("9" * 5000, None),
    ],
)
def test_colours_are_classes(codes: str, classes: str | None) -> None:
    html = paint(f"a\x1b[{codes}mb\x1b[0mc\x1b[m")
    assert problems(html) == []
    spans = parsed(html).find("span")
    assert [span.attributes["class"] for span in spans] == ([classes] if classes else [])
    assert parsed(html).text == "abc"


def test_colours_go_on_over_lines() -> None:
    assert paint("\x1b[31ma\nb\x1b[0m\nc") == '<span class="a-f1">a\nb</span>\nc'


@pytest.mark.parametrize(
    ("printed", "visible"),
    [
        ("10%\r55%\r100%\ndone", "100%\ndone"),
        ("long line\rab", "abng line"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("old\x1b[2K\x1b[1Gnew", "new"),
        ("abc\x1b[2Gx\x1b[K", "ax"),
        ("ab\x08c", "ac"),
        ("\x1b]0;title\x07text\x1b[2J\x1b[?25l", "text"),
        ("bell\x07 \x1b", "bell␇ ␛"),
        ("x\x1b[9999Gy", "x" + " " * 999 + "y"),
    ],
)
def test_what_stayed_visible(printed: str, visible: str) -> None:
    assert parsed(paint(printed)).text == visible


def test_a_progress_line_can_be_cut_after_it_settled() -> None:
    printed = "\r".join(f"{number}%" for number in range(100_000)) + "\nend"
    assert len(settled(printed)) < 500 and parsed(paint(settled(printed))).text == "99999%\nend"


# ── Diffs ──


def rows(change: TextChange) -> list[tuple[str, str]]:
    html = diff([change], page()).shown
    assert problems(html) == []
    return [
        (row.attributes["class"].split()[1], row.text[1:-1])
        for row in parsed(html).find(kind="row")
    ]


def test_unchanged_lines_far_from_a_change_are_counted() -> None:
    old = [str(number) for number in range(30)]
    new = [*old[:15], "new", *old[16:]]
    assert rows(TextChange("\n".join(old), "\n".join(new))) == [
        ("gap", "12 unchanged lines"),
        *(("same", str(number)) for number in (12, 13, 14)),
        ("del", "15"),
        ("add", "new"),
        *(("same", str(number)) for number in (16, 17, 18)),
        ("gap", "11 unchanged lines"),
    ]


@given(
    st.lists(st.sampled_from("abcd"), max_size=30), st.lists(st.sampled_from("abcd"), max_size=30)
)
@settings(max_examples=60, deadline=None)
def test_the_old_and_the_new_can_be_read_from_a_diff(old: list[str], new: list[str]) -> None:
    found = rows(TextChange("\n".join(old), "\n".join(new)))
    removed = [line for kind, line in found if kind == "del"]
    added = [line for kind, line in found if kind == "add"]
    assert len(old) - len(removed) == len(new) - len(added)
    if not any(kind == "gap" for kind, _ in found):
        assert [line for kind, line in found if kind in ("del", "same")] == old
        assert [line for kind, line in found if kind in ("add", "same")] == new


def test_texts_too_large_to_compare_are_told_one_after_the_other() -> None:
    started = time.process_time()
    old, new = ("\n".join(f"{mark}{number % 7}" for number in range(20_000)) for mark in "ab")
    found = diff([TextChange(old, new)], page())
    assert "too large to compare" in found.shown
    assert (found.added, found.removed) == (20_000, 20_000)
    same = "\n".join("x" if n % 2 else "y" for n in range(1_400))
    diff([TextChange(same, same[2:] + "\nz")], page())
    assert time.process_time() - started < 10


# ── Small things ──


def test_an_element_escapes_all_that_is_not_markup() -> None:
    made = tag("p", "<b>", tag("em", "&"), title='"<', data_x=3, hidden=None, open=True)
    assert made == '<p title="&#34;&lt;" data-x="3" open>&lt;b&gt;<em>&amp;</em></p>'


@given(st.text(max_size=20), st.text(max_size=20))
def test_different_messages_have_different_names(one: str, other: str) -> None:
    assert (anchor(one) == anchor(other)) == (one == other)


@given(st.text(alphabet="ab\n", max_size=60), st.integers(1, 10), st.integers(5, 30))
def test_a_cut_tells_exactly_what_it_left_out(words: str, lines: int, size: int) -> None:
    shown, left, characters = cut(words, lines, size)
    assert words.startswith(shown) and len(shown) <= size
    if characters:
        assert len(shown) + characters == len(words)
    elif left:
        rest = words[len(shown) + 1 :]
        assert left == len(rest.removesuffix("\n").split("\n"))
    else:
        assert shown == words


def test_hebrew_is_read_as_it_was_written_and_code_shows_every_mark() -> None:
    said = "\u05e9\u05dc\u05d5\u05dd (C++)\u200f!"
    html = TranscriptRenderer(
        Transcript(conversation(), [message("1", "person", said)]), RenderOptions()
    ).render(0)
    assert said in html and "‹U+200F›" not in html
    code = TranscriptRenderer(
        Transcript(conversation(), [message("1", "person", f"```\n{said}\n```")]), RenderOptions()
    )
    assert "‹U+200F›" in code.render(0)
    turned = TranscriptRenderer(
        Transcript(conversation(), [message("1", "person", "a\u202eb")]), RenderOptions()
    )
    assert "a‹U+202E›b" in turned.render(0)
