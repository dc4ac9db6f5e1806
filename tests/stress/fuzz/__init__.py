"""Damaged histories for every reader: made from real ones, by a seed, without end."""
