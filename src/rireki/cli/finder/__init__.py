"""The interactive finder: results as one types."""
