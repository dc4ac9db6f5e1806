"""`rireki serve` where nothing may be written: everything is shown, and nothing is taken in."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from rireki.archive.open import open_archive
from rireki.search.index.importing import take_in
from rireki.sources.kit.places import Places
from tests.support.homes import lay_out
from tests.support.shut import contents, rireki, run, shut
from tests.web.conftest import until
from tests.web.test_serve import Serving, environment


@pytest.fixture
def kept(tmp_path: Path, home: Path) -> Path:
    lay_out("claude-code-1.0.51", home)
    with closing(open_archive(tmp_path / "kept" / "archive.sqlite3", create=True)) as archive:
        take_in(archive, Places.at(home))
    # What the next start would take in.
    lay_out("amazon-q-1.12", home)
    return tmp_path / "kept"


@contextmanager
def serve(kept: Path, home: Path) -> Iterator[Serving]:
    options = ["--home", str(home), "--no-open", "--json", "--port", "0"]
    process = subprocess.Popen(
        rireki(kept / "archive.sqlite3", "serve", *options),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    try:
        serving = Serving(process)
        yield serving
        serving.client.close()
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def test_everything_is_shown_and_nothing_is_taken_in(kept: Path, home: Path) -> None:
    before = contents(kept)
    with shut(kept), serve(kept, home) as serving:
        ids = {each["id"] for each in serving.get("conversations")["conversations"]}
        assert ids and all(id.startswith("claude-code/") for id in ids)
        for page in ("/", "/search?q=the", "/stats", "/usage", "/sources", f"/c/{min(ids)}"):
            answer = serving.client.get(page)
            assert answer.status_code == 200, page
        found = serving.get("search?q=the")
        assert found["talks"] and found["scope"]["slower"] == ""
        serving.process.send_signal(signal.SIGTERM)
        _, said = serving.process.communicate()
        assert serving.process.returncode == 0
    assert said.strip() == f"{kept / 'archive.sqlite3'} can only be read: nothing is taken in."
    assert contents(kept) == before


def test_its_token_stays_the_same(kept: Path, home: Path) -> None:
    with shut(kept), serve(kept, home) as one, serve(kept, home) as other:
        assert one.said["url"].partition("=")[2] == other.said["url"].partition("=")[2]
        assert one.get("conversations") == other.get("conversations")


def test_where_nothing_can_be_kept_its_token_is_another_each_time(
    kept: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (data := tmp_path / "data" / "rireki").mkdir(parents=True)
    monkeypatch.setenv("XDG_DATA_HOME", str(data.parent))
    with shut(kept), shut(data), serve(kept, home) as one, serve(kept, home) as other:
        assert one.said["url"].partition("=")[2] != other.said["url"].partition("=")[2]
    assert not list(data.iterdir())


def test_what_its_owner_writes_meanwhile_is_shown(kept: Path, home: Path) -> None:
    with serve_shut(kept, home) as serving:
        known = len(serving.get("conversations")["conversations"])
        with closing(open_archive(kept / "archive.sqlite3")) as archive:
            take_in(archive, Places.at(home))
            until(lambda: len(serving.get("conversations")["conversations"]) > known)
        assert serving.get("search?q=source:amazon-q")["talks"]


@contextmanager
def serve_shut(kept: Path, home: Path) -> Iterator[Serving]:
    """A server that found the folder shut; it is open again for its owner by now."""
    with shut(kept):
        started = serve(kept, home)
        serving = started.__enter__()
    try:
        yield serving
    finally:
        started.__exit__(None, None, None)


def test_no_agent_is_driven_from_it(kept: Path, home: Path) -> None:
    with shut(kept):
        ran = run(rireki(kept / "archive.sqlite3", "serve", "--drive", "--home", str(home)))
    assert ran.returncode == 1
    assert "can only be read" in ran.stderr and "--archive" in ran.stderr
