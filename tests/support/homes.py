"""Homes made of fixtures: each is what one real machine could look like."""

from __future__ import annotations

import shutil
from pathlib import Path

FIXTURES = Path(__file__).parents[1] / "fixtures"
#: Sources whose fixtures are homes: a folder per version, with files where the agent keeps them.
HOMES = (
    "claude-code",
    "codex",
    "gemini-cli",
    "qwen-code",
    "opencode",
    "copilot-cli",
    "vscode-copilot-chat",
    "cline",
    "roo-code",
    "kilo-code",
    "amazon-q-ide",
    "kiro-ide",
    "llm",
    "aider",
    "cursor",
    "amp",
    "goose",
    "zed",
    "crush",
)
TREES = {
    f"{source}-{path.name}": path
    for source in HOMES
    for path in sorted((FIXTURES / source).iterdir())
    if path.is_dir()
}
NAMES = [*TREES, "amazon-q-1.12", "amazon-q-1.19", "kiro", "rireki", "bridge"]


def lay_out(name: str, home: Path) -> Path:
    """Copy the fixtures of that name to where their agents keep them."""
    if name in TREES or name == "bridge":
        for folder in (TREES.get(name) or FIXTURES / name).iterdir():
            if folder.is_dir():
                copy(folder, home / folder.name)
            elif folder.name.startswith("."):
                home.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(folder, home / folder.name)
    elif name.startswith("amazon-q-"):
        store = FIXTURES / "amazon-q" / f"q-{name.removeprefix('amazon-q-')}"
        copy(store, home / ".local" / "share" / "amazon-q")
    elif name == "rireki":
        copy(FIXTURES / "rireki", home / ".local" / "share" / "rireki")
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
