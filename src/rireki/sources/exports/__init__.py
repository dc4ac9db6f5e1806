"""Chats that a person downloaded: exports of ChatGPT, claude.ai and Open WebUI; trajectories."""

from rireki.sources.exports.reader import ATIF, CHATGPT, CLAUDE_AI, OPEN_WEBUI

__all__ = ["ATIF", "CHATGPT", "CLAUDE_AI", "OPEN_WEBUI"]
