"""The one way in: from what a reader finds to what the archive keeps and understands."""
