"""`rireki secrets`, and `rireki show --mask`."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from rireki.cli import main
from rireki.model.providers import PROVIDERS
from rireki.show.catalogue import speak
from rireki.show.formats import FORMATS
from tests.support.secret_history import ID, PASSWORD, SECRET, archive_with_secrets


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return archive_with_secrets(tmp_path)


def ran(*arguments: str) -> str:
    with CliRunner().isolation() as (out, _, _):
        assert main.run(arguments) == 0
        sys.stdout.flush()
        return out.getvalue().decode()


def test_it_tells_kinds_places_and_times_and_no_secret(archive: Path) -> None:
    told = ran("secrets", "--archive", str(archive))
    assert SECRET not in told and PASSWORD.value not in told
    assert told.count("github-token #") == 1
    # The title, the prompt and the call.
    assert "3 places" in told and f"claude-code/{ID}#b" in told and "tool call" in told
    assert "url-password #" in told and "2 secrets in all; none is shown." in told


def test_programs_get_all_of_it(archive: Path) -> None:
    lines = ran("secrets", "--json", "--archive", str(archive)).splitlines()
    assert not any(SECRET in line for line in lines)
    found = {value["kind"]: value for value in map(json.loads, lines)}
    token = found["github-token"]
    assert [place["where"] for place in token["places"]] == [["title"], ["text"], ["tool_call"]]
    assert token["first"] < token["last"] and token["times"] == 3
    assert found["url-password"]["places"][0]["message"] == "c"


def test_in_japanese(archive: Path) -> None:
    speak("ja")
    try:
        with CliRunner(env={"LANG": "ja_JP.UTF-8", "LC_ALL": "ja_JP.UTF-8"}).isolation() as (
            out,
            _,
            _,
        ):
            main.run(["secrets", "--archive", str(archive)])
            sys.stdout.flush()
            told = out.getvalue().decode()
    finally:
        speak("en")
    assert "3 か所" in told and "全部で秘密情報 2 件（値は表示しません）" in told


def test_without_secrets_that_is_said(tmp_path: Path) -> None:
    from rireki.archive.open import open_archive

    path = tmp_path / "archive.sqlite3"
    open_archive(path, create=True).close()
    assert ran("secrets", "--archive", str(path)) == "No secrets were found.\n"


@pytest.mark.parametrize("form", ["text", *FORMATS, *PROVIDERS])
def test_show_masks_in_every_format(archive: Path, form: str) -> None:
    arguments = ("show", ID, "--all", "--full", "--format", form, "--archive", str(archive))
    assert SECRET in ran(*arguments)
    told = ran(*arguments, "--mask")
    assert "[masked: github-token #" in told
    assert SECRET not in told and PASSWORD.value not in told


def test_raw_records_stay_json(archive: Path) -> None:
    told = ran("show", ID, "--raw", "--mask", "--archive", str(archive))
    assert SECRET not in told
    plain = ran("show", ID, "--raw", "--archive", str(archive))
    records = [json.loads(line) for line in io.StringIO(told)]
    assert [r["uuid"] for r in records] == [json.loads(line)["uuid"] for line in io.StringIO(plain)]
