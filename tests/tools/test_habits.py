"""What contributors are told is true: paths, versions, hooks, the workflow, the changelog."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]
from tools.locks import PYTHONS, path_of, read_lock

import rireki

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
WORKFLOW = ROOT / ".github" / "workflows" / "test.yml"


def workflow() -> dict[str, Any]:
    settings: dict[str, Any] = yaml.safe_load(WORKFLOW.read_text("utf-8"))
    return settings


def test_every_path_that_contributing_names_exists() -> None:
    named = re.findall(r"`([\w.-]+(?:/[\w.<>-]*)+)`", GUIDE)
    # What is run there is named as well.
    named += re.findall(r"(?<=[ \n])tests/[\w/.-]+", GUIDE)
    assert len(named) > 25
    for path in named:
        assert (ROOT / path.partition("<")[0]).exists(), f"CONTRIBUTING.md names {path}"


def test_the_guide_says_how_to_add_each_kind_of_thing() -> None:
    headings = re.findall(r"^## (.*)", GUIDE, re.MULTILINE)
    for thing in ("page", "command", "provider", "translation", "reader", "release"):
        assert any(re.search(rf"How to .*\b{thing}$", heading) for heading in headings), thing
    assert "Part of the tests" in headings


def test_the_changelog_begins_with_the_version_that_is_worked_on() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    first, *_ = re.findall(r"^## (\S+) \((.+)\)$", text, re.MULTILINE)
    assert first[0] == rireki.__version__
    assert first[1] == "unreleased" or re.fullmatch(r"\d{4}-\d\d-\d\d", first[1])


def test_the_workflow_runs_on_every_system_with_every_python_that_is_locked() -> None:
    matrix = workflow()["jobs"]["fast"]["strategy"]["matrix"]
    assert tuple(matrix["python"]) == PYTHONS
    assert matrix["system"] == ["ubuntu-latest", "macos-latest", "windows-latest"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = [line for line in project["classifiers"] if ":: Python :: 3." in line]
    assert [line.rpartition(" ")[2] for line in named] == list(PYTHONS)


def test_the_workflow_pins_its_actions_and_may_only_read() -> None:
    assert workflow()["permissions"] == {"contents": "read"}
    steps = [step for job in workflow()["jobs"].values() for step in job["steps"]]
    used = [step["uses"] for step in steps if "uses" in step]
    assert used and all(re.fullmatch(r"actions/[\w-]+@v\d+", name) for name in used)


def test_what_the_workflow_does_without_make_is_what_make_does() -> None:
    steps = workflow()["jobs"]["fast"]["steps"]
    (by_hand,) = [step["run"] for step in steps if "Windows has no make" in step.get("name", "")]
    makefile = (ROOT / "Makefile").read_text("utf-8")
    (recipe,) = re.findall(r"^fast:.*\n\t@\$\(BIN\)/python (.*)$", makefile, re.MULTILINE)
    assert by_hand.splitlines() == [
        "python -P tools/install.py test .venv",
        f".venv/Scripts/python {recipe}",
    ]


def test_hooks_run_the_locked_tools_and_fetch_nothing() -> None:
    settings = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    (local,) = settings["repos"]
    assert local["repo"] == "local"
    locked = {pin.name for pin in read_lock(path_of("test").read_text("utf-8"))}
    programs = {"lint-imports": "import-linter", "python": "pytest"}
    for hook in local["hooks"]:
        if hook["language"] == "system":
            folder, _, program = hook["entry"].split()[0].rpartition("/")
            assert folder == ".venv/bin" and programs.get(program, program) in locked, hook["id"]
        else:
            assert hook["language"] == "pygrep"


def test_forms_for_issues_can_be_read() -> None:
    forms = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
    assert len(forms) > 2
    for path in forms:
        form = yaml.safe_load(path.read_text("utf-8"))
        if path.name == "config.yml":
            continue
        assert form["name"] and form["description"], path.name
        assert all(part["type"] == "markdown" or part["id"] for part in form["body"]), path.name
