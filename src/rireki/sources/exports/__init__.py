"""Chats that a person downloaded: exports of ChatGPT, claude.ai and Open WebUI."""

from rireki.sources.exports.reader import CHATGPT, CLAUDE_AI, OPEN_WEBUI

__all__ = ["CHATGPT", "CLAUDE_AI", "OPEN_WEBUI"]
