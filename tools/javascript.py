"""Checks the types of the scripts of the web app: `python -m tools.javascript`; says nothing if all fit.

There is no build step: types are JSDoc comments, jsconfig.json says what is checked. TypeScript is
fetched once, pinned by the hash of its package, and run by the node that playwright brings along.
Where it cannot be fetched the check is left out, and that is said.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import subprocess
import sys
import tarfile
import urllib.request
from pathlib import Path
from tempfile import TemporaryDirectory

__all__ = ["Changed", "check", "ensure_compiler"]

ROOT = Path(__file__).parents[1]
#: The last that is written in JavaScript: one package for every system.
VERSION = "5.9.3"
INTEGRITY = "sha512-jl1vZzPDinLr9eUt3J/t7V6FgNEw9QjvBPdysz9KfQDD41fQrC2Y4vKQdiaUpFT4bXlb1RHhLpp8wtm6M5TgSw=="
#: A mirror is named as npm wants it.
REGISTRY = os.environ.get("NPM_CONFIG_REGISTRY") or "https://registry.npmjs.org"
FOLDER = Path(sys.prefix) / f"typescript-{VERSION}"
PATIENCE = 30.0


class Changed(Exception):
    """The package is not the one that was pinned."""


def main() -> int:
    try:
        ensure_compiler(FOLDER)
    except Changed as error:
        print(f"{error}\nNothing of it was used. A mirror or proxy may have changed it.")
        return 1
    except OSError as error:
        print(
            f"WARNING: the types of the scripts are not checked: TypeScript cannot be had ({error})"
        )
        return 0
    said = check(ROOT / "jsconfig.json")
    if said:
        print(said)
    return bool(said)


def ensure_compiler(folder: Path) -> None:
    if folder.exists():
        return
    package = fetch()
    digest = base64.b64encode(hashlib.sha512(package).digest()).decode()
    if f"sha512-{digest}" != INTEGRITY:
        raise Changed(f"typescript {VERSION} is not the package that was pinned: sha512-{digest}")
    # Whole or not at all: a second process may be looking.
    with TemporaryDirectory(dir=folder.parent) as made:
        _unpack(package, Path(made))
        if not folder.exists():
            (Path(made) / "package").rename(folder)


def fetch() -> bytes:
    address = f"{REGISTRY.rstrip('/')}/typescript/-/typescript-{VERSION}.tgz"
    with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
        content: bytes = answer.read()
    return content


def check(settings: Path) -> str:
    """What does not fit, a line each; nothing if all does."""
    import playwright  # only for the program that lies beside it

    node = "node.exe" if sys.platform == "win32" else "node"
    program = Path(playwright.__file__).parent / "driver" / node
    command = [str(program), str(FOLDER / "lib" / "tsc.js"), "--project", str(settings)]
    done = subprocess.run([*command, "--pretty", "false"], capture_output=True, text=True, cwd=ROOT)
    return (done.stdout + done.stderr).strip() or ("tsc failed" if done.returncode else "")


def _unpack(package: bytes, folder: Path) -> None:
    """Only what is run: the texts in other languages are half of it."""
    with tarfile.open(fileobj=io.BytesIO(package)) as archive:
        for member in archive:
            parts = member.name.split("/")
            content = archive.extractfile(member)
            if content is not None and (parts[:2] == ["package", "lib"] and len(parts) == 3):
                path = folder.joinpath(*parts)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content.read())


if __name__ == "__main__":
    sys.exit(main())
