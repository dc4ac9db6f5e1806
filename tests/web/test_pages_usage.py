"""The page of usage: its figures are those of the command, and its address says all that was chosen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from datetime import date, timedelta
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from rireki.archive.open import open_archive
from rireki.show.money import dollars, prices
from rireki.show.usage import ModelUse, Slot, Total, Used, collect, grouped, summed
from rireki.web.locale.numbers import compact
from rireki.web.pages.usage import _periods
from rireki.web.serve import Server

ALL = "/usage?period=all"


@pytest.fixture
def used(shown: Server) -> Iterator[dict[str, Total]]:
    with closing(open_archive(Path(shown.archive), read_only=True)) as archive:
        used = collect(archive, prices())
        yield {"": summed(used), **grouped(used, "model")}


def tiles(html: str) -> dict[str, str]:
    found = re.findall(r"<li><strong[^>]*>(.*?)</strong>(.*?)</li>", html, re.DOTALL)
    return {unescape(words.strip()): unescape(value) for value, words in found}


def test_its_figures_are_those_of_the_command(web: httpx.Client, used: dict[str, Total]) -> None:
    total = used.pop("")
    told = tiles(web.get(ALL).text)
    assert told["tokens"].removeprefix("≥ ") == compact("en", total.tokens)
    assert told["cost at list prices"] == dollars(total.known_cost, True)
    assert told["conversations"] == f"{len(total.conversations):,}"
    assert told["turns"] == f"{total.turns:,}"
    html = web.get(ALL).text
    for model, each in used.items():
        if each.answers:
            row = html[html.index(f'<th scope="row">{model}') :]
            cells = re.findall(r'<td class="figure">(.*?)</td>', row[: row.index("</tr>")])
            assert cells[:2] == [f"{each.answers:,}", f"{each.input:,}"]


def test_kiros_credits_are_told_as_credits(web: httpx.Client, used: dict[str, Total]) -> None:
    credits = used[""].amounts["credit"]
    assert credits > 0
    assert f"<strong>{credits:,.2f}</strong>credits" in web.get(ALL).text
    assert f"<strong>{credits:,.2f}</strong>クレジット" in web.get(f"{ALL}&lang=ja").text


def test_every_choice_stays_in_the_address(web: httpx.Client) -> None:
    chosen = {
        "period": "all",
        "by": "week",
        "split": "source",
        "of": "cost",
        "source": "claude-code",
    }
    html = web.get("/usage", params=chosen).text
    current = re.findall(r'<a href="([^"]*)" aria-current="true">', html.partition("<main")[2])
    assert len(current) == 5
    links = re.findall(r'href="(/usage\?[^"#]*)', html)
    asked = [parse_qs(urlsplit(unescape(link)).query) for link in links]
    # Whatever is changed, all else stays.
    for query in asked:
        same = [name for name, value in chosen.items() if query.get(name) == [value]]
        assert len(same) >= 4, query


@pytest.mark.parametrize(
    "query",
    ["period=never", "by=hour", "split=colour", "of=beauty", "source=nobody", "conversation=none/at-all",
     "conversation=", "period=7d&by=month", "period=all&by=day"],
)  # fmt: skip
def test_an_address_that_makes_no_sense_shows_a_page(web: httpx.Client, query: str) -> None:
    assert web.get(f"/usage?{query}").status_code == 200


def test_charts_are_drawn_by_the_server_and_told_as_tables(web: httpx.Client) -> None:
    html = web.get(f"{ALL}&by=day").text
    assert "style=" not in html.partition("<main")[2]
    charts = re.findall(r'<svg class="chart".*?</svg>', html, re.DOTALL)
    assert len(charts) == 3
    for chart in charts:
        assert 'role="img"' in chart and "aria-label=" in chart and "<title>" in chart
    assert html.count("<summary>As a table</summary>") == 2
    # What the bars are is said where the mouse is.
    assert re.search(r"<rect class=\"series-0\"[^>]*><title>15 Nov · claude-", html)


def test_the_context_of_a_conversation_can_be_looked_at(web: httpx.Client) -> None:
    html = web.get(ALL).text
    links = re.findall(r'href="(/usage\?[^"]*conversation=[^"#]*)#context"', html)
    assert links
    page = web.get(unescape(links[-1])).text
    assert 'id="context"' in page and "<polyline" in page


def test_one_source_alone(web: httpx.Client, used: dict[str, Total]) -> None:
    html = web.get(f"{ALL}&source=kiro").text
    assert "claude-" not in html.partition("By model")[2].partition("</table>")[0]
    assert tiles(html)["turns"] != tiles(web.get(ALL).text)["turns"]


def test_who_pays_a_subscription_sees_no_money(
    web: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rireki").mkdir()
    (tmp_path / "rireki" / "config.toml").write_text("[usage]\nmoney = false\n")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    html = web.get(f"{ALL}&of=cost").text
    assert "$" not in html.partition("<main")[2] and ">Cost<" not in html
    assert "Conversations with most tokens" in html


def test_prices_that_cannot_be_read_are_said_on_the_page(
    web: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rireki").mkdir()
    (tmp_path / "rireki" / "prices.json").write_text("{")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    page = web.get(ALL)
    assert page.status_code == 400 and "is no list of prices" in page.text


def test_clocks_that_were_wrong_do_not_stretch_the_chart() -> None:
    day = timedelta(days=1)
    today = date(2026, 11, 18)

    def periods(step: str, *days: date) -> list[str]:
        cells = [ModelUse("a", "m", Slot(each.isoformat(), 3), Total()) for each in days]
        return _periods(Used(cells, [], {}, {}), step, None, today)

    assert periods("day", today - 2 * day) == ["2026-11-16", "2026-11-17", "2026-11-18"]
    assert periods("week", today - 7 * day) == ["2026-11-09", "2026-11-16"]
    assert periods("month", date(2026, 9, 30)) == ["2026-09", "2026-10", "2026-11"]
    assert periods("day") == ["2026-11-18"]
    assert periods("day", date(2199, 1, 1))[-1] == "2026-11-19"
    assert len(periods("day", date(1, 1, 1))) == len(periods("month", date(1, 1, 1))) == 400
