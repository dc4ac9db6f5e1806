"""What the files and rows of Cursor are called in the archive."""

from __future__ import annotations

__all__ = [
    "AGENT",
    "CHAT",
    "CLI",
    "COMPOSER",
    "COMPOSERS",
    "LINES",
    "MEMBER",
    "NOTE",
    "PANEL",
    "TEXT",
    "TRANSCRIPTS",
    "WORKSPACE",
]

#: The editor's databases, and what is made of their rows: a conversation, an entry in the list of a
#: workspace, a chat of the panel it had.
COMPOSERS, WORKSPACE = "composers", "workspace"
COMPOSER, MEMBER, PANEL = "composer", "member", "panel"
#: A transcript of a session and of a sub-agent, and the text that older versions wrote.
LINES, AGENT, TEXT = "transcript", "sub-transcript", "text-transcript"
TRANSCRIPTS = (LINES, AGENT, TEXT)
#: The database of a chat of the CLI, the file beside it, and who can go on with it.
CHAT, NOTE, CLI = "chat", "chat-meta", "cursor-cli"
