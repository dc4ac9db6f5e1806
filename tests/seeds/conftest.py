"""`rireki` as a person runs it, with the real readers, over a home that tests fill."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import pytest
from click.testing import CliRunner

from rireki.cli import main as face


class Ran(NamedTuple):
    out: str
    err: str
    code: int

    @property
    def json(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


Rireki = Callable[..., Ran]


@pytest.fixture
def archive_file(tmp_path: Path) -> Path:
    return tmp_path / "kept" / "archive.sqlite3"


@pytest.fixture
def rireki(home: Path, archive_file: Path, monkeypatch: pytest.MonkeyPatch) -> Rireki:
    monkeypatch.setenv("RIREKI_ARCHIVE", str(archive_file))
    monkeypatch.setenv("COLUMNS", "160")

    def run(*arguments: str) -> Ran:
        given = ["--home", str(home)] if arguments == ("import",) else []
        with CliRunner(catch_exceptions=False).isolation() as (out, err, _):
            code = face.run([*arguments, *given])
            sys.stdout.flush()
            sys.stderr.flush()
            return Ran(out.getvalue().decode(), err.getvalue().decode(), code)

    return run


@pytest.fixture
def as_before(archive_file: Path) -> Callable[[str], None]:
    """Change what is stored to what an earlier version would have stored."""

    def change(statement: str) -> None:
        connection = apsw.Connection(str(archive_file))
        try:
            connection.execute(statement)
            connection.execute("DELETE FROM meta WHERE key = 'rules'")
        finally:
            connection.close()

    return change
