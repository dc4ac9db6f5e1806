"""Everything the pages say is said in both languages."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from rireki.drive.values import LABELS, REASONED
from rireki.model.activity import WORDS
from rireki.model.times import to_datetime
from rireki.show.heading import RELATIONS
from rireki.show.html.page import JAPANESE as RENDERER
from rireki.sources.claude_code.reader import REASONS
from rireki.web.locale import words
from rireki.web.locale.dates import ago, day, moment, span
from rireki.web.pages import home, search, usage
from rireki.web.parts.keeper_status import STATES
from rireki.web.parts.listing import SORTS

WEB = Path(words.__file__).parents[1]
#: `t("…")`, also with a choice between two texts.
_TOLD = re.compile(
    r"""\bt\(\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')(?: if [^"]*? else ("[^"]*"))?"""
)
_SAID = re.compile(r'\bsay\((?:self\.)?locale, ("(?:[^"\\]|\\.)*")')
#: Texts that a template gets from a conversation, a search or the keeper.
CHOSEN = [
    *STATES.values(),
    *WORDS.values(),
    *LABELS.values(),
    *REASONED.values(),
    *("person", "agent", "tool", "harness"),
    *("bubble", "chip", "divider", "fold", "hidden", "simple", "single tool", "several tools"),
    *("unfinished", "gone", "changed", "title", "project", "thinking", "attachment", "you"),
    *("program", *RELATIONS.values()),
    *REASONS.values(),
    *(*usage.WORDS.values(), *usage.UNITS.values(), *(words for _, words in usage.SPANS)),
    *(*home.FIGURES.values(), *SORTS.values()),
    *(*search.NAMES.values(), *search.PERIODS.values()),
]


def texts() -> set[str]:
    found: set[str] = set()
    for template in sorted((WEB / "templates").glob("*.html")):
        for told in _TOLD.finditer(template.read_text(encoding="utf-8")):
            found |= {ast.literal_eval(text) for text in told.groups() if text}
    for module in sorted([*(WEB / "pages").glob("*.py"), *(WEB / "parts").glob("*.py")]):
        said = _SAID.findall(module.read_text(encoding="utf-8"))
        found |= {ast.literal_eval(text) for text in said}
    return found


def test_every_text_of_the_pages_has_a_japanese_one() -> None:
    found = texts()
    assert len(found) > 100
    assert sorted(found - words.JAPANESE.keys() - RENDERER.keys()) == []


def test_what_is_chosen_at_run_time_has_a_japanese_one() -> None:
    assert [text for text in CHOSEN if words.say("ja", text) == text] == []


def test_no_japanese_text_is_left_over() -> None:
    scripts = set(words._SCRIPT.values())
    assert sorted(words.JAPANESE.keys() - texts() - set(CHOSEN) - scripts) == []


def test_no_text_is_told_in_two_ways() -> None:
    """A place further down would silently decide for all others."""
    told: dict[str, set[str]] = {}
    for table in json.loads((WEB / "locale" / "ja.json").read_text("utf-8")).values():
        for text, japanese in table.items():
            told.setdefault(text, set()).add(japanese)
    assert {text: ways for text, ways in told.items() if len(ways) > 1} == {}


def test_values_stand_in_both_languages() -> None:
    for text, japanese in words.JAPANESE.items():
        assert set(re.findall(r"\{\w+\}", text)) == set(re.findall(r"\{\w+\}", japanese)), text


@pytest.mark.parametrize(
    ("locale", "number", "what", "told"),
    [
        ("en", 1, "turn", "1 turn"),
        ("en", 1234, "message", "1,234 messages"),
        ("ja", 1234, "message", "1,234 メッセージ"),
        ("en", 2, "entry", "2 entries"),
        ("ja", 3, "conversation", "3 件の会話"),
    ],
)
def test_things_are_counted(locale: str, number: int, what: str, told: str) -> None:
    assert words.counted(locale, number, what) == told


def test_times_are_told_in_the_readers_language() -> None:
    now = to_datetime("2026-11-16T12:00:00.000Z")
    assert now is not None
    assert ago("en", "2026-11-16T11:57:00.000Z", now) == "3 min ago"
    assert ago("ja", "2026-11-16T11:57:00.000Z", now) == "3分前"
    assert ago("en", "2026-11-16T11:59:50.000Z", now) == "just now"
    assert ago("ja", None, now) == "–"
    today = now.astimezone().date().isoformat()
    assert (day("en", today, now), day("ja", today, now)) == ("Today", "今日")
    assert day("en", "2025-03-03", now) == "Monday, 3 Mar 2025"
    assert day("ja", "2025-03-03", now) == "2025年3月3日（月）"
    assert moment("ja", None) == "–"
    assert span("en", "2026-01-01T10:00:00.000Z", "2026-01-01T10:00:30.000Z").count("2026") == 1
