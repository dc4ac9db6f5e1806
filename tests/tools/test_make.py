"""The targets of the Makefile, and what each costs."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
TARGETS = {
    *(
        "serve",
        "test",
        "fast",
        "lint",
        "types",
        "golden",
        "looks",
        "stress",
        "bench",
        "docs",
        "lock",
        "clean",
    ),
}


def make(*words: str) -> str:
    command = ["make", "--no-print-directory", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_bare_make_tells_every_target_and_does_nothing() -> None:
    said = make()
    assert {line.split()[0] for line in said.splitlines()[2:]} == {"help", *TARGETS}
    assert said == make("help")


def test_serving_needs_no_environment_of_the_tests() -> None:
    steps = make("--dry-run", "--always-make", "serve")
    assert "tools/setup python3 serve .venv-serve" in steps
    assert ".venv-serve/bin/rireki serve" in steps
    assert not re.search(r"\.venv(?!-serve)", steps)


def test_testing_sets_up_its_own_and_ci_runs_it() -> None:
    steps = make("--dry-run", "--always-make", "test")
    assert "tools/setup python3 test .venv" in steps
    assert "tools.lock --check" in steps
    assert ".venv-serve" not in steps
    assert (ROOT / ".ci" / "run").read_text().rstrip().endswith("make test")


def test_the_site_of_the_documentation_has_an_environment_of_its_own_and_strict_links() -> None:
    steps = make("--dry-run", "--always-make", "docs")
    assert "tools/setup python3 docs .venv-docs" in steps
    assert "mkdocs build --strict" in steps
    assert not re.search(r"\.venv(?!-docs)", steps)


def test_an_environment_is_made_again_only_for_what_it_is_made_from() -> None:
    ready = make("--dry-run", "--always-make", ".venv-serve/.ready")
    assert "touch .venv-serve/.ready" in ready
    prerequisites = re.findall(
        r"^\$\(SERVE\)/\.ready: (.*)", (ROOT / "Makefile").read_text(), re.MULTILINE
    )
    assert prerequisites == ["requirements/serve.lock $(MADE_FROM)"]
