"""Entries in PostgreSQL, for programs with many workers: one database, any number of processes.

What is written goes into a schema of its own, and is read by our reader like every other source. An
extra: `pip install 'rireki[team]'`.
"""
