"""The parts of `rireki chat`: what is typed, asked and printed, and the bridge beside it."""
