"""What a ChatKit database says: both genuine ones complete, and every type of item in its place."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from rireki.model.conversation import Reading
from rireki.model.message import Message
from rireki.model.parts import (
    Attachment,
    Notice,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from rireki.sources.chatkit import READER
from rireki.sources.chatkit.steps import DOUBLED
from rireki.sources.reader import Origin
from tests.support.memory import Memory

FIXTURES = Path(__file__).parents[1] / "fixtures" / "chatkit"
GENUINE = ("chatkit-1.4.0", "chatkit-1.6.5")
SCHEMA = """
CREATE TABLE threads (id TEXT PRIMARY KEY, user_id TEXT NOT NULL, created_at TEXT NOT NULL, data TEXT NOT NULL);
CREATE TABLE items (id TEXT PRIMARY KEY, thread_id TEXT NOT NULL, user_id TEXT NOT NULL,
  created_at TEXT NOT NULL, data TEXT NOT NULL);
CREATE TABLE attachments (id TEXT PRIMARY KEY, user_id TEXT NOT NULL, data TEXT NOT NULL);
"""
THREAD = "thr_0badcafe"
AT = "2026-11-15T18:00:{:02d}+00:00"


class App:
    """An app with a store like the well-known sample's, and an archive that looks at it when told."""

    def __init__(self, path: Path, schema: str = SCHEMA) -> None:
        self.path = path
        self.memory = Memory(READER)
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(path)) as database:
            database.executescript(schema)
        self.count = 0

    def run(self, statement: str, *values: object) -> None:
        with closing(sqlite3.connect(self.path)) as database:
            database.execute(statement, values)
            database.commit()

    def thread(
        self, id: str = THREAD, user: str = "u", at: str = AT.format(0), **more: Any
    ) -> None:
        value = {"title": None, "id": id, "created_at": at, "status": {"type": "active"}, **more}
        data = json.dumps({"thread": value})
        self.run("INSERT OR REPLACE INTO threads VALUES (?, ?, ?, ?)", id, user, at, data)

    def item(
        self,
        id: str,
        type: str,
        thread: str = THREAD,
        user: str = "u",
        at: str | None = None,
        **more: Any,
    ) -> None:
        self.count += 1
        at = at or AT.format(self.count)
        data = json.dumps({"item": fields(id, type, thread, at, **more)})
        self.run("INSERT INTO items VALUES (?, ?, ?, ?, ?)", id, thread, user, at, data)

    def say(self, id: str, text: str, **more: Any) -> None:
        self.item(id, "user_message", content=[{"type": "input_text", "text": text}], **more)

    def answer(self, id: str, text: str, **more: Any) -> None:
        self.item(id, "assistant_message", content=[{"type": "output_text", "text": text}], **more)

    def save(self, id: str, type: str, **more: Any) -> None:
        """The row of an item, saved again."""
        data = json.dumps({"item": fields(id, type, THREAD, AT.format(1), **more)})
        self.run("UPDATE items SET data = ? WHERE id = ?", data, id)

    @property
    def origin(self) -> Origin:
        (origin,) = READER.recognise(self.path)
        return origin

    def look(self) -> dict[str, Reading]:
        """Import, and read every conversation."""
        self.memory.take(self.origin)
        return self.memory.readings()

    def read(self, thread: str = THREAD) -> Reading:
        return self.look()[f"chatkit/{thread}"]

    @property
    def stored(self) -> int:
        """How many records are kept."""
        return sum(map(len, self.memory.lanes.values()))


def fields(id: str, type: str, thread: str, at: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "thread_id": thread, "created_at": at, "type": type, **more}


@pytest.fixture
def app(tmp_path: Path) -> App:
    app = App(tmp_path / "app" / "chat.db")
    app.thread()
    return app


def told(app: App, **item: Any) -> list[Message]:
    """The messages of one item."""
    app.item("x", **item)
    return [m for m in app.read().messages() if m.id.startswith("x")]


def parts(messages: list[Message]) -> list[Part]:
    return [part for message in messages for part in message.parts]


def words(reading: Reading) -> list[str]:
    return [part.text for m in reading.messages() for part in m.parts if isinstance(part, Text)]


# ── the genuine databases ──


def rows(name: str) -> dict[str, list[dict[str, Any]]]:
    with closing(sqlite3.connect(FIXTURES / f"{name}.sqlite3")) as database:
        found = database.execute("SELECT thread_id, data FROM items ORDER BY rowid").fetchall()
    threads: dict[str, list[dict[str, Any]]] = {}
    for thread, data in found:
        threads.setdefault(thread, []).append(json.loads(data)["item"])
    return threads


def readings(name: str) -> dict[str, Reading]:
    memory = Memory(READER)
    for origin in READER.recognise(FIXTURES / f"{name}.sqlite3"):
        memory.take(origin)
    return memory.readings()


#: How each type of item is shown; the second line is of what follows from it.
SHOWN = {
    "user_message": [("person", "bubble")],
    "assistant_message": [("agent", "bubble")],
    "client_tool_call": [("agent", "bubble"), ("tool", "fold")],
    "widget": [("agent", "bubble")],
    "generated_image": [("agent", "bubble")],
    "structured_input": [("agent", "bubble"), ("person", "bubble")],
    "workflow": [("agent", "fold")],
    "task": [("agent", "fold")],
    "hidden_context_item": [("harness", "hidden")],
    "sdk_hidden_context": [("harness", "hidden")],
    "end_of_turn": [("harness", "hidden")],
}


@pytest.mark.parametrize(("name", "count", "kinds"), [(GENUINE[0], 31, 9), (GENUINE[1], 35, 11)])
def test_every_item_of_a_genuine_database_is_told(name: str, count: int, kinds: int) -> None:
    threads, found = rows(name), readings(name)
    assert {f"chatkit/{thread}" for thread in threads} == found.keys()
    seen: Counter[str] = Counter()
    for thread, items in threads.items():
        reading = found[f"chatkit/{thread}"]
        messages = {m.id: m for m in reading.messages()}
        order = [m.id for m in reading.messages() if m.id in {i["id"] for i in items}]
        assert order == [item["id"] for item in items]
        for item in items:
            seen[item["type"]] += 1
            expected = list(SHOWN[item["type"]])
            if item.get("status") == "pending":
                expected.pop()
            if item["type"] == "widget" and not item["copy_text"]:
                expected = [("agent", "fold")]
            named = [messages.get(item["id"] + end) for end in ("", "-r", "-a")]
            shown = [(m.author, m.display) for m in named if m]
            assert shown == expected, item
            assert all(m.parts and m.upstream == "present" for m in named if m)
        assert not reading.conversation.troubles
        assert reading.conversation.entries == len(items)
    assert seen.total() == count and len(seen) == kinds
    assert not [p for r in found.values() for p in parts(r.messages()) if isinstance(p, Unknown)]


@pytest.mark.parametrize("name", GENUINE)
def test_a_genuine_database_counts_right(name: str) -> None:
    found = [reading.conversation for reading in readings(name).values()]
    long = max(found, key=lambda conversation: conversation.messages)
    assert (long.title, long.turns, long.tool_results) == ("ホットウイスキー", 7, 2)
    assert long.calls_without_result == (1 if name == GENUINE[1] else 0)
    assert all(c.finished and c.upstream == "present" for c in found)
    assert sorted(c.turns for c in found) == [1, 1, 1, 7]
    assert {c.project for c in found} == {str(FIXTURES)}


def test_the_locked_and_the_closed_thread_say_why() -> None:
    for name in GENUINE:
        last = [reading.messages()[-1] for reading in readings(name).values()]
        notices = [m.parts[0] for m in last if m.display == "divider"]
        assert notices == [
            Notice("The app locked this thread: moderated"),
            Notice("The app closed this thread: done"),
        ]


def test_tasks_that_version_1_4_doubled_are_shown_once_and_explained() -> None:
    by_version = {
        name: [m for r in readings(name).values() for m in r.messages() if _is_workflow(m)]
        for name in GENUINE
    }
    old, new = (by_version[name] for name in GENUINE)
    assert [[p for p in m.parts if p != Notice(DOUBLED)] for m in old] == [m.parts for m in new]
    assert all(m.parts[-1] == Notice(DOUBLED) for m in old)
    assert not any(Notice(DOUBLED) in m.parts for m in new)


def _is_workflow(message: Message) -> bool:
    return message.entry is not None and message.entry.role == "workflow"


def test_the_picture_comes_out_of_its_data_url() -> None:
    (reading,) = [r for r in readings(GENUINE[1]).values() if r.conversation.turns == 7]
    pictures = [p for p in parts(reading.messages()) if isinstance(p, Attachment) and p.digest]
    data = b"\x89PNG\r\n\x1a\n"
    assert pictures == [Attachment("image/png", sha256(data).hexdigest(), "ig_1", 8)]
    assert reading.attachment(pictures[0].digest) == data
    assert reading.attachment("0" * 64) is None


@pytest.mark.parametrize("name", GENUINE)
def test_the_rows_come_back_with_every_column(name: str) -> None:
    memory = Memory(READER)
    for origin in READER.recognise(FIXTURES / f"{name}.sqlite3"):
        memory.take(origin)
    kept: dict[str, list[dict[str, Any]]] = {"threads": [], "items": [], "attachments": []}
    for strand in memory.strands.values():
        for table, some in json.loads(strand.document()).items():
            kept[table] += [{k: v for k, v in row.items() if k != "read_as"} for row in some]
    with closing(sqlite3.connect(FIXTURES / f"{name}.sqlite3")) as database:
        database.row_factory = sqlite3.Row
        for table, some in kept.items():
            rows = [dict(row) for row in database.execute(f"SELECT * FROM {table}")]
            for row in rows:
                row["data"] = json.loads(row["data"])
            assert sorted(some, key=_id) == sorted(rows, key=_id)


def _id(row: dict[str, Any]) -> str:
    return str(row["id"])


# ── one item at a time ──


def test_a_persons_message_has_quote_tags_files_and_wishes(app: App) -> None:
    (message,) = told(
        app,
        type="user_message",
        content=[
            {"type": "input_text", "text": "which? "},
            {"type": "input_tag", "id": "b1", "text": "Yoichi", "data": {"abv": 45}, "group": "g"},
        ],
        attachments=[
            {"id": "a", "name": "n.txt", "mime_type": "text/plain", "metadata": {"size": 7}}
        ],
        quoted_text="one\ntwo",
        inference_options={"tool_choice": {"id": "search"}, "model": "gpt-x"},
    )
    assert message.parts == [
        Text("> one\n> two"),
        Text("which? @Yoichi"),
        Notice('@Yoichi: b1, g, {"abv":45}'),
        Attachment("text/plain", name="n.txt", size=7),
        Notice("Asked for: tool search, model gpt-x"),
    ]
    assert message.entry
    assert message.entry.flags == ("quote", "tags", "attachments", "inference options")
    assert app.read().conversation.title == "which? @Yoichi"


def test_a_pending_call_leaves_the_conversation_unfinished(app: App) -> None:
    app.say("u1", "pick")
    call = {"call_id": "c1", "name": "pick", "arguments": {"a": 1}}
    (message,) = told(app, type="client_tool_call", status="pending", output=None, **call)
    assert message.parts == [ToolCall("c1", "pick", {"a": 1})]
    conversation = app.read().conversation
    assert not conversation.finished and conversation.calls_without_result == 1
    app.save("x", "client_tool_call", status="completed", output=[1, "二"], **call)
    app.answer("a1", "done")
    reading = app.read()
    assert [m.parts for m in reading.messages() if m.id == "x-r"] == [
        [ToolResult("c1", "ok", '[1,"二"]')]
    ]
    assert reading.conversation.finished and reading.conversation.calls_without_result == 0
    old = next(m for m in reading.messages() if m.id == "x~1")
    assert (old.replaced_by, old.upstream) == ("x", "gone")


def test_a_widget_is_told_by_its_copy_text_or_its_tree(app: App) -> None:
    tree = {
        "type": "Card",
        "id": "c",
        "status": {"text": "sold"},
        "children": [{"type": "Text", "value": "one"}, {"type": "Button", "label": "Buy"}],
    }
    (message,) = told(app, type="widget", widget=tree, copy_text=None)
    assert (message.display, message.label) == ("fold", "widget: Card")
    assert message.parts == [Text("Card id=c\n  status: text=sold\n  Text one\n  Button label=Buy")]
    app.save("x", "widget", widget=tree, copy_text="Buy one card, sold")
    now = next(m for m in app.read().messages() if m.id == "x")
    assert (now.display, now.parts) == ("bubble", [Text("Buy one card, sold")])
    # What is copied may be less than what was shown.
    app.save("x", "widget", widget=tree, copy_text="one card")
    now = next(m for m in app.read().messages() if m.id == "x")
    assert (now.display, now.parts) == ("bubble", [Text("one card"), *message.parts])


def test_a_widget_without_bounds_is_cut(app: App) -> None:
    deep: dict[str, Any] = {"type": "Box"}
    for _ in range(60):
        deep = {"type": "Box", "children": [deep]}
    wide = {"type": "List", "children": [{"type": "Text", "value": n} for n in range(5000)]}
    app.item("d", "widget", widget=deep)
    app.item("w", "widget", widget=wide)
    trees = {m.id: words_of(m) for m in app.read().messages()}
    assert trees["d"].count("\n") < 60 and trees["d"].endswith("…")
    assert trees["w"].count("\n") == 2000 and trees["w"].endswith("…")


def words_of(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if isinstance(part, Text))


def test_questions_are_told_with_the_choice(app: App) -> None:
    inputs: list[dict[str, Any]] = [
        {
            "id": "1",
            "question": "How strong?",
            "type": "multiple_choice",
            "options": [{"value": "1:2"}],
        },
        {"id": "2", "question": "Else?", "type": "freeform", "description": "anything"},
    ]
    (asked,) = told(app, type="structured_input", status="pending", inputs=inputs)
    assert asked.parts == [Text("How strong?\n- 1:2\n\nElse?\nanything")]
    assert not app.read().conversation.finished
    inputs[0]["answer"] = {"values": ["1:2", "1:3"], "skipped": False}
    inputs[1]["answer"] = {"values": [], "skipped": True}
    app.save("x", "structured_input", status="answered", inputs=inputs)
    (answer,) = [m for m in app.read().messages() if m.id == "x-a"]
    assert (answer.author, answer.label) == ("person", "answered")
    assert answer.parts == [Text("How strong? → 1:2, 1:3\nElse? → (skipped)")]
    assert app.read().conversation.turns == 0, "a choice is no typed prompt"


def test_reasoning_is_folded_thinking_with_its_duration(app: App) -> None:
    tasks = [{"type": "thought", "title": "Plan", "content": "warm"}, {"type": "new", "a": 1}]
    workflow = {"type": "reasoning", "tasks": tasks, "summary": {"duration": 75}}
    (message,) = told(app, type="workflow", workflow=workflow)
    assert (message.display, message.label) == ("fold", "thought for 1 min 15 s")
    assert message.parts == [Thinking("Plan\n\nwarm"), Unknown("task: new", tasks[1])]


def test_a_duration_without_end_costs_nothing_but_itself(app: App) -> None:
    workflow = {"type": "reasoning", "tasks": [], "summary": {"duration": float("inf")}}
    (message,) = told(app, type="workflow", workflow=workflow)
    assert message.label == "thinking"


@pytest.mark.parametrize(
    ("tasks", "shown"),
    [
        *(("aabb", "ab"), ("aab", "aab"), ("abab", "abab"), ("aabbaa", "aba"), ("", "")),
        # What was done twice is told twice.
        *(("aa", "aa"), ("aaaa", "aaaa"), ("ab", "ab")),
        # All of a thread's workflows were doubled, until a later version wrote the next one.
        *(("aa bbcc", "a bc"), ("aabb cc", "ab c"), ("aa b", "aa b"), ("aabb c dd", "ab c dd")),
    ],
)
def test_only_workflows_in_which_different_tasks_are_doubled_are_halved(
    app: App, tasks: str, shown: str
) -> None:
    app.thread()
    for number, letters in enumerate(tasks.split(" ")):
        thoughts = [{"type": "thought", "content": letter} for letter in letters]
        app.item(f"w{number}", "workflow", workflow={"type": "reasoning", "tasks": thoughts})
    messages = [m for m in app.read().messages() if _is_workflow(m)]
    thinking = [[p.text for p in m.parts if isinstance(p, Thinking)] for m in messages]
    assert " ".join(map("".join, thinking)) == shown
    assert [Notice(DOUBLED) in m.parts for m in messages] == [
        before != after for before, after in zip(tasks.split(" "), shown.split(" "), strict=True)
    ]


def test_tasks_that_say_the_same_are_both_told(app: App) -> None:
    app.thread()
    for name in ("t1", "t2"):
        app.item(name, "task", at=AT.format(1), task={"type": "custom", "title": "Look"})
    assert [m.id for m in app.read().messages() if m.label == "task: Look"] == ["t1", "t2"]


def test_a_cancelled_answer_is_not_finished(app: App) -> None:
    app.say("u1", "tell")
    app.answer("a1", "half of")
    app.item("s", "sdk_hidden_context", content="The user cancelled the stream. Stop responding.")
    assert not app.read().conversation.finished


def test_a_picture_elsewhere_and_a_broken_one(app: App) -> None:
    app.item("a", "generated_image", image={"id": "i", "url": "https://example.com/i.png"})
    app.item("b", "generated_image", image={"id": "i", "url": "data:image/png;base64,@@"})
    app.item("c", "generated_image", image=None)
    app.item("d", "generated_image", image={"url": "data:text/html,%3Cb%3E"})
    app.item("e", "generated_image", image={"url": 'data:"><script>;base64,aGk='})
    found = {m.id: m.parts[0] for m in app.read().messages() if m.parts}
    assert found["a"] == Notice("Picture i at https://example.com/i.png")
    assert isinstance(found["b"], Unknown) and isinstance(found["c"], Notice)
    assert found["d"] == Attachment("text/html", sha256(b"<b>").hexdigest(), "", 3)
    assert isinstance(found["e"], Attachment)
    assert found["e"].media_type == "application/octet-stream"


def test_an_item_of_a_type_to_come_is_kept_and_folded(app: App) -> None:
    (message,) = told(app, type="hologram", light=[1, 2])
    assert (message.author, message.display, message.label) == ("harness", "fold", "hologram")
    assert isinstance(message.parts[0], Unknown) and message.parts[0].raw["light"] == [1, 2]


#: Fields that an item may have, of the wrong kind.
WRONG: list[Any] = [None, 7, "text", [], {}, [None], [7, "x", []], {"a": [1]}, True]
NAMES = {
    "user_message": ("content", "attachments", "quoted_text", "inference_options"),
    "assistant_message": ("content",),
    "client_tool_call": ("status", "call_id", "name", "arguments", "output"),
    "widget": ("widget", "copy_text"),
    "generated_image": ("image",),
    "structured_input": ("status", "inputs"),
    "workflow": ("workflow",),
    "task": ("task",),
    "hidden_context_item": ("content",),
    "sdk_hidden_context": ("content",),
    "end_of_turn": ("anything",),
}


@pytest.mark.parametrize("type", NAMES)
def test_fields_of_the_wrong_kind_cost_nothing_but_themselves(app: App, type: str) -> None:
    inner = {"workflow": ("tasks", "summary", "type"), "task": ("type", "sources", "title")}
    count = 0
    for name in NAMES[type]:
        for value in WRONG:
            app.item(f"i{count}", type, at=AT.format(1), **{name: value})
            count += 1
            for field in inner.get(name, ()):
                nested: dict[str, Any] = {"tasks": [{"type": "file", "sources": value}]}
                more: dict[str, Any] = {name: {"type": "web_search", **nested, field: value}}
                app.item(f"i{count}", type, at=AT.format(1), **more)
                count += 1
    app.answer("last", "still there")
    reading = app.read()
    names = {m.id for m in reading.messages()}
    assert {f"i{n}" for n in range(count)} <= names
    assert "still there" in words(reading)
    assert reading.conversation.entries == count + 1
