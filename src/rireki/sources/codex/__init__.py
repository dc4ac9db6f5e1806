"""Codex CLI: rollout files of three generations, names, and the terminal's list of prompts."""

from rireki.sources.codex.reader import READER

__all__ = ["READER"]
