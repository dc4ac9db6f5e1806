"""llm, the command line tool and library: its log of prompts and answers."""

from rireki.sources.llm.reader import READER

__all__ = ["READER"]
