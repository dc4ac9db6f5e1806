"""Homes made of fixtures: each is what one real machine could look like."""

from __future__ import annotations

import shutil
from pathlib import Path

FIXTURES = Path(__file__).parents[1] / "fixtures"
CLAUDE = sorted(path.name for path in (FIXTURES / "claude-code").iterdir() if path.is_dir())
CODEX = sorted(path.name for path in (FIXTURES / "codex").iterdir() if path.is_dir())
NAMES = [
    *(f"claude-code-{version}" for version in CLAUDE),
    *(f"codex-{version}" for version in CODEX),
    "amazon-q-1.12",
    "amazon-q-1.19",
    "kiro",
    "rireki",
    "bridge",
]


def lay_out(name: str, home: Path) -> Path:
    """Copy the fixtures of that name to where their agents keep them."""
    if name.startswith("claude-code-"):
        copy(
            FIXTURES / "claude-code" / name.removeprefix("claude-code-") / ".claude",
            home / ".claude",
        )
    elif name.startswith("codex-"):
        copy(FIXTURES / "codex" / name.removeprefix("codex-") / ".codex", home / ".codex")
    elif name.startswith("amazon-q-"):
        store = FIXTURES / "amazon-q" / f"q-{name.removeprefix('amazon-q-')}"
        copy(store, home / ".local" / "share" / "amazon-q")
    elif name == "rireki":
        copy(FIXTURES / "rireki", home / ".local" / "share" / "rireki")
    elif name == "bridge":
        for folder in (".claude", ".local"):
            copy(FIXTURES / "bridge" / folder, home / folder)
    else:
        kiro = FIXTURES / "amazon-q"
        copy(kiro / "kiro-1.23" / "kiro-cli", home / ".local" / "share" / "kiro-cli")
        copy(kiro / "kiro-2.2" / ".kiro", home / ".kiro")
    return home


def copy(source: Path, target: Path) -> None:
    """A copy that may be written to, whatever the original's mode."""
    shutil.copytree(source, target, copy_function=shutil.copyfile)
    for path in [target, *target.rglob("*")]:
        path.chmod(0o700 if path.is_dir() else 0o600)


def files(home: Path) -> list[Path]:
    return sorted(path for path in home.rglob("*") if path.is_file())
