"""A history with secrets in what was typed, in what a tool was asked, and in what came back."""

from __future__ import annotations

import json
from pathlib import Path

from rireki.archive.open import open_archive
from rireki.intake.sweep import import_history
from rireki.sources.kit.places import Places
from tests.support.secrets import secrets

__all__ = ["ID", "PASSWORD", "SECRET", "archive_with_secrets"]

_MADE = {secret.kind: secret for secret in secrets(200)}
SECRET = _MADE["github-token"].value
PASSWORD = _MADE["url-password"]
ID = "5471a680-0000-4000-8000-000000000001"


def archive_with_secrets(folder: Path) -> Path:
    """Where the archive is; what it read stands in `home` beside it."""
    home = folder / "home"
    project = home / ".claude" / "projects" / "-home-ann-shop"
    project.mkdir(parents=True)
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": f"push {SECRET}"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": PASSWORD.text}
    entries = [
        _entry("user", f"deploy with {SECRET} please", "a", None),
        _entry("assistant", [call], "b", "a"),
        _entry("user", [result], "c", "b"),
    ]
    lines = "".join(json.dumps(entry) + "\n" for entry in entries)
    (project / f"{ID}.jsonl").write_text(lines, encoding="utf-8")
    path = folder / "archive.sqlite3"
    archive = open_archive(path, create=True)
    import_history(archive, places=Places.at(home))
    archive.close()
    return path


def _entry(role: str, content: object, id: str, parent: str | None) -> dict[str, object]:
    return {
        "type": role,
        "message": {"role": role, "content": content, "id": f"m{id}", "model": "claude"},
        "sessionId": ID,
        "cwd": "/home/ann/shop",
        "uuid": id,
        "parentUuid": parent,
        "timestamp": f"2026-01-01T00:00:0{ord(id) - 97}Z",
    }
