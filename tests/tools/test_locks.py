"""The locks fit pyproject.toml, and have a hash for every Python on every system."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from tools.lock import main
from tools.locks import ENVIRONMENTS, ROOT, TARGETS, Pin, path_of, problems, read_lock

from tools import lock

ALL_SYSTEMS = [
    f"apsw-3.50-cp3{minor}-cp3{minor}-{platform}.whl"
    for minor in (11, 12, 13, 14)
    for platform in ("manylinux_2_28_x86_64", "macosx_11_0_arm64", "win_amd64")
]


def pin(*files: str, marker: str = "") -> Pin:
    return Pin("apsw", "3.50", marker, [f"sha256:{n:064x}" for n in range(len(files))], [*files])


def missing(found: Pin) -> list[str]:
    return [str(target) for target in TARGETS if found.applies(target) and not found.serves(target)]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Our pyproject.toml and our locks, to be spoiled."""
    (tmp_path / "requirements").mkdir()
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text("utf-8"), "utf-8")
    for name in ENVIRONMENTS:
        path_of(name, tmp_path).write_text(path_of(name).read_text("utf-8"), "utf-8")
    return tmp_path


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


def test_our_locks_hold() -> None:
    assert problems() == []
    assert main(["--check"]) == 0


def test_a_requirement_that_is_not_locked_is_named(project: Path) -> None:
    change(project / "pyproject.toml", '"apsw>=3.50"', '"apsw>=3.50", "brand-new-package>=1"')
    found = problems(project)
    assert (
        "requirements/serve.lock: brand-new-package>=1 is not in it for Python 3.11 on linux"
        in found
    )
    assert any(line.startswith("requirements/test.lock: brand-new-package") for line in found)


def test_a_requirement_that_is_locked_too_old_is_named(project: Path) -> None:
    change(project / "pyproject.toml", '"apsw>=3.50"', '"apsw>=2000"')
    assert any("apsw>=2000 is asked for" in line for line in problems(project))


def test_what_only_a_build_asks_for_is_locked_as_well(project: Path) -> None:
    change(project / "pyproject.toml", 'requires = ["hatchling"]', 'requires = ["hatchling>=2000"]')
    assert any("hatchling>=2000 is asked for" in line for line in problems(project))


def test_a_requirement_of_one_system_alone_is_asked_for_there_alone(project: Path) -> None:
    wanted = '"apsw>=3.50", "only-there; sys_platform == \'win32\'"'
    change(project / "pyproject.toml", '"apsw>=3.50"', wanted)
    found = problems(project)
    assert any("only-there" in line and "win32" in line for line in found)
    assert not any("only-there" in line and "on linux" in line for line in found)


def test_a_hash_that_was_lost_is_noticed(project: Path) -> None:
    lock = path_of("serve", project)
    lines = lock.read_text("utf-8").splitlines(keepends=True)
    lost = next(at for at, line in enumerate(lines) if line.strip().startswith("--hash"))
    lock.write_text("".join(lines[:lost] + lines[lost + 1 :]), "utf-8")
    assert any("1 hashes for 2 files" in line for line in problems(project))


def test_an_address_in_a_lock_is_noticed(project: Path) -> None:
    lock = path_of("serve", project)
    lock.write_text(
        f"--index-url https://mirror.example/simple\n{lock.read_text('utf-8')}", "utf-8"
    )
    assert any("names an address" in line for line in problems(project))


def test_a_lock_that_is_not_there_is_named(project: Path) -> None:
    path_of("test", project).unlink()
    assert problems(project) == ["requirements/test.lock is missing"]


def test_each_python_on_each_system_needs_a_file() -> None:
    assert missing(pin(*ALL_SYSTEMS)) == []
    without = [name for name in ALL_SYSTEMS if "cp314-win" not in name]
    assert missing(pin(*without)) == ["Python 3.14 on win32"]


@pytest.mark.parametrize(
    "file", ["apsw-3.50.tar.gz", "apsw-3.50-py3-none-any.whl", "apsw-3.50-py2.py3-none-any.whl"]
)
def test_the_source_or_a_wheel_for_all_serves_everywhere(file: str) -> None:
    assert missing(pin(file)) == []


def test_a_wheel_of_the_stable_interface_serves_newer_pythons_too() -> None:
    assert len(missing(pin("apsw-3.50-cp312-abi3-win_amd64.whl"))) == 12 - 3
    assert len(missing(pin("apsw-3.50-cp313-cp313t-win_amd64.whl"))) == 12


def test_a_package_of_one_system_needs_no_file_elsewhere() -> None:
    assert missing(pin("apsw-3.50-py3-none-win_amd64.whl", marker="sys_platform == 'win32'")) == []


def test_what_is_locked_and_still_allowed_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def resolve(wanted: list[Requirement], kept: list[str]) -> list[dict[str, Any]]:
        asked.extend(kept)
        return []

    monkeypatch.setattr(lock, "_resolve", resolve)
    locked = [pin("a.whl"), pin("b.whl")._replace(name="other", marker="os_name == 'nt'")]
    lock.lock("serve", locked)
    assert asked == ["apsw==3.50", "other==3.50 ; os_name == 'nt'"]
    asked.clear()
    lock.lock("serve", [locked[0]._replace(version="3.49"), locked[1]])
    assert asked == ["other==3.50 ; os_name == 'nt'"]


def test_a_site_of_the_documentation_needs_nothing_that_rireki_needs() -> None:
    names = {found.name for found in read_lock(path_of("docs").read_text("utf-8"))}
    assert "mkdocs-material" in names and not names & {"apsw", "tantivy", "hatchling"}


def test_every_package_has_files_and_no_two_the_same_name() -> None:
    for name in ENVIRONMENTS:
        pins = read_lock(path_of(name).read_text("utf-8"))
        assert len(pins) > 20
        assert all(found.files and found.hashes for found in pins)
