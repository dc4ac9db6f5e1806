"""Stores that were seen and cannot be read yet: counted by their names, never opened."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pytest

from rireki.sources.kit.places import Places
from rireki.sources.unread import Unread, unread_stores

FILES = {
    "codex": ".codex/sessions/2026/01/02/rollout-a.jsonl",
    "cursor-cli": ".cursor/chats/a/b/store.db",
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in FILES.values():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("not for us")
    return tmp_path


def test_every_store_is_named_and_none_is_opened(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any, **__: Any) -> Any:
        raise AssertionError("a file was opened")

    monkeypatch.setattr(builtins, "open", refused)
    monkeypatch.setattr(Path, "open", refused)
    found = unread_stores(Places.at(home))
    assert {one.source: one.files for one in found} == dict.fromkeys(FILES, 1)
    assert Unread("codex", str(home / ".codex" / "sessions"), 1) in found


def test_what_has_a_reader_is_left_out_and_an_empty_home_has_none(
    home: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert "codex" not in {one.source for one in unread_stores(Places.at(home), known=["codex"])}
    assert unread_stores(Places.at(tmp_path_factory.mktemp("empty"))) == []


def test_a_variable_names_another_place(home: Path, tmp_path: Path) -> None:
    places = Places(tmp_path / "nowhere", {"CODEX_HOME": str(home / ".codex")})
    assert [one.source for one in unread_stores(places)] == ["codex"]
