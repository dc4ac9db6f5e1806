"""Builds the C part of a wheel, where there is a compiler; without one, Python does the same work."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any
from zlib import crc32

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import sys_tags

SOURCE = Path("src/rireki/search/text/tokenizer.c")
BUILT = SOURCE.with_name("libtokenizer.so")


class Builder(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel" or sys.platform == "win32" or sys.byteorder != "little":
            return
        try:
            _build(Path(self.root))
        except (OSError, subprocess.CalledProcessError) as error:
            self.app.display_warning(
                f"{SOURCE} was not built ({error}): a first import takes nearly twice as long"
            )
            return
        build_data["artifacts"].append(str(BUILT))
        # For any Python, but for this kind of machine.
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{next(sys_tags()).platform}"


def _build(root: Path) -> None:
    source, built = root / SOURCE, root / BUILT
    # Not in place: a process may be using the one that is there.
    fresh = built.with_suffix(".new")
    compiler = shlex.split(os.environ.get("CC") or "cc")
    command = [*compiler, "-O3", "-Wall", "-Wextra", "-shared", "-fPIC"]
    command += [f"-DSOURCE={crc32(source.read_bytes())}u", "-o", str(fresh), str(source)]
    subprocess.run(command, check=True)
    fresh.replace(built)
