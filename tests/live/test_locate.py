"""A path leads to the very origin that a look at everything would find."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rireki.sources import registry
from rireki.sources.kit.places import Places
from rireki.sources.reader import Origin
from tests.support.homes import NAMES, lay_out


def locate(places: Places, path: str) -> list[Origin]:
    readers: list[Any] = registry.readers()
    return [origin for reader in readers for origin in reader.locate(places, path)]


@pytest.mark.parametrize("name", NAMES)
def test_every_origin_is_located_by_its_own_path(name: str, home: Path) -> None:
    places = Places.at(lay_out(name, home))
    everything = [o for reader in registry.readers() for o in reader.discover(places).origins]
    assert everything
    for origin in everything:
        # Editors that came from one have files in which several sources are.
        same = [other for other in everything if other.place == origin.place]
        assert locate(places, origin.place) == same


@pytest.mark.parametrize("name", NAMES)
def test_every_folder_leads_to_what_lies_below_it(name: str, home: Path) -> None:
    places = Places.at(lay_out(name, home))
    readers: list[Any] = registry.readers()
    everything = [o for reader in readers for o in reader.discover(places).origins]
    watched = [w for reader in readers for w in reader.watched(places)]
    deep = [Path(w.folder) for w in watched if w.deep and Path(w.folder).is_dir()]
    folders = [folder for top in deep for folder in [top, *top.rglob("*")] if folder.is_dir()]
    for folder in folders:
        below = sorted(o.place for o in everything if folder in Path(o.place).parents)
        assert sorted(o.place for o in locate(places, str(folder))) == below


@pytest.mark.parametrize("name", NAMES)
def test_every_origin_lies_in_a_watched_folder(name: str, home: Path) -> None:
    places = Places.at(lay_out(name, home))
    readers: list[Any] = registry.readers()
    watched = [w for reader in readers for w in reader.watched(places)]
    for reader in readers:
        for origin in reader.discover(places).origins:
            parents = Path(origin.place).parents
            assert any(
                Path(w.folder) == parents[0] or (w.deep and Path(w.folder) in parents)
                for w in watched
            ), origin.place


def test_journal_and_log_lead_to_their_database(home: Path) -> None:
    places = Places.at(lay_out("amazon-q-1.19", home))
    (origin,) = registry.reader("amazon-q").discover(places).origins
    for ending in ("-wal", "-journal"):
        assert [o.place for o in locate(places, origin.place + ending)] == [origin.place]
    assert locate(places, f"{origin.place}-shm") == []


@pytest.mark.parametrize(
    "path",
    [
        ".claude/projects/-p/pictures/note.md",
        ".claude/projects/-p/sessions-index.json",
        ".claude/settings.json",
        ".claude/debug/log.txt",
        ".claude/file-history/no-session/x",
        ".claude-other/projects/-p/x.jsonl",
        ".kiro/settings/cli.json",
        ".kiro/sessions/cli/x.lock",
        ".local/share/amazon-q/history",
        "elsewhere/x.jsonl",
    ],
)
def test_what_is_nobodys_leads_nowhere(home: Path, path: str) -> None:
    file = home / path
    file.parent.mkdir(parents=True)
    file.write_text("{}\n")
    assert locate(Places.at(home), str(file)) == []
