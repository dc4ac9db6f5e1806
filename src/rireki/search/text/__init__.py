"""Text on its way into the index: what is searched, normalized, cut into words, and stored."""
