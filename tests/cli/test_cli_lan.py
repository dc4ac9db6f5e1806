"""`rireki serve --lan` and `rireki token --devices`: what is said, and what does not go together."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rireki.home import Home
from rireki.sync.devices import Devices
from tests.cli.conftest import Rireki

NOW = "2026-11-19T00:00:00.000Z"


def test_devices_are_listed_and_locked_out_apart_from_those_that_push(
    rireki: Rireki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / "kept" / "archive.sqlite3"
    monkeypatch.setenv("RIREKI_ARCHIVE", str(archive))
    assert "No device is paired" in rireki("token", "--devices").out
    devices = Devices(Home(archive))
    devices.new("laptop", NOW)
    devices.new("phone", NOW, opens="pages", read_only=True)
    assert rireki("token", "--devices", "--json").json == [
        {"name": "phone", "made_at": NOW, "read_only": True}
    ]
    assert "may only read" in rireki("token", "--devices").out
    assert rireki("remote", "token", "--json").json == [{"name": "laptop", "made_at": NOW}]
    # Each list locks out its own.
    assert rireki("token", "--revoke", "laptop").code == 1
    assert rireki("remote", "token", "--revoke", "phone").code == 1
    assert "phone is locked out" in rireki("token", "--revoke", "phone").out
    assert [each.name for each in devices.all()] == ["laptop"]
    assert rireki("token", "--devices", "--new").code == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--cert", "FILE"), "Add --lan."),
        (("--lan", "--host", "0.0.0.0"), "Leave --host out"),
        (("--lan", "--key", "FILE"), "Add --cert FILE."),
        (("--lan", "nonsense", "--port", "0"), "like 192.168.1.5"),
    ],
)
def test_what_does_not_go_together_is_told_in_two_lines(
    rireki: Rireki, tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    file = tmp_path / "some.pem"
    file.write_text("")
    given = (str(file) if option == "FILE" else option for option in options)
    ran = rireki("serve", "--no-open", "--demo", *given)
    assert ran.code == 1 and said in ran.err
    assert len(ran.err.strip().splitlines()) <= 3


@pytest.mark.parametrize("missing", ["cryptography", "segno"])
def test_without_the_extra_it_is_said_how_to_get_it(
    rireki: Rireki, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    ran = rireki("serve", "--lan", "--no-open")
    assert ran.code == 1
    assert ran.err.splitlines() == [
        f"error: the local network needs a package that is not installed: {missing}",
        "hint: pip install 'rireki[lan]'",
    ]
