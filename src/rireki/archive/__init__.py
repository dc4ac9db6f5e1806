"""Kept for ever: verbatim records, and the projection that can be rebuilt from them."""
