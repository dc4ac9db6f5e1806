"""One search: planned, run over the index and what is not in it yet, and cut into pages."""
