"""What a masker makes of texts, messages and records."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rireki.errors import RirekiError
from rireki.home import SETTINGS, Home, data_directory
from rireki.intake.backup import backup
from rireki.masking import Masker
from rireki.masking.find import Finder, finder
from rireki.masking.key import ensure_key
from rireki.model.message import Message
from rireki.model.parts import Text, ToolCall
from tests.support.secret_history import archive_with_secrets
from tests.support.secrets import secrets as made_secrets

TOKEN = "ghp_" + "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"


def test_equal_secrets_have_equal_marks(tmp_path: Path) -> None:
    masker = Masker.for_home(Home(tmp_path / "archive.sqlite3"))
    first, second = masker.text(f"{TOKEN} and {TOKEN}").split(" and ")
    assert first == second
    assert first.startswith("[masked: github-token #")
    assert sum(masker.found.values()) == 2


def test_arguments_are_masked_and_keys_stay(tmp_path: Path) -> None:
    masker = Masker.for_home(Home(tmp_path / "archive.sqlite3"))
    call = ToolCall("1", "Bash", {"env": [{"name": TOKEN}]})
    message = Message(id="1", author="agent", display="bubble", parts=[Text("x"), call])
    masked = masker.message(message)
    assert TOKEN not in str(masked)
    assert isinstance(masked.parts[1], ToolCall)
    assert list(masked.parts[1].arguments["env"][0]) == ["name"]


# ── the key, and the numbers it gives ──


def test_the_key_is_for_its_owner_alone_and_stays(tmp_path: Path) -> None:
    home = Home(tmp_path / "archive.sqlite3")
    first = Masker.for_home(home).text(TOKEN)
    assert Masker.for_home(home).text(TOKEN) == first
    assert os.name != "posix" or home.masking_key.stat().st_mode & 0o777 == 0o600
    # Somebody else's archive brings no key with it.
    assert home.masking_key.parent != tmp_path
    assert Masker.for_home(Home(tmp_path / "other.sqlite3")).text(TOKEN) != first


def test_a_key_that_others_could_read_is_replaced(tmp_path: Path) -> None:
    home = Home(tmp_path / "archive.sqlite3")
    first = ensure_key(home)
    home.masking_key.chmod(0o644)
    assert os.name != "posix" or ensure_key(home) != first
    home.masking_key.write_text("not a key", "ascii")
    assert len(ensure_key(home)) == 32


def test_where_nothing_can_be_written_a_key_lasts_as_long_as_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> bytes:
        raise PermissionError(path)

    monkeypatch.setattr("rireki.masking.key._make", refuse)
    home = Home(tmp_path / "archive.sqlite3")
    assert Masker.for_home(home).text(TOKEN) == Masker.for_home(home).text(TOKEN)
    assert not home.masking_key.exists()


def test_a_backup_has_no_key(tmp_path: Path) -> None:
    path = archive_with_secrets(tmp_path)
    ensure_key(Home(path))
    backup(path, tmp_path / "copy")
    assert not [file for file in (tmp_path / "copy").rglob("*") if "masking" in file.name]


# ── values that are known ──


def test_values_of_the_environment_are_masked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEPLOY_TOKEN", 'Zq8"/kkv 2')
    for name, value in (
        ("HOME_KEY", "/home/ann/key"),
        ("A_SECRET", "production"),
        ("B_KEY", "k3!"),
    ):
        monkeypatch.setenv(name, value)
    masker = Masker.for_home(Home(tmp_path / "archive.sqlite3"))
    told = 'in /home/ann/key of production k3!: Zq8"/kkv 2, Zq8%22%2Fkkv%202'
    masked = masker.text(told)
    assert masked.startswith("in /home/ann/key of production k3!: [masked: environment-value #")
    assert "kkv" not in masked
    assert b"kkv" not in masker.record(json.dumps({"x": told}).replace("/", "\\/").encode())


def test_values_of_files_the_user_names_are_masked(tmp_path: Path) -> None:
    secrets = tmp_path / ".env"
    secrets.write_text(
        "# mine\nNODE_ENV=production\nSHOP_PASSWORD='zu%Haus3'\n\nzauber wort 17x\nshort\n"
    )
    config = data_directory() / SETTINGS
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(f"[masking]\nfiles = ['{secrets}']\n")
    try:
        masker = Masker.for_home(Home(tmp_path / "archive.sqlite3"))
        masked = masker.text("production zu%Haus3 zauber wort 17x short")
        assert masked.startswith("production [masked: listed-value #")
        assert "zauber" not in masked and "short" in masked
        config.write_text("[masking]\nfiles = ['/nowhere/keys']\n")
        with pytest.raises(RirekiError, match="/nowhere/keys"):
            Masker.for_home(Home(tmp_path / "archive.sqlite3"))
        config.write_text("[masking]\nfiles = 'keys'\n")
        with pytest.raises(RirekiError, match="masking"):
            Masker.for_home(Home(tmp_path / "archive.sqlite3"))
    finally:
        config.unlink()


# ── records ──


def test_what_is_not_masked_is_the_very_same(tmp_path: Path) -> None:
    masker = Masker.for_home(Home(tmp_path / "archive.sqlite3"))
    record = b'{"a": 1.0, "a": 1e999, "b": "\\u3042\\/", "c": "\xff"}\n'
    message = Message(id="1", author="agent", display="bubble", parts=[Text("x" * 99)])
    assert masker.record(record) is record
    assert masker.message(message) is message
    assert not masker.found


@given(
    st.recursive(st.text() | st.integers() | st.none(), lambda inner: st.lists(inner, max_size=4))
)
def test_records_stay_json_whatever_is_around(value: object) -> None:
    masker = Masker(b"k" * 32, finder())
    told = [value, f"key {TOKEN}", {"password": "Xk29fjQQ!b", "more": value}]
    record = json.dumps(told).encode()
    masked = json.loads(masker.record(record))
    assert masked[0] == value and masked[2]["more"] == value
    assert TOKEN not in str(masked) and masked[2]["password"].startswith("[masked: password")


@given(st.binary(max_size=200))
def test_bytes_of_any_kind_are_no_trouble(data: bytes) -> None:
    masker = Masker(b"k" * 32, finder())
    masked = masker.record(data + b" " + TOKEN.encode() + b" " + data)
    assert masked.startswith(data[:1]) and TOKEN.encode() not in masked


def test_a_finding_never_eats_the_end_of_a_string() -> None:
    masker = Masker(b"k" * 32, finder())
    lines = ["-----BEGIN RSA PRIVATE KEY-----", *["Ab1+" * 16] * 3, "-----END RSA PRIVATE KEY-----"]
    lines[2] = "Zx9/" * 8 + "Qw7e" * 8
    record = json.dumps({"patch": [f"+{line}" for line in lines], "n": 1}).encode()
    masked = json.loads(masker.record(record))
    assert len(masked["patch"]) == 5 and masked["n"] == 1


# ── without the package that looks for all beginnings at once ──


def test_without_the_fast_search_the_same_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rireki.masking.find.ahocorasick_rs", None)
    slow = Finder({})
    for secret in made_secrets(120):
        assert slow.find(secret.text.encode()) == finder().find(secret.text.encode())
