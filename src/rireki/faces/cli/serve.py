"""What `make serve` does until the web page comes: take in this machine's history and list it.

Where there is no history it says so, and shows the invented one instead.
"""

from __future__ import annotations

import sys

from rireki.archive.open import archive_path, open_archive
from rireki.faces.cli.demo import DIRECTORY
from rireki.faces.cli.main import run
from rireki.faces.cli.output import Screen

__all__ = ["main"]


def main() -> int:
    code = run(["import"])
    if code or not _is_empty():
        return code or run(["list"])
    Screen().say(["", "This machine has no history yet: here is an invented one.", ""])
    demo = archive_path(None).parent / DIRECTORY
    return run(["demo", "--dir", str(demo)]) or run(["list", "--archive", str(demo / "archive")])


def _is_empty() -> bool:
    archive = open_archive(archive_path(None))
    try:
        return not archive.ids()
    finally:
        archive.close()


if __name__ == "__main__":
    sys.exit(main())
