"""How large one record may be, as the user's settings file says.

    [import]
    largest_mb = 256

The file is `config.toml` in the data directory of whoever runs the command, never one that lies
beside an archive or below a home that was only named.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from rireki.errors import RirekiError
from rireki.sources.kit.places import own_directories
from rireki.sources.kit.stamps import file_stamp
from rireki.sources.reader import LARGEST

__all__ = ["largest"]

FILE = "config.toml"
#: No record can be larger: SQLite keeps none of a gigabyte.
MOST = 900
_HINT = f"Write there: [import] and, below it, largest_mb = 256 (at most {MOST})."


def largest() -> int:
    """The bytes from which on a line, a document or a value is kept in pieces."""
    for folder in own_directories():
        file = folder / FILE
        try:
            stamp = file_stamp(file.stat())
        except OSError:
            continue
        said = _said(str(file), stamp)
        if said is not None:
            return said
    return LARGEST


@lru_cache(maxsize=8)
def _said(file: str, stamp: str) -> int | None:
    """What a settings file says; read once as long as its stamp stays."""
    # Imported late: hardly anyone has such a file.
    import tomllib

    try:
        section = tomllib.loads(Path(file).read_text(encoding="utf-8")).get("import", {})
    except OSError as error:
        reason = f"{file} cannot be read ({error.strerror})"
        raise RirekiError(reason, "Check that you may read it.") from error
    except ValueError as error:
        raise RirekiError(f"{file} is not TOML ({error})", _HINT) from error
    said = section.get("largest_mb") if isinstance(section, dict) else section
    if said is None:
        return None
    if not isinstance(said, int | float) or not 0 < said <= MOST:
        raise RirekiError(
            f"{file}: 'largest_mb' below [import] is not such a number of megabytes", _HINT
        )
    return max(1, int(said * (1 << 20)))
