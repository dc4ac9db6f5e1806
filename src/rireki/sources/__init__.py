"""What agents leave on disk, read into records and understood as messages."""
