"""Regular expressions of queries: they mean what Python means, and always come to an end."""

from __future__ import annotations

import re
import time
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rireki.archive.base import Archive
from rireki.search.index.importing import take_in
from rireki.search.language import patterns
from rireki.search.language.patterns import Bounded, TooSlow
from rireki.search.language.query import QueryError, Regex
from rireki.search.search import Search
from rireki.sources.kit.places import Places
from tests.sources.transcripts import Transcript, lay

#: Patterns that take for ever, and a text that each of them is lost in.
ENDLESS = [
    (r"(?:a|a)+\$", "a" * 45 + "!"),
    (r"(?:a|a|a)+\$", "a" * 45 + "!"),
    (r"(.*),(.*),(.*),(.*),zq", "x,y, " * 400),
]
PIECES = [
    r"a",
    r"b",
    r"c",
    r"e",
    r"\d",
    r"\w",
    r"\s",
    r".",
    r"[ab]",
    r"[^a]",
    r"[]a]",
    r"[[:alpha:]]",
    r"[a[b]",
    r"[a-c&&b]",
    r"[a||b]",
    r"[\]x]",
    r"{e}",
    r"{1,2}",
    r"{,3}",
    r"{2}",
    r"{",
    r"}",
    r"*",
    r"+",
    r"?",
    r"|",
    r"(",
    r")",
    r"(?:",
    r"(?=",
    r"(?!",
    r"^",
    r"$",
    r"\b",
    r"\.",
    r"\\",
    r"{a}",
    r"é",
    r"日",
    r"(?P<n>",
    r"(?P=n)",
    r"\1",
    r"(?#x[)",
    r"-",
    r"[a-]",
    r"\x61",
    r"\N{DIGIT ONE}",
    r"(?>",
]
TEXTS = ("abc a{e} b1 cc", "日本 é aab [[:alpha:]] x]", "{e} {a} aaaa bbbb]", "a:l]p")


@settings(deadline=None, max_examples=300)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=7).map("".join))
def test_a_pattern_matches_what_it_matches_in_python(pattern: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            own = re.compile(pattern, re.MULTILINE | re.IGNORECASE)
        except re.error:
            return
    bounded = Bounded(Regex(pattern))
    for text in TEXTS:
        assert list(bounded.spans(text)) == [m.span() for m in own.finditer(text) if m[0]]


@pytest.mark.parametrize(("pattern", "text"), ENDLESS)
def test_a_pattern_gives_up(pattern: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "PATIENCE", 0.1)
    bounded = Bounded(Regex(pattern))
    started = time.process_time()
    with pytest.raises(TooSlow):
        list(bounded.spans(text))
    assert time.process_time() - started < 2


def test_what_is_quick_may_take_as_long_as_there_is_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "PATIENCE", 0.01)
    bounded = Bounded(Regex(r"timeout=\d+s"))
    text = "nothing here " * 2_000 + "timeout=30s"
    assert all(len(list(bounded.spans(text))) == 1 for _ in range(300))


def test_a_search_says_which_pattern_takes_too_long(
    archive: Archive, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patterns, "PATIENCE", 0.1)
    pattern, text = ENDLESS[0]
    transcript = Transcript()
    transcript.user(f"redos {text}")
    lay(home, transcript.bytes())
    take_in(archive, Places.at(home))
    search = Search(archive)
    query = f"redos /{pattern}/"
    with pytest.raises(QueryError, match="takes too long") as caught:
        search.find(query)
    error = caught.value
    assert query[error.position : error.position + error.length] == f"/{pattern}/" and error.hint
    # Nothing is left of it that the next search would feel.
    assert search.find("redos").messages == 1
    search.close()
