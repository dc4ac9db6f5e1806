"""The index on disk: Tantivy, our notes about it, writing to it, and keeping it up with the archive."""
