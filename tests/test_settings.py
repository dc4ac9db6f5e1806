"""config.toml is read in one place: nothing, what it says, or an error that tells what to do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rireki.settings import SettingsError, read_settings


def test_where_there_is_no_file_nothing_is_said(tmp_path: Path) -> None:
    assert read_settings(tmp_path / "config.toml", "") == {}
    (tmp_path / "file").touch()
    assert read_settings(tmp_path / "file" / "config.toml", "") == {}


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("[import]\nlargest_mb = 1\n", encoding="utf-8")
    assert read_settings(file, "") == {"import": {"largest_mb": 1}}
    file.write_text("[import]\nlargest_mb = 20\n", encoding="utf-8")
    assert read_settings(file, "") == {"import": {"largest_mb": 20}}


@pytest.mark.parametrize("said", [b"[import", b"\xff\xfe"])
def test_what_is_no_toml_is_told_with_how_it_is_written(said: bytes, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(said)
    with pytest.raises(SettingsError) as raised:
        read_settings(file, "Write there: …")
    assert raised.value.hint == "Write there: …"
    assert str(file) in raised.value.message and str(file) not in raised.value.reason.message


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_nobody_waits_for_a_pipe_of_that_name(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "config.toml")
    assert read_settings(tmp_path / "config.toml", "") == {}
