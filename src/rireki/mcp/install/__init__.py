"""Telling agents of our server, in their own settings: the one thing of theirs that rireki ever writes."""
