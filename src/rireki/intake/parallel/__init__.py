"""Work given to other processors: worker processes, how they start, and what they do."""
