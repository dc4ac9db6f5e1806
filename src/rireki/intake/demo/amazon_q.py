"""Writes Amazon Q's database of the demo home: one conversation per directory, the newest one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from rireki.intake.demo.q_state import DemoState
from rireki.intake.demo.steps import DemoConversation

__all__ = ["SCHEMA", "save", "write_amazon_q"]

#: What migrations 000 to 007 of Amazon Q leave behind.
SCHEMA = """
CREATE TABLE migrations (id INTEGER PRIMARY KEY, version INTEGER NOT NULL, migration_time INTEGER NOT NULL);
CREATE TABLE history (id INTEGER PRIMARY KEY, command TEXT, shell TEXT, pid INTEGER, session_id TEXT,
    cwd TEXT, start_time INTEGER, hostname TEXT, exit_code INTEGER, end_time INTEGER, duration INTEGER);
CREATE TABLE auth_kv (key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE state (key TEXT PRIMARY KEY, value BLOB);
CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT);
"""


def write_amazon_q(home: Path, stories: Iterable[DemoConversation]) -> None:
    path = _database(home)
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(SCHEMA)
    path.chmod(0o600)
    save(home, stories)


def save(home: Path, stories: Iterable[DemoConversation]) -> None:
    """As Q saves after an answer: what lay under the same directory is overwritten."""
    rows = [(story.project, DemoState(story).value()) for story in stories]
    with closing(sqlite3.connect(_database(home))) as database, database:
        database.executemany("INSERT OR REPLACE INTO conversations VALUES (?, ?)", rows)


def _database(home: Path) -> Path:
    return home / ".local" / "share" / "amazon-q" / "data.sqlite3"
