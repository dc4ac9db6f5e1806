"""A file per command, imported only when the command is typed."""
