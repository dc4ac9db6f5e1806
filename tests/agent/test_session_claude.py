"""Transcripts of the Claude Agent SDK in a folder: their conformance kit, and rireki's reader."""

from __future__ import annotations

import asyncio
import json
import sys
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import claude_agent_sdk
import pytest
from claude_agent_sdk import (
    ClaudeAgentOptions,
    ResultMessage,
    get_session_messages_from_store,
    list_sessions_from_store,
    project_key_for_directory,
    query,
)
from claude_agent_sdk.testing import run_session_store_conformance

from rireki.archive.base import Archive
from rireki.errors import RirekiError
from rireki.history.adapters.claude import FolderSessionStore
from rireki.intake.sweep import import_history
from rireki.sources.kit.places import Places
from tests.support.anthropic_endpoint import endpoint

KEY = {"project_key": "p", "session_id": "11111111-1111-4111-8111-111111111111"}


def test_the_conformance_kit(tmp_path: Path) -> None:
    numbers = count()

    def fresh() -> Any:
        return FolderSessionStore(tmp_path / str(next(numbers)))

    asyncio.run(run_session_store_conformance(fresh))
    assert next(numbers) > 10


def line(uuid: str, kind: str, text: str, parent: str | None = None) -> dict[str, Any]:
    return {
        "type": kind,
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": KEY["session_id"],
        "timestamp": "2026-01-01T00:00:00.000Z",
        "cwd": "/home/u/p",
        "version": "2.0.0",
        "isSidechain": False,
        "userType": "external",
        "message": {"role": kind, "content": text},
    }


ENTRIES = [line("a", "user", "こんにちは"), line("b", "assistant", "Hello.", "a")]


def test_a_batch_that_comes_again_is_kept_once_also_after_a_restart(tmp_path: Path) -> None:
    async def story() -> None:
        for _ in range(2):
            store = FolderSessionStore(tmp_path)
            await store.append(KEY, ENTRIES)
            await store.append(KEY, [*ENTRIES, ENTRIES[0]])
        assert await store.load(KEY) == ENTRIES

    asyncio.run(story())


def test_two_stores_of_one_folder_notice_what_the_other_did(tmp_path: Path) -> None:
    async def story() -> None:
        one, other = FolderSessionStore(tmp_path), FolderSessionStore(tmp_path)
        await one.append(KEY, ENTRIES[:1])
        await other.append(KEY, ENTRIES)
        await one.append(KEY, ENTRIES)
        assert await one.load(KEY) == ENTRIES
        await other.delete(KEY)
        await one.append(KEY, ENTRIES)
        assert await one.load(KEY) == ENTRIES

    asyncio.run(story())


def test_a_torn_line_costs_no_other(tmp_path: Path) -> None:
    async def story() -> None:
        await FolderSessionStore(tmp_path).append(KEY, ENTRIES[:1])
        (path,) = tmp_path.rglob("*.jsonl")
        with path.open("ab") as file:
            file.write(json.dumps(ENTRIES[1]).encode()[:20])
        store = FolderSessionStore(tmp_path)
        assert await store.load(KEY) == ENTRIES[:1]
        await store.append(KEY, ENTRIES)
        assert await store.load(KEY) == ENTRIES

    asyncio.run(story())


@pytest.mark.parametrize("name", ["..", "../x", "a/b", "", "a\x00", ".hidden", "x" * 201])
def test_keys_do_not_leave_the_folder(tmp_path: Path, name: str) -> None:
    store = FolderSessionStore(tmp_path / "in")
    with pytest.raises(RirekiError, match="cannot be the name"):
        asyncio.run(store.append({"project_key": "p", "session_id": name}, ENTRIES))
    with pytest.raises(RirekiError, match="cannot be the name"):
        asyncio.run(store.append({**KEY, "subpath": "subagents/../../../x"}, ENTRIES))
    assert list(tmp_path.rglob("*.jsonl")) == []


def test_the_sdk_reads_it_and_so_does_rireki(tmp_path: Path, archive: Archive) -> None:
    store: Any = FolderSessionStore(tmp_path / "sessions")

    async def story() -> None:
        key = {**KEY, "project_key": project_key_for_directory(str(tmp_path))}
        await store.append(key, ENTRIES)
        told = await get_session_messages_from_store(
            store, KEY["session_id"], directory=str(tmp_path)
        )
        assert [message.uuid for message in told] == ["a", "b"]
        (info,) = await list_sessions_from_store(store, directory=str(tmp_path))
        assert info.session_id == KEY["session_id"]

    asyncio.run(story())
    places = Places(tmp_path / "home", {"CLAUDE_CONFIG_DIR": str(tmp_path / "sessions")})
    import_history(archive, places=places)
    (listed,) = archive.conversations()
    assert listed.id.endswith(KEY["session_id"])


def test_summaries_are_there_whatever_happened_to_them(tmp_path: Path) -> None:
    """One that is missing, or was not written because of a kill, is made anew with the next line."""

    async def story() -> None:
        torn = partial(Path.write_text, data='{"covers": 1')
        for number, damage in enumerate((Path.unlink, torn, None)):
            folder = tmp_path / str(number)
            store: Any = FolderSessionStore(folder)
            key = {**KEY, "project_key": project_key_for_directory(str(tmp_path))}
            await store.append(key, ENTRIES[:1])
            await store.append({**key, "subpath": "subagents/agent-1"}, ENTRIES)
            (sidecar,) = folder.rglob("*.summary.json")
            if damage is not None:
                damage(sidecar)
                assert await store.list_session_summaries(key["project_key"]) == []
                assert len(await list_sessions_from_store(store, directory=str(tmp_path))) == 1
            await store.append(key, [*ENTRIES, {"type": "custom-title", "customTitle": "T"}])
            (summary,) = await store.list_session_summaries(key["project_key"])
            assert summary["session_id"] == KEY["session_id"]
            (info,) = await list_sessions_from_store(store, directory=str(tmp_path))
            assert (info.first_prompt, info.custom_title) == ("こんにちは", "T")

    asyncio.run(story())


def test_half_a_character_is_kept(tmp_path: Path) -> None:
    """JavaScript cuts texts in the middle of a pair, and sends it in escapes."""
    odd = [line("a", "user", "half \ud83d of it")]

    async def story() -> None:
        await FolderSessionStore(tmp_path).append(KEY, odd)
        assert await FolderSessionStore(tmp_path).load(KEY) == odd

    asyncio.run(story())


#: Stands in for the program that the SDK starts: one answer for every message.
PROGRAM = """#!{python}
import json, os, sys

def say(frame):
    print(json.dumps(frame), flush=True)

entries = json.loads({entries!r})
session = {session!r}
path = os.path.join(os.environ["CLAUDE_CONFIG_DIR"], "projects", "p", session + ".jsonl")
for line in sys.stdin:
    frame = json.loads(line)
    if frame["type"] == "control_request":
        done = {{"subtype": "success", "request_id": frame["request_id"], "response": {{}}}}
        say({{"type": "control_response", "response": done}})
    elif frame["type"] == "user":
        say({{"type": "transcript_mirror", "filePath": path, "entries": entries}})
        text = [{{"type": "text", "text": "Hello."}}]
        say({{"type": "assistant", "session_id": session,
             "message": {{"role": "assistant", "model": "m", "content": text}}}})
        say({{"type": "result", "subtype": "success", "duration_ms": 1, "duration_api_ms": 1,
             "is_error": False, "num_turns": 1, "session_id": session, "result": "Hello."}})
"""


def test_a_run_with_the_real_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "own"))
    monkeypatch.setenv("CLAUDE_AGENT_SDK_SKIP_VERSION_CHECK", "1")
    program = tmp_path / "claude"
    entries = json.dumps(ENTRIES)
    program.write_text(
        PROGRAM.format(python=sys.executable, entries=entries, session=KEY["session_id"])
    )
    program.chmod(0o700)
    store: Any = FolderSessionStore(tmp_path / "sessions")
    options = ClaudeAgentOptions(
        cli_path=program, session_store=store, cwd=tmp_path, env={"PYTHONUTF8": "1"}
    )

    async def story() -> None:
        async with asyncio.timeout(60):
            kinds = [type(m).__name__ async for m in query(prompt="hi", options=options)]
        assert kinds == ["AssistantMessage", "ResultMessage"]
        assert await store.load(KEY) == ENTRIES

    asyncio.run(story())


def test_claude_code_itself_goes_on_with_it_on_another_machine(
    tmp_path: Path, archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real program, asking a scripted model; its own folder is gone when it resumes."""
    program = Path(claude_agent_sdk.__file__).parent / "_bundled" / "claude"
    if not program.exists():
        pytest.skip("claude-agent-sdk brings no Claude Code for this platform")
    project = tmp_path / "project"
    project.mkdir()

    async def say(text: str, machine: str, resume: str | None) -> tuple[str, str]:
        home = tmp_path / machine
        own = {"HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / ".claude")}
        for name, value in {**model.environment(), **own}.items():
            monkeypatch.setenv(name, value)
        options = ClaudeAgentOptions(
            cli_path=program, session_store=store, cwd=project, resume=resume, max_turns=2
        )
        async for message in query(prompt=text, options=options):
            if isinstance(message, ResultMessage):
                return message.session_id, message.result or ""
        raise AssertionError("it ended without a result")

    store: Any = FolderSessionStore(tmp_path / "sessions")
    with endpoint({}) as model:
        session, said = asyncio.run(say("Remember the kiwi", "one", None))
        assert said == "You said: Remember the kiwi"
        again, said = asyncio.run(say("What was it?", "other", session))
        assert said == "You said: What was it?"
    assert "kiwi" in json.dumps(model.requests[-1]["messages"]), "the model was told again"
    (info,) = asyncio.run(list_sessions_from_store(store, directory=str(project)))
    assert info.session_id == session == again
    places = Places(tmp_path / "home", {"CLAUDE_CONFIG_DIR": str(tmp_path / "sessions")})
    import_history(archive, places=places)
    (listed,) = archive.conversations()
    assert listed.turns == 2 and listed.troubles == []
