"""Driving agents: what a person types reaches an agent, and everything that follows is kept.

`bridge.py` is the door: all driven conversations of one process. Each is a `Session`
(`session.py`) with a journal (`journal.py`), whose entries are worked out by `log.py`; it talks
to its agent through a `Driver` (`driver.py`): `acp.py` for the Agent Client Protocol.
"""
