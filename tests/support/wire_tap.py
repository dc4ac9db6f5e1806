"""Stands between rireki and an agent, and writes every line down: `wire_tap.py FILE PROGRAM…`.

A line of the file is `{"to": "agent" or "rireki", "message": …}`. Everything goes on as it came.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from typing import IO


def main() -> int:
    process = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin and process.stdout
    with open(sys.argv[1], "a", encoding="utf-8") as file:
        lock = threading.Lock()

        def pass_on(to: str, source: IO[bytes], target: IO[bytes]) -> None:
            for line in source:
                with lock:
                    file.write(json.dumps({"to": to, "message": _read(line)}) + "\n")
                    file.flush()
                target.write(line)
                target.flush()
            target.close()

        up = (process.stdin, "agent", sys.stdin.buffer)
        threading.Thread(target=pass_on, args=(up[1], up[2], up[0]), daemon=True).start()
        pass_on("rireki", process.stdout, sys.stdout.buffer)
        return process.wait()


def _read(line: bytes) -> object:
    try:
        return json.loads(line)
    except ValueError:
        return line.decode("utf-8", "replace")


if __name__ == "__main__":
    sys.exit(main())
