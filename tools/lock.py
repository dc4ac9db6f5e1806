"""`make lock`: the lock files anew, with the newest releases that pyproject.toml allows; --check looks at them.

Needs uv (`pip install uv`) and PyPI, to make them only.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote, urlsplit

from tools.locks import ENVIRONMENTS, TARGETS, Pin, path_of, problems, requirements_of

ROOT = Path(__file__).parents[1]
HEAD = """\
# What `make {environment}` installs, made by `make lock`: do not edit.
# The files of a package stand below its hashes, in the same order.
"""


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--check"]):
        print("usage: python -m tools.lock [--check]", file=sys.stderr)
        return 2
    if not arguments:
        for environment in ENVIRONMENTS:
            path_of(environment).parent.mkdir(exist_ok=True)
            path_of(environment).write_text(lock(environment), "utf-8")
    for line in (found := problems()):
        print(line, file=sys.stderr)
    if found and arguments:
        print("The locks do not fit pyproject.toml: make lock", file=sys.stderr)
    return bool(found)


def lock(environment: str) -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wanted = requirements_of(project, ENVIRONMENTS[environment])
    pins = [_pin(package) for package in _resolve("\n".join(map(str, wanted)))]
    # Some are for systems we do not know, browsers for example.
    kept = [pin for pin in pins if any(map(pin.applies, TARGETS))]
    return HEAD.format(environment=environment) + "".join(map(_lines, kept))


def _resolve(wanted: str) -> list[dict[str, Any]]:
    """For every system and Python at once, as pylock.toml has it, which names the files."""
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    if uv is None:
        sys.exit("The locks are made with uv, and it is not here.\nInstall it: pip install uv")
    with TemporaryDirectory() as folder:
        made = Path(folder) / "pylock.toml"
        # Of the public registry, whatever this machine is told to use.
        command = [uv, "pip", "compile", "-", "--universal", "--python-version", "3.11"]
        command += ["--no-config", "--default-index", "https://pypi.org/simple", "--quiet"]
        command += ["--format", "pylock.toml", "--output-file", str(made)]
        subprocess.run(command, input=wanted, text=True, check=True)
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


def _lines(pin: Pin) -> str:
    head = f"{pin.name}=={pin.version}" + (f" ; {pin.marker}" if pin.marker else "")
    hashes = " \\\n".join([head, *(f"    --hash={digest}" for digest in pin.hashes)])
    return "\n".join([hashes, *(f"    # {name}" for name in pin.files), ""])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
