"""How large one record may be, as the user's settings file says.

    [import]
    largest_mb = 256

The file is `config.toml` in the data directory of whoever runs the command, never one that lies
beside an archive or below a home that was only named.
"""

from __future__ import annotations

from pathlib import Path

from rireki.errors import RirekiError, Wording
from rireki.home import SETTINGS, own_directories
from rireki.settings import read_settings
from rireki.sources.reader import LARGEST

__all__ = ["largest"]

#: No record can be larger: SQLite keeps none of a gigabyte.
MOST = 900
_HINT = Wording("write-import", most=MOST)


def largest() -> int:
    """The bytes from which on a line, a document or a value is kept in pieces."""
    said = (_said(folder / SETTINGS) for folder in own_directories())
    return next((size for size in said if size is not None), LARGEST)


def _said(file: Path) -> int | None:
    section = read_settings(file, _HINT).get("import", {})
    said = section.get("largest_mb") if isinstance(section, dict) else section
    if said is None:
        return None
    if not isinstance(said, int | float) or not 0 < said <= MOST:
        raise RirekiError("bad-largest-mb", hint=_HINT, file=file)
    return max(1, int(said * (1 << 20)))
