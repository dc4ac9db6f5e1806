"""One person, two machines: the same history on both, by the commands people type."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.sources.transcripts import SESSION, Transcript, lay
from tests.support.homes import lay_out
from tests.support.machines import Laptop
from tests.support.pushing import restored, told, understand
from tests.support.syncing import served

FIRST = "11111111-1111-4111-8111-111111111111"


@pytest.fixture
def laptop(tmp_path: Path) -> Laptop:
    return Laptop(tmp_path, "laptop")


@pytest.fixture
def desktop(tmp_path: Path) -> Laptop:
    return Laptop(tmp_path, "desktop")


def begin(laptop: Laptop, desktop: Laptop) -> dict[str, bytes]:
    """Histories of their own, and one conversation that went on on both; returns both files."""
    talk = Transcript()
    talk.user("count the pelicans", uuid=FIRST)
    sides = {}
    for machine, words, id in (
        (laptop, "on the laptop", "22222222-2222-4222-8222-222222222222"),
        (desktop, "on the desktop", "33333333-3333-4333-8333-333333333333"),
    ):
        more = Transcript()
        more.user(words, parent=FIRST, uuid=id)
        sides[words] = talk.bytes() + more.bytes()
        lay(machine.home, sides[words])
    lay_out("amazon-q-1.12", laptop.home)
    lay_out("codex-0.150.0", desktop.home)
    for machine in (laptop, desktop):
        machine.take_in()
    return sides


def all_told(machine: Laptop, folder: Path) -> dict[str, Any]:
    with machine.opened() as archive:
        return told(archive, folder)


def ensure_equal(laptop: Laptop, desktop: Laptop, sides: dict[str, bytes], folder: Path) -> None:
    here, there = (all_told(m, folder / m.name) for m in (laptop, desktop))
    for id in here["read"]:
        for what in here["read"][id]:
            a, b = here["read"][id][what], there["read"].get(id, {}).get(what)
            assert a == b, (id, what, a, b)
    assert here == there and len(here["conversations"]) > 3
    listed = laptop.json("list")
    assert listed == desktop.json("list")
    read = {each["native_id"]: each["machines"] for each in listed}
    assert read[SESSION] == ["desktop", "laptop"]
    assert ["laptop"] in read.values() and ["desktop"] in read.values()
    for name in ("laptop", "desktop"):
        wanted = {id for id, names in read.items() if name in names}
        for machine in (laptop, desktop):
            found = machine.json("list", "--machine", name)
            assert {each["native_id"] for each in found} == wanted < read.keys()
            found = machine.json("search", f"machine:{name.upper()}", "--limit", "100")
            talks = [talk["conversation"]["native_id"] for each in found for talk in each["talks"]]
            assert set(talks) == {
                each["native_id"] for each in listed if each["native_id"] in wanted
            }
            assert f"@{name}" in machine.rireki("list") or machine.name == name
    assert "laptop" in laptop.rireki("list", "--machine", "nobody", code=1)
    for machine in (laptop, desktop):
        with machine.opened() as archive:
            files = restored(archive, archive.find(SESSION), folder / f"files {machine.name}")
        assert isinstance(files, dict) and sorted(files.values()) == sorted(sides.values())
        shown = machine.rireki("show", SESSION, "--no-pager")
        assert all(words in shown for words in ("pelicans", *sides))


def test_through_a_folder_both_have_the_same_history(
    laptop: Laptop, desktop: Laptop, tmp_path: Path
) -> None:
    sides = begin(laptop, desktop)
    folder = tmp_path / "drive"
    laptop.rireki("remote", "add", "drive", str(folder))
    key = laptop.rireki("remote", "key", "drive").strip()
    desktop.rireki("remote", "add", "drive", folder.as_uri(), "--key", key)
    for machine in (laptop, desktop, laptop):
        machine.rireki("sync")
    ensure_equal(laptop, desktop, sides, tmp_path)
    (said,) = laptop.json("sync")
    assert said["pushed"]["batches"] == said["pulled"]["batches"] == 0
    # Nothing in the folder, nor the names there, tells anything.
    everything = b"".join(p.read_bytes() for p in folder.rglob("*") if p.is_file())
    names = " ".join(str(p.relative_to(folder)) for p in folder.rglob("*"))
    for word in ("pelicans", SESSION, "laptop", "claude", str(laptop.home), "zstd"):
        assert word.encode() not in everything and word not in names
    # It goes on.
    more = Transcript()
    more.user("and the herons", parent=FIRST, uuid="44444444-4444-4444-8444-444444444444")
    sides["on the laptop"] += more.bytes()
    lay(laptop.home, sides["on the laptop"])
    laptop.take_in()
    laptop.rireki("push", "drive")
    assert desktop.json("pull")[0]["conversations"] == 1
    ensure_equal(laptop, desktop, sides, tmp_path / "more")


def test_through_a_server_both_have_the_same_history(
    laptop: Laptop, desktop: Laptop, tmp_path: Path
) -> None:
    sides = begin(laptop, desktop)
    with served(desktop.archive) as url:
        laptop.rireki("remote", "add", "desktop", url, "--token", "secret-device", "--own")
        laptop.rireki("sync")
        with desktop.opened() as archive:
            understand(archive)
        ensure_equal(laptop, desktop, sides, tmp_path)
        (said,) = laptop.json("sync", "desktop")
        assert said["pushed"]["batches"] == said["pulled"]["batches"] == 0


def test_over_ssh_there_is_a_folder_too(
    laptop: Laptop, desktop: Laptop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sides = begin(laptop, desktop)
    # Stands in for ssh: the same shell, on this machine.
    fake = tmp_path / "bin" / "ssh"
    fake.parent.mkdir()
    fake.write_text(
        '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\n'
        'test "$2" = me@other || exit 255\ncd "$OTHER" && exec sh -c "$3"\n'
    )
    fake.chmod(0o755)
    (tmp_path / "other").mkdir()
    monkeypatch.setenv("OTHER", str(tmp_path / "other"))
    monkeypatch.setenv("PATH", str(fake.parent), prepend=":")
    url = "ssh://me@other:2222/~/my history"
    laptop.rireki("remote", "add", "nas", url)
    key = laptop.rireki("remote", "key", "nas").strip()
    (tmp_path / "key").write_text(f"# for the nas\n{key}\n")
    desktop.rireki("remote", "add", "nas", url, "--key", str(tmp_path / "key"))
    for machine in (laptop, desktop, laptop):
        machine.rireki("sync", "nas")
    ensure_equal(laptop, desktop, sides, tmp_path)
    assert (tmp_path / "other" / "my history" / "rireki.age").is_file()
    monkeypatch.setenv("OTHER", str(tmp_path / "nowhere"))
    assert "cannot be reached" in laptop.rireki("push", "nas", code=1)
