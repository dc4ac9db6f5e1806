"""Makes an environment from its lock: install.py ENVIRONMENT FOLDER.

Says what it does while it does it, and what is wrong in two lines. Runs on a bare Python
3.11: it knows nothing of the packages it installs.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Thread
from typing import IO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

ROOT = Path(__file__).parents[1]
#: Megabytes an environment takes, to be said where the disk is full.
SIZES = {"serve": 175, "test": 1100, "docs": 160}
#: Environments of tools that need nothing of ours.
WITHOUT_RIREKI = {"docs"}
#: Seconds between two lines of progress where there is no terminal.
CALM = 5.0
#: What pip says, and what it means: the first that fits is told.
CAUSES = [
    (
        r"No space left on device|Disk quota exceeded",
        "The disk is full: about {size} MB are needed.",
    ),
    (r"DO NOT MATCH THE HASHES", "A package is not the one that was locked: {line}"),
    (
        r"CERTIFICATE_VERIFY_FAILED",
        "The package index shows a certificate this machine does not trust.",
    ),
    (
        r"NewConnectionError|ConnectTimeout|ReadTimeout|ProxyError|ConnectionResetError"
        r"|Temporary failure in name resolution|ProtocolError|NameResolutionError",
        "No network: the packages could not be fetched.",
    ),
    (
        r"command '.*(cc|gcc|clang)' failed|Microsoft Visual C\+\+|Failed building wheel"
        r"|Failed to build|metadata-generation-failed",
        "A package has no ready-made file for Python {python} on this system, and could not be built: {line}",
    ),
    (r"Permission denied|Read-only file system", "It may not be written here: {line}"),
]
HINTS = {
    "No network": "Try again with one; a proxy or mirror is named as pip wants it (PIP_PROXY, PIP_INDEX_URL).",
    "The disk": "Make room, then try again.",
    "A package is": "Nothing of it was used. A mirror or proxy may have changed it; try another.",
    "A package has": "Use Python 3.11 to 3.14 (make PYTHON=python3.13 …), or install a C compiler.",
    "The package index": "Name the certificate of the proxy: PIP_CERT=/path/to/certificates.pem",
}
NO_VENV = "This Python cannot make environments: {error}"
NO_COMPILER = (
    "There is no C compiler ({compiler}): all works, a first import takes nearly twice as long."
)


class Failed(Exception):
    """Told in two lines: what, and what to do."""


class Progress:
    """One line that changes on a terminal; elsewhere a line now and then."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lively = sys.stdout.isatty()
        self._last = ""
        self._next = 0.0

    def say(self, text: str) -> None:
        """Something that stays."""
        self._wipe()
        print(f"{self._name}: {text}", flush=True)

    def show(self, text: str) -> None:
        """Something that the next replaces."""
        if text == self._last or (not self._lively and time.monotonic() < self._next):
            return
        self._next = time.monotonic() + CALM
        if self._lively:
            room = shutil.get_terminal_size().columns - 1
            print(f"\r\x1b[K{self._name}: {text}"[: room + 4], end="", flush=True)
        else:
            print(f"{self._name}: {text}", flush=True)
        self._last = text

    def _wipe(self) -> None:
        if self._lively and self._last:
            print("\r\x1b[K", end="", flush=True)
        self._last, self._next = "", 0.0


class Environment:
    def __init__(self, name: str, folder: Path, root: Path = ROOT) -> None:
        self.name, self.folder, self.root = name, folder, root
        self.lock = root / "requirements" / f"{name}.lock"
        self.progress = Progress(str(folder))
        #: The lock its packages came from, once all of them were there.
        self.installed = folder / ".lock"
        #: Locked by whoever sets it up; its time tells when that was last done.
        self.setting_up = folder / ".setting-up"

    @property
    def python(self) -> Path:
        if sys.platform == "win32":
            return self.folder / "Scripts" / "python.exe"
        return self.folder / "bin" / "python"

    def ensure(self) -> None:
        began = time.monotonic()
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.setting_up.open("ab") as file:
            # Another one that was faster may serve from it by now: nothing is installed again under it.
            if not (self._waited_for_another(file) and self._has_packages()):
                self._set_up()
                os.utime(self.setting_up)
        self.progress.say(f"ready after {time.monotonic() - began:.0f} s")

    def _waited_for_another(self, file: IO[bytes]) -> bool:
        """Have it to ourselves until the file is closed; whether another process has just set it up."""
        if fcntl is None:
            return False
        before = os.fstat(file.fileno()).st_mtime_ns
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.progress.say("is being set up by another make; waiting for it …")
            fcntl.flock(file, fcntl.LOCK_EX)
        return os.fstat(file.fileno()).st_mtime_ns != before

    def _set_up(self) -> None:
        if not self._has_packages():
            count = len(re.findall("^[A-Za-z0-9].*==", self.lock.read_text("utf-8"), re.MULTILINE))
            self.progress.say(f"setting up, once: {count} packages, about {SIZES[self.name]} MB …")
            self._make()
            self._install_packages(count)
        if self.name not in WITHOUT_RIREKI:
            self._install_project()

    def _has_packages(self) -> bool:
        """Whether all packages of this lock are there, for a Python that still works."""
        try:
            if self.installed.read_bytes() != self.lock.read_bytes():
                return False
            asked = [str(self.python), "-c", "import sys; print(sys.base_prefix)"]
            found = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
        except (OSError, subprocess.CalledProcessError):
            return False
        return found.strip() == sys.base_prefix

    def _make(self) -> None:
        if (error := self._make_venv()) is None:
            return
        # Debian ships Python without what makes environments.
        if shutil.which("apt-get"):
            self.progress.say(
                "this Python cannot make environments; installing python3-venv (apt) …"
            )
            as_root = [] if _is_root() else ["sudo", "-n"]
            for words in (["update", "-q"], ["install", "-y", "-q", "python3-venv"]):
                _run_quietly([*as_root, "apt-get", *words])
            error = self._make_venv()
        if error is not None:
            hint = "Install what it lacks (Debian: apt install python3-venv), then try again."
            raise Failed(f"{NO_VENV.format(error=error)}\n{hint}")

    def _make_venv(self) -> str | None:
        """Why it could not be made, if so."""
        self._clear()
        lines = deque[str](maxlen=40)
        command = [sys.executable, "-m", "venv", str(self.folder)]
        if _follow(command, lines.append) == 0:
            return None
        text = "\n".join(lines)
        if re.search(CAUSES[0][0], text):
            raise Failed(self._explain(lines))
        return next(
            (line for line in lines if "No module" in line or "ensurepip" in line), text[-200:]
        )

    def _clear(self) -> None:
        """Remove all but the file that others wait for."""
        for path in self.folder.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            elif path != self.setting_up:
                path.unlink()

    def _install_packages(self, count: int) -> None:
        seen = 0
        packages = self.folder / "lib"

        def follow(line: str) -> None:
            nonlocal seen
            if found := re.match(
                r"(?:Collecting|Processing) (?:\S*/)?([\w.]+(?:-[A-Za-z][\w.]*)*)", line
            ):
                seen += 1
                self.progress.show(f"fetching {seen} of {count}: {found[1]}")
            elif line.startswith("Installing collected packages"):
                self.progress.show(f"unpacking {count} packages …")

        def tick() -> None:
            there = sum(1 for _ in packages.glob("python*/site-packages/*.dist-info"))
            if seen and there > 2:
                self.progress.show(f"unpacking {there} of {count} …")

        self._pip(["--require-hashes", "-r", str(self.lock)], follow, tick)
        shutil.copyfile(self.lock, self.installed)

    def _install_project(self) -> None:
        self.progress.show("installing rireki itself …")
        here = ["--no-deps", "--no-build-isolation", "--no-index", "-e", str(self.root)]
        self._pip(here, lambda line: None)
        # Some machines forbid Python to write bytecode on the fly: start-up should be quick there too.
        _run_quietly([str(self.python), "-m", "compileall", "-q", str(self.root / "src")])
        compiler = (os.environ.get("CC") or "cc").split()[0]
        if sys.platform != "win32" and not shutil.which(compiler):
            self.progress.say(NO_COMPILER.format(compiler=compiler))

    def _pip(
        self,
        words: list[str],
        follow: Callable[[str], None],
        tick: Callable[[], None] = lambda: None,
    ) -> None:
        lines = deque[str](maxlen=400)

        def heard(line: str) -> None:
            lines.append(line)
            follow(line)

        command = [str(self.python), "-m", "pip", "install", "--disable-pip-version-check"]
        command += ["--no-input", "--retries", "2", "--progress-bar", "off", *words]
        if _follow(command, heard, tick) != 0:
            raise Failed(self._explain(lines))

    def _explain(self, lines: Iterable[str]) -> str:
        """What pip said, in two lines; all of it goes to a file, where there is room for one."""
        said = [line for line in lines if line.strip()]
        text = "\n".join(said)
        errors = [line for line in said if re.match(r"\s*(ERROR|error)", line)]
        last = re.sub(r"^\s*(ERROR|error):\s*", "", (errors or said or ["pip ended"])[-1])
        values = {"size": SIZES[self.name], "python": sys.version.split()[0], "line": last[:200]}
        cause = next((told for found, told in CAUSES if re.search(found, text)), "{line}")
        told = cause.format(**values)
        hint = next((HINTS[start] for start in HINTS if told.startswith(start)), "")
        return f"{told}\n{hint or self._keep(text)}"

    def _keep(self, text: str) -> str:
        path = self.folder.with_name(f"{self.folder.name}.log")
        try:
            path.write_text(text, "utf-8")
        except OSError:
            return text[-2000:]
        return f"All that pip said: {path}"


def _follow(
    command: list[str], heard: Callable[[str], None], tick: Callable[[], None] = lambda: None
) -> int:
    """Run a program, hear its lines as they come; its exit code."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        text=True,
        errors="replace",
    )
    assert process.stdout is not None
    lines = process.stdout

    def listen() -> None:
        for line in lines:
            heard(line.rstrip("\n"))

    listener = Thread(target=listen, daemon=True)
    listener.start()
    try:
        while process.poll() is None:
            tick()
            time.sleep(0.1)
    except BaseException:
        process.terminate()
        process.wait()
        raise
    listener.join(5)
    return process.returncode


def _run_quietly(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def _is_root() -> bool:
    return sys.platform != "win32" and os.geteuid() == 0


def main(arguments: list[str]) -> int:
    name, folder = arguments
    environment = Environment(name, Path(folder), Path.cwd())
    try:
        environment.ensure()
    except Failed as error:
        environment.progress.say("could not be set up")
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        environment.progress.say("could not be set up")
        print(f"{error.strerror}: {error.filename}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        environment.progress.say("interrupted; the next make begins again")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
