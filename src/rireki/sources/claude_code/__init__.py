"""Claude Code: session transcripts, sub-agents, spilled tool outputs and typed prompts."""

from rireki.sources.claude_code.reader import READER

__all__ = ["READER"]
