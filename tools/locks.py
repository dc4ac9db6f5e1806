"""Lock files: every package of an environment, pinned, with the hash of every file upstream has of it.

Three environments have one: `serve` (what `make serve` needs), `test` (that, all extras and the
tools of the tests) and `docs` (what makes a site of the documentation, without rireki). pip
installs from them with --require-hashes. Below the hashes of a package its files are named, in
the same order: so that a hash that is missing for some Python on some system can be seen without
a network.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.tags import Tag
from packaging.utils import canonicalize_name, parse_wheel_filename

from tools.install import WITHOUT_RIREKI

__all__ = [
    "ENVIRONMENTS",
    "Pin",
    "Target",
    "excludes",
    "path_of",
    "problems",
    "read_lock",
    "requirements_of",
]

ROOT = Path(__file__).parents[1]
#: The extras of each environment.
ENVIRONMENTS: dict[str, tuple[str, ...]] = {
    "serve": ("drive", "mcp", "sync"),
    "test": ("all", "dev"),
    "docs": ("docs",),
}
#: Beside what pyproject.toml asks of a build: hatchling wants it for an install in place.
IN_PLACE = "editables"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
#: Systems as markers name them, and how the names of their files go.
SYSTEMS = {
    "linux": re.compile(r"(manylinux|linux).*_x86_64"),
    "darwin": re.compile(r"macosx_.*_(arm64|universal2)"),
    "win32": re.compile(r"win_amd64"),
}
_HASH = re.compile(r"--hash=(sha256:[0-9a-f]{64})")
_ADDRESS = re.compile(r"https?://|file://|--(extra-)?index-url|--find-links", re.IGNORECASE)


class Target(NamedTuple):
    """A Python on a system."""

    python: str
    system: str

    @property
    def markers(self) -> dict[str, str]:
        names = {"linux": "Linux", "darwin": "Darwin", "win32": "Windows"}
        return {
            "python_version": self.python,
            "python_full_version": f"{self.python}.0",
            "sys_platform": self.system,
            "platform_system": names[self.system],
            "os_name": "nt" if self.system == "win32" else "posix",
            "platform_machine": {"darwin": "arm64", "win32": "AMD64"}.get(self.system, "x86_64"),
            "implementation_name": "cpython",
            "platform_python_implementation": "CPython",
            "extra": "",
        }

    def __str__(self) -> str:
        return f"Python {self.python} on {self.system}"


TARGETS = [Target(python, system) for python in PYTHONS for system in SYSTEMS]


class Pin(NamedTuple):
    """A package in a lock."""

    name: str
    version: str
    marker: str
    hashes: list[str]
    files: list[str]

    def applies(self, target: Target) -> bool:
        return not self.marker or Marker(self.marker).evaluate(target.markers)

    def serves(self, target: Target) -> bool:
        """Whether one of the files can be installed there: a wheel that fits, or the source."""
        return any(_fits(name, target) for name in self.files)


def path_of(environment: str, root: Path = ROOT) -> Path:
    return root / "requirements" / f"{environment}.lock"


def read_lock(text: str) -> list[Pin]:
    pins: list[Pin] = []
    for block in re.split(r"\n(?=[A-Za-z0-9])", text):
        head, *rest = block.split("\n")
        if not head[:1].isalnum():
            continue
        wanted = Requirement(head.rstrip("\\ "))
        files = [line.strip("# ") for line in rest if line.lstrip().startswith("#")]
        marker = str(wanted.marker or "")
        version = str(wanted.specifier).removeprefix("==")
        pins.append(Pin(wanted.name, version, marker, _HASH.findall(block), files))
    return pins


def requirements_of(project: dict[str, Any], environment: str) -> list[Requirement]:
    """What an environment asks for by name: to run, to build, for its extras."""
    texts = [*project["project"]["dependencies"], *project["build-system"]["requires"], IN_PLACE]
    found = [] if environment in WITHOUT_RIREKI else [Requirement(text) for text in texts]
    for extra in ENVIRONMENTS[environment]:
        found += _extra(project["project"], extra)
    return found


def excludes(wanted: Requirement, pin: Pin) -> bool:
    """Whether a release that was locked is no longer allowed."""
    same = canonicalize_name(wanted.name) == canonicalize_name(pin.name)
    return same and not wanted.specifier.contains(pin.version, prereleases=True)


def _extra(project: dict[str, Any], extra: str) -> Iterator[Requirement]:
    for wanted in map(Requirement, project["optional-dependencies"][extra]):
        if canonicalize_name(wanted.name) == canonicalize_name(project["name"]):
            for other in sorted(wanted.extras):
                yield from _extra(project, other)
        else:
            yield wanted


def problems(root: Path = ROOT) -> list[str]:
    """Why the locks cannot stay as they are; nothing is asked of the network."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    found = []
    for environment in ENVIRONMENTS:
        path = path_of(environment, root)
        if not path.exists():
            found.append(f"requirements/{path.name} is missing")
            continue
        text = path.read_text("utf-8")
        complaints = [*_not_satisfied(requirements_of(project, environment), read_lock(text))]
        complaints += [line for pin in read_lock(text) for line in _not_hashed(pin)]
        if _ADDRESS.search(text):
            complaints.append("names an address")
        found += [f"requirements/{path.name}: {line}" for line in dict.fromkeys(complaints)]
    return found


def _not_satisfied(wanted: list[Requirement], pins: list[Pin]) -> Iterator[str]:
    named: dict[str, list[Pin]] = {}
    for pin in pins:
        named.setdefault(canonicalize_name(pin.name), []).append(pin)
    for requirement in wanted:
        for target in TARGETS:
            if requirement.marker and not requirement.marker.evaluate(target.markers):
                continue
            found = [
                p for p in named.get(canonicalize_name(requirement.name), ()) if p.applies(target)
            ]
            if not found:
                yield f"{requirement} is not in it for {target}"
            elif not requirement.specifier.contains(found[0].version, prereleases=True):
                yield f"{requirement} is asked for, {found[0].version} is locked"


def _not_hashed(pin: Pin) -> Iterator[str]:
    if len(pin.hashes) != len(pin.files) or len(set(pin.hashes)) != len(pin.hashes):
        yield f"{pin.name}: {len(pin.hashes)} hashes for {len(pin.files)} files"
    for target in TARGETS:
        if pin.applies(target) and not pin.serves(target):
            yield f"{pin.name} {pin.version} has no file with a hash for {target}"


def _fits(file: str, target: Target) -> bool:
    if not file.endswith(".whl"):
        return True
    return any(_fits_tag(tag, target) for tag in parse_wheel_filename(file)[3])


def _fits_tag(tag: Tag, target: Target) -> bool:
    if tag.platform != "any" and not SYSTEMS[target.system].match(tag.platform):
        return False
    minor = int(target.python.split(".")[1])
    asked = re.fullmatch(r"(py|cp)3(\d*)", tag.interpreter)
    if asked is None:
        return False
    least = int(asked[2] or 0)
    if asked[1] == "py" or tag.abi == "abi3":
        return least <= minor and tag.abi in ("none", "abi3")
    return least == minor and tag.abi in ("none", f"cp3{minor}")
