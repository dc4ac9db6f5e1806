"""What happened while an agent was driven from rireki: the bridge's journals, read like any other source.

The spelling of the entries (`entry.py`) is shared with the bridge, which writes them.
"""
