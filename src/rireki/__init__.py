"""rireki (履歴): the one home for every conversation people have with AI agents."""

__version__ = "0.1.0"
