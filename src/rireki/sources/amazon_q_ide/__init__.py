"""Amazon Q Developer in editors: tabs of a LokiJS database per workspace, written anew at every save."""

from rireki.sources.amazon_q_ide.reader import READER

__all__ = ["READER"]
