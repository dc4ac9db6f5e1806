"""Readers are found through the entry points that strangers use too."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path

import pytest

from rireki.errors import NotFound
from rireki.sources import registry


def test_it_finds_what_the_standard_library_finds() -> None:
    standard = {point.name: point.value for point in entry_points(group=registry.GROUP)}
    assert registry._addresses() == standard


def test_a_strangers_reader_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "stranger-1.0.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_text(
        "[console_scripts]\nx = y:z\n\n"
        "[rireki.readers]\nplain = tests.support.plain:READER\n\n"
        "[other]\na = b:c\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    registry._addresses.cache_clear()
    try:
        assert "plain" in registry.names() and "a" not in registry.names()
        assert registry.reader("plain").name == "plain"
    finally:
        registry._addresses.cache_clear()
        registry.reader.cache_clear()


def test_an_unknown_source_is_named_with_the_known_ones() -> None:
    with pytest.raises(NotFound, match="no reader for the source 'copilot'") as caught:
        registry.reader("copilot")
    assert "claude-code" in caught.value.hint
