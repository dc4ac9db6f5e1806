"""Errors on pages: in the language of the reader, as far as they are ours."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

import httpx
import pytest

from rireki.drive.checks import LONGEST, checked_name, checked_project, checked_prompt, outcome_of
from rireki.drive.values import Answer, Ask, Option, Prompt
from rireki.errors import RirekiError
from rireki.faces.web.pages.errors import in_tongue
from rireki.search.parse import parse

NOW = datetime(2026, 11, 15, tzinfo=timezone.utc)
SOURCES = ("amazon-q", "claude-code", "kiro", "kiro-ide")
KANA = re.compile("[\u3041-\u30ff]")

MISSPELLED = [
    "x" * 100_000,
    "(" * 200,
    "a ()",
    'a ""',
    'source:""',
    f"/{'a' * 5000}/",
    "/b[c/",
    "since:tomorrowish",
    "source:k",
    "OR a",
    "a OR",
    "OR",
    "b)",
    "(a",
    "(a((",
    '"a',
    '"',
    "a*b",
    "**",
    "source:",
    "source: kiro",
    "author:usr",
    "author:zzzzzz",
    "sorce:kiro",
]


@pytest.mark.parametrize("query", MISSPELLED, ids=lambda query: query[:12])
def test_what_is_wrong_with_a_query_is_told_in_japanese(query: str) -> None:
    with pytest.raises(RirekiError) as raised:
        parse(query, NOW, SOURCES)
    for sentence in filter(None, (raised.value.message, raised.value.hint)):
        assert KANA.search(in_tongue("ja", sentence)), sentence
        assert in_tongue("en", sentence) == sentence


def test_what_somebody_wrote_stays_as_it_is() -> None:
    told = in_tongue("ja", "author: does not know 'a, b' at character 8, only person and agent")
    assert "'a, b'" in told and "person、agent" in told
    assert in_tongue("ja", "the disk is full") == "the disk is full"


def test_pages_tell_in_the_readers_language(web: httpx.Client) -> None:
    for address in ("/c/claude-code/nowhere", "/nowhere", "/search?q=author%3Ausr"):
        assert KANA.search(re.sub("<[^>]*>", "", _main(web, address, "ja"))), address
        assert not KANA.search(re.sub("<[^>]*>", "", _main(web, address, "en"))), address


def _main(web: httpx.Client, address: str, tongue: str) -> str:
    whole = web.get(address, headers={"accept-language": tongue}).text
    found = re.search(
        r'<(div class="page-head trouble"|[a-z]+ class="[^"]*fault).*', whole, re.DOTALL
    )
    assert found is not None, address
    return found[0].partition("</div>")[0]


def test_what_goes_wrong_with_an_agent_is_told_in_japanese(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    asked = Ask("1", "permission", "Run it?", options=[Option("yes", "Yes", "allow_once")])
    wrong: list[Callable[[], object]] = [
        lambda: checked_prompt(Prompt("-", "words"), str(tmp_path)),
        lambda: checked_prompt(Prompt("1", "  "), str(tmp_path)),
        lambda: checked_prompt(Prompt("1", "x" * (LONGEST + 1)), str(tmp_path)),
        lambda: checked_prompt(Prompt("1", "look", mentions=["nothing"]), str(tmp_path)),
        lambda: checked_prompt(Prompt("1", "look", mentions=[".."]), str(tmp_path)),
        lambda: checked_project("here", [tmp_path]),
        lambda: checked_project(str(tmp_path / "nowhere"), [tmp_path]),
        lambda: checked_project(str(tmp_path / "file"), [tmp_path]),
        lambda: checked_project(str(tmp_path), []),
        lambda: checked_name("--help", "the name of a model"),
        lambda: outcome_of(asked, Answer(option="no")),
    ]
    for attempt in wrong:
        with pytest.raises(RirekiError) as raised:
            attempt()
        for sentence in filter(None, (raised.value.message, raised.value.hint)):
            assert KANA.search(in_tongue("ja", sentence)), sentence


def test_programs_that_name_no_language_are_told_in_english(web: httpx.Client) -> None:
    address = "/api/v1/conversations/claude-code/nowhere"
    told = [
        web.get(address, headers=headers).json()["error"]["message"]
        for headers in ({}, {"accept-language": "ja"})
    ]
    assert [bool(KANA.search(message)) for message in told] == [False, True]
