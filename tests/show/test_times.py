"""Times as people say and read them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from rireki.errors import RirekiError
from rireki.model.when import when
from rireki.show import times

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=timezone.utc)


pytestmark = pytest.mark.usefixtures("in_tokyo")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("3h", "2026-11-15T09:00:00.000Z"),
        ("7d", "2026-11-08T12:00:00.000Z"),
        ("2w", "2026-11-01T12:00:00.000Z"),
        ("30m", "2026-11-15T11:30:00.000Z"),
        ("2026-11-15", "2026-11-14T15:00:00.000Z"),
        ("yesterday", "2026-11-13T15:00:00.000Z"),
        ("2026-11-15T18:30", "2026-11-15T09:30:00.000Z"),
        ("2026-11-15 18:30", "2026-11-15T09:30:00.000Z"),
        ("2026-11-15T18:30:00Z", "2026-11-15T18:30:00.000Z"),
        ("2026-11", "2026-10-31T15:00:00.000Z"),
        ("2026", "2025-12-31T15:00:00.000Z"),
        ("now", "2026-11-15T12:00:00.000Z"),
        ("104000w", "0033-09-04T12:00:00.000Z"),
    ],
)
def test_what_a_person_types(typed: str, meant: str) -> None:
    assert when(typed, NOW) == meant


def test_as_of_a_date_means_its_end() -> None:
    assert when("2026-11-15", NOW, end_of_day=True) == "2026-11-15T14:59:59.999Z"
    assert when("2026-02", NOW, end_of_day=True) == "2026-02-28T14:59:59.999Z"
    assert when("2025-12", NOW, end_of_day=True) == when("2025", NOW, end_of_day=True)
    assert when("2025", NOW, end_of_day=True) == "2025-12-31T14:59:59.999Z"


@pytest.mark.parametrize("typed", ["", "soon", "7x", "2026-13-01", "2026-13", "0000", "999999w"])
def test_what_nobody_can_read_is_said_so(typed: str) -> None:
    with pytest.raises(RirekiError) as error:
        when(typed, NOW)
    assert "7d" in error.value.hint


@pytest.mark.parametrize(
    ("age", "said"),
    [
        (timedelta(seconds=5), "just now"),
        (timedelta(minutes=5), "5 min ago"),
        (timedelta(hours=3), "3 h ago"),
        (timedelta(days=2), "2 d ago"),
        (timedelta(days=20), "2026-10-26"),
        (timedelta(days=-3), "2026-11-18"),
    ],
)
def test_how_long_ago(age: timedelta, said: str) -> None:
    assert times.ago((NOW - age).isoformat(), NOW) == said


def test_no_time_is_a_dash() -> None:
    assert times.ago(None, NOW) == "–"
    assert times.moment(None) == "–"
    assert times.clock(None) == ""


def test_a_span_names_a_date_once() -> None:
    first, same, later = "2026-11-15T09:00:00Z", "2026-11-15T09:30:00Z", "2026-11-16T09:00:00Z"
    assert times.span(first, first) == "2026-11-15 18:00"
    assert times.span(first, same) == "2026-11-15 18:00 – 18:30"
    assert times.span(first, later) == "2026-11-15 18:00 – 2026-11-16 18:00"
    assert times.span(None, later) == "2026-11-16 18:00"
