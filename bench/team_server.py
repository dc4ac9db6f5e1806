"""A team's server over rows that have no records: it shows and tells them, and interprets nothing."""

from __future__ import annotations

import sys
from pathlib import Path

from rireki.team.serve import TeamServer
from rireki.team.store import Team
from rireki.web.serve import bind


def main() -> None:
    database, folder = sys.argv[1:]
    server = TeamServer(bind("127.0.0.1", 0), Team(database, Path(folder)))
    # Of what it would index there is nothing to read.
    server.worker.work = lambda: None  # type: ignore[method-assign]
    print(server.url, flush=True)
    server.run()


if __name__ == "__main__":
    main()
