"""The tokenizer in C reads and writes nowhere but where it may, whatever the text."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rireki.search.text import tokenizer

SOURCE = Path(tokenizer.__file__).with_name("tokenizer.c")
#: Run in a process of its own, under the eyes of the compiler's guards.
RANDOM_TEXTS = """
import ctypes, random, sys
from rireki.search.text import tokenizer
from rireki.search.text.tokens import in_bytes

tokenizer.KEPT = 0  # every text gets just the room it needs
ready = tokenizer.Tokenizer(ctypes.CDLL(sys.argv[1]))
chance = random.Random(sys.argv[2])
pieces = [*"abXY01_. \\n→…．👩🚀履歴かナ한é", "camelCase", "HTTPServer", "userIDs", "x" * 999, "x" * 1001]
for _ in range(int(sys.argv[2])):
    parts = ("".join(chance.choices(pieces, k=chance.randrange(20))) for _ in range(3))
    texts = [part * chance.choice([1, 1, 1, 50]) for part in parts]
    ready.cut(texts, list(map(in_bytes, texts)))
    noise = bytes(chance.choices(range(256), k=chance.randrange(30))).replace(b"\\x02", b"")
    ready._cut([noise, b"and", noise])
print("unharmed")
"""


def guards() -> list[str]:
    """The libraries that have to be there before Python itself."""
    named = [
        subprocess.run(
            ["cc", f"-print-file-name={name}"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name in ("libasan.so", "libubsan.so")
    ]
    return [name for name in named if Path(name).is_absolute()]


def test_nothing_is_touched_beyond_the_texts(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    built = tmp_path / "guarded.so"
    command = ["cc", "-g", "-O1", "-fsanitize=address,undefined", "-DSOURCE=0u", "-shared", "-fPIC"]
    try:
        subprocess.run([*command, "-o", str(built), str(SOURCE)], check=True, capture_output=True)
        preload = " ".join(guards())
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no compiler with guards")
    times = 100_000 if pytestconfig.getoption("campaign") else 200
    done = subprocess.run(
        [sys.executable, "-c", RANDOM_TEXTS, str(built), str(times)],
        env={
            **os.environ,
            "LD_PRELOAD": preload,
            "PYTHONMALLOC": "malloc",
            "ASAN_OPTIONS": "detect_leaks=0",
        },
        capture_output=True,
        text=True,
    )
    assert (done.stdout.strip(), done.returncode) == ("unharmed", 0), done.stderr
