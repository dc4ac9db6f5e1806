"""Whether a ChatKit store keeps its promises: for authors of any store, not only ours.

ChatKit says what a store's methods are called; what its server relies on is checked here.
"""
