"""Which folders Python code is taken from: never the directory the user happens to be in.

A project that was just cloned may hold a `msgspec.py`, or a `*.dist-info` that names readers. Python
puts that directory on its path for `python -m` and `python -c`, and for an empty entry in PYTHONPATH.
Imports nothing that is not loaded when Python starts.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

__all__ = ["child_environment", "leave_current_directory", "python_command", "safe_path"]

VARIABLE = "PYTHONPATH"


def safe_path(path: Iterable[str] | None = None) -> list[str]:
    """The path without empty entries and without the current directory, however it is spelled,
    unless rireki itself is installed there."""
    folders = sys.path if path is None else path
    if _is_here(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))):  # noqa: PTH100, PTH120
        return [folder for folder in folders if folder]
    return [folder for folder in folders if folder and not _is_here(folder)]


def leave_current_directory() -> None:
    """Take no further code from there, in this process."""
    sys.path[:] = safe_path()


def python_command(code: str) -> list[str]:
    """What starts Python on this code, with the path of this process."""
    flags = [flag for name, flag in _FLAGS if getattr(sys.flags, name)]
    # Pure ASCII: the other process may read its arguments in another encoding.
    begin = f"import sys; sys.path[:] = {safe_path()!a}; "
    return [sys.executable, "-P", *flags, "-c", begin + code]


def child_environment() -> dict[str, str]:
    """Our environment; modules that Python loads before our code runs are not looked for here either."""
    environment = dict(os.environ)
    if VARIABLE in environment:
        entries = safe_path(environment.pop(VARIABLE).split(os.pathsep))
        if entries:
            environment[VARIABLE] = os.pathsep.join(entries)
    return environment


#: What a Python that was started carefully passes on.
_FLAGS = [("isolated", "-I"), ("ignore_environment", "-E"), ("no_user_site", "-s")]


def _is_here(folder: str) -> bool:
    try:
        return os.path.samestat(os.stat(folder), os.stat("."))  # noqa: PTH116
    except (OSError, ValueError):
        return False
