"""`python -m rireki` is `rireki`."""

from rireki.faces.cli.start import main

main()
