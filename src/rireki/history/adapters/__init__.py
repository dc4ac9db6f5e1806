"""Histories for other libraries' agents: each module speaks one library's protocol.

    agents.py        OpenAI Agents SDK   Session
    pydantic_ai.py   pydantic-ai         ConversationStore (needs the package)
    claude.py        Claude Agent SDK    SessionStore

Protocols are met by shape where that is possible, so that nothing has to be imported for them.
"""

from __future__ import annotations
