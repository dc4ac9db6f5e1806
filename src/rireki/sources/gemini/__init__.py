"""Gemini CLI and Qwen Code, which began as a copy of it: chats, typed prompts, checkpoints, sub-agents."""

from rireki.sources.gemini.reader import GEMINI, QWEN

__all__ = ["GEMINI", "QWEN"]
