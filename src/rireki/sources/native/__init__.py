"""rireki's own histories: the journals that `MessageHistory` writes, read like any other source.

The entries and what they mean (`entry.py`, `log.py`) are shared with the library that writes
them, so that a history and the archive can never disagree. Nothing is imported here: a program
that keeps a history in memory needs none of the reader.
"""
