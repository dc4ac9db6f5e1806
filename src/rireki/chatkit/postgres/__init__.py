"""A ChatKit store in PostgreSQL, for apps with many workers."""
