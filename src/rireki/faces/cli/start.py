"""The first step of every command: imports nothing yet, so that a short command stays short."""

from __future__ import annotations

import gc

__all__ = ["main"]


def main() -> None:
    # Importing makes many objects and little garbage: looking for it costs a tenth of a short command.
    gc.set_threshold(50_000)
    from rireki.faces.cli.main import main as run

    run()
