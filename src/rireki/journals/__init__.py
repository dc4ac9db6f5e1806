"""Append-only files that rireki writes itself: the file, its lock, and how an entry is spelled.

A journal of a history (`history_entry`) or of a driven session (`session_entry`) is a file of lines
beside the archive. Who writes one is in `history/` and `drive/`; what it means to people, in `sources/`.
"""
