"""The geometry of charts, and numbers with little room: worked out by hand."""

from __future__ import annotations

import pytest

from rireki.web.locale.dates import period, weekdays
from rireki.web.locale.numbers import compact, share
from rireki.web.parts.charts import HEAD, HEIGHT, OTHERS, POINTS, SERIES, curve, nice, stacked

FOOT = HEAD + HEIGHT


def test_parts_stand_upon_each_other_in_one_order() -> None:
    chart = stacked({"mon": {"a": 10, "b": 30}, "tue": {"b": 20}})
    assert chart.legend == [("b", 0, 50), ("a", 1, 10)]
    monday, tuesday = chart.columns
    # 40 is as high as it gets: three quarters are 30.
    assert [(b.name, b.y, b.height) for b in monday.blocks] == [
        ("b", FOOT - HEIGHT * 0.75, HEIGHT * 0.75),
        ("a", HEAD, HEIGHT * 0.25),
    ]
    assert [(b.name, b.height) for b in tuesday.blocks] == [("b", HEIGHT * 0.5)]
    assert [(line.y, line.value) for line in chart.lines] == [(HEAD + HEIGHT / 2, 20), (HEAD, 40)]
    assert (monday.x, monday.width, monday.middle) == (5.5, 39, 25)
    assert (monday.part(1), tuesday.part(1)) == (10, 0)


def test_many_names_share_one_colour() -> None:
    parts = {f"n{number:02}": float(100 - number) for number in range(SERIES + 4)}
    chart = stacked({"mon": parts})
    assert [name for name, _, _ in chart.legend] == [*list(parts)[:SERIES], OTHERS]
    assert chart.legend[-1] == (OTHERS, SERIES, sum(list(parts.values())[SERIES:]))
    assert sum(block.value for block in chart.columns[0].blocks) == sum(parts.values())
    # One more than there are colours needs no "others".
    few = stacked({"mon": dict(list(parts.items())[: SERIES + 1])})
    assert OTHERS not in [name for name, _, _ in few.legend]


@pytest.mark.parametrize("periods", [1, 5, 6, 7, 30, 53, 400])
def test_a_phone_has_room_for_the_names(periods: int) -> None:
    chart = stacked({str(number): {"a": 1} for number in range(periods)})
    assert 1 <= sum(column.labelled for column in chart.columns) <= 5
    assert all(c.x >= 0 and c.x + c.width <= 100.001 for c in chart.columns)


def test_a_chart_of_nothing_has_no_lines() -> None:
    chart = stacked({"mon": {}, "tue": {"a": 0}})
    assert [column.blocks for column in chart.columns] == [[], []]
    assert chart.legend == [] and chart.lines == []
    assert stacked({}).columns == []


@pytest.mark.parametrize(
    ("most", "top"),
    [(0, 0), (1, 1), (1.2, 2), (203, 300), (999, 1000), (0.0042, 0.006), (4e12, 4e12)],
)
def test_the_top_is_a_round_number(most: float, top: float) -> None:
    assert nice(most) == pytest.approx(top)


def test_a_curve_keeps_its_peaks() -> None:
    values = [1.0] * 1000
    values[777] = 50
    drawn = curve(values)
    heights = [float(point.partition(",")[2]) for point in drawn.line.split()]
    assert len(heights) <= POINTS and drawn.points == 1000
    assert min(heights) == pytest.approx(HEAD + HEIGHT * (1 - 50 / 60), abs=0.1)
    assert drawn.area.startswith(f"0,{FOOT}") and drawn.area.endswith(f"100,{FOOT}")


def test_a_curve_of_one_value_is_a_line() -> None:
    assert curve([4]).line == f"0.0,{HEAD + 0.0} 100,{HEAD + 0.0}"


@pytest.mark.parametrize(
    ("locale", "number", "told"),
    [
        ("en", 0, "0"),
        ("en", 999, "999"),
        ("en", 1000, "1K"),
        ("en", 1250, "1.2K"),
        ("en", 999_999, "1M"),
        ("en", 126_000, "126K"),
        ("en", 1_700_000_000, "1.7B"),
        ("en", 2_500_000_000_000, "2,500B"),
        ("ja", 9_999, "9,999"),
        ("ja", 12_000, "1.2万"),
        ("ja", 11_460_000, "1,146万"),
        ("ja", 99_999_999, "1億"),
        ("ja", 690_000_000, "6.9億"),
    ],
)
def test_numbers_with_little_room(locale: str, number: float, told: str) -> None:
    assert compact(locale, number) == told


def test_shares() -> None:
    assert share(1, 8) == "12.5%"
    assert share(0, 0) == "–"


def test_periods_have_names_in_both_languages() -> None:
    assert period("en", "day", "2026-11-16") == "16 Nov"
    assert period("ja", "week", "2026-11-16") == "11月16日"
    assert period("en", "month", "2026-11") == "Nov 2026"
    assert period("ja", "month", "2026-11") == "2026/11"
    assert (period("en", "day", ""), period("ja", "day", "")) == ("unknown", "不明")
    assert weekdays("en")[0] == "Mon" and weekdays("ja")[-1] == "日"
