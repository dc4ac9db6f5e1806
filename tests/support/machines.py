"""Two machines of one person on this one: each with a home, a data directory and an archive."""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from rireki.archive.base import Archive
from rireki.archive.open import open_archive
from rireki.cli.main import run


class Laptop:
    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.home = folder / name / "home"
        self.data = folder / name / "data"
        self.home.mkdir(parents=True)
        (self.data / "rireki").mkdir(parents=True, mode=0o700)
        machine = self.data / "rireki" / "machine.json"
        machine.write_text(json.dumps({"id": f"id-of-{name}", "name": name}), encoding="utf-8")
        self.archive = self.data / "rireki" / "archive.sqlite3"

    @property
    def environment(self) -> dict[str, str]:
        return {"XDG_DATA_HOME": str(self.data), "HOME": str(self.home)}

    @contextmanager
    def used(self) -> Iterator[None]:
        with mock.patch.dict(os.environ, self.environment):
            os.environ.pop("RIREKI_ARCHIVE", None)
            yield

    def rireki(self, *words: str, code: int = 0) -> str:
        """What a command prints."""
        out, err = io.StringIO(), io.StringIO()
        with self.used(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            found = run(words)
        assert found == code, f"{words}: {found}\n{out.getvalue()}\n{err.getvalue()}"
        return out.getvalue() + (err.getvalue() if code else "")

    def json(self, *words: str, code: int = 0) -> list[Any]:
        said = self.rireki(*words, "--json", code=code)
        return [json.loads(line) for line in said.splitlines() if line.startswith("{")]

    def take_in(self) -> None:
        self.rireki("import", "--home", str(self.home), "--no-index")

    @contextmanager
    def opened(self) -> Iterator[Archive]:
        with self.used(), closing(open_archive(self.archive, create=True)) as archive:
            yield archive
