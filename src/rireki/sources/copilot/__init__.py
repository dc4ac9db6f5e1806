"""GitHub Copilot: sessions of its CLI, and chats in VS Code and the editors made of it.

`cli.py` and `chat.py` are the two readers. Events are written by the CLI, and by some builds of the editor.
"""
