"""Errors on pages: in the language of the reader, as far as they are ours."""

from __future__ import annotations

import re
from datetime import datetime, timezone

import httpx
import pytest

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
