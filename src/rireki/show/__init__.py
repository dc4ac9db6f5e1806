"""A conversation told to people and programs: as text, as Markdown, as JSON."""
