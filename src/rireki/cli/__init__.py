"""The command line: a file per command, loaded only when it is typed."""
