"""Who asks, as the hosts say it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from rireki.mcp.caller import Caller, HostSession, host_session
from tests.mcp.conftest import Past

ID = "0199b000-1111-4222-8333-444455556666"


@pytest.mark.parametrize(
    ("meta", "session"),
    [
        ({"threadId": ID}, HostSession("codex", ID)),
        ({"x-codex-turn-metadata": {"thread_id": ID, "turn_id": "t"}}, HostSession("codex", ID)),
        ({"x-codex-turn-metadata": json.dumps({"session_id": ID})}, HostSession("codex", ID)),
        ({"ai.opencode/sessionID": "ses_5b1f6a2c"}, HostSession("opencode", "ses_5b1f6a2c")),
        ({"claudecode/toolUseId": "toolu_1", "progressToken": 2}, None),
        ({"threadId": ["no", "text"]}, None),
        ({"threadId": "../../etc/passwd"}, None),
        ({"x-codex-turn-metadata": "{" * 1000}, None),
        ({}, None),
        (None, None),
    ],
)
def test_a_call_says_it_best(meta: dict[str, Any] | None, session: HostSession | None) -> None:
    assert host_session(meta) == session


def test_a_call_goes_before_what_the_process_inherited() -> None:
    inherited = {"CLAUDE_CODE_SESSION_ID": "another"}
    assert host_session({"threadId": ID}, "codex-mcp-client", inherited) == HostSession("codex", ID)
    # Codex that was started from Claude Code's shell, and says nothing itself.
    assert host_session({}, "codex-mcp-client", inherited) is None


def test_claude_code_notes_the_session_of_its_process(tmp_path: Path) -> None:
    (tmp_path / "sessions").mkdir()
    note = tmp_path / "sessions" / f"{os.getpid()}.json"
    environment = {"CLAUDE_CONFIG_DIR": str(tmp_path), "CLAUDE_CODE_SESSION_ID": "before-the-clear"}

    def asked() -> HostSession | None:
        return host_session({}, "claude-code", environment, os.getpid())

    note.write_text(json.dumps({"pid": os.getpid(), "sessionId": ID}))
    assert asked() == HostSession("claude-code", ID)
    for wrong in ('{"pid": 1, "sessionId": "someone-else"}', "not json", "[]", "x" * 200_000):
        note.write_text(wrong)
        assert asked() == HostSession("claude-code", "before-the-clear")


def test_only_the_very_session_is_taken_for_it(past: Past) -> None:
    whole = past.ids["ports"].removeprefix("claude-code/")
    assert Caller.of(HostSession("claude-code", whole), past.library) == Caller(
        past.ids["ports"], True
    )
    beginning = Caller.of(HostSession("claude-code", whole[:8]), past.library)
    assert not beginning.archived and "not in the archive yet" in beginning.left_out
    assert Caller.of(None, past.library).id is None
