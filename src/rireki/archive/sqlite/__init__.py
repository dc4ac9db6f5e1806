"""The archive in one SQLite file. SQL stands here and nowhere above."""
