"""Errors on pages: in the language of the reader, as far as they are ours."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import httpx
import pytest

from rireki.archive.open import open_archive
from rireki.drive.checks import (
    LONGEST,
    checked_name,
    checked_project,
    checked_prompt,
    checked_start,
    outcome_of,
)
from rireki.drive.values import Ask, AskAnswer, Option, Prompt
from rireki.errors import RirekiError
from rireki.errors.catalogues import reworded
from rireki.intake.sweep import import_history
from rireki.search.language.parse import parse
from rireki.search.search import too_slow
from rireki.sources.kit.places import Places
from rireki.web.serve import Server
from tests.browser.serving import Session
from tests.web.conftest import BEARER, client_at, client_of, serving

NOW = datetime(2026, 11, 15, tzinfo=timezone.utc)
SOURCES = ("amazon-q", "claude-code", "kilo", "kiro", "kiro-ide")
#: Somebody followed a link of another site.
NAVIGATION = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
KANA = re.compile("[\u3041-\u30ff]")

MISSPELLED = [
    "x" * 100_000,
    "(" * 200,
    "a ()",
    'a ""',
    'source:""',
    f"/{'a' * 5000}/",
    "/b[c/",
    "AND",
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
    assert all(KANA.search(line) for line in raised.value.lines("ja") if line)


def test_a_pattern_that_takes_too_long_is_told_in_japanese() -> None:
    error = too_slow("a /(b|b)+c/", "(b|b)+c")
    message, hint = error.lines("ja")
    assert KANA.search(message) and "/(b|b)+c/" in message and KANA.search(hint)


def test_what_somebody_wrote_stays_as_it_is() -> None:
    told = reworded("author: does not know 'a, b' at character 8, only person and agent", "ja")
    assert "'a, b'" in told and "person、agent" in told
    assert reworded("the disk is full", "ja") == "the disk is full"
    assert reworded("x cannot be written", "ja") == "x cannot be written"


def test_pages_tell_in_the_readers_language(web: httpx.Client) -> None:
    for address in ("/c/claude-code/nowhere", "/nowhere", "/search?q=author%3Ausr"):
        assert KANA.search(re.sub("<[^>]*>", "", _main(web, address, "ja"))), address
        assert not KANA.search(re.sub("<[^>]*>", "", _main(web, address, "en"))), address


@pytest.mark.parametrize("asked", ["limit=0", "limit=x", "nonsense=1"])
def test_a_parameter_that_cannot_be_read_is_named_in_japanese(
    web: httpx.Client, asked: str
) -> None:
    told = web.get(f"/api/v1/search?q=a&{asked}", headers={"accept-language": "ja"}).json()["error"]
    assert "パラメーター" in told["message"] and asked.partition("=")[0] in told["message"]
    assert KANA.search(told["hint"])


def _main(web: httpx.Client, address: str, locale: str) -> str:
    whole = web.get(address, headers={"accept-language": locale}).text
    found = re.search(
        r'<(div class="page-head trouble"|[a-z]+ class="[^"]*fault).*', whole, re.DOTALL
    )
    assert found is not None, address
    return found[0].partition("</div>")[0]


def test_what_goes_wrong_with_an_agent_is_told_in_japanese(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "directory").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "directory")
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
        lambda: checked_start(tmp_path / "link", [tmp_path]),
        lambda: checked_name("--help", "bad-model-name"),
        lambda: outcome_of(asked, AskAnswer(option="no")),
    ]
    for attempt in wrong:
        with pytest.raises(RirekiError) as raised:
            attempt()
        assert all(KANA.search(line) for line in raised.value.lines("ja") if line)


def test_a_hint_with_another_one_behind_it_is_told_whole() -> None:
    told = reworded("Try again when it has finished. It is tried again in 5 s.", "ja")
    assert told == "終わってからやり直してください。 5 秒後に再試行します。"


def test_what_could_not_be_read_is_told_in_the_readers_language(tmp_path: Path) -> None:
    home = tmp_path / "home"
    session = Session(home, "damaged")
    session.turn("one")
    session.add("{ broken\n")
    database = home / ".local" / "share" / "amazon-q" / "data.sqlite3"
    database.parent.mkdir(parents=True)
    database.write_text("no database at all")
    archive = open_archive(tmp_path / "archive.sqlite3", create=True)
    import_history(archive, places=Places.at(home))
    archive.close()
    said = {
        "/sources": "is not an SQLite database",
        f"/c/{session.id}": "not readable as a line of a transcript",
    }
    with serving(tmp_path / "archive.sqlite3", home) as server, client_of(server) as client:
        for address, words in said.items():
            assert words in client.get(address, headers={"accept-language": "en"}).text
            page = client.get(address, headers={"accept-language": "ja"}).text
            lines = re.findall("<li><code>[^<]*</code>:(.*?)</li>", page)
            assert len(lines) == 1 and KANA.search(lines[0]) and words not in page


def test_whoever_is_refused_is_told_why_in_their_language(shown: Server) -> None:
    asked: list[dict[str, Any]] = [
        {"method": "GET", "url": "/"},
        {"method": "GET", "url": "/?token=wrong"},
        {"method": "GET", "url": "/", "headers": {"sec-fetch-site": "cross-site"} | NAVIGATION},
        {"method": "POST", "url": "/", "headers": BEARER},
        {"method": "GET", "url": "/", "headers": {"host": "elsewhere:80"}},
        {"method": "GET", "url": "/", "headers": {"origin": "https://elsewhere"}},
        {"method": "GET", "url": "/api/v1/health"},
    ]
    with client_at(shown.port, **{"accept-language": "ja"}) as client:
        for each in asked:
            answer = client.request(**each)
            assert answer.status_code in (401, 403, 405)
            said = re.findall(r"<p>(.*?)</p>", answer.text) or list(answer.json()["error"].values())
            assert all(KANA.search(text) for text in said[-2:]), said
    with client_at(shown.port) as client:
        page = client.get("/").text
        assert '<html lang="en">' in page and not KANA.search(page)


def test_programs_that_name_no_language_are_told_in_english(web: httpx.Client) -> None:
    address = "/api/v1/conversations/claude-code/nowhere"
    told = [
        web.get(address, headers=headers).json()["error"]["message"]
        for headers in ({}, {"accept-language": "ja"})
    ]
    assert [bool(KANA.search(message)) for message in told] == [False, True]
