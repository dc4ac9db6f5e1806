"""Every Python that we start gets our path, and nothing of the directory the user is in."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rireki import python_path
from rireki.sources import registry
from tests.support.traps import Traps, trap_modules

ROOT = Path(__file__).parents[2]
#: Starts a worker beside another thread, so that it is no copy, and lets it read a file.
HIRE = """
import pickle, sys, threading
from pathlib import Path
threading.Thread(target=threading.Event().wait, daemon=True).start()
from rireki.intake.parallel.spawn import spawn
from rireki.intake.parallel.worker import FreshGroup, PackTask, receive, send
from rireki.sources import registry
from rireki.sources.kit.places import Places
reader = registry.reader(sys.argv[1])
origins = reader.discover(Places.at(Path(sys.argv[2]))).origins
worker = spawn(copy=False)
send(worker.tasks, PackTask([FreshGroup(reader.family, "one", origins, True)]))
data, _ = receive(worker.answers)
worker.kill()
worker.wait()
print(type(worker).__name__, [type(each).__name__ for each in pickle.loads(data)])
"""
READ = "_Started ['Packed', 'PackedOrigin', 'PackedGroup']"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home" / "notes").mkdir(parents=True)
    line = '{"id": "1", "who": "me", "text": "hello"}\n'
    (tmp_path / "home" / "notes" / "one.jsonl").write_text(line)
    return tmp_path / "home"


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """A distribution with a reader of its own, as `pip install --target` lays it out."""
    folder = tmp_path / "plugins"
    info = folder / "notes_reader-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "entry_points.txt").write_text(f"[{registry.GROUP}]\nplain = notes_reader:READER\n")
    reader = (ROOT / "tests" / "support" / "plain.py").read_text(encoding="utf-8")
    (folder / "notes_reader.py").write_text(reader, encoding="utf-8")
    return folder


@pytest.fixture
def here(tmp_path: Path) -> tuple[Path, Traps]:
    traps = Traps(tmp_path)
    trap_modules(tmp_path / "here", traps)
    return tmp_path / "here", traps


def started(python: str, here: Path, home: Path, **environment: str) -> str:
    kept = {key: os.environ[key] for key in ("PATH", "LANG") if key in os.environ}
    ran = subprocess.run(
        [python, "-P", "-c", HIRE, "plain", str(home)],
        cwd=here,
        env={**kept, "HOME": str(home), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return ran.stdout.strip() or ran.stderr


def test_a_plug_in_on_pythonpath_works_in_workers(
    home: Path, plugin: Path, here: tuple[Path, Traps]
) -> None:
    assert started(sys.executable, here[0], home, PYTHONPATH=str(plugin)) == READ
    assert here[1].sprung == []


def test_workers_of_an_installation_for_one_user_find_what_it_has(
    tmp_path: Path, home: Path, plugin: Path, here: tuple[Path, Traps]
) -> None:
    """As after `pip install --user`: outside of any environment, in the user's own site."""
    python = sys._base_executable  # type: ignore[attr-defined]
    base = tmp_path / "base"
    ask = [python, "-c", "import site; print(site.getusersitepackages())"]
    environment = {"PYTHONUSERBASE": str(base), "HOME": str(home), "PATH": os.environ["PATH"]}
    site = subprocess.run(ask, env=environment, capture_output=True, text=True, check=True)
    user = Path(site.stdout.strip())
    user.mkdir(parents=True)
    ours = [path for path in sys.path if path.endswith("-packages")]
    (user / "installed.pth").write_text("\n".join([*ours, str(ROOT / "src"), str(plugin)]))
    assert started(python, here[0], home, PYTHONUSERBASE=str(base)) == READ
    assert here[1].sprung == []


def test_empty_entries_and_the_current_directory_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (tmp_path / "link").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path)
    spelled = ["", ".", str(tmp_path), str(tmp_path / "link"), f"{other}/..", str(other)]
    assert python_path.safe_path([*spelled, "/no/such/place"]) == [str(other), "/no/such/place"]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(spelled))
    assert python_path.child_environment()["PYTHONPATH"] == str(other)
    monkeypatch.setenv("PYTHONPATH", ".")
    assert "PYTHONPATH" not in python_path.child_environment()


def test_the_directory_that_rireki_is_installed_in_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    installed = Path(python_path.__file__).parents[1]
    monkeypatch.chdir(installed)
    assert python_path.safe_path(["", str(installed)]) == [str(installed)]


def test_a_child_is_started_as_carefully_as_its_parent() -> None:
    ask = "from rireki.python_path import python_command; print(python_command('')[1:4])"
    kept = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    plain = subprocess.run(
        [sys.executable, "-c", ask], env=kept, capture_output=True, text=True, check=True
    )
    assert plain.stdout.startswith("['-P', '-c'")
    careful = subprocess.run(
        [sys.executable, "-s", "-c", ask], env=kept, capture_output=True, text=True, check=True
    )
    assert careful.stdout.startswith("['-P', '-s', '-c'")


def test_every_python_that_we_start_is_started_so() -> None:
    """By reading the code: whoever starts one by itself has to say why here."""
    # What `install` writes down is started by an agent, with -P.
    allowed = {"python_path.py", "terminal.py", "login.py", "install.py"}
    found = {
        file.name
        for file in (ROOT / "src").rglob("*.py")
        if "sys.executable" in file.read_text(encoding="utf-8")
    }
    assert found <= allowed
