"""The protocol: what goes over the pipes is what its package says, and what comes is taken as it is."""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rireki.drive.acp.asks import permission, permission_reply, question, question_reply
from rireki.drive.acp.quirks import asking_mode, seconds_until_safe
from rireki.drive.acp.updates import Updates
from rireki.drive.acp.wire import Wire
from rireki.drive.driver import Reply
from rireki.drive.values import AskAnswer, Prompt, PromptImage
from tests.drive.conftest import Desk, asked, reach, run, say, until

PACKAGE_AGENT = Path(__file__).parents[1] / "support" / "acp_package_agent.py"


def test_an_agent_made_with_the_package_understands_us(archive_reader: Desk) -> None:
    (archive_reader.project / "notes.txt").write_text("n")
    agent = msgspec.structs.replace(
        archive_reader.agent(), command=(sys.executable, str(PACKAGE_AGENT)), source=None
    )

    async def story() -> None:
        async with archive_reader.bridge(agent) as bridge:
            session = await archive_reader.start(bridge)
            image = PromptImage("image/png", "iVBORw0KGgo=")
            await session.send(Prompt("p1", "hello", [image], ["notes.txt"]), "web")
            ask = await asked(session)
            assert (ask.detail, ask.options[0].kind) == ("run", "allow_once")
            await session.answer(ask.id, AskAnswer(option="yes"), "web")
            await until(lambda: session.state == "answer")
            form = await asked(session)
            assert form.title == "Which colour?" and form.questions[0].required
            assert [choice.label for choice in form.questions[0].options] == ["Blue", "Red"]
            await session.answer(form.id, AskAnswer(values={"colour": ["Red"]}), "web")
            await reach(session, "idle")
            assert session.conversation == "bridge/one", "it leaves no transcripts"

    run(story())
    assert archive_reader.said() == (
        "got TextContentBlock,ResourceContentBlock,ImageContentBlock; yes, {'colour': 'r'}"
    )
    assert archive_reader.kinds("result")[0]["output"] == '{"lines": 3}'


def test_all_messages_are_as_the_package_spells_them(archive_reader: Desk) -> None:
    """Ours to the scripted agent, and its to us: it stands for real ones."""
    schema = pytest.importorskip("acp.schema")
    wire = archive_reader.folder / "wire.jsonl"

    async def story() -> None:
        async with archive_reader.session(SCRIPT_WIRE=str(wire), SCRIPT_CANNOT="resume") as session:
            for text, answer in [
                ("permission", AskAnswer(option="allow")),
                ("question", AskAnswer(values={"question_0": ["Blue"]})),
                ("plan", AskAnswer(option="default")),
            ]:
                sending = asyncio.create_task(say(session, text))
                await session.answer((await asked(session)).id, answer, "web")
                await sending
            for text in ("think", "tool", "echo x"):
                await say(session, text)
            await session.send(Prompt("f", "forever"), "web")
            await until(lambda: session.status.blocks)
            await session.stop()
            await reach(session, "idle")
            await session.restart()
            await reach(session, "idle")

    run(story())
    requests = {
        "initialize": (schema.InitializeRequest, schema.InitializeResponse),
        "session/new": (schema.NewSessionRequest, schema.NewSessionResponse),
        "session/load": (schema.LoadSessionRequest, schema.LoadSessionResponse),
        "session/prompt": (schema.PromptRequest, schema.PromptResponse),
        "session/cancel": (schema.CancelNotification, None),
        "session/update": (schema.SessionNotification, None),
        "session/request_permission": (
            schema.RequestPermissionRequest,
            schema.RequestPermissionResponse,
        ),
        "elicitation/create": (
            schema.CreateFormSessionElicitationRequest,
            schema.AcceptElicitationResponse,
        ),
    }
    waiting: dict[tuple[str, int], Any] = {}
    checked = set()
    for line in wire.read_text().splitlines():
        entry = json.loads(line)
        message, direction = entry["message"], entry["direction"]
        if "method" in message:
            asks, answers = requests[message["method"]]
            asks.model_validate(message["params"])
            checked.add(message["method"])
            if "id" in message:
                back = "out" if direction == "in" else "in"
                waiting[back, message["id"]] = answers
        else:
            waiting.pop((direction, message["id"])).model_validate(message["result"])
    assert checked == set(requests) and not waiting


class Pipe:
    def __init__(self) -> None:
        self.updates: list[Any] = []
        self.garbage: list[bytes] = []

    async def read(self, data: bytes, cuts: list[int]) -> list[dict[str, Any]]:
        reader = asyncio.StreamReader()
        wire = Wire(reader, None, self.updates.append, self.garbage.append)  # type: ignore[arg-type]
        places = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
        messages: list[dict[str, Any]] = []

        async def receive() -> None:
            while (message := await wire.receive()) is not None:
                messages.append(message)

        receiving = asyncio.create_task(receive())
        for start, end in itertools.pairwise(places):
            reader.feed_data(data[start:end])
            await asyncio.sleep(0)
        reader.feed_eof()
        await receiving
        return messages


lines = st.one_of(
    st.integers(0, 9).map(lambda n: ("message", {"jsonrpc": "2.0", "id": n, "result": {}})),
    st.text(max_size=9).map(
        lambda t: (
            "update",
            {"jsonrpc": "2.0", "method": "session/update", "params": {"update": {"t": t}}},
        )
    ),
    st.binary(max_size=30)
    .filter(lambda b: b"\n" not in b and b"{" not in b and b.strip())
    .map(lambda b: ("garbage", b)),
)


@settings(deadline=None)
@given(st.lists(lines, max_size=12), st.lists(st.integers(0, 600), max_size=8))
def test_messages_arrive_whole_and_in_order_between_any_garbage_and_cuts(
    written: list[tuple[str, Any]], cuts: list[int]
) -> None:
    spelt = [item if kind == "garbage" else json.dumps(item).encode() for kind, item in written]
    pipe = Pipe()
    messages = asyncio.run(pipe.read(b"".join(line + b"\n" for line in spelt), cuts))
    assert messages == [item for kind, item in written if kind == "message"]
    assert pipe.updates == [i["params"]["update"] for kind, i in written if kind == "update"]
    assert pipe.garbage == [item.strip() for kind, item in written if kind == "garbage"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
FIELDS = """
    content toolCallId title kind status rawInput rawOutput entries options configOptions
    currentModeId messageId _meta used toolCall requestedSchema message
"""
KINDS = """
    agent_message_chunk agent_thought_chunk tool_call tool_call_update plan usage_update
    config_option_update current_mode_update user_message_chunk unheard_of
"""
names = st.sampled_from(FIELDS.split())


class Nobody:
    """A sink that hears everything and forgets it."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: None


@given(st.sampled_from(KINDS.split()), st.dictionaries(names, json_values))
def test_strange_updates_cost_nothing(kind: str, fields: dict[str, Any]) -> None:
    Updates(Nobody()).take({"sessionUpdate": kind, **fields})
    Updates(Nobody()).offered(fields)


@given(st.dictionaries(names, json_values))
def test_strange_requests_become_asks_all_the_same(params: dict[str, Any]) -> None:
    assert permission(params).title
    assert question(params).title
    assert (
        permission_reply(params, Reply("expired", AskAnswer()))["outcome"]["outcome"] == "cancelled"
    )
    assert question_reply(params, Reply("expired", AskAnswer())) == {"action": "cancel"}


def test_a_call_that_is_first_told_of_by_asking_for_it_has_a_name() -> None:
    calls: list[dict[str, Any]] = []

    class Ear(Nobody):
        def call(self, id: str, **more: Any) -> None:
            calls.append(more)

    updates = Updates(Ear())
    asked = {"toolCallId": "c1", "title": "touch made.txt", "kind": "execute"}
    updates.call(asked)
    updates.take({"sessionUpdate": "tool_call_update", **asked, "status": "completed"})
    assert [call["name"] for call in calls] == ["execute", None]


def test_gemini_loads_no_chat_in_the_minute_in_which_it_began(tmp_path: Path) -> None:
    chats = tmp_path / ".gemini" / "tmp" / "project" / "chats"
    chats.mkdir(parents=True)
    (chats / "session-2026-11-19T01-56-1d13ea62.jsonl").touch()
    id, home = "1d13ea62-e95f-42a7-b9cb-6a305e0feeb1", {"HOME": str(tmp_path)}
    began = datetime.fromisoformat("2026-11-19T02:56:14.500+01:00")
    assert seconds_until_safe("gemini-cli", id, home, began) == 45.5
    elsewhere = {"HOME": "/nowhere", "GEMINI_CLI_HOME": str(tmp_path)}
    assert seconds_until_safe("gemini-cli", id, elsewhere, began) == 45.5
    assert seconds_until_safe("gemini-cli", id, home, began + timedelta(minutes=1)) == 0
    assert seconds_until_safe("gemini-cli", f"2{id}", home, began) == 0
    assert seconds_until_safe("gemini-cli", id, {}, began) == 0
    assert seconds_until_safe("qwen-code", id, home, began) == 0


def test_commands_are_told_as_they_would_run() -> None:
    def detail(**arguments: Any) -> str:
        return permission({"toolCall": {"toolCallId": "c1", "rawInput": arguments}}).detail

    assert detail(command="make") == "make"
    assert detail(commands=["make", "make test"]) == "make\nmake test"
    assert "elsewhere" in detail(commands=["make"], cwd="elsewhere")
    assert "3" in detail(commands=["make", 3])


def test_the_model_is_chosen_among_models_and_not_among_their_makers() -> None:
    def option(id: str, *values: str) -> dict[str, Any]:
        return {"id": id, "category": "model", "options": [{"value": each} for each in values]}

    updates = Updates(Nobody())
    updates.offered({"configOptions": [option("model", "small", "large"), option("provider", "a")]})
    assert [model.id for model in updates.models] == ["small", "large"]
    how = updates.choosing("s1", "large")
    assert how is not None and how[1]["configId"] == "model"


def test_codex_asks_the_person_unless_another_mode_was_chosen() -> None:
    offered = ["read-only", "workspace-write", "agent", "agent-full-access"]
    assert asking_mode("codex", {}, offered, "agent") == "workspace-write"
    assert asking_mode("codex", {"INITIAL_AGENT_MODE": "agent"}, offered, "agent") is None
    assert asking_mode("codex", {}, offered, "read-only") is None
    assert asking_mode("codex", {}, ["agent"], "agent") is None
    assert asking_mode("claude-code", {}, offered, "agent") is None


def test_forms_take_numbers_booleans_and_their_own_words_for_things() -> None:
    params = {
        "message": "Settings",
        "requestedSchema": {
            "type": "object",
            "required": ["count"],
            "properties": {
                "count": {"type": "integer", "title": "How many?"},
                "share": {"type": "number", "description": "Which share?"},
                "sure": {"type": "boolean", "title": "Sure?"},
                "size": {"type": "string", "enum": ["s", "l"]},
                "tags": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}},
            },
        },
    }
    ask = question(params)
    assert [q.question for q in ask.questions] == [
        "How many?",
        "Which share?",
        "Sure?",
        "size",
        "tags",
    ]
    assert [q.required for q in ask.questions] == [True, False, False, False, False]
    assert [choice.label for choice in ask.questions[2].options] == ["Yes", "No"]
    values = {
        "count": ["3"],
        "share": ["0.5"],
        "sure": ["No"],
        "size": ["l"],
        "tags": ["x", "y"],
    }
    reply = question_reply(params, Reply("answered", AskAnswer(values=values)))
    assert reply == {
        "action": "accept",
        "content": {"count": 3, "share": 0.5, "sure": False, "size": "l", "tags": ["x", "y"]},
    }
