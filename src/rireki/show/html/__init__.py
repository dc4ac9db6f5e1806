"""A conversation as HTML: for pages, for what a page loads later, for a document of its own.

`tell` makes one block per message, `export` the whole document. What comes out of
a transcript passes through `markup` and nothing else, so that it stays text.
"""
