"""`python -m rireki` is `rireki`."""

from rireki.faces.cli.main import main

main()
