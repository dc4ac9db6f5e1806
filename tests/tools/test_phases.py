"""A test that starts a process cannot hide among those that run beside each other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import phases
from tools import suite

ROOT = Path(__file__).parents[2]
HIDDEN = """
import subprocess, sys, threading, time
def test_quick(): time.sleep(0.01)
def test_sleeps(): [time.sleep(0.05) for _ in range(7)]
def test_lets_a_thread_sleep():
    thread = threading.Thread(target=time.sleep, args=(0.4,))
    thread.start(); thread.join()
def test_starts(): subprocess.run([sys.executable, "-c", ""], check=True)
"""
CONFTEST = (
    "from tests.conftest import pytest_addoption, pytest_collection_modifyitems, pytest_configure"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small suite under the rules of ours."""
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    waits\n    slow\n")
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_hidden.py").write_text(HIDDEN)
    return tmp_path


def run(folder: Path, *words: str) -> tuple[str, list[str]]:
    told = folder / "failed.json"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), suite.VARIABLE: str(told)}
    command = [*suite.PYTEST, "-p", "no:cacheprovider", *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    return done.stdout, json.loads(told.read_text())


def test_what_waits_and_is_not_named_fails_and_says_where_to_name_it(folder: Path) -> None:
    said, failed = run(folder, "-m", "not waits")
    assert failed == ["test_hidden.py::test_sleeps", "test_hidden.py::test_starts"]
    assert "test_sleeps waits (time.sleep): name it" in said
    assert "test_starts waits (subprocess.Popen): name it, or its file, in tests/phases.py" in said


def test_alone_it_may_wait(folder: Path) -> None:
    assert run(folder)[1] == []


def test_marks_go_by_folder_by_file_and_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phases, "WAITS", ("drive/", "web/test_a.py", "web/test_b.py::test_one"))

    def waits(node: str) -> bool:
        return "waits" in phases.marks(node)

    assert waits("tests/drive/test_x.py::test_y") and waits("tests/web/test_a.py::test_y[1]")
    assert waits("tests/web/test_b.py::test_one[a::b]")
    assert not waits("tests/web/test_b.py::test_one_more") and not waits(
        "tests/web/test_ab.py::test_y"
    )


def test_what_is_named_is_there() -> None:
    for name in (*phases.WAITS, *phases.SLOW, *phases.LONGEST_FIRST):
        file, _, test = name.partition("::")
        assert (ROOT / "tests" / file).exists(), name
        assert not test or f"def {test}(" in (ROOT / "tests" / file).read_text("utf-8"), name


def test_the_longest_begin_first(folder: Path) -> None:
    for name in ("a", "b", "long"):
        (folder / f"test_{name}.py").write_text(
            f"def test_it():\n    with open('began', 'a') as began: print('{name}', file=began)\n"
        )
    (folder / "conftest.py").write_text(
        f"{CONFTEST}\nfrom tests import phases\n"
        "phases.WAITS = ('test_a.py', 'test_b.py', 'test_long.py')\n"
        "phases.LONGEST_FIRST = ('test_long.py', 'test_b.py')\n"
    )
    run(folder, "-m", "waits")
    assert (folder / "began").read_text().split() == ["long", "b", "a"]
    # xdist has an order of its own, unless it is told.
    assert "--no-loadscope-reorder" in suite.phases(fast=False)[1].options


def test_browser_tests_wait() -> None:
    users = [
        path
        for path in (ROOT / "tests").rglob("test_*.py")
        if "playwright" in path.read_text("utf-8") and path.name != Path(__file__).name
    ]
    assert len(users) > 5
    for path in users:
        assert "waits" in phases.marks(f"{path.relative_to(ROOT).as_posix()}::test_any"), path


def test_what_needed_a_second_try_is_named_at_the_end(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "test_hidden.py").write_text(
        "from pathlib import Path\n"
        "def test_late():\n"
        "    mark = Path('mark'); there = mark.exists(); mark.touch(); assert there\n"
    )
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    phase = suite.Phase("short", ["-p", "no:cacheprovider"])
    monkeypatch.setattr(suite, "phases", lambda fast: [phase])
    assert suite.main(["fast"]) == 0
    said = capfd.readouterr().out
    assert "NEEDED A SECOND TRY, which is a defect:\n   test_hidden.py::test_late" in said
    (folder / "test_hidden.py").write_text("def test_wrong(): assert 0\n")
    assert suite.main(["fast"]) == 1
    assert "FAILED:\n   test_hidden.py::test_wrong" in capfd.readouterr().out


def test_nothing_is_left_out_by_the_phases() -> None:
    """What one phase leaves out the other has."""
    first, second = suite.phases(fast=False)
    assert first.options[-1] == f"not {second.options[-1]}"
    assert second.options[:2] == ["-n", "2"]
    ignored = {word.removeprefix("--ignore=") for word in first.options if "--ignore" in word}
    assert ignored and ignored <= set(second.options)
    assert sys.executable in suite.PYTEST
