"""What Kiro's second engine keeps beside a log: the session file, as types.

Every field is optional. A `session_state` of a version we do not know stays closed.
"""

from __future__ import annotations

from typing import Any

import msgspec

from rireki.model.conversation import Answer
from rireki.model.message import Usage
from rireki.model.times import from_iso
from rireki.sources.amazon_q.state import Duration, ModelInfo
from rireki.sources.kit.decode import fit_loosely

__all__ = ["KiroSession", "SessionState", "TurnMetadata", "open_session"]


class TurnMetadata(msgspec.Struct, frozen=True):
    """One turn, as the engine summed it up when it ended."""

    loop_id: Any = None
    result: Any = None
    message_ids: list[Any] | None = None
    total_request_count: int | None = None
    number_of_cycles: int | None = None
    builtin_tool_uses: int | None = None
    turn_duration: Duration | None = None
    end_reason: Any = None
    end_timestamp: str | None = None
    #: Often 0 although a model answered.
    input_token_count: int | None = None
    output_token_count: int | None = None
    context_usage_percentage: float | None = None
    metering_usage: Any = None

    @property
    def answer(self) -> str | None:
        """The id of the message that ended the turn."""
        ok = self.result.get("Ok") if isinstance(self.result, dict) else None
        found = ok.get("id") if isinstance(ok, dict) else None
        return found if isinstance(found, str) else None

    @property
    def usage(self) -> Usage | None:
        tokens = (_plausible(self.input_token_count), _plausible(self.output_token_count))
        return Usage(*tokens) if any(tokens) else None


def _plausible(count: int | None) -> int:
    return count if count is not None and 0 <= count < 1 << 53 else 0


class ConversationMetadata(msgspec.Struct, frozen=True):
    user_turn_metadatas: list[TurnMetadata] | None = None
    user_turn_start_request: Any = None
    last_request: Any = None


class ModelState(msgspec.Struct, frozen=True):
    conversation_id: str | None = None
    model_info: ModelInfo | None = None
    context_usage_percentage: float | None = None


class SessionState(msgspec.Struct, frozen=True):
    version: str | None = None
    conversation_metadata: ConversationMetadata | None = None
    rts_model_state: ModelState | None = None
    permissions: Any = None
    agent_name: str | None = None


class KiroSession(msgspec.Struct, frozen=True):
    session_id: str | None = None
    cwd: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    title: str | None = None
    exported_from_v1: bool | None = None
    imported_from: Any = None
    parent_session_id: str | None = None
    session_created_reason: str | None = None
    session_state: Any = None

    @property
    def state(self) -> SessionState:
        """The inner state, where its version is one we know."""
        opened, _ = fit_loosely(self.session_state, SessionState)
        return opened if opened.version == "v1" else SessionState()

    @property
    def model(self) -> str | None:
        model = self.state.rts_model_state or ModelState()
        return model.model_info.model_id if model.model_info else None

    @property
    def turns(self) -> list[TurnMetadata]:
        metadata = self.state.conversation_metadata or ConversationMetadata()
        return metadata.user_turn_metadatas or []

    @property
    def is_subagent(self) -> bool:
        return bool(self.parent_session_id) and self.session_created_reason == "subagent"

    def answers(self, conversation: str) -> list[Answer]:
        """The turns whose tokens were counted."""
        return [
            Answer(
                turn.answer or f"{conversation}:{number}",
                self.model or "",
                turn.usage,
                from_iso(turn.end_timestamp),
            )
            for number, turn in enumerate(self.turns, 1)
            if turn.usage is not None
        ]


def open_session(value: Any) -> KiroSession:
    opened, _ = fit_loosely(value, KiroSession)
    return opened
