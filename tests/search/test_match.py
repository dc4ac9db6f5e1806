"""What each form of the query language finds in a text, and what it does not."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rireki.model.conversation import Curation
from rireki.search.language.match import Doc, Matcher
from rireki.search.language.parse import parse

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=timezone.utc)


class Talk(NamedTuple):
    id: str = "claude-code/5471a680-e1f8"
    source: str = "claude-code"
    project: str | None = "/home/ken/work/api-server"
    nature: str = "conversation"
    finished: bool = True
    added: Curation = Curation()
    notes: tuple[tuple[str, str, str], ...] = ()
    machines: tuple[str, ...] = ()


def matches(query: str, *texts: str, talk: Talk = Talk(), facts: list[str] | None = None) -> bool:  # noqa: B008
    doc = Doc("m", "2026-11-10T00:00:00.000Z", facts or [], [("text", text) for text in texts])
    return Matcher(parse(query, NOW)).matches(talk, doc)


def marked(query: str, text: str) -> list[str]:
    spans = Matcher(parse(query, NOW)).spans(text, 100)
    return [text[start:end] for start, end in spans]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("cache", "the Cache, cleared"),
        ("CACHE", "cache"),
        ("履歴", "会話の履歴を保存"),
        ("履", "会話の履歴を保存"),
        ("話の履歴", "会話の履歴を保存"),
        ("鍵", "鍵"),
        ("검색", "검색어"),
        ("linuxカーネル", "linuxカーネルの話"),
        ("Git履歴", "ｇｉｔ履歴"),
        ("git", "Git履歴"),
        ("履歴", "Git履歴"),
        ("データベース", "ﾃﾞｰﾀﾍﾞｰｽ"),
        ("snake_needle", "a snake_needle here"),
        ("snake", "a snake_needle here"),
        ("needle", "a snake_needle here"),
        ("camelCaseNeedle", "x.camelCaseNeedle()"),
        ("camelcaseneedle", "x.camelCaseNeedle()"),
        ("needle", "x.camelCaseNeedle()"),
        ("caseNeedle", "x.camelCaseNeedleXy()"),
        ("server", "HTTPServer"),
        ("python", "python3 -m venv"),
        ("os.path.join", "use os.path.join(a)"),
        ("path", "use os.path.join(a)"),
        ("/usr/lib", "in /usr/lib/python"),
        ("lib", "in /usr/lib/python"),
        ("--no-pager", "add --no-pager to it"),
        ("!=", "a != b"),
        ("C++", "in C++ code"),
        ('"two words"', "Two\n   Words"),
        ('"two words"', "they are (two words)."),
        ('"履歴を保存"', "会話の履歴を保存した"),
        ("migrat*", "the Migration"),
        ("need*", "camelNeedleXy"),
        ("履歴*", "会話の履歴"),
        ("=cat=", "concatenate"),
        ("=A  b=", "xA  by"),
        ("/con.at/", "CONCATENATE"),
        ("/^def \\w+/", "x\ndef foo"),
        ("a OR b", "b"),
        ("a -c", "a b"),
        ("(a OR b) d", "b d"),
        ("a b", "a\n\nb"),
        ("a＿b", "a_b"),
    ],
)
def test_finds(query: str, text: str) -> None:
    assert matches(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("cat", "concatenate"),
        ("cat", "cats"),
        ("りれき", "リレキ"),
        ("履歴", "歴履"),
        ("snake_needle", "snake needle"),
        ("snake_needle", "snake_needles"),
        ("linuxカーネル", "Linux カーネル"),
        ('"two words"', "two other words"),
        ('"two words"', "two wordsmiths"),
        ("migrat*", "emigration"),
        ("=cat=", "CAT"),
        ("=a b=", "a  b"),
        ("/Con/", "con"),
        ("a -c", "a c"),
        ("a b", "a"),
        ("caseNeed", "camelCaseNeedle"),
    ],
)
def test_does_not_find(query: str, text: str) -> None:
    assert not matches(query, text)


def test_words_may_stand_in_different_parts_of_a_message() -> None:
    assert matches("alpha beta", "alpha", "beta")
    assert not matches('"alpha beta"', "alpha", "beta")


@pytest.mark.parametrize(
    ("query", "facts"),
    [
        ("author:person", ["author:person"]),
        ("tool:Bash", ["tool:bash"]),
        ("tool:create_issue", ["tool:mcp__github__create_issue"]),
        ("tool:mcp__github*", ["tool:mcp__github__create_issue"]),
        ("model:opus", ["model:claude-opus-4-5"]),
        ("has:error", ["has:error"]),
        ("is:gone", ["is:gone"]),
    ],
)
def test_facts(query: str, facts: list[str]) -> None:
    assert matches(query, "", facts=facts)
    assert not matches(query, "", facts=["author:agent", "tool:bashful", "model:haiku"])
    assert matches(f"-{query}", "", facts=["author:agent"])


@pytest.mark.parametrize(
    "query",
    [
        "source:claude",
        "project:api",
        "project:/home/ken/work",
        "project:/home/ken/work/api-server/",
        "id:5471",
        "id:claude-code/5471",
        "since:7d",
        "before:2026-11-11",
        "-is:unfinished",
        "-is:subagent",
    ],
)
def test_conversations(query: str) -> None:
    query = query.replace("source:claude", "source:claude-code")
    assert matches(query, "")


@pytest.mark.parametrize(
    "query",
    ["source:kiro", "project:/home/ken/wor", "project:web", "id:547b", "since:2d",
     "before:2026-11-10", "is:unfinished", "is:subagent"],
)  # fmt: skip
def test_other_conversations(query: str) -> None:
    assert not matches(query, "")


@pytest.mark.parametrize(
    ("query", "text", "found"),
    [
        ("履歴", "ｇｉｔ履歴と履歴", ["履歴", "履歴"]),
        ("データ", "前…ﾃﾞｰﾀです", ["ﾃﾞｰﾀ"]),
        ("strasse", "die Straße!", ["Straße"]),
        ("etude", "an e\u0301tude", []),
        ("étude", "an e\u0301tude", ["e\u0301tude"]),
        ("needle", "camelNeedleXy", ["Needle"]),
        ('"a b"', "x a \n b y", ["a \n b"]),
        ("a -b", "a b a", ["a", "a"]),
        ("file", "the ﬁle", ["ﬁle"]),
    ],
)
def test_marks_stand_on_what_was_written(query: str, text: str, found: list[str]) -> None:
    assert marked(query, text) == found


def test_a_huge_identifier_is_taken_apart_once() -> None:
    """Encoded data is one word of a million letters: looking at all of it for each place would take hours."""
    doc = Doc("m", None, [], [("result", "fooBar" * 100_000)])
    talk = Talk()
    assert not Matcher(parse("foob", NOW)).matches(talk, doc)
    assert not Matcher(parse("oo*", NOW)).matches(talk, doc)
    assert Matcher(parse("bar", NOW)).matches(talk, doc)


@given(st.text("ab. ", max_size=12), st.text("ab. ", min_size=1, max_size=5))
@example("bab a a", "a a")
def test_a_phrase_is_found_wherever_it_stands(text: str, phrase: str) -> None:
    """Also where it begins inside something that only looks like it."""
    pattern = re.compile(r"\s+".join(map(re.escape, phrase.split())))
    if not phrase.split():
        return

    def parts_a_word(at: int) -> bool:
        return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()

    ends = [(at, found.end()) for at in range(len(text)) if (found := pattern.match(text, at))]
    stands = any(not parts_a_word(a) and not parts_a_word(b) for a, b in ends)
    assert matches(f'"{phrase}"', text) == stands
