"""What a person adds on pages, by plain forms; and forgetting, which can be taken back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import httpx
import pytest

from rireki.archive.open import open_archive
from rireki.intake import forget
from rireki.intake.sweep import import_history
from rireki.sources.kit.places import Places
from rireki.web.serve import Server
from tests.sources.transcripts import SESSION, Transcript, lay
from tests.web.conftest import BEARER, client_at, client_of, serving, until

OTHER = f"b{SESSION[1:]}"
ID = f"claude-code/{SESSION}"
ASKED = "cccccccc-1111-4000-8000-000000000000"


@pytest.fixture
def archive_path(tmp_path: Path, home: Path) -> Path:
    for session, text, uuid in ((SESSION, "count the pelicans", ASKED), (OTHER, "paint it", "x")):
        talk = Transcript(session)
        talk.user(text, uuid=uuid)
        lay(home, talk.bytes(), session)
    with closing(open_archive(tmp_path / "archive.sqlite3", create=True)) as archive:
        import_history(archive, places=Places.at(home))
    return tmp_path / "archive.sqlite3"


@pytest.fixture
def server(archive_path: Path, home: Path) -> Iterator[Server]:
    with serving(archive_path, home) as server:
        yield server


@pytest.fixture
def web(server: Server) -> Iterator[httpx.Client]:
    with client_of(server) as client:
        yield client


def send(web: httpx.Client, address: str, **fields: str) -> httpx.Response:
    return web.post(address, data=fields or {"yes": "1"})


def test_a_form_says_title_tags_note_and_hiding(web: httpx.Client) -> None:
    answer = send(
        web,
        f"/curate/{ID}",
        title="My birds",
        tags="sea, #Work、海",
        note="line\r\n<b>",
        hidden="0",
    )
    assert answer.status_code == 303 and answer.headers["location"] == f"/c/{ID}"
    page = web.get(f"/c/{ID}").text
    assert '<h1 id="title" title="My birds">' in page and "line\n&lt;b&gt;" in page
    assert all(f">#{tag}</a>" in page for tag in ("sea", "Work", "海"))
    # A title that was not touched is not made the person's own.
    send(web, f"/curate/{OTHER}", title="paint it", tags="")
    form = web.get(f"/curate/{OTHER}").text
    assert "No title that its agent makes replaces yours." in form
    # What is left out goes.
    send(web, f"/curate/{ID}", title="", tags="sea", note="")
    page = web.get(f"/c/{ID}").text
    assert "count the pelicans</h1>" in page and "#Work" not in page and "&lt;b&gt;" not in page


def test_the_list_shows_and_is_narrowed_by_it(web: httpx.Client) -> None:
    send(web, f"/curate/{ID}", star="1", tags="sea")
    page = web.get("/").text
    assert (
        page.count('class="row-star"') == 1 and '<a class="tag" href="/?tag=sea">#sea</a>' in page
    )
    for narrowed in ("/?starred=1", "/?tag=sea"):
        page = web.get(narrowed).text
        assert "count the pelicans" in page and "paint it" not in page
    send(web, f"/curate/{ID}", hidden="1")
    assert "count the pelicans" not in web.get("/").text
    assert "count the pelicans" in web.get("/?hidden=1").text
    assert "pelicans</mark>" not in web.get("/search?q=pelicans").text
    assert "Left out: 1 hidden conversation" in web.get("/search?q=paint").text


def test_a_note_on_a_message_stands_there_and_is_found(web: httpx.Client) -> None:
    form = web.get(f"/curate/{ID}", params={"message": ASKED})
    assert "Note on this message" in form.text and 'name="title"' not in form.text
    answer = send(web, f"/curate/{ID}?fragment=1", message=ASKED[:8], note="a quokkaflux")
    assert answer.json()["unit"]["id"] == ASKED and "quokkaflux" in answer.json()["unit"]["html"]
    assert (
        '<aside class="note" aria-label="Your note">a quokkaflux</aside>'
        in web.get(f"/c/{ID}").text
    )
    found = web.get("/search?q=quokkaflux").text
    assert f"at={ASKED}" in found
    assert send(web, f"/curate/{ID}", message="nosuch", note="x").status_code == 404
    # Masked, it is no better than what was said.
    send(web, f"/curate/{ID}", message=ASKED, note="AKIA" + "IOSFODNN7EXAMPLQ")
    assert "AKIAIOSFODNN7EXAMPLQ" not in web.get(f"/c/{ID}?mask=1").text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "{own}", "Content-Type": "text/plain"}, 415),
        ({"Origin": "{own}", "Content-Type": "application/json"}, 415),
        ({"Origin": "{own}", "Sec-Fetch-Site": "cross-site"}, 403),
        ({"Origin": "{own}"}, 303),
    ],
)
def test_only_pages_of_ours_and_programs_add(
    server: Server, headers: dict[str, str], status: int
) -> None:
    cookie = f"rireki_{server.port}="
    with client_of(server) as known:
        let_in = known.get(server.url.partition(str(server.port))[2], headers={"Authorization": ""})
        cookie = let_in.headers["set-cookie"].split(";")[0]
    own = f"http://127.0.0.1:{server.port}"
    sent = {name: value.format(own=own) for name, value in headers.items()}
    with client_at(server.port, Cookie=cookie) as web:
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        for address in (f"/curate/{ID}", f"/forget/{OTHER}", "/searches"):
            answer = web.post(address, content="star=1&q=x", headers=form | sent)
            assert answer.status_code == status, answer.text


def test_what_is_too_much_is_said(web: httpx.Client) -> None:
    assert send(web, f"/curate/{ID}", note="x" * 300_000).status_code == 413
    answer = send(web, f"/curate/{ID}?fragment=1", note="x" * 20_001)
    assert answer.status_code == 400 and "20001 characters" in answer.json()["error"]
    assert send(web, f"/curate/{ID}", tags="x" * 61).status_code == 400
    assert web.post(f"/curate/{ID}", content=b"a&" * 100, headers=_FORM).status_code < 500
    assert web.put(f"/curate/{ID}").status_code == 405


_FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def test_searches_are_saved_under_a_name(web: httpx.Client) -> None:
    answer = send(web, "/searches", q="is:starred tag:sea", name="the sea")
    assert answer.headers["location"] == "/search?q=is%3Astarred+tag%3Asea"
    page = web.get("/search").text
    assert 'title="is:starred tag:sea">the sea</a>' in page
    send(web, "/searches", q="pelicans", name="")
    assert ">pelicans</a>" in web.get("/search").text
    send(web, "/searches", name="the sea", remove="1")
    assert "the sea" not in web.get("/search").text


# ── forgetting ──


def test_it_disappears_at_once_and_can_be_taken_back(web: httpx.Client) -> None:
    question = web.get(f"/forget/{ID}").text
    assert "Remove it from the archive for good?" in question and ID in question
    answer = send(web, f"/forget/{ID}")
    assert answer.status_code == 303 and answer.headers["location"] == "/"
    home = web.get("/").text
    assert "Forgotten: count the pelicans" in home and f'href="/c/{ID}"' not in home
    assert "about to be forgotten" in web.get(f"/c/{ID}").text
    assert f"/c/{ID}" not in web.get("/search?q=pelicans").text
    assert f"/c/{ID}" not in web.get("/search?q=pelicans+OR+is:hidden").text
    assert send(web, f"/forget/{ID}", undo="1").headers["location"] == f"/c/{ID}"
    assert f'href="/c/{ID}"' in web.get("/").text and "Forgotten:" not in web.get("/").text


def test_its_bytes_go_when_the_time_is_over(
    web: httpx.Client, archive_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(web, f"/curate/{ID}", note="a QUOKKAFLUX")
    assert "QUOKKAFLUX" in web.get("/search?q=QUOKKAFLUX").text
    monkeypatch.setattr(forget, "SECONDS", 0.1)
    send(web, f"/forget/{ID}")
    until(lambda: web.get(f"/c/{ID}").status_code == 404)
    until(lambda: not _holds(archive_path.parent, b"QUOKKAFLUX", b"count the pelicans"))


@pytest.mark.parametrize("keep", [False, True])
def test_a_server_that_ended_before_leaves_it_to_the_next(
    archive_path: Path, home: Path, keep: bool
) -> None:
    with closing(open_archive(archive_path)) as archive:
        long_ago = datetime(2026, 1, 1, tzinfo=timezone.utc)
        forget.forget_soon(archive, archive.find(ID), long_ago)
    with serving(archive_path, home, keep=keep) as server, client_of(server) as web:
        until(lambda: web.get(f"/c/{ID}").status_code == 404)


def _holds(folder: Path, *words: bytes) -> list[Any]:
    files = [file for file in folder.rglob("*") if file.is_file() and "home" not in file.parts]
    return [file for file in files if any(word in _bytes_of(file) for word in words)]


def _bytes_of(file: Path) -> bytes:
    """Nothing where the file went while the server cleared away."""
    with suppress(FileNotFoundError):
        return file.read_bytes()
    return b""


def test_programs_with_the_token_need_no_origin(server: Server) -> None:
    with client_at(server.port, **BEARER) as web:
        assert send(web, f"/curate/{ID}", star="1").status_code == 303
