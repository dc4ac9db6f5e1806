"""Archives of many owners in one PostgreSQL database. SQL stands here and nowhere above."""
