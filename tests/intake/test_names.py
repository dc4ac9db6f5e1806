"""A folder or file whose name is no UTF-8, and ids that are longer than a file's name may be."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import sys
import time
from pathlib import Path

import pytest

from rireki.archive.base import Archive, Filter
from rireki.archive.open import open_archive
from rireki.cli import main as face
from rireki.intake import sweep
from rireki.intake.restore import restore
from rireki.intake.sweep import import_history
from rireki.intake.verify import verify
from rireki.live.keeper import Keeper
from rireki.model.conversation import Conversation
from rireki.model.names import as_path, as_text, is_bytes
from rireki.sources.kit.places import Places
from tests.support.homes import NAMES, files, lay_out

pytestmark = pytest.mark.skipif(
    sys.platform in ("win32", "darwin"), reason="names are text on this system"
)

#: Latin 1 for "café", half a Japanese character, and a byte that is never UTF-8.
BAD = os.fsdecode(b"caf\xe9 \xe3\x81 \xff")


def take_in(archive: Archive, home: Path) -> list[str]:
    report = import_history(archive, places=Places.at(home))
    return [trouble.message for source in report.sources for trouble in source.troubles]


@pytest.mark.parametrize(
    "name",
    [
        b"plain",
        b"caf\xe9",
        "日本語".encode(),
        b"\xf4\x8f\xbf\xa9 literal",
        b"\xed\xa0\x80",
        b"\xff",
    ],
)
def test_every_name_has_one_text_and_comes_back(name: bytes) -> None:
    path = os.fsdecode(name)
    text = as_text(path)
    text.encode()
    assert os.fsencode(as_path(text)) == name
    assert is_bytes(text) == (text != path)


@pytest.mark.parametrize("bulk", [False, True], ids=["one by one", "by workers"])
@pytest.mark.parametrize("name", NAMES)
def test_a_home_whose_name_is_no_text_is_archived(
    name: str,
    archive: Archive,
    home: Path,
    tmp_path: Path,
    bulk: bool,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sweep, "BULK", 1 if bulk else 1 << 40)
    odd = lay_out(name, home / BAD)
    twin = open_archive(tmp_path / "twin.sqlite3", create=True, clock=archive.clock)
    troubles = take_in(archive, odd)
    # Nor did a worker give up.
    assert "Traceback" not in capfd.readouterr().err
    assert len(troubles) == len(take_in(twin, lay_out(name, tmp_path / "twin")))
    ids = [_id(c) for c in archive.conversations(Filter(subagents=True))]
    assert ids and ids == [_id(c) for c in twin.conversations(Filter(subagents=True))]
    twin.close()
    assert verify(archive) == []
    for origin in archive.origins():
        assert os.path.exists(as_path(origin.place))  # noqa: PTH110
    number = archive.number()
    take_in(archive, odd)
    assert archive.number() == number, "nothing is read twice"
    import_history(archive, places=Places.at(odd), check=True)
    originals = {path.read_bytes() for path in files(odd)}
    for strand in (s for g in archive.groups() for s in archive.strands(g.family, g.conversation)):
        assert strand.key or strand.document() in originals


def _id(conversation: Conversation) -> str:
    """Aider's sessions are named by their folder as well."""
    is_aider = conversation.source == "aider"
    return conversation.id.rpartition("-")[0] if is_aider else conversation.id


def test_a_file_whose_name_is_no_text_everywhere(
    archive: Archive, home: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = home / ".claude" / "projects" / f"-home-{BAD}"
    folder.mkdir(parents=True)
    session = f"0000-{BAD}"
    said = {
        "type": "user",
        "uuid": "u1",
        "parentUuid": None,
        "timestamp": "2026-01-01T00:00:00.000Z",
        "message": {"role": "user", "content": "the oddest of names"},
    }
    file = folder / f"{session}.jsonl"
    file.write_text(json.dumps(said) + "\n")
    assert take_in(archive, home) == []
    (conversation,) = archive.conversations(Filter())
    found = archive.find(conversation.id)
    assert archive.find(f"claude-code/{session}").conversation.id == found.conversation.id
    (back,) = restore(archive, found, tmp_path / "back")
    assert os.fsencode(back.name) == os.fsencode(file.name)
    assert os.fsencode(back.parent.name) == os.fsencode(folder.name)
    assert back.read_bytes() == file.read_bytes()
    archive.close()
    for words in (
        ["list"],
        ["list", "--json"],
        ["show", conversation.id],
        ["show", conversation.id, "--format", "html"],
        ["show", conversation.id, "--raw"],
        ["sources", "--home", str(home)],
        ["search", "oddest", "--json"],
        ["verify"],
        ["explain", conversation.id],
        ["import", str(file)],
        ["import", "--home", str(home), "--json"],
    ):
        assert face.run(["--archive", str(archive.home.archive), *words]) == 0, words
        said_by = capfd.readouterr().out
        said_by.encode()
        if "search" in words:
            assert json.loads(said_by)["talks"][0]["conversation"]["id"] == conversation.id


def test_the_keeper_hears_of_a_file_whose_name_is_no_text(home: Path, tmp_path: Path) -> None:
    folder = home / ".claude" / "projects" / f"-home-{BAD}"
    folder.mkdir(parents=True)
    keeper = Keeper(tmp_path / "archive.sqlite3", Places.at(home), index=False)
    keeper.start()
    assert keeper.wait(20)
    line = {
        "type": "user",
        "uuid": "u1",
        "timestamp": "2026-01-01T00:00:00.000Z",
        "message": {"role": "user", "content": "heard"},
    }
    (folder / f"{BAD}.jsonl").write_text(json.dumps(line) + "\n")
    archive = open_archive(tmp_path / "archive.sqlite3")
    deadline = time.monotonic() + 20
    while not archive.count() and time.monotonic() < deadline:
        time.sleep(0.05)
    keeper.stop()
    assert archive.count() == 1
    assert keeper.status.troubles == []
    archive.close()


@pytest.mark.parametrize("id", ["c" * 400, "会話" * 120, "x" * 251 + "é"], ids=["a", "ja", "edge"])
def test_a_very_long_id_is_restored(archive: Archive, home: Path, tmp_path: Path, id: str) -> None:
    for folder in ("amazon-q", "kiro-cli"):
        store = home / ".local" / "share" / folder
        store.mkdir(parents=True)
        database = sqlite3.connect(store / "data.sqlite3")
        database.execute("CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT)")
        entry = {
            "user": {"content": {"Prompt": {"prompt": "long"}}},
            "assistant": {"Response": {"message_id": "m1", "content": "yes"}},
        }
        value = {"conversation_id": id, "history": [entry], "transcript": []}
        database.execute("INSERT INTO conversations VALUES ('/x', ?)", (json.dumps(value),))
        database.commit()
        database.close()
    take_in(archive, home)
    paths = restore(archive, archive.find(id), tmp_path / "back")
    assert len({*paths}) == len(paths) >= 1
    for path in paths:
        assert json.loads(path.read_text())["conversation_id"] == id
        assert len(os.fsencode(path.name)) <= 255 and path.suffix == ".json"
    assert restore(archive, archive.find(id), tmp_path / "back") == paths
    shutil.rmtree(tmp_path / "back")
