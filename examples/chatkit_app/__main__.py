"""Starts the app: `python -m examples.chatkit_app`, and beside it `rireki serve`."""

from __future__ import annotations

import argparse
import shlex

import uvicorn
from examples.chatkit_app.app import make_app


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m examples.chatkit_app", description=__doc__)
    parser.add_argument("--port", type=int, default=8123)
    parser.add_argument("--archive", help="the archive to keep conversations beside")
    options = parser.parse_args()
    base = f"http://127.0.0.1:{options.port}"
    beside = f" --archive {shlex.quote(options.archive)}" if options.archive else ""
    said = f"The chat is at {base}\nTo see it in rireki as it goes on: rireki serve{beside}"
    print(said, flush=True)  # noqa: T201
    uvicorn.run(
        make_app(base, options.archive), host="127.0.0.1", port=options.port, log_level="warning"
    )


if __name__ == "__main__":
    main()
