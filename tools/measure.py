"""Counts what keeps the source easy to find one's way in: `python -m tools.measure`.

Class names defined more than once, imports inside functions, words that lack a line in the glossary,
modules that a walk of the data visits, verbs of the archive, lines and files. `--names` lists what
was counted; `--json` is for programs.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import shutil
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import TypeAlias

__all__ = ["doubled_classes", "read_modules"]

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "rireki"
#: Modules of ours, by path below src/rireki: text and syntax tree.
Modules: TypeAlias = dict[str, tuple[str, ast.Module]]
FOLDERS = ("sources/claude_code", "sources/amazon_q", "search", "drive", "cli", "web/pages")
#: A word that so many packages import needs a line in the glossary.
PACKAGES = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="everything, for programs")
    parser.add_argument("--names", action="store_true", help="name what was counted")
    options = parser.parse_args()
    found = measure()
    if options.json:
        print(json.dumps(found, indent=1))
        return
    for figure, counted in found.items():
        print(f"{counted if isinstance(counted, int) else len(counted):7,}  {figure}")
        if options.names and not isinstance(counted, int):
            print(*(f"         {each}" for each in counted), sep="\n")


def measure() -> dict[str, int | list[str]]:
    modules = read_modules()
    return {
        "class names defined more than once": doubled_classes(modules),
        "imports inside functions": inner_imports(modules),
        "imports inside functions that do not say why": unexplained_imports(modules),
        "words missing in the glossary": missing_words(modules),
        "verbs of Archive and Batch": verbs(modules),
        "rows and questions an engine implements": _methods(modules, "archive/rows.py", "Rows"),
        "tests that name SqliteRows": tests_naming_the_engine(),
        "lines of source": sum(text.count("\n") for text, _ in modules.values()),
        **{f"files in {folder}": len(list((SOURCE / folder).glob("*.py"))) for folder in FOLDERS},
        **_visited(walks()),
    }


def read_modules() -> Modules:
    texts = {path: path.read_text("utf-8") for path in sorted(SOURCE.rglob("*.py"))}
    return {
        path.relative_to(SOURCE).as_posix(): (text, ast.parse(text)) for path, text in texts.items()
    }


# ── names ──


def doubled_classes(modules: Modules) -> list[str]:
    places = _public_classes(modules)
    return [f"{name}: {', '.join(each)}" for name, each in places.items() if len(each) > 1]


def _public_classes(modules: Modules) -> dict[str, list[str]]:
    places: dict[str, list[str]] = defaultdict(list)
    for path, (_, tree) in modules.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(path)
    return dict(sorted(places.items()))


def inner_imports(modules: Modules) -> list[str]:
    found = set()
    for path, (_, tree) in modules.items():
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                for node in ast.walk(function):
                    if isinstance(node, ast.Import | ast.ImportFrom):
                        found.add(f"{path}:{node.lineno}")
    return sorted(found)


def unexplained_imports(modules: Modules) -> list[str]:
    """Those of `inner_imports` without a comment above them, or above the imports before them."""
    return [place for place in inner_imports(modules) if not _is_explained(modules, place)]


def _is_explained(modules: Modules, place: str) -> bool:
    path, _, number = place.rpartition(":")
    above = modules[path][0].splitlines()[: int(number) - 1]
    while above and (not above[-1].strip() or above[-1].lstrip().startswith(("from ", "import "))):
        above.pop()
    return bool(above) and above[-1].lstrip().startswith("#")


def missing_words(modules: Modules) -> list[str]:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    section = text.partition("## Words")[2].partition("\n## ")[0]
    terms = " ".join(re.findall(r"^\| ([^|]+) \|", section, re.MULTILINE))
    known = set(re.findall(r"\w+", terms.lower()))
    return sorted(word for word in _shared_words(modules) if not _forms(word) & known)


def _shared_words(modules: Modules) -> set[str]:
    """Packages, modules and public classes that at least three packages import."""
    users: dict[str, set[str]] = defaultdict(set)
    classes = _public_classes(modules)
    for path, (_, tree) in modules.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rireki."):
                words = (node.module or "").split(".")[1:]
                words += [each.name for each in node.names if each.name in classes]
                for word in words:
                    users[word].add(path.partition("/")[0])
    return {word for word, packages in users.items() if len(packages) >= PACKAGES}


def _forms(name: str) -> set[str]:
    """How the glossary may have it: as it is, or its words in a row."""
    words = [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]
    singular = name.lower().removesuffix("s")
    return {name.lower(), singular, "".join(words)}


# ── the archive ──


def verbs(modules: Modules) -> list[str]:
    return _methods(modules, "archive/base.py", "Archive") + _methods(
        modules, "archive/batch.py", "Batch"
    )


def _methods(modules: Modules, path: str, name: str) -> list[str]:
    _, tree = modules[path]
    return [
        f"{name}.{verb.name}"
        for node in tree.body
        if isinstance(node, ast.ClassDef) and node.name == name
        for verb in node.body
        if isinstance(verb, ast.FunctionDef) and not verb.name.startswith("_")
        # What it is, not what it does.
        if not any(getattr(each, "id", "") == "property" for each in verb.decorator_list)
    ]


def tests_naming_the_engine() -> list[str]:
    paths = sorted((ROOT / "tests").rglob("*.py"))
    return [
        path.relative_to(ROOT).as_posix()
        for path in paths
        if "SqliteRows" in path.read_text("utf-8")
    ]


# ── walks of the data ──


def _visited(found: dict[str, list[str]]) -> dict[str, int | list[str]]:
    """Modules by walk. A template runs as Python too, but is no module: those are counted apart."""
    told: dict[str, int | list[str]] = {}
    for walk, seen in found.items():
        told[f"modules visited: {walk}"] = [each for each in seen if each.endswith(".py")]
        if templates := [each for each in seen if not each.endswith(".py")]:
            told[f"templates rendered: {walk}"] = list(templates)
    return told


def walks() -> dict[str, list[str]]:
    """The files in which a function was called, by walk."""
    from tests.support.homes import lay_out

    visits = Visits()
    found = {}
    with TemporaryDirectory() as folder, visits.counting():
        home, archive = Path(folder) / "home", Path(folder) / "archive.sqlite3"
        lay_out("amazon-q-1.12", home)
        lay_out("claude-code-2.0.76", home)
        take_in = ["import", "--home", str(home), "--archive", str(archive)]
        name = json.loads(_run([*take_in], ["list", "--json", "--archive", str(archive)]))["id"]
        _append_to_one(home)
        found["import of one file"] = visits.during(lambda: _run(take_in))
        shutil.rmtree(home / ".local" / "share" / "amazon-q")
        lay_out("amazon-q-1.19", home)
        found["overwrite in Amazon Q"] = visits.during(lambda: _run(take_in))
        shown = ["show", name, "--archive", str(archive)]
        found["terminal"] = visits.during(lambda: _run(shown))
        query = ["search", "test", "--archive", str(archive)]
        found["search"] = visits.during(lambda: _run(query))
        found["web page"] = _visit_page(visits, archive, home, name)
    return found


class Visits:
    """Which of our modules have a function called, in any thread."""

    def __init__(self) -> None:
        self._seen: set[str] | None = None
        self._below = f"{SOURCE}/"

    @contextmanager
    def counting(self) -> Iterator[None]:
        # Threads that began before would not be seen.
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def during(self, walk: Callable[[], object]) -> list[str]:
        self._seen = set()
        walk()
        seen, self._seen = self._seen, None
        return sorted(seen)

    def _note(self, frame: FrameType, event: str, argument: object) -> None:
        if event != "call" or self._seen is None or frame.f_code.co_name == "<module>":
            return
        if (file := frame.f_code.co_filename).startswith(self._below):
            self._seen.add(file.removeprefix(self._below))


def _append_to_one(home: Path) -> None:
    transcript = min(home.rglob("*.jsonl"))
    with transcript.open("ab") as file:
        file.write(json.dumps({"type": "summary", "summary": "One more"}).encode() + b"\n")


def _run(*commands: list[str]) -> str:
    """What the last command writes first."""
    from click.testing import CliRunner

    from rireki.cli import main

    for command in commands:
        with CliRunner().isolation() as (out, _, _):
            main.run(command)
            sys.stdout.flush()
            said = out.getvalue().decode()
    return said.partition("\n")[0]


def _visit_page(visits: Visits, archive: Path, home: Path, name: str) -> list[str]:
    from tests.web.conftest import client_of, serving

    from rireki.web.pages.home import warm

    with serving(archive, home) as server, client_of(server) as client:
        client.get("/")
        # What the front page loads for later, in a thread of its own, is no part of this walk.
        while not warm.cache_info().currsize:
            time.sleep(0.01)
        return visits.during(lambda: client.get(f"/c/{name}").raise_for_status())


if __name__ == "__main__":
    main()
