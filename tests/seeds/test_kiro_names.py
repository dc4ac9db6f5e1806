"""A session of Kiro's third engine is named as its folder is, and found by the shorter form too."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.seeds.conftest import Rireki
from tests.support.driven import Journal

ID = "3f1c2a7e-0000-4000-8000-000000000001"


@pytest.fixture
def folder(home: Path) -> Path:
    folder = home / ".kiro" / "sessions" / "b550143462be8201" / f"sess_{ID}"
    folder.mkdir(parents=True)
    payloads = [
        {"type": "user", "content": "hello third engine"},
        {"type": "assistant", "operationType": "Say", "content": "Hi."},
    ]
    lines = [
        {"id": f"i{n}", "timestamp": f"2026-06-01T00:00:0{n}Z", "payload": payload}
        for n, payload in enumerate(payloads)
    ]
    (folder / "messages.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    (folder / "session.json").write_text(
        json.dumps({"id": folder.name, "workspacePaths": [str(home)]})
    )
    return folder


def shown(rireki: Rireki, name: str) -> str:
    return str(rireki("show", name, "--json").json[0]["conversation"]["id"])


def test_its_name_is_that_of_its_folder(folder: Path, rireki: Rireki) -> None:
    rireki("import")
    (about,) = rireki("list", "--json").json
    assert (about["id"], about["native_id"]) == (f"kiro/{folder.name}", folder.name)
    for name in (folder.name, ID, f"kiro/{ID}", ID[:8], f"kiro/{ID[:8]}", f"sess_{ID[:8]}"):
        assert shown(rireki, name) == about["id"], name
    assert f"kiro-cli --v3 --resume-id {folder.name}" in rireki("resume", ID).out


def test_it_is_forgotten_for_good_by_either_name(folder: Path, rireki: Rireki) -> None:
    rireki("import")
    assert rireki("forget", ID, "--yes").code == 0
    assert rireki("list", "--json").json == []
    with (folder / "messages.jsonl").open("a") as file:
        file.write("{}\n")
    rireki("import")
    assert rireki("list", "--json").json == []


def test_an_archive_that_has_it_by_the_shorter_form_goes_on(
    folder: Path, rireki: Rireki, as_before: Callable[[str], None]
) -> None:
    rireki("import")
    as_before(
        f"UPDATE conversation SET id = 'kiro/{ID}', native_id = '{ID}',"
        f" data = json_set(data, '$.id', 'kiro/{ID}', '$.native_id', '{ID}');"
        "DELETE FROM tie WHERE kind = 'alias'"
    )
    assert rireki("show", ID, "--no-pager").code == 0
    rireki("import")
    (about,) = rireki("list", "--json").json
    assert about["id"] == f"kiro/{folder.name}"
    assert shown(rireki, f"kiro/{ID}") == about["id"]
    found = rireki("search", "third", "--json").json[0]["talks"]
    assert [one["conversation"]["id"] for one in found] == [about["id"]]
    assert rireki("verify").code == 0


def test_what_was_forgotten_by_the_shorter_form_stays_forgotten(
    folder: Path, rireki: Rireki, as_before: Callable[[str], None]
) -> None:
    rireki("import")
    rireki("forget", ID, "--yes")
    as_before(f"DELETE FROM forgotten WHERE conversation <> '{ID}'")
    rireki("import")
    with (folder / "messages.jsonl").open("a") as file:
        file.write("{}\n")
    rireki("import")
    assert rireki("list", "--json").json == []


def test_one_that_was_driven_is_one_conversation_with_its_journal(
    home: Path, folder: Path, rireki: Rireki
) -> None:
    journal = Journal(home)
    journal.start("kiro")
    journal.write("session", source="kiro", id=folder.name)
    journal.send("p1", "hello third engine")
    rireki("import")
    (about,) = rireki("list", "--json").json
    assert about["id"] == f"kiro/{folder.name}"
    assert shown(rireki, "bridge/drive-1") == about["id"]
