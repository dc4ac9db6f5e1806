"""`python -m rireki` is `rireki`."""

from rireki.python_path import leave_current_directory

leave_current_directory()

from rireki.cli.start import main  # noqa: E402 - not before the path is ours

main()
