"""Finding: words, phrases and filters over everything that was ever said, run or printed."""
