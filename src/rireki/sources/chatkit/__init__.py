"""ChatKit: the threads, items and attachments that an app's store keeps in an SQLite database."""

from rireki.sources.chatkit.reader import READER

__all__ = ["READER"]
