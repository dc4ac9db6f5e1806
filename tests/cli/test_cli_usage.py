"""`rireki usage` and `rireki prices`: tables, programs, spreadsheets, and the user's own words on money."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pytest

from rireki.model.prices import KNOWN, read_prices
from tests.cli.conftest import OTHER, TALK, Rireki, said, write

MODEL = "claude-opus-4-5-20251101"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Two conversations that share an answer, in two directories."""
    home = tmp_path / "home"
    head = {"project": "/w/api", "answers": [["k1", MODEL, 100, False], ["k2", MODEL, 40, True]]}
    write(
        home,
        TALK,
        [{"about": head}, said("p1", "person", "Hello", 1), said("a1", "agent", "Hi", 2)],
    )
    fork = {"project": "/w/日本", "answers": [["k1", MODEL, 100, False], ["k3", "own", 7, False]]}
    write(
        home,
        OTHER,
        [{"about": fork}, said("p2", "person", "Again", 3), said("a2", "agent", "Hi", 4)],
    )
    return home


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own data directory."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folder = tmp_path / "data" / "rireki"
    folder.mkdir(parents=True)
    return folder


def imported(rireki: Rireki, home: Path) -> None:
    assert rireki("import", "--home", str(home)).code == 0


#: Ten tokens in with each answer, at $5; 140 out, at $25.
COST = round((20 * 5 + 140 * 25) / 1e6, 6)


def test_every_answer_counts_once(rireki: Rireki, home: Path, own: Path) -> None:
    imported(rireki, home)
    (told,) = rireki("usage", "--by", "model", "--json").json
    rows = {row["model"]: row for row in told["rows"]}
    assert rows[MODEL]["answers"] == 2
    assert rows[MODEL]["output_tokens"] == 140
    assert rows[MODEL]["cost_usd"] == COST
    assert rows["own"]["cost_usd"] is None
    assert told["total"]["answers"] == 3
    assert told["total"]["answers_without_price"] == 1
    assert told["total"]["lower_bound"] is True


def test_a_table_for_people_says_what_is_not_known(rireki: Rireki, home: Path, own: Path) -> None:
    imported(rireki, home)
    ran = rireki("usage", "--by", "project")
    assert any("/w/日本" in line for line in ran.lines)
    assert any(line.startswith("total") and "≥ 147" in line for line in ran.lines)
    assert "no price is known for 1 answers: rireki prices tells of which" in ran.out
    days = rireki("usage", "--since", "2026-11-01").lines
    assert days[1].startswith("2026-11-15")
    assert rireki("usage", "--since", "2026-12-01").out == "Nothing was used then.\n"
    assert rireki("usage", "--before", "2026-11-15").out == "Nothing was used then.\n"


def test_a_table_for_spreadsheets(rireki: Rireki, home: Path, own: Path) -> None:
    imported(rireki, home)
    rows = list(csv.DictReader(rireki("usage", "--by", "model", "--csv").out.splitlines()))
    assert [(row["model"], row["output_tokens"]) for row in rows] == [(MODEL, "140"), ("own", "7")]
    assert float(rows[0]["cost_usd"]) == COST
    assert rows[1]["cost_usd"] == ""
    nothing = rireki("usage", "--csv", "--since", "2027-01-01").lines
    assert len(nothing) == 1 and nothing[0].startswith("day,conversations,turns")


def test_json_and_csv_do_not_go_together(rireki: Rireki, home: Path) -> None:
    imported(rireki, home)
    ran = rireki("usage", "--json", "--csv")
    assert ran.code == 1 and "--json and --csv do not go together" in ran.err


def test_who_pays_a_subscription_sees_no_money(rireki: Rireki, home: Path, own: Path) -> None:
    imported(rireki, home)
    (own / "config.toml").write_text("[usage]\nmoney = false\n", encoding="utf-8")
    (told,) = rireki("usage", "--json").json
    assert "cost_usd" not in told["total"]
    assert "$" not in rireki("usage").out and "cost" not in rireki("usage").out
    assert "no money is shown" in rireki("prices").out
    (own / "config.toml").write_text('[usage]\nmoney = "no"\n', encoding="utf-8")
    ran = rireki("usage")
    assert ran.code == 1 and "money in [usage] is true or false" in ran.err


def test_the_users_own_prices_come_first(rireki: Rireki, home: Path, own: Path) -> None:
    imported(rireki, home)
    prices = {"models": {"own": {"input": 1, "output": 2}, MODEL: {"input": 0, "output": 1}}}
    (own / "prices.json").write_text(json.dumps(prices), encoding="utf-8")
    (told,) = rireki("usage", "--by", "model", "--json").json
    rows = {row["model"]: row["cost_usd"] for row in told["rows"]}
    assert rows == {MODEL: 140 / 1e6, "own": 24 / 1e6}
    listed = {row["model"]: row for row in rireki("prices", "--json").json}
    assert listed["own"]["own"] and listed["own"]["used"]
    assert not listed["claude-opus-4-5"]["own"]


@pytest.mark.parametrize("said", [b"{", b'{"models": {"a": {"input": -1}}}', b"\xff", b"[]"])
def test_prices_that_cannot_be_read_are_said(
    said: bytes, rireki: Rireki, home: Path, own: Path
) -> None:
    imported(rireki, home)
    (own / "prices.json").write_bytes(said)
    for command in (["usage"], ["prices"]):
        ran = rireki(*command)
        assert ran.code == 1
        assert "prices.json is no list of prices" in ran.err and "It is written as" in ran.err


def test_prices_beside_an_archive_count_for_nothing(
    rireki: Rireki, home: Path, own: Path, tmp_path: Path
) -> None:
    imported(rireki, home)
    beside = Path(os.environ.get("RIREKI_ARCHIVE", tmp_path / "archive.sqlite3")).parent
    (beside / "prices.json").write_text('{"models": {"own": {"input": 1, "output": 1}}}')
    (told,) = rireki("usage", "--by", "model", "--json").json
    assert {row["model"]: row["cost_usd"] for row in told["rows"]}["own"] is None


def test_prices_say_where_they_are_from_and_which_models_have_none(
    rireki: Rireki, home: Path, own: Path
) -> None:
    imported(rireki, home)
    out = rireki("prices").out
    assert "pypi.org/project/litellm" in out and read_prices(KNOWN.read_bytes()).date in out
    assert out.rstrip().endswith("Models of your archive without a price\n  own")
    rows = {row["model"]: row for row in rireki("prices", "--json").json}
    assert rows["own"] == {"model": "own", "used": True, "own": False, "known": False}
    opus = rows["claude-opus-4-5"]
    assert (opus["input"], opus["cache_write_1h"], opus["used"]) == (5, 10, True)
    assert opus["source"].startswith("https://") and opus["date"]


def test_prices_need_no_archive(rireki: Rireki, own: Path) -> None:
    ran = rireki("prices")
    assert ran.code == 0 and "claude-opus-4-5" in ran.out
