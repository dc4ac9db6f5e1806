"""What the documents say is true: their examples run, what they name exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rireki.archive.base import Archive
from rireki.intake.sweep import import_history
from rireki.sources import registry
from rireki.sources.kit.places import Places
from tests.support.homes import lay_out

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def test_a_stranger_can_read_the_archive_with_the_documented_lines(
    archive: Archive, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_out("claude-code-1.0.51", home)
    import_history(archive, places=Places.at(home))
    text = (ROOT / "docs" / "archive-format.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    (name,) = re.findall(r'"%/(.*?\.jsonl)"', code)
    monkeypatch.chdir(archive.home.archive.parent)
    names: dict[str, object] = {}
    exec(code, names)
    (original,) = home.rglob(name)
    assert names["document"] == original.read_bytes()


@pytest.mark.parametrize("source", registry.names())
def test_every_source_has_a_page_with_its_evidence(source: str) -> None:
    pages = ROOT / "docs" / "sources"
    # Siblings share a page, which names each in a table.
    named = [page for page in pages.glob("*.md") if f"| `{source}` |" in page.read_text("utf-8")]
    assert (pages / f"{source}.md").is_file() or len(named) == 1


def test_the_tree_in_the_architecture_is_the_tree_on_disk() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    tree = re.findall(r"```text\n(src/rireki/\n.*?)```", text, flags=re.DOTALL)[0]
    told = set(re.findall(r"^[├└]── (\w+)/ ", tree, flags=re.MULTILINE))
    packages = {p.parent.name for p in (ROOT / "src" / "rireki").glob("*/__init__.py")}
    assert told == packages


#: Where the examples of each document are run; those of the others are run here.
RUN_ELSEWHERE = {
    "agent.md": "tests/agent/test_example.py",
    "archive-format.md": "tests/test_docs.py",
    "chatkit.md": "tests/chatkit/test_docs.py",
    "history.md": "tests/history/test_docs.py",
    "python.md": "tests/test_library.py",
    "workers.md": "tests/history/test_postgres.py",
}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_example_in_python_runs(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    examples = re.findall(
        r"```python\n(.*?)```", document.read_text(encoding="utf-8"), flags=re.DOTALL
    )
    if not examples:
        return
    elsewhere = RUN_ELSEWHERE.get(document.name)
    if elsewhere is not None:
        assert document.name in (ROOT / elsewhere).read_text(encoding="utf-8")
        return
    monkeypatch.setenv("RIREKI_ARCHIVE", str(tmp_path / "archive.sqlite3"))
    names: dict[str, object] = {
        "messages": [{"role": "user", "content": "hello"}],
        "system": "Be brief.",
    }
    for number, example in enumerate(examples, 1):
        exec(compile(example, f"{document.name}, example {number}", "exec"), names)
