"""docs/formats.md: its commands do what it says, on the invented history, one after the other."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from rireki.archive.open import open_archive
from rireki.cli import main as face
from rireki.cli.main import cli
from rireki.intake.demo import make_demo_home
from rireki.intake.sweep import import_history
from rireki.show.formats import FORMATS
from rireki.sources.kit.places import Places

PAGE = Path(__file__).parents[2] / "docs" / "formats.md"


def commands() -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text("utf-8"), flags=re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def test_every_command_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_demo_home(tmp_path / "home")
    archive = open_archive(tmp_path / "archive.sqlite3", create=True)
    import_history(archive, places=Places.at(tmp_path / "home"))
    archive.close()
    monkeypatch.setenv("RIREKI_ARCHIVE", str(tmp_path / "archive.sqlite3"))
    monkeypatch.chdir(tmp_path)
    assert len(commands()) > 9
    for command in commands():
        line, _, file = command.partition(" > ")
        name, *arguments = shlex.split(line)
        runner = CliRunner(catch_exceptions=False)
        with runner.isolation() as (out, err, _):
            code = face.run(arguments)
        assert (name, code) == ("rireki", 0), (command, err.getvalue().decode())
        if file:
            (tmp_path / file).write_bytes(out.getvalue())
    for made in ("run.atif.json", "notes", "everything", "trace.jsonl", "traces", "question.html"):
        path = tmp_path / made
        assert any(path.iterdir()) if path.is_dir() else path.stat().st_size > 500
    listed = CliRunner().invoke(cli, ["list", "--json"]).output
    assert '"source":"atif"' in listed and '"source":"shared"' in listed


def test_every_format_is_in_the_table() -> None:
    told = PAGE.read_text("utf-8").partition("\n## ")[0]
    assert [name for name in FORMATS if f"`{name}`" not in told] == []
