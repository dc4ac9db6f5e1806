"""An environment is made from its lock: quickly, calmly, and what is wrong is said in two lines."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / "tools"
BACKEND = """
import os, zipfile
FILES = {
    "rireki.pth": os.path.join(os.getcwd(), "src"),
    "rireki-0.1.dist-info/METADATA": "Metadata-Version: 2.1\\nName: rireki\\nVersion: 0.1\\n",
    "rireki-0.1.dist-info/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    "rireki-0.1.dist-info/RECORD": "",
}
def build_editable(folder, config=None, metadata=None):
    name = "rireki-0.1-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        for file, text in FILES.items():
            wheel.writestr(file, text)
    return name
"""

#: `python -m venv` with a pip that is unpacked already: to unpack one takes most of its time.
QUICK_VENV = """
import importlib, pathlib, sys
# Our own folder is the second of the path, behind the current directory.
del sys.path[:2], sys.modules["venv"]
venv = importlib.import_module("venv")
venv.EnvBuilder(symlinks=True).create(sys.argv[1])
(packages,) = pathlib.Path(sys.argv[1]).glob("lib/*/site-packages")
if not (packages / "pip").exists():
    (packages / "pip").symlink_to({pip!r})
"""


def wheel(folder: Path, name: str) -> str:
    """A package that says nothing; its hash."""
    path = folder / f"{name}-1.0-py3-none-any.whl"
    files = {
        f"{name}.py": "word = 'there'\n",
        f"{name}-1.0.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{name}-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(
        f"{file},sha256={base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip('=')},\n"
        for file, text in files.items()
    )
    with zipfile.ZipFile(path, "w") as made:
        for file, text in {**files, f"{name}-1.0.dist-info/RECORD": record}.items():
            made.writestr(zipfile.ZipInfo(file, (2026, 1, 1, 0, 0, 0)), text)
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Project:
    """A project as ours is, of two packages."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.wheels = folder / "wheels"
        self.wheels.mkdir()
        (folder / "backend.py").write_text(BACKEND)
        (folder / "src").mkdir()
        (folder / "requirements").mkdir()
        (folder / "pyproject.toml").write_text(
            '[build-system]\nrequires=[]\nbuild-backend="backend"\nbackend-path=["."]\n'
        )
        shutil.copytree(TOOLS, folder / "tools", ignore=shutil.ignore_patterns("__pycache__"))
        self.environment = {
            **{key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ},
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.wheels),
            "PIP_NO_CACHE_DIR": "1",
        }
        self.lock(one=wheel(self.wheels, "one"), two=wheel(self.wheels, "two"))

    def make_environments_quickly(self) -> None:
        """For tests of what comes after an environment was made."""
        pip = importlib.util.find_spec("pip")
        if pip is None or not pip.submodule_search_locations:
            return
        module = self.folder / "quick" / "venv"
        module.mkdir(parents=True)
        (module / "__init__.py").touch()
        program = QUICK_VENV.format(pip=pip.submodule_search_locations[0])
        (module / "__main__.py").write_text(program)
        self.environment["PYTHONPATH"] = str(module.parent)

    def lock(self, **hashes: str) -> None:
        lines = [f"{name}==1.0 \\\n    --hash=sha256:{digest}\n" for name, digest in hashes.items()]
        (self.folder / "requirements" / "serve.lock").write_text("".join(lines))

    @property
    def command(self) -> list[str]:
        return ["sh", "tools/setup", sys.executable, "serve", ".venv-serve"]

    def set_up(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command or self.command,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=300,
        )

    def has(self, module: str) -> bool:
        python = self.folder / ".venv-serve" / "bin" / "python"
        return (
            subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0
        )


@pytest.fixture
def bare(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture
def project(bare: Project) -> Project:
    bare.make_environments_quickly()
    return bare


def test_it_says_what_it_does_and_does_no_more_than_is_needed(bare: Project) -> None:
    project = bare
    done = project.set_up()
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == ".venv-serve: setting up, once: 2 packages, about 175 MB …"
    assert any("fetching 1 of 2: one" in line for line in lines)
    assert ".venv-serve: ready after" in lines[-1]
    assert "WARNING" not in done.stdout
    assert project.has("one") and project.has("two")

    # Only the project changed: the packages stay as they are.
    mark = project.folder / ".venv-serve" / "mark"
    mark.touch()
    again = project.set_up()
    assert again.returncode == 0 and "fetching" not in again.stdout
    assert mark.exists()

    # Another lock is another environment: what it no longer names is gone.
    project.make_environments_quickly()
    project.lock(two=wheel(project.wheels, "two"))
    assert project.set_up().returncode == 0
    assert project.has("two") and not project.has("one")


def test_no_network_is_said_in_two_lines(project: Project) -> None:
    del project.environment["PIP_NO_INDEX"], project.environment["PIP_FIND_LINKS"]
    project.environment["PIP_INDEX_URL"] = "http://127.0.0.1:9/simple"
    done = project.set_up()
    assert done.returncode == 1
    what, todo = done.stderr.splitlines()
    assert what == "No network: the packages could not be fetched."
    assert "PIP_INDEX_URL" in todo


def test_a_package_other_than_the_locked_one_is_refused(project: Project) -> None:
    project.lock(one="0" * 64)
    done = project.set_up()
    assert done.returncode == 1
    assert done.stderr.splitlines()[0].startswith("A package is not the one that was locked")
    assert not project.has("one")


def test_an_unlocked_package_is_refused(project: Project) -> None:
    (project.folder / "requirements" / "serve.lock").write_text("one==1.0\n")
    done = project.set_up()
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 2
    assert not project.has("one")


def test_a_set_up_that_was_killed_begins_again(project: Project) -> None:
    process = subprocess.Popen(
        project.command, cwd=project.folder, env=project.environment, stdout=subprocess.DEVNULL
    )
    python = project.folder / ".venv-serve" / "bin" / "python"
    while not python.exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (project.folder / ".venv-serve" / ".lock").exists()
    assert project.set_up().returncode == 0
    assert project.has("one")


def test_two_at_once_do_not_disturb_each_other(project: Project) -> None:
    """The second waits, says so in one line, and leaves alone what the first may serve from by now."""

    def begin() -> subprocess.Popen[str]:
        return subprocess.Popen(
            project.command,
            cwd=project.folder,
            env=project.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    first = begin()
    assert first.stdout is not None and "setting up, once" in first.stdout.readline()
    second = begin()
    said, _ = first.communicate(timeout=300)
    assert first.returncode == 0, said
    installed = sorted(project.folder.glob(".venv-serve/lib/*/site-packages/rireki*"))
    times = [path.stat().st_mtime_ns for path in installed]
    waited, _ = second.communicate(timeout=300)
    assert second.returncode == 0
    first_line, last_line = waited.splitlines()
    assert first_line == ".venv-serve: is being set up by another make; waiting for it …"
    assert last_line.startswith(".venv-serve: ready after")
    assert project.has("one") and project.has("two")
    assert installed and [path.stat().st_mtime_ns for path in installed] == times


def test_who_waited_for_one_that_failed_sets_it_up(project: Project) -> None:
    first = subprocess.Popen(
        project.command, cwd=project.folder, env=project.environment, stdout=subprocess.PIPE
    )
    assert first.stdout is not None and first.stdout.readline()
    second = subprocess.Popen(
        project.command, cwd=project.folder, env=project.environment, stdout=subprocess.PIPE
    )
    assert second.stdout is not None and b"waiting for it" in second.stdout.readline()
    first.send_signal(signal.SIGINT)
    first.communicate(timeout=300)
    said, _ = second.communicate(timeout=300)
    assert second.returncode == 0 and b"setting up, once" in said
    assert project.has("one") and project.has("two")


def test_a_terminal_has_one_line_that_changes(project: Project) -> None:
    master, slave = pty.openpty()
    process = subprocess.Popen(
        project.command, cwd=project.folder, env=project.environment, stdout=slave, stderr=slave
    )
    os.close(slave)
    said = b""
    while True:
        try:
            piece = os.read(master, 1000)
        except OSError:
            break
        if not piece:
            break
        said += piece
    os.close(master)
    assert process.wait() == 0
    assert b"\r\x1b[K.venv-serve: fetching 2 of 2: two" in said
    assert said.count(b"\n") == 2 + (b"no C compiler" in said)


def test_a_python_without_venv_gets_it_from_apt_or_says_what_to_do(project: Project) -> None:
    """As Debian's own: -m venv fails until python3-venv was installed."""
    bin = project.folder / "bin"
    bin.mkdir()
    installed = project.folder / "installed"
    fake = bin / "python3"
    fake.write_text(
        "#!/bin/sh\n"
        f'case "$*" in *"-m venv"*) [ -e {installed} ] || '
        '{ echo "The virtual environment was not created: ensurepip is not available."; exit 1; };; esac\n'
        f'exec {sys.executable} "$@"\n'
    )
    apt = bin / "apt-get"
    apt.write_text("#!/bin/sh\nexit 100\n")
    sudo = bin / "sudo"
    sudo.write_text('#!/bin/sh\nshift\nexec "$@"\n')
    for path in (fake, apt, sudo):
        path.chmod(0o755)
    project.environment["PATH"] = f"{bin}:{project.environment['PATH']}"
    # The program sees the Python it was started with as its own: ours is the one without venv.
    starter = (
        "import runpy, sys; sys.executable = sys.argv.pop(1); sys.argv = sys.argv[1:];"
        "sys.path.insert(0, 'tools'); runpy.run_path('tools/install.py', run_name='__main__')"
    )
    command = [sys.executable, "-c", starter, str(fake), "install.py", "serve", ".venv-serve"]
    done = project.set_up(*command)
    assert done.returncode == 1
    what, todo = done.stderr.splitlines()
    assert "cannot make environments" in what and "ensurepip" in what
    assert "apt install python3-venv" in todo

    apt.write_text(f'#!/bin/sh\n[ "$1" = install ] && touch {installed}\nexit 0\n')
    done = project.set_up(*command)
    assert (done.returncode, done.stderr) == (0, "")
    assert "installing python3-venv (apt)" in done.stdout
    assert project.has("one")


def test_an_old_python_is_told_and_a_newer_one_beside_it_is_taken(project: Project) -> None:
    bin = project.folder / "bin"
    bin.mkdir()
    old = bin / "python3"
    old.write_text('#!/bin/sh\n[ "$1" = -V ] && { echo Python 3.9.2; exit 0; }\nexit 1\n')
    old.chmod(0o755)
    for name in ("sh", "dirname", "cat"):
        (bin / name).symlink_to(str(shutil.which(name)))
    project.environment["PATH"] = str(bin)
    command = ["sh", "tools/setup", "python3", "serve", ".venv-serve"]
    done = project.set_up(*command)
    assert done.returncode == 1
    what, todo = done.stderr.splitlines()
    assert what == "rireki needs Python 3.11 or newer; python3 is Python 3.9.2."
    assert "make PYTHON=" in todo

    (bin / "python3.11").symlink_to(sys.executable)
    done = project.set_up(*command)
    assert done.returncode == 0
    # No compiler on that PATH either: one line, and it works.
    assert sum("There is no C compiler (cc)" in line for line in done.stdout.splitlines()) == 1
    assert project.has("one")


def test_what_pip_says_is_told_as_what_it_means(monkeypatch: pytest.MonkeyPatch) -> None:
    from tools.install import Environment

    environment = Environment("serve", Path(".venv-serve"))

    def told(*lines: str) -> str:
        return environment._explain(lines).splitlines()[0]

    full = "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"
    assert told("Collecting apsw", full) == "The disk is full: about 175 MB are needed."
    assert "certificate" in told("SSLError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]")
    built = told("  error: command '/usr/bin/gcc' failed", "ERROR: Failed building wheel for apsw")
    assert built.endswith("could not be built: Failed building wheel for apsw")
