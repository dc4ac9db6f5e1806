"""What is published works: the source builds the wheel, the wheel runs in an environment of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest
from tools.locks import path_of, read_lock

ROOT = Path(__file__).parents[2]
COMPILER = (os.environ.get("CC") or "cc").split()[0]
#: What a build for one kind of machine adds to the sources.
LIBRARY = ".so"


class Package(NamedTuple):
    sdist: Path
    wheel: Path
    #: The sdist, unpacked.
    sources: Path

    @property
    def files(self) -> set[str]:
        with zipfile.ZipFile(self.wheel) as wheel:
            return {name for name in wheel.namelist() if name.startswith("rireki/")}


class Installed:
    """The wheel with what it asks for, and nothing else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            **{key: text for key, text in os.environ.items() if not key.startswith("PYTHON")},
            "HOME": str(folder),
            "XDG_DATA_HOME": str(folder / "data"),
            "LC_ALL": "C.UTF-8",
        }

    def run(self, *words: str) -> str:
        command = [str(self.folder / "environment" / "bin" / "rireki"), *words]
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def look_around(self, name: str) -> dict[str, str]:
        """What each command says that `rireki demo` names, with an archive of that name."""
        said = self.run("demo", "--dir", name)
        assert "new conversations" in said
        words = [line.split()[1:] for line in said.splitlines() if line.startswith("  rireki ")]
        return {command: self.run(command, *rest) for command, *rest in words}


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Package:
    folder = tmp_path_factory.mktemp("package")
    # First the sdist, then the wheel from what is in it.
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    with tarfile.open(sdist) as archive:
        _unpack(archive, folder)
    return Package(sdist, wheel, folder / sdist.name.removesuffix(".tar.gz"))


def _unpack(archive: tarfile.TarFile, folder: Path) -> None:
    """As `extractall` does; that asks for a filter or knows none, by the release of Python."""
    for member in archive:
        if (content := archive.extractfile(member)) is not None:
            path = folder / member.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.read())


@pytest.fixture(scope="module")
def installed(package: Package, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder / "environment", symlinks=True)
    # A release that came out today is no reason to fail, and pip has these in its cache.
    constraints = folder / "constraints.txt"
    pins = read_lock(path_of("serve").read_text("utf-8"))
    # Each name stands there once: the lock of what serves has no package in two releases.
    constraints.write_text("".join(f"{pin.name}=={pin.version}\n" for pin in pins))
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "environment" / "bin" / "python")]
    command = [*pip, "install", "--quiet", "--no-compile", "-c", str(constraints)]
    command.append(str(package.wheel))
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return Installed(folder)


@pytest.fixture(scope="module")
def shown(installed: Installed) -> dict[str, str]:
    return installed.look_around("demo")


def test_the_wheel_has_every_file_of_the_source(package: Package) -> None:
    source = ROOT / "src"
    wanted = {
        path.relative_to(source).as_posix()
        for path in (source / "rireki").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != LIBRARY
    }
    assert {name for name in package.files if not name.endswith(LIBRARY)} == wanted


def test_the_sdist_has_nothing_that_was_built(package: Package) -> None:
    assert (package.sources / "hatch_build.py").exists()
    assert (package.sources / "LICENSE").exists()
    with tarfile.open(package.sdist) as archive:
        names = archive.getnames()
    assert not [name for name in names if name.endswith((".so", ".pyc")) or "/.venv" in name]


def test_the_wheel_runs_the_demo_in_an_empty_environment(shown: dict[str, str]) -> None:
    assert {"list", "stats", "search"} <= shown.keys()
    assert "夜間" in shown["search"] and "claude-code" in shown["list"]


@pytest.mark.skipif(shutil.which(COMPILER) is None, reason="there is no C compiler")
def test_what_was_built_in_c_is_in_the_wheel_and_everything_works_without_it(
    package: Package, installed: Installed, shown: dict[str, str]
) -> None:
    (built,) = (name for name in package.files if name.endswith(LIBRARY))
    assert "-py3-none-any" not in package.wheel.name
    (path,) = installed.folder.glob(f"environment/lib/*/site-packages/{built}")
    path.unlink()
    assert installed.look_around("without")["search"] == shown["search"]


def test_without_a_compiler_the_wheel_is_for_every_machine(
    package: Package, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=package.sources,
        env={**os.environ, "CC": "no-such-compiler"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    without = Package(package.sdist, wheel, package.sources)
    assert without.files == {name for name in package.files if not name.endswith(LIBRARY)}
    assert "was not built" in done.stdout + done.stderr
