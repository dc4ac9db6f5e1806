"""`make lock`: the lock files again, with the newest releases that pyproject.toml allows.

--keep changes as little as pyproject.toml asks for: what is locked and still allowed stays. --check
only looks at them. Needs uv (`pip install uv`) and PyPI, to make them only.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote, urlsplit

from packaging.requirements import Requirement

from tools.locks import (
    ENVIRONMENTS,
    TARGETS,
    Pin,
    excludes,
    path_of,
    problems,
    read_lock,
    requirements_of,
)

ROOT = Path(__file__).parents[1]
HEAD = """\
# What `make {environment}` installs, made by `make lock`: do not edit.
# The files of a package stand below its hashes, in the same order.
"""


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--keep"], ["--check"]):
        print("usage: python -m tools.lock [--keep | --check]", file=sys.stderr)
        return 2
    if arguments != ["--check"]:
        for environment in ENVIRONMENTS:
            path = path_of(environment)
            path.parent.mkdir(exist_ok=True)
            locked = path.read_text("utf-8") if arguments and path.exists() else ""
            path.write_text(lock(environment, read_lock(locked)), "utf-8")
    for line in (found := problems()):
        print(line, file=sys.stderr)
    if found and arguments:
        print("The locks do not fit pyproject.toml: make lock", file=sys.stderr)
    return bool(found)


def lock(environment: str, keep: Iterable[Pin] = ()) -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wanted = requirements_of(project, environment)
    kept = [_head(pin) for pin in keep if not any(excludes(each, pin) for each in wanted)]
    pins = [_pin(package) for package in _resolve(wanted, kept)]
    # Some are for systems we do not know, browsers for example.
    needed = [pin for pin in pins if any(map(pin.applies, TARGETS))]
    return HEAD.format(environment=environment) + "".join(map(_lines, needed))


def _resolve(wanted: Iterable[Requirement], kept: Iterable[str]) -> list[dict[str, Any]]:
    """For every system and Python at once, as pylock.toml has it, which names the files."""
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    if uv is None:
        sys.exit("The locks are made with uv, and it is not here.\nInstall it: pip install uv")
    with TemporaryDirectory() as folder:
        made, constraints = Path(folder) / "pylock.toml", Path(folder) / "constraints.txt"
        constraints.write_text("\n".join(kept), "utf-8")
        # Of the public registry, whatever this machine is told to use.
        command = [uv, "pip", "compile", "-", "--universal", "--python-version", "3.11"]
        command += ["--no-config", "--default-index", "https://pypi.org/simple", "--quiet"]
        command += ["--format", "pylock.toml", "--output-file", str(made)]
        command += ["--constraint", str(constraints)]
        subprocess.run(command, input="\n".join(map(str, wanted)), text=True, check=True)
        found: list[dict[str, Any]] = tomllib.loads(made.read_text("utf-8"))["packages"]
        return found


def _pin(package: dict[str, Any]) -> Pin:
    source = [package["sdist"]] if "sdist" in package else []
    files = sorted(
        (_name(file), file["hashes"]["sha256"]) for file in package.get("wheels", []) + source
    )
    hashes = [f"sha256:{digest}" for _, digest in files]
    names = [name for name, _ in files]
    return Pin(package["name"], package["version"], package.get("marker", ""), hashes, names)


def _name(file: dict[str, Any]) -> str:
    return file.get("name") or unquote(urlsplit(file["url"]).path.rsplit("/", 1)[1])


def _head(pin: Pin) -> str:
    return f"{pin.name}=={pin.version}" + (f" ; {pin.marker}" if pin.marker else "")


def _lines(pin: Pin) -> str:
    hashes = " \\\n".join([_head(pin), *(f"    --hash={digest}" for digest in pin.hashes)])
    return "\n".join([hashes, *(f"    # {name}" for name in pin.files), ""])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
