"""Starts the app: `python -m examples.chatkit_app`, and beside it `rireki serve`."""

from __future__ import annotations

import argparse

import uvicorn
from examples.chatkit_app.app import make_app


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m examples.chatkit_app", description=__doc__)
    parser.add_argument("--port", type=int, default=8123)
    parser.add_argument("--archive", help="the archive to keep conversations beside")
    options = parser.parse_args()
    base = f"http://127.0.0.1:{options.port}"
    uvicorn.run(make_app(base, options.archive), host="127.0.0.1", port=options.port)


if __name__ == "__main__":
    main()
