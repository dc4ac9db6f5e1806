"""Secrets out of what is given away: keys, tokens and passwords become marks that say what stood there.

What is stored is never changed. A mark (`[masked: github-token #3f2a]`) has a number by which equal
secrets are recognised, and which tells nothing to who has not the key beside the archive.
"""

from rireki.masking.masker import Mark, Masker

__all__ = ["Mark", "Masker"]
