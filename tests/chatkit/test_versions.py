"""Everything that holds with the newest ChatKit holds with the oldest that we name, 1.4.0."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from chatkit.version import __version__

ROOT = Path(__file__).parents[2]
OLDEST = "1.4.0"
#: What depends on ChatKit; this file would ask itself for ever.
FILES = ("test_kit.py", "test_contract.py", "test_store.py", "test_attachments.py")

OTHERS = ("a_sample_fails", "cannot_be_imported", "killed", "scaling")


@pytest.fixture
def oldest(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Path:
    """A folder with the oldest ChatKit; where it cannot be had, that is said aloud."""
    folder = tmp_path / "oldest"
    fetching = subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--retries", "1"),
            *("--target", str(folder), f"openai-chatkit=={OLDEST}"),
        ],
        capture_output=True,
        text=True,
        timeout=300,
    )
    if fetching.returncode:
        reason = f"NOT TESTED with openai-chatkit {OLDEST}: pip could not fetch it"
        with capfd.disabled():
            print(f"\n{reason}\n{fetching.stderr.strip()}", file=sys.stderr)
        pytest.skip(reason)
    return folder


@pytest.mark.skipif(__version__ == OLDEST, reason="that is the version at hand")
def test_all_of_it_holds_with_the_oldest_chatkit(oldest: Path, tmp_path: Path) -> None:
    path = os.pathsep.join([str(oldest), str(ROOT / "src"), str(ROOT)])
    environment = {**os.environ, "PYTHONPATH": path}
    # Those of the run that asks are not meant for this one.
    for name in [name for name in environment if name.startswith("PYTEST_")]:
        del environment[name]
    version = "import chatkit.version as v; print(v.__version__)"
    asked = subprocess.run(
        [sys.executable, "-c", version], env=environment, capture_output=True, text=True
    )
    assert asked.stdout.strip() == OLDEST
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    run = subprocess.run(
        [
            *command,
            f"--basetemp={tmp_path / 'inner'}",
            # How other stores fail says nothing about ours, nor does how a factory is imported;
            # kills and large threads are a matter of our own files.
            *("-k", " and ".join(f"not {name}" for name in OTHERS)),
            *(f"tests/chatkit/{file}" for file in FILES),
        ],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-2000:]
    # As many tests as there were when this was written, or more: none may pass by not being there.
    assert run.stdout.count(".") > 90, run.stdout
