"""Pages and answers of a damaged archive: what can be read, and two lines for what cannot."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import httpx
import pytest

from rireki.archive.open import open_archive
from rireki.intake.sweep import import_history
from rireki.sources.kit.places import Places
from tests.support.homes import lay_out
from tests.web.conftest import client_of, serving

PAGE = 4096


@pytest.fixture
def whole(home: Path, tmp_path: Path) -> Path:
    lay_out("claude-code-1.0.51", home)
    path = tmp_path / "archive.sqlite3"
    archive = open_archive(path, create=True)
    import_history(archive, places=Places.at(home))
    archive.close()
    return path


@pytest.fixture
def web(whole: Path, home: Path) -> Iterator[httpx.Client]:
    """Without the first page of the list, and without a page of records."""
    sql = apsw.Connection(str(whole))
    roots = dict(sql.execute("SELECT name, rootpage FROM sqlite_schema WHERE rootpage"))
    sql.close()
    data = bytearray(whole.read_bytes())
    at = (roots["conversation"] - 1) * PAGE
    # The list begins with a page that leads to its others: the first of these.
    first = int.from_bytes(data[at + 12 : at + 14], "big")
    leaf = int.from_bytes(data[at + first : at + first + 4], "big")
    data[(leaf - 1) * PAGE : leaf * PAGE] = bytes(PAGE)
    whole.write_bytes(data)
    with serving(whole, home) as server, client_of(server) as client:
        yield client


def test_what_can_be_read_is_shown_with_two_lines_for_the_rest(web: httpx.Client) -> None:
    answer = web.get("/api/v1/conversations").json()
    ids = [each["id"] for each in answer["conversations"]]
    assert 0 < len(ids) < 12
    assert web.get("/api/v1/health").json()["damaged"] is True
    for place in ("/", "/stats", "/usage?period=all", "/sources", "/search?q=bash", f"/c/{ids[0]}"):
        shown = web.get(place)
        assert shown.status_code == 200, place
        assert "The archive is damaged" in shown.text and "--salvage NEW" in shown.text
    assert "アーカイブが壊れています" in web.get("/?lang=ja").text


def test_what_cannot_be_found_says_why(web: httpx.Client) -> None:
    web.get("/")
    known = {each["id"] for each in web.get("/api/v1/conversations").json()["conversations"]}
    names = [
        path.stem
        for path in Path(__file__).parents[1].glob("fixtures/claude-code/1.0.51/**/*.jsonl")
    ]
    lost = next(name for name in names if f"claude-code/{name}" not in known)
    answer = web.get(f"/api/v1/conversations/claude-code/{lost}")
    assert answer.status_code == 404 and "--salvage" in answer.json()["error"]["hint"]
    told = web.get(f"/c/claude-code/{lost}", headers={"Accept-Language": "ja"})
    assert told.status_code == 404 and "壊れています" in told.text


def test_a_conversation_without_some_of_its_records_says_so(whole: Path, home: Path) -> None:
    sql = apsw.Connection(str(whole))
    number, data = sql.execute(
        "SELECT id, data FROM chunk ORDER BY size DESC LIMIT 1"
    ).fetchone() or (0, b"")
    name = sql.execute(
        "SELECT conversation FROM strand JOIN chunk ON strand.id = chunk.strand WHERE chunk.id = ?",
        (number,),
    ).get
    sql.execute("UPDATE chunk SET data = ? WHERE id = ?", (bytes(len(bytes(data))), number))
    sql.close()
    with serving(whole, home) as server, client_of(server) as client:
        assert client.get(f"/api/v1/conversations/claude-code/{name}/messages").status_code == 200
        shown = client.get(f"/c/claude-code/{name}")
        assert "of its records cannot be read: the archive is damaged" in shown.text
        told = client.get(f"/c/claude-code/{name}?lang=ja")
        assert "件を読み取れません" in told.text
