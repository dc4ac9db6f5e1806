"""The query language: what people type, and what is said when it cannot be read."""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rireki.errors import RirekiError
from rireki.search.language import parse as parsing
from rireki.search.language.query import (
    And,
    Exact,
    FilterName,
    FilterNode,
    Node,
    Not,
    Or,
    Phrase,
    Query,
    QueryError,
    Regex,
    Word,
)
from rireki.search.language.vocabulary import quote

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=timezone.utc)
SOURCES = ("amazon-q", "claude-code", "kiro")
A, B, C, D = map(Word, "abcd")


pytestmark = pytest.mark.usefixtures("in_tokyo")


def parse(text: str) -> Query:
    return parsing.parse(text, NOW, SOURCES)


def root(text: str) -> Node | None:
    return parse(text).root


def words(*texts: str) -> Node:
    return And(tuple(map(Word, texts)))


def refused(text: str) -> QueryError:
    with pytest.raises(QueryError) as error:
        parse(text)
    return error.value


# ── Words ──


@pytest.mark.parametrize(
    "word",
    [
        "履歴",
        "foo_bar",
        "os.path.join",
        "Git履歴",
        "foo-bar",
        "foo(bar)",
        "print()",
        "f(g(x))",
        "a)b",
        "don't",
        '5"',
        "or",
        "and",
        "std::vector",
        "model::User",
        "http://x",
        "source::x",
        "key:value",
        "12:30",
        "note:",
        "From:",
        "pid:1234",
        "hash:ab12",
        "C:\\Users",
        "/usr/lib",
        "/home/ken/src",
        "=foo",
        "==",
        "===",
        "//",
        "=",
        "/",
        "->",
        "-->",
        "->name",
        "-=",
        "--",
        "--no-pager",
        "ＯＲ",
        "－ａ",
        "（a）",
        "「a」",
        "+a",
        "a\\b",
    ],
)
def test_a_word_is_kept_as_it_was_typed(word: str) -> None:
    assert root(word) == Word(word)
    assert root(f"a {word} b") == words("a", word, "b")
    assert root(f"(a OR {word})") == Or((A, Word(word)))


def test_words_stand_apart_by_any_white_space() -> None:
    assert root(" a\tb\nc　d ") == words("a", "b", "c", "d")


@pytest.mark.parametrize("text", ["", "   ", "　", "-", " - "])
def test_a_query_may_ask_for_nothing(text: str) -> None:
    assert parse(text) == Query(text, None)
    assert not parse(text).has_words


def test_a_lonely_and_is_not_everything() -> None:
    error = refused(" AND")
    assert (error.position, error.length) == (1, 3) and '"AND"' in error.hint


def test_a_star_at_the_end_makes_a_beginning() -> None:
    assert root("migrat*") == Word("migrat", prefix=True)
    assert root("履歴*") == Word("履歴", prefix=True)
    assert root("(a OR migrat*)") == Or((A, Word("migrat", prefix=True)))
    assert root("-migrat*") == Not(Word("migrat", prefix=True))


# ── Phrases, exact text, regular expressions ──


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ('"a phrase"', "a phrase"),
        ('" a  phrase "', " a  phrase "),
        ("“a phrase”", "a phrase"),
        ("”会話の履歴”", "会話の履歴"),
        ("“a phrase“", "a phrase"),
        ("＂a phrase＂", "a phrase"),
        ('"say \\"hi\\" now"', 'say "hi" now'),
        ('"typographic “quotes” inside"', "typographic “quotes” inside"),
        ('“plain " inside”', 'plain " inside'),
        ("“\\” inside”", "” inside"),
        ('"C:\\dir"', "C:\\dir"),
        ('"C:\\dir\\\\"', "C:\\dir\\"),
        ('"\\\\server\\x"', "\\\\server\\x"),
        ('"/home/ken/"', "/home/ken/"),
        ('"OR"', "OR"),
        ('"source:kiro"', "source:kiro"),
        ('"(a"', "(a"),
    ],
)
def test_a_phrase(typed: str, text: str) -> None:
    assert root(typed) == Phrase(text)
    assert root(f"({typed} OR a)") == Or((Phrase(text), A))
    assert root(f"(a OR {typed})") == Or((A, Phrase(text)))


def test_after_a_phrase_something_new_begins() -> None:
    assert root('"a""b"c') == And((Phrase("a"), Phrase("b"), C))


def test_exact_text_may_begin_with_a_parenthesis_that_closes_nothing() -> None:
    assert root("=) {=") == Exact(") {")
    assert root("(=) (b=)") == And((Word("="), Word("b=")))


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("=exact=", "exact"),
        ("=an  exact text=", "an  exact text"),
        ("=a=b=", "a=b"),
        ("=a\\= b=", "a= b"),
        ("=C:\\dir\\\\=", "C:\\dir\\"),
        ("=履歴　書=", "履歴　書"),
        ("=f(x)=", "f(x)"),
    ],
)
def test_exact_text(typed: str, text: str) -> None:
    assert root(typed) == Exact(text)
    assert root(f"(a OR {typed})") == Or((A, Exact(text)))


def test_an_equals_sign_on_its_own_is_text() -> None:
    assert root("a = b = c") == words("a", "=", "b", "=", "c")
    assert root("a == b ==") == words("a", "==", "b", "==")
    assert root("a=b c=") == words("a=b", "c=")


@pytest.mark.parametrize(
    ("typed", "pattern"),
    [
        ("/reg.x/", "reg.x"),
        ("/two words/", "two words"),
        ("/a\\/b/", "a\\/b"),
        ("/a/b/", "a/b"),
        ("/a\\\\/", "a\\\\"),
        ("/(a|b)/", "(a|b)"),
        ("/履.史?/", "履.史?"),
        ("/home/ken/", "home/ken"),
        ("/[[a]/", "[[a]"),
    ],
)
def test_a_regular_expression(typed: str, pattern: str) -> None:
    assert root(typed) == Regex(pattern)
    assert root(f"(a OR {typed})") == Or((A, Regex(pattern)))


def test_a_slash_on_its_own_is_text() -> None:
    assert root("a / b / c") == words("a", "/", "b", "/", "c")
    assert root("a // b //") == words("a", "//", "b", "//")
    assert root("/usr/lib a") == words("/usr/lib", "a")


@pytest.mark.parametrize(
    ("pattern", "ignore"),
    [("abc", True), ("aBc", False), (r"\S+\W", True), ("(?P<x>a)", True), ("Ä", False)],
)
def test_a_capital_letter_makes_a_regular_expression_mind_the_case(
    pattern: str, ignore: bool
) -> None:
    assert root(f"/{pattern}/") == Regex(pattern, ignore_case=ignore)


def test_a_regular_expression_can_be_used() -> None:
    assert Regex("^b").compiled().search("A\nB")
    assert not Regex("^b", ignore_case=False).compiled().search("A\nB")
    assert Regex("[[a]").compiled().search("A")


# ── Not, and, or ──


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("-a", Not(A)),
        ('-"a b"', Not(Phrase("a b"))),
        ("-“a b”", Not(Phrase("a b"))),
        ("-=a b=", Not(Exact("a b"))),
        ("-/a b/", Not(Regex("a b"))),
        ("-source:kiro", Not(FilterNode("source", "kiro"))),
        ("-(a b)", Not(And((A, B)))),
        ("-(a OR b)", Not(Or((A, B)))),
        ("-(-a)", A),
        ("-履歴", Not(Word("履歴"))),
        ("a -b", And((A, Not(B)))),
        ("a - b", And((A, B))),
        ("-foo-bar", Not(Word("foo-bar"))),
        ("(-a)", Not(A)),
    ],
)
def test_a_minus_means_without(typed: str, meant: Node) -> None:
    assert root(typed) == meant


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("a b", And((A, B))),
        ("a AND b", And((A, B))),
        ("AND a AND AND b AND", And((A, B))),
        ("a OR b", Or((A, B))),
        ("a OR b OR c", Or((A, B, C))),
        ("a b OR c d", And((A, Or((B, C)), D))),
        ("a OR b AND c OR d", And((Or((A, B)), Or((C, D))))),
        ("a or b", And((A, Word("or"), B))),
        ("a OR -b", Or((A, Not(B)))),
        ("a OR - b", Or((A, B))),
        ("a OR source:kiro", Or((A, FilterNode("source", "kiro")))),
        ("-OR", Not(Word("OR"))),
    ],
)
def test_or_binds_tighter_than_the_space(typed: str, meant: Node) -> None:
    assert root(typed) == meant


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("(a)", A),
        ("((a))", A),
        ("( a )", A),
        ("(a b) c", And((A, B, C))),
        ("(a OR b) OR c", Or((A, B, C))),
        ("(a b) OR (c d)", Or((And((A, B)), And((C, D))))),
        ("(a (b OR (c d)))", And((A, Or((B, And((C, D))))))),
        ("(print() OR f(x))", Or((Word("print()"), Word("f(x)")))),
        ('("a")b', And((Phrase("a"), B))),
        ("(source:kiro)", FilterNode("source", "kiro")),
    ],
)
def test_parentheses_group(typed: str, meant: Node) -> None:
    assert root(typed) == meant


# ── Filters ──


@pytest.mark.parametrize(
    ("typed", "name", "value"),
    [
        ("source:kiro", "source", "kiro"),
        ("source:KIRO", "source", "kiro"),
        ("source:claude", "source", "claude-code"),
        ("Source:kiro", "source", "kiro"),
        ("source：kiro", "source", "kiro"),
        ("project:api", "project", "api"),
        ('project:"/home/ken/my app"', "project", "/home/ken/my app"),
        ("project:“/home/ken/my app”", "project", "/home/ken/my app"),
        ("project:/home/ken/", "project", "/home/ken/"),
        ("project:.config", "project", ".config"),
        ("project:~ken", "project", "~ken"),
        ("project:履歴", "project", "履歴"),
        ("author:person", "author", "person"),
        ("author:Agent", "author", "agent"),
        ("author:tool", "author", "tool"),
        ("author:harness", "author", "harness"),
        ("author:user", "author", "person"),
        ("author:me", "author", "person"),
        ("author:human", "author", "person"),
        ("author:assistant", "author", "agent"),
        ("author:ai", "author", "agent"),
        ("tool:Bash", "tool", "Bash"),
        ("since:7d", "since", "2026-11-08T12:00:00.000Z"),
        ("before:yesterday", "before", "2026-11-13T15:00:00.000Z"),
        ('since:"2026-11-15 18:30"', "since", "2026-11-15T09:30:00.000Z"),
        ("has:error", "has", "error"),
        ("has:attachment", "has", "attachment"),
        ("has:thinking", "has", "thinking"),
        ("has:call", "has", "call"),
        ("is:gone", "is", "gone"),
        ("is:unfinished", "is", "unfinished"),
        ("is:subagent", "is", "subagent"),
        ("is:abandoned", "is", "abandoned"),
        ("model:opus", "model", "opus"),
        ("id:claude-code/5471a680", "id", "claude-code/5471a680"),
    ],
)
def test_a_filter(typed: str, name: FilterName, value: str) -> None:
    assert root(typed) == FilterNode(name, value)
    assert root(f"(a OR {typed})") == Or((A, FilterNode(name, value)))


def test_here_and_home_become_whole_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    assert root("project:.") == FilterNode("project", str(tmp_path))
    assert root("project:./x") == FilterNode("project", str(tmp_path / "x"))
    assert root("project:..") == FilterNode("project", str(tmp_path.parent))
    assert root("project:../x") == FilterNode("project", str(tmp_path.parent / "x"))
    assert root("project:~") == FilterNode("project", str(tmp_path / "home"))
    assert root('project:"~/my app"') == FilterNode("project", str(tmp_path / "home" / "my app"))


def test_a_directory_that_is_gone_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone() -> str:
        raise FileNotFoundError

    monkeypatch.setattr(os, "getcwd", gone)
    error = refused("a project:.")
    assert error.message == "'.' at character 11 leads nowhere: this directory is gone"
    assert (error.position, error.length) == (10, 1)


def test_any_source_will_do_when_none_are_known() -> None:
    assert parsing.parse("source:Other", NOW).root == FilterNode("source", "Other")


def test_a_whole_name_wins_over_a_longer_one() -> None:
    sources = ("kiro", "kiro-ide")
    assert parsing.parse("source:kiro", NOW, sources).root == FilterNode("source", "kiro")


# ── What is wrong, where, and what to write instead ──


@pytest.mark.parametrize(
    ("typed", "message", "place", "hint"),
    [
        # quotes
        ('foo "bar baz', "the quote at character 5 is never closed", '"bar baz', 'foo "bar baz"'),
        ("a “b", "the quote at character 3 is never closed", "“b", "a “b”"),
        ('"C:\\dir\\"', "the quote at character 1 is never closed", '"C:\\dir\\"', '"C:\\dir\\\\"'),
        # parentheses
        ("a (b c", "the ( at character 3 is never closed", "(b c", "a (b c)"),
        ("(a (b", "the ( at character 4 is never closed", "(b", "(a (b))"),
        ("a b)", "the ) at character 4 closes nothing", ")", 'a "b)"'),
        (":)", "the ) at character 2 closes nothing", ")", '":)"'),
        (") a", "the ) at character 1 closes nothing", ")", '")" a'),
        ("a ()", "there is nothing between the parentheses at character 3", "()", 'a "()"'),
        ("(-)", "there is nothing between the parentheses at character 1", "(-)", '"(-)"'),
        # OR
        ("OR a", "OR at character 1 has nothing on its left", "OR", "a"),
        ("a OR", "OR at character 3 has nothing on its right", "OR", "a"),
        ("a OR OR b", "OR at character 3 has nothing on its right", "OR", "a OR b"),
        ("a AND OR b", "OR at character 7 has nothing on its left", "OR", "a AND b"),
        ("a OR AND b", "OR at character 3 has nothing on its right", "OR", "a AND b"),
        ("b (a OR)", "OR at character 6 has nothing on its right", "OR", "b (a )"),
        # filters
        ("source: kiro", "source: at character 1 has no value", "source:", "source:kiro"),
        (
            "author:usr",
            "author: does not know 'usr' at character 8, only person, agent, tool and harness",
            "usr",
            "author:user",
        ),
        (
            "a has:errors b",
            "has: does not know 'errors' at character 7, only error, attachment, thinking, call, note and tag",
            "errors",
            "a has:error b",
        ),
        (
            "is:sub-agent",
            "is: does not know 'sub-agent' at character 4,"
            " only gone, unfinished, subagent, abandoned, starred and hidden",
            "sub-agent",
            "is:subagent",
        ),
        (
            "source:kirro",
            "source: does not know 'kirro' at character 8, only amazon-q, claude-code and kiro",
            "kirro",
            "source:kiro",
        ),
        # regular expressions
        (
            "a /b[c/",
            "the regular expression cannot be read at character 5: unterminated character set",
            "[c/",
            'a "/b[c/"',
        ),
        (
            "/a{99999999999}/",
            "the regular expression cannot be read at character 1:"
            " the repetition number is too large",
            "/a{99999999999}/",
            '"/a{99999999999}/"',
        ),
    ],
)
def test_what_cannot_be_read(typed: str, message: str, place: str, hint: str) -> None:
    error = refused(typed)
    assert isinstance(error, RirekiError)
    assert error.message == str(error) == message
    assert typed[error.position : error.position + error.length] == place
    assert error.hint == f"Try: {hint}"
    assert parse(hint)


@pytest.mark.parametrize(
    ("typed", "message", "place", "hint"),
    [
        ('a "', "the quote at character 3 is never closed", '"', 'Close it with "'),
        ('("a b)', "the quote at character 2 is never closed", '"a b)', 'Close it with "'),
        ('a "" b', "the phrase at character 3 is empty", '""', "Put the words between"),
        ('"　 "', "the phrase at character 1 is empty", '"　 "', "Put the words between"),
        ('id:""', "the value of id: at character 4 is empty", '""', "Put the words between"),
        ("(a f(b", "the ( at character 1 is never closed", "(a f(b", "Close it, or put quotes"),
        ("OR", "OR at character 1 has nothing on its left", "OR", "cat OR dog"),
        ("a source:", "source: at character 3 has no value", "source:", "source:kiro"),
        ("(has:)", "has: at character 2 has no value", "has:", "has:error"),
        ("since:soon", "cannot read the time 'soon' at character 7", "soon", "Say 3h, 7d"),
        ('a before:"x y"', "cannot read the time 'x y' at character 10", '"x y"', "Say 3h, 7d"),
        (
            "has:milk",
            "has: does not know 'milk' at character 5, only error, attachment, thinking, call, note and tag",
            "milk",
            'Try: "has:milk" for the text itself.',
        ),
        ("a * b", "the * at character 3 does not end a word", "*", 'write "*" for the star itself'),
        (
            "x a*b",
            "the * at character 4 does not end a word",
            "*",
            'Try: x /a\\S*b/, or "a*b" for the star itself.',
        ),
        ("*.py", "the * at character 1 does not end a word", "*", "Try: /\\S*\\.py/, or"),
        ("a**", "the * at character 2 does not end a word", "*", "Try: /a\\S*/, or"),
    ],
)
def test_what_cannot_be_read_and_has_no_one_spelling(
    typed: str, message: str, place: str, hint: str
) -> None:
    error = refused(typed)
    assert error.message == message
    assert typed[error.position : error.position + error.length] == place
    assert hint in error.hint


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("claude", "claude-code"), ("claude-a", "claude-ai-export"), ("amazon", "amazon-q")],
)
def test_a_short_name_means_the_agent_before_its_exports_and_siblings(
    typed: str, meant: str
) -> None:
    sources = ["amazon-q", "amazon-q-ide", "claude-ai-export", "claude-code"]
    short, whole = (parsing.parse(f"source:{name}", NOW, sources) for name in (typed, meant))
    assert short.root == whole.root


def test_a_beginning_that_several_sources_have() -> None:
    with pytest.raises(QueryError) as error:
        parsing.parse("a source:c", NOW, ["claude-code", "codex", "kiro"])
    assert error.value.message == "source:c at character 10 may be claude-code or codex"
    assert (error.value.position, error.value.length) == (9, 1)


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("sorce:kiro", "source"),
        ("soruce:kiro", "source"),
        ("Sources:kiro", "source"),
        ("tools:Bash", "tool"),
        ("autor:me", "author"),
        ("hass:error", "has"),
        ("iss:gone", "is"),
        ("from:me", "author"),
        ("role:user", "author"),
        ("agent:kiro", "source"),
        ("dir:api", "project"),
        ("path:api", "project"),
        ("cwd:api", "project"),
        ("after:7d", "since"),
        ("date:7d", "since"),
        ("until:7d", "before"),
        ("session:5471", "id"),
    ],
)
def test_a_filter_by_another_name(typed: str, name: str) -> None:
    error = refused(f"a {typed}")
    given, _, value = typed.partition(":")
    assert error.message == f"there is no filter {given}: (character 3); it may be {name}:"
    assert error.hint == f'Try: a {name}:{value}, or "{typed}" for the text itself.'
    assert (error.position, error.length) == (2, len(typed))
    assert parse(f"{name}:{value}").root
    assert root(f'"{typed}"') == Phrase(typed)


@pytest.mark.parametrize(
    ("typed", "better"),
    [
        ("from:ken", '"from:ken"'),
        ("role:system foo", '"role:system" foo'),
        ("until:friday", '"until:friday"'),
        ("what is: this", 'what "is:" this'),
        ("source: foo bar", '"source:" foo bar'),
        ("source: kiro bar", "source:kiro bar"),
        ("path:C:\\dev\\", "project:C:\\dev\\"),
        ("is:a\\", '"is:a\\\\"'),
    ],
)
def test_what_is_suggested_can_be_read(typed: str, better: str) -> None:
    with pytest.raises(QueryError) as error:
        parsing.parse(typed, NOW, ["kiro", "codex"])
    assert error.value.hint.startswith(f"Try: {better}")
    assert parsing.parse(better, NOW, ["kiro", "codex"]).root
    assert parsing.parse(quote(typed), NOW).root == Phrase(typed)


def test_what_looks_like_no_filter_is_text() -> None:
    for word in ("from:", "tools://x", "paths::x", "role：user", "mo:x"):
        assert root(word) == Word(word)


# ── Limits ──


def test_a_query_has_a_longest_length() -> None:
    assert parse("a" * 10_000).has_words
    error = refused("a" * 10_001)
    assert error.message == "the query has 10,001 characters, more than 10,000"
    assert (error.position, error.length) == (10_000, 1)


def test_a_regular_expression_has_a_longest_length() -> None:
    assert root(f"/{'a' * 1000}/") == Regex("a" * 1000)
    error = refused(f"b /{'a' * 1001}/")
    assert error.message == (
        "the regular expression at character 3 has 1,001 characters, more than 1,000"
    )
    assert (error.position, error.length) == (2, 1003)


def test_a_regular_expression_may_be_too_deep_for_python() -> None:
    try:
        parse(f"/{'(' * 490}a{')' * 490}/")
    except QueryError as error:
        assert "nested too deeply" in error.message


def test_parentheses_have_a_greatest_depth() -> None:
    assert root("(" * 50 + "a" + ")" * 50) == A
    error = refused("(" * 51 + "a" + ")" * 51)
    assert error.message == "at character 51 more than 50 parentheses are open"
    assert (error.position, error.length) == (50, 1)


def test_a_long_query_is_not_repeated_in_a_hint() -> None:
    long = "a" * 5000
    assert refused(f"{long} has:errors").hint == "Try: error"
    for text in (f'{long} "b', f"has:{long}", f"since:{long}", f"role:{long}", f"*{long}"):
        error = refused(text)
        assert len(error.message) + len(error.hint) < 1000


@pytest.mark.parametrize("piece", ["=x ", "/x ", '"a"', "a OR ", "(a) ", "x:y ", "-a ", "a) (b "])
def test_long_queries_are_read_quickly(piece: str) -> None:
    text = (piece * 10_000)[:9_990]
    started = time.perf_counter()
    with suppress(QueryError):
        parse(text)
    assert time.perf_counter() - started < 2


# ── What a query offers ──


def test_the_words_that_are_looked_for() -> None:
    asked = parse('a -b "c d" (=e= OR /f/) -(g -h) source:kiro -has:error')
    assert list(asked.leaves()) == [A, Phrase("c d"), Exact("e"), Regex("f"), Word("h")]
    assert list(asked.filters()) == [FilterNode("source", "kiro"), FilterNode("has", "error")]


def test_whether_text_is_asked_about() -> None:
    assert parse("-a").has_words
    assert parse("source:kiro a").has_words
    assert not parse("source:kiro -is:gone").has_words


def test_a_query_can_be_printed_as_json() -> None:
    asked = parse('a b* OR -"c" =d= /e/ source:kiro')
    printed = msgspec.json.encode(asked)
    assert msgspec.json.decode(printed, type=Query) == asked
    assert msgspec.json.decode(printed)["root"]["children"][:2] == [
        {"kind": "word", "text": "a", "prefix": False},
        {
            "kind": "or",
            "children": [
                {"kind": "word", "text": "b", "prefix": True},
                {"kind": "not", "child": {"kind": "phrase", "text": "c"}},
            ],
        },
    ]


# ── The page ──

PAGE = Path(__file__).parents[2] / "docs" / "search.md"


def examples(heading: str) -> list[str]:
    """The examples in the last columns of the table below a heading."""
    section = PAGE.read_text(encoding="utf-8").partition(f"{heading}\n")[2].partition("\n#")[0]
    rows = [line.split(" | ")[2:] for line in section.splitlines() if line.startswith("| ")]
    return [found for cells in rows for found in re.findall("`(.+?)`", " ".join(cells))]


def test_every_form_has_an_example_that_can_be_read() -> None:
    forms = examples("## The query language")
    assert len(forms) == 20
    kinds = [msgspec.to_builtins(root(form)) for form in forms]
    for kind in ("word", "and", "phrase", "exact", "regex", "not", "or", "filter"):
        assert f"'kind': '{kind}'" in str(kinds)
    assert root(forms[8]) == Exact("TODO: fix ")


def test_every_filter_has_an_example_that_can_be_read() -> None:
    filters = [root(example) for example in examples("### Filters")]
    assert [f.name for f in filters if isinstance(f, FilterNode)] == list(get_args(FilterName))


# ── Whatever is typed ──

SIGNS = st.sampled_from('-()"“”＂=/*\\ 　\n:：a[{~')
NAMES = st.sampled_from(["OR", "AND", "履歴", "source", "has:", "since:", "project:", "role:"])
TYPED = st.text() | st.lists(SIGNS | NAMES | st.text(max_size=3)).map("".join)


@settings(deadline=None, max_examples=500)
@given(TYPED)
@example("-)")
@example("-)(")
@example("(-(")
@example("source:)")
@example("project:.\0")
@example("project:~/\ud800")
@example("since:0001-01-01")
@example("before:9999-12-31T23:59:59-23:59")
@example("/(?u)(?a)x/")
def test_anything_is_read_or_refused_with_its_place(text: str) -> None:
    try:
        read = parse(text)
    except QueryError as error:
        assert 0 <= error.position <= error.position + error.length <= len(text)
        assert error.length > 0
        assert error.message and error.hint
        assert "\n" not in error.message + error.hint
    else:
        assert read.text == text
        assert read.has_words or list(read.filters()) or read.root is None


@settings(deadline=None)
@given(st.text().filter(lambda text: text.strip() and not set(text) & set('"\\')))
def test_anything_can_be_quoted(text: str) -> None:
    assert root(f'"{text}"') == Phrase(text)
    assert root(f'a -"{text}"') == And((A, Not(Phrase(text))))


@pytest.mark.parametrize("query", ["履歴 (会話 OR", "(a (b OR"])
def test_what_is_suggested_for_a_lonely_or_can_be_read(query: str) -> None:
    assert root(refused(query).hint.removeprefix("Try: ")) is not None


def test_what_is_suggested_for_a_star_between_parentheses_can_be_read() -> None:
    error = refused("a (.*),x")
    assert error.hint == r'Try: a /\(\.\S*\),x/, or "(.*),x" for the star itself.'
    assert root(r"a /\(\.\S*\),x/") and root('"(.*),x"')
    assert refused("(b*r OR x)").hint == r'Try: (/b\S*r/ OR x), or "b*r" for the star itself.'
