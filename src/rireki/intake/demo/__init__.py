"""An invented home with conversations of every source, for people who have no history yet.

`make_demo_home` copies what lies in `home/`, with its dates moved by whole weeks.
`change_demo_home` then does what agents do to history, so that an archive that saw
both has something to show for it. README.md tells how to change the data.
"""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from datetime import date, datetime, timedelta, timezone
from pathlib import Path

from rireki.errors import RirekiError

__all__ = ["change_demo_home", "is_demo_home", "make_demo_home"]

_HOME = Path(__file__).parent / "home"
_LATER = Path(__file__).parent / "later"
#: What becomes a database, called so without the last ending.
_DATABASE = re.compile(r"\.(?:sqlite3|vscdb|db)\.json\Z")
#: The day after the newest conversation of the data.
_TODAY = date(2026, 11, 15)
_TYPED = Path("claude", "history.jsonl")
#: The transcript that its agent cleans away.
_CLEANED = Path(
    "claude/projects/-home-aiko-dev-haiku-bot/f5e20f6a-53dd-52f9-90d5-548212613e70.jsonl"
)
_DAY = re.compile(r"(?<![\w-])20\d\d-\d\d-\d\d(?!\d)|(?<=date\()20\d\d, \d\d?, \d\d?(?=\))")
#: A day in the name of a file, or a folder for each part of it.
_NAMED = re.compile(r"20\d\d([-/])\d\d\1\d\d")
#: Seconds or milliseconds since 1970, as numbers of JSON, or as texts that are nothing else.
_EPOCH = re.compile(r"(?<=[:,\[ \"])(17\d{8})(\d{3})?(?=[,}\]\"])")


def make_demo_home(directory: Path, today: date | None = None) -> None:
    """Write the home into a directory that is empty or not there yet.

    Its newest conversation is less than a week old on the given day; without one,
    the home is the same byte for byte each time.
    """
    if directory.exists() and any(directory.iterdir()):
        raise RirekiError("demo-not-empty", path=directory)
    weeks = max((today - _TODAY).days // 7, 0) if today else 0
    for path in sorted(_HOME.rglob("*")):
        if path.is_file():
            text = _shifted(path.read_text("utf-8"), weeks)
            name = _shifted_name(path.relative_to(_HOME), weeks)
            _write(_place(directory, name), text)


def is_demo_home(directory: Path) -> bool:
    """Whether this was made by us, and time has not passed in it yet."""
    return _place(directory, _CLEANED).exists()


def change_demo_home(directory: Path) -> None:
    """Let time pass: a chat is overwritten, another compacted, a transcript cleaned away."""
    weeks = _weeks_of(directory)
    for path in sorted(_LATER.rglob("*.json")):
        text = _shifted(path.read_text("utf-8"), weeks)
        _write(_place(directory, path.relative_to(_LATER)), text)
    _place(directory, _CLEANED).unlink(missing_ok=True)


def _place(directory: Path, relative: Path) -> Path:
    """Agents keep everything in hidden folders; ours are not hidden, so that they can be found."""
    return directory / f".{relative.as_posix()}"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if _DATABASE.search(path.name):
        path = path.with_suffix("")
        tables = json.loads(text)
        _save(path, tables.pop("schema", []), tables)
    else:
        path.write_bytes(text.encode())
    path.chmod(0o600)


def _save(path: Path, schema: list[str], tables: dict[str, list[list[object]]]) -> None:
    """Save rows as agents do: what lay under the same key is overwritten."""
    with closing(sqlite3.connect(path)) as database, database:
        for statement in schema:
            database.execute(statement)
        for table, rows in tables.items():
            for row in rows:
                values = [_spelled(v) if isinstance(v, dict | list) else v for v in row]
                marks = ", ".join("?" * len(values))
                database.execute(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", values)


def _spelled(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# ── dates ──


def _weeks_of(directory: Path) -> int:
    """By how many weeks this home was moved when it was made."""
    moved = _first_typed(_place(directory, _TYPED)) - _first_typed(_HOME / _TYPED)
    return moved // timedelta(weeks=1)


def _first_typed(path: Path) -> datetime:
    with path.open(encoding="utf-8") as file:
        typed = json.loads(file.readline())["timestamp"]
    return datetime.fromtimestamp(typed / 1000, timezone.utc)


def _shifted(text: str, weeks: int) -> str:
    """Move every date; whole weeks, because what is said names days of the week."""
    if not weeks:
        return text
    seconds = int(timedelta(weeks=weeks).total_seconds())
    text = _EPOCH.sub(lambda found: f"{int(found[1]) + seconds}{found[2] or ''}", text)
    return _DAY.sub(lambda found: _shifted_day(found[0], weeks), text)


def _shifted_name(name: Path, weeks: int) -> Path:
    """Agents also call files and folders by dates."""
    return Path(_NAMED.sub(lambda found: _shifted_named(found[0], weeks), name.as_posix()))


def _shifted_named(told: str, weeks: int) -> str:
    return _shifted_day(told.replace("/", "-"), weeks).replace("-", told[4])


def _shifted_day(told: str, weeks: int) -> str:
    year, month, day = (int(number) for number in re.findall(r"\d+", told))
    moved = date(year, month, day) + timedelta(weeks=weeks)
    return f"{moved.year}, {moved.month}, {moved.day}" if "," in told else moved.isoformat()
