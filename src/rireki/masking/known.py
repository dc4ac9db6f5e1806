"""Secrets that are known by their value: of the environment, and of files the user names.

    [masking]
    files = ["~/.config/keys", "~/work/.env"]

A value counts from eight characters on, when it is neither a path nor words.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

from rireki.errors import RirekiError
from rireki.masking.checks import is_path, is_placeholder, is_plain, is_random
from rireki.settings import read_settings

__all__ = ["known_values", "named_files"]

SHORTEST, LONGEST = 8, 4096
_SECRET_NAME = re.compile(
    r"(?:^|_)(?:[A-Z0-9]*?)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|DSN)S?(?:_|$)",
    re.IGNORECASE,
)
#: `NAME=value`, with what stands around it in a shell, in YAML and in JSON.
_ENTRY = re.compile(
    r"""^(?:export\s+)?["']?(?P<name>[\w.-]{1,80})["']?\s*[=:]\s*(?P<value>\S.*)$"""
)
#: What neither words nor names are joined with.
_ODD = re.compile(r"[^\w\s.,:;/@+-]")
_HINT = 'for example: [masking] files = ["~/.config/keys"]'


def known_values(environment: Mapping[str, str], config: Path) -> dict[bytes, str]:
    """Every spelling of the values to mask, with its kind."""
    found: dict[bytes, str] = {}
    for file in named_files(config):
        for value in _values_in(file):
            _note(found, value, "listed-value")
    for name, value in environment.items():
        if _SECRET_NAME.search(name) and _counts(value):
            _note(found, value, "environment-value")
    return found


def named_files(config: Path) -> list[Path]:
    """The files of the user's settings whose values are masked."""
    section = read_settings(config, _HINT).get("masking", {})
    files = section.get("files", []) if isinstance(section, dict) else None
    if not isinstance(files, list) or not all(isinstance(file, str) for file in files):
        raise RirekiError("bad-masking", hint=_HINT, file=config)
    return [Path(file).expanduser() for file in files]


def _values_in(file: Path) -> Iterator[str]:
    """Whole lines, and what stands behind a name; in a file that is all secrets words may be ones."""
    try:
        text = file.read_text("utf-8", "replace")
    except OSError as error:
        # Who asks for values to be masked must hear that they are not.
        raise RirekiError("masking-file-unreadable", path=file, why=error.strerror) from error
    for line in map(str.strip, text.splitlines()):
        entry = _ENTRY.match(line)
        value = entry["value"].rstrip(",").strip("\"'") if entry else line
        if entry and not _SECRET_NAME.search(entry["name"]):
            # Settings stand beside secrets there.
            wanted = _counts(value) and is_random(value.encode("utf-8", "surrogatepass"))
        else:
            wanted = _counts(value) or (" " in value and not line.startswith(("#", "[")))
        if wanted and SHORTEST <= len(value) <= LONGEST:
            yield value


def _counts(value: str) -> bool:
    """Neither short, nor a path, an address, words, or a number."""
    data = value.encode("utf-8", "surrogatepass")
    if not SHORTEST <= len(data) <= LONGEST or value.isdigit():
        return False
    if is_path(data) or is_placeholder(data) or ("://" in value and "@" not in value):
        return False
    return not is_plain(data) or bool(_ODD.search(value))


def _note(found: dict[bytes, str], value: str, kind: str) -> None:
    data = value.encode("utf-8", "surrogatepass")
    escaped = json.dumps(value, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass")
    encoded = quote(data, safe="").encode()
    in_base64 = base64.b64encode(data)
    for form in (data, escaped, encoded, in_base64):
        found.setdefault(form, kind)
