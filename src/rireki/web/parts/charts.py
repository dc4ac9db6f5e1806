"""Charts as geometry that a template draws as SVG: heights in pixels, widths in percent.

So a chart is as wide as its page, and its words keep their size. What the numbers are of is not known here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

__all__ = [
    "HEIGHT",
    "OTHERS",
    "Chart",
    "ChartBlock",
    "ChartLine",
    "Column",
    "Curve",
    "curve",
    "stacked",
]

#: Pixels of the area for the columns, and above it for the topmost number.
HEIGHT, HEAD = 180, 16
#: Names that have a colour of their own; all others share one.
SERIES = 6
OTHERS = "\0others"
#: Words below a chart: more would run into each other on a phone.
LABELS = 4
#: The share of its place that a column fills.
FULL = 0.78
#: Points of a curve: nobody sees more.
POINTS = 240


class ChartBlock(NamedTuple):
    """A name's part of a column."""

    name: str
    series: int
    value: float
    y: float
    height: float


class Column(NamedTuple):
    name: str
    x: float
    width: float
    middle: float
    total: float
    blocks: list[ChartBlock]
    #: Whether its name stands below it.
    labelled: bool

    def part(self, series: int) -> float:
        return sum(block.value for block in self.blocks if block.series == series)


class ChartLine(NamedTuple):
    y: float
    value: float


class Chart(NamedTuple):
    columns: list[Column]
    #: Names in their colours, the largest first, with what they come to.
    legend: list[tuple[str, int, float]]
    lines: list[ChartLine]
    height: int = HEIGHT + HEAD


def stacked(values: Mapping[str, Mapping[str, float]], top: float = 0) -> Chart:
    """A column for each period, in their order, each with its parts one upon the other."""
    sums: dict[str, float] = {}
    for parts in values.values():
        for name, value in parts.items():
            sums[name] = sums.get(name, 0) + value
    ordered = sorted((name for name in sums if sums[name] > 0), key=lambda n: (-sums[n], n))
    # One name more is as good as "others".
    named = ordered if len(ordered) <= SERIES + 1 else ordered[:SERIES]
    series = {name: number for number, name in enumerate(named)}
    most = top or nice(max((sum(parts.values()) for parts in values.values()), default=0))
    step = 100 / max(1, len(values))
    every = max(1, math.ceil(len(values) / LABELS))
    columns = []
    for number, (name, parts) in enumerate(values.items()):
        blocks = _blocks(parts, series, most)
        left = number * step
        labelled = number % every == every // 2
        columns.append(
            Column(
                name,
                round(left + step * (1 - FULL) / 2, 3),
                round(step * FULL, 3),
                round(left + step / 2, 3),
                sum(parts.values()),
                blocks,
                labelled,
            )
        )
    legend = [(name, series[name], sums[name]) for name in named]
    if rest := sum(sums[name] for name in ordered if name not in series):
        legend.append((OTHERS, SERIES, rest))
    lines = [ChartLine(round(HEAD + HEIGHT * (1 - part), 1), most * part) for part in (0.5, 1)]
    return Chart(columns, legend, lines if most else [])


def _blocks(parts: Mapping[str, float], series: Mapping[str, int], most: float) -> list[ChartBlock]:
    own = {name: parts.get(name, 0) for name in series}
    own[OTHERS] = sum(value for name, value in parts.items() if name not in series)
    blocks, floor = [], float(HEAD + HEIGHT)
    for name, value in own.items():
        if value > 0:
            height = value / most * HEIGHT
            floor -= height
            place = series.get(name, SERIES)
            blocks.append(ChartBlock(name, place, value, round(floor, 2), round(height, 2)))
    return blocks


def nice(most: float) -> float:
    """The next number whose half can be read as well."""
    if most <= 0:
        return 0
    size: float = 10.0 ** math.floor(math.log10(most))
    return next(step * size for step in (1, 2, 3, 4, 6, 8, 10) if step * size >= most)


class Curve(NamedTuple):
    """Points over a width of 100 and the usual height, and what they stand for."""

    line: str
    area: str
    lines: list[ChartLine]
    points: int
    height: int = HEIGHT + HEAD


def curve(values: Sequence[float]) -> Curve:
    """Of many values that stand together the largest counts."""
    width = max(1, math.ceil(len(values) / POINTS))
    kept = [max(values[i : i + width]) for i in range(0, len(values), width)]
    most = nice(max(kept, default=0)) or 1
    step = 100 / max(1, len(kept) - 1)
    points = [
        f"{round(number * step, 2)},{round(HEAD + HEIGHT * (1 - value / most), 2)}"
        for number, value in enumerate(kept)
    ]
    if len(points) == 1:
        points.append(f"100,{points[0].partition(',')[2]}")
    foot = HEAD + HEIGHT
    area = " ".join([f"0,{foot}", *points, f"100,{foot}"])
    lines = [ChartLine(round(HEAD + HEIGHT * (1 - part), 1), most * part) for part in (0.5, 1)]
    return Curve(" ".join(points), area, lines, len(values))
