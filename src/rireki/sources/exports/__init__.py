"""Files that a person names: exports of ChatGPT, claude.ai and Open WebUI, trajectories, what others shared."""

from rireki.sources.exports.reader import ATIF, CHATGPT, CLAUDE_AI, OPEN_WEBUI, SHARED

__all__ = ["ATIF", "CHATGPT", "CLAUDE_AI", "OPEN_WEBUI", "SHARED"]
