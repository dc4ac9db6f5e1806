"""The feed over HTTP: everything is heard once and in order, whatever breaks meanwhile."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from rireki.archive.base import Archive
from rireki.archive.open import open_archive
from rireki.intake.forget import forget
from rireki.intake.sweep import Report, import_history
from rireki.live.feed import Feed, News
from rireki.sources.kit.places import Places
from rireki.web import broadcaster as hubs
from rireki.web.api import events as stream
from rireki.web.broadcaster import Broadcaster
from rireki.web.serve import Server
from tests.web.conftest import BEARER, PATIENCE, TOKEN, Ear, client_of, events_in, serving, until

TakeIn = Callable[[], Report]


def note(id: str) -> str:
    return json.dumps({"id": id, "who": "me", "text": f"words of {id}"}) + "\n"


@pytest.fixture
def write(plain_source: None, home: Path, take_in: TakeIn) -> Callable[[str, str], None]:
    """Append a message to a conversation and take it in."""
    (home / "notes").mkdir()

    def write(conversation: str, message: str) -> None:
        with (home / "notes" / f"{conversation}.jsonl").open("a") as file:
            file.write(note(message))
        take_in()

    return write


Write = Callable[[str, str], None]


@pytest.fixture
def server(archive: Archive, home: Path, write: Write) -> Iterator[Server]:
    with serving(archive.home.archive, home) as server:
        yield server


def test_a_connection_begins_with_the_number_it_stands_at(
    server: Server, archive: Archive, write: Write
) -> None:
    write("talk", "a")
    with Ear(server.port) as ear:
        number = archive.number()
        (hello,) = ear.kinds("hello")
        assert hello.data == {"number": number, "after": number}
        assert hello.id == number


def test_a_change_names_the_conversation_and_its_messages(
    server: Server, archive: Archive, write: Write
) -> None:
    with Ear(server.port) as ear:
        write("talk", "a")
        write("talk", "b")
        until(lambda: len(ear.messages()) == 2)
        assert ear.messages() == [("plain/talk", "a"), ("plain/talk", "b")]
        until(lambda: ear.last == archive.number())
        first = ear.kinds("change")[0].data
        assert first["changes"][0]["kind"] == "new"
        assert first["after"] < first["number"]


def test_what_is_forgotten_is_told(server: Server, archive: Archive, write: Write) -> None:
    write("talk", "a")
    with Ear(server.port) as ear:
        forget(archive, archive.find("plain/talk"))
        until(lambda: ear.kinds("change"))
        (event,) = ear.kinds("change")
        assert event.data["changes"] == [
            {"conversation": "plain/talk", "kind": "removed", "messages": [], "removed": []}
        ]


def test_whoever_says_where_they_stopped_hears_the_rest(
    server: Server, archive: Archive, write: Write
) -> None:
    write("talk", "a")
    start = archive.number()
    write("talk", "b")
    with Ear(server.port, after=start) as ear:
        until(lambda: ear.messages())
        assert ear.messages() == [("plain/talk", "b")]
        assert ear.kinds("hello")[0].id == start


def test_the_last_event_counts_more_than_the_address(
    server: Server, archive: Archive, write: Write
) -> None:
    write("talk", "a")
    start = archive.number()
    write("talk", "b")
    ear = Ear(server.port, after=0)
    ear.last = start
    with ear:
        until(lambda: ear.messages())
        assert ear.messages() == [("plain/talk", "b")]


def test_a_number_from_a_later_archive_means_to_begin_anew(
    server: Server, archive: Archive, write: Write
) -> None:
    write("talk", "a")
    number = archive.number()
    with Ear(server.port, after=number + 1000) as ear:
        until(lambda: ear.kinds("reset"))
        (reset,) = ear.kinds("reset")
        assert (reset.id, reset.data) == (number, {"number": number})
        write("talk", "b")
        until(lambda: ear.messages())
        assert ear.messages() == [("plain/talk", "b")]


def test_a_last_event_that_is_none_of_ours_is_refused(server: Server) -> None:
    with client_of(server) as client:
        for heard in ("x", "-1", "1.5", "9" * 30, "１２"):
            answer = client.get("/api/v1/events", headers={b"Last-Event-ID": heard.encode()})
            assert answer.status_code == 400
            assert "Last-Event-ID" in answer.json()["error"]["message"]


def test_of_one_conversation_only(server: Server, archive: Archive, write: Write) -> None:
    write("talk", "a")
    with Ear(server.port, conversation="plain/talk") as ear:
        write("other", "x")
        write("talk", "b")
        until(lambda: ear.messages())
        assert ear.messages() == [("plain/talk", "b")]


def test_silence_still_moves_the_number(
    server: Server, archive: Archive, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that what did not concern a listener is not looked through again when it comes back."""
    monkeypatch.setattr(stream, "KEEP_ALIVE", 0.05)
    write("talk", "a")
    with Ear(server.port, conversation="plain/talk") as ear:
        write("other", "x")
        until(lambda: ear.last == archive.number())
        assert ear.messages() == []


def test_many_conversations_at_once_are_one_event_without_messages(
    server: Server, home: Path, take_in: TakeIn
) -> None:
    with Ear(server.port) as ear:
        for number in range(60):
            (home / "notes" / f"n{number}.jsonl").write_text(note("a"))
        take_in()
        until(lambda: sum(len(e.data["changes"]) for e in ear.kinds("change")) >= 60)
        numbers = [event.data["number"] for event in ear.kinds("change")]
        assert numbers == sorted(set(numbers))


def test_an_end_of_the_server_ends_the_streams_at_once(
    archive: Archive, home: Path, write: Write
) -> None:
    with serving(archive.home.archive, home) as server, Ear(server.port) as ear:
        server.stop()
        until(lambda: not ear.open)
    assert server.broadcaster.closed


def test_a_listener_that_goes_is_not_kept(server: Server) -> None:
    with client_of(server) as client, client.stream("GET", "/api/v1/events") as answer:
        # Kept: an iterator that is thrown away closes the connection.
        lines = answer.iter_lines()
        next(lines)
        until(lambda: server.broadcaster.listeners == 1)
    until(lambda: server.broadcaster.listeners == 0)


def test_a_listener_that_does_not_read_holds_up_nobody(
    server: Server, archive: Archive, write: Write
) -> None:
    with (
        client_of(server) as client,
        client.stream("GET", "/api/v1/events"),
        Ear(server.port) as ear,
    ):
        for number in range(20):
            write("talk", f"m{number}")
        until(lambda: len(ear.messages()) == 20)


def test_whoever_was_busy_gets_everything_since_as_one_event(
    archive: Archive, write: Write
) -> None:
    """A backlog is a number: nothing waits in line for a listener."""

    async def listen() -> list[str]:
        broadcaster = Broadcaster(archive.home.archive)
        broadcaster.start()
        listener = broadcaster.listen()
        try:
            heard = [await listener.next(PATIENCE)]
            for message in "abc":
                write("talk", message)
            heard.append(await listener.next(PATIENCE))
            return [(data or b"").decode() for data in heard]
        finally:
            broadcaster.close()
            broadcaster.wait()

    hello, change = asyncio.run(listen())
    assert hello.startswith("event: hello\n")
    (event,) = events_in(iter(change.splitlines()))
    assert event.data["changes"][0]["messages"] == ["a", "b", "c"]


def test_what_agents_are_doing_is_told_when_it_changes(
    archive: Archive, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hubs, "ACTIVITY", 0.01)
    doing: dict[str, str] = {}

    async def listen() -> list[dict[str, str]]:
        broadcaster = Broadcaster(archive.home.archive, lambda archive: dict(doing))
        broadcaster.start()
        listener = broadcaster.listen()
        told: list[dict[str, str]] = []
        try:
            while len(told) < 2:
                heard = (await listener.next(PATIENCE) or b"").decode()
                for event in events_in(iter(heard.splitlines())):
                    if event.kind == "activity":
                        assert event.id is None
                        told.append(event.data["activities"])
                        doing["plain/talk"] = "working"
            return told
        finally:
            broadcaster.close()
            broadcaster.wait()

    assert asyncio.run(listen()) == [{}, {"plain/talk": "working"}]


def test_the_feed_goes_on_after_a_failure(
    archive: Archive, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hubs, "PATIENCE", 0.01)
    failures = iter([OSError("the disk is away"), ValueError("a mistake of ours")])

    def failing(archive: object) -> dict[str, str]:
        for failure in failures:
            raise failure
        return {}

    async def listen() -> str:
        broadcaster = Broadcaster(archive.home.archive, failing)
        broadcaster.start()
        listener = broadcaster.listen()
        heard = ""
        try:
            while "event: activity" not in heard:
                heard += (await listener.next(PATIENCE) or b"").decode()
            write("talk", "a")
            return heard + (await listener.next(PATIENCE) or b"").decode()
        finally:
            broadcaster.close()
            broadcaster.wait()

    kinds = [event.kind for event in events_in(asyncio.run(listen()).splitlines())]
    assert kinds == ["hello", "activity", "change"]


def test_one_listener_that_cannot_be_told_costs_the_others_nothing(
    archive: Archive, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The news since one number cannot be read at first; those since another can."""
    monkeypatch.setattr(hubs, "PATIENCE", 0.01)
    write("talk", "a")
    start = archive.number()
    write("talk", "b")
    since, failures = Feed.since, iter([OSError("the disk is away")] * 3)

    def failing(feed: Feed, after: int) -> News:
        for failure in failures if after == 0 else ():
            raise failure
        return since(feed, after)

    monkeypatch.setattr(Feed, "since", failing)

    async def listen() -> list[str]:
        broadcaster = Broadcaster(archive.home.archive)
        listeners = [broadcaster.listen(after) for after in (start, 0, start)]
        broadcaster.start()
        try:
            heard = await asyncio.gather(*(listener.next(PATIENCE) for listener in listeners))
            return [(data or b"").decode() for data in heard]
        finally:
            broadcaster.close()
            broadcaster.wait()

    told = [events_in(heard.splitlines()) for heard in asyncio.run(listen())]
    named = [
        [e.data["changes"][0]["messages"] for e in some if e.kind == "change"] for some in told
    ]
    assert named == [[["b"]], [["a", "b"]], [["b"]]]


def test_thirty_listeners_hear_the_same(server: Server, write: Write) -> None:
    said = [("plain/talk", f"m{number}") for number in range(10)]

    async def listen(client: httpx.AsyncClient, ready: asyncio.Semaphore) -> list[tuple[str, str]]:
        heard: list[tuple[str, str]] = []
        async with client.stream("GET", "/api/v1/events") as answer:
            lines: list[str] = []
            async for line in answer.aiter_lines():
                lines.append(line)
                if line:
                    continue
                for event in events_in(iter(lines)):
                    if event.kind == "hello":
                        ready.release()
                    elif event.kind == "change":
                        changes = event.data["changes"]
                        heard += [(c["conversation"], m) for c in changes for m in c["messages"]]
                lines = []
                if len(heard) >= len(said):
                    return heard
        return heard

    async def all_of_them() -> list[list[tuple[str, str]]]:
        ready = asyncio.Semaphore(0)
        limits = httpx.Limits(max_connections=None)
        base = f"http://127.0.0.1:{server.port}"
        async with httpx.AsyncClient(
            base_url=base, headers=BEARER, timeout=PATIENCE, limits=limits, verify=False
        ) as client:
            tasks = [asyncio.create_task(listen(client, ready)) for _ in range(30)]
            for _ in tasks:
                await ready.acquire()
            for _, message in said:
                # Here, not in a thread: the archive belongs to this one.
                write("talk", message)
                await asyncio.sleep(0)
            return await asyncio.wait_for(asyncio.gather(*tasks), PATIENCE)

    for heard in asyncio.run(all_of_them()):
        assert heard == said


# ── The server killed and started again, by process ──

SCRIPT = (
    # Loaded at once: later nothing is taken from the current directory any more.
    "import tests.support.plain;"
    "from rireki.sources import registry;"
    "registry._addresses = lambda: {'plain': 'tests.support.plain:READER'};"
    "from rireki.cli.start import main; main()"
)


def start(archive: Path, home: Path, port: int) -> tuple[subprocess.Popen[str], int]:
    """`rireki serve` as a process of its own, that only shows what others take in."""
    process = subprocess.Popen(
        [
            *(sys.executable, "-c", SCRIPT, "serve", "--archive", str(archive)),
            *("--home", str(home), "--port", str(port), "--no-open", "--no-keep", "--json"),
        ],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "RIREKI_TOKEN": TOKEN, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert process.stdout is not None
    return process, json.loads(process.stdout.readline())["port"]


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def test_nothing_is_missed_or_doubled_when_the_server_is_killed_and_started_again(
    plain_source: None, tmp_path: Path, home: Path
) -> None:
    path = tmp_path / "kept" / "archive.sqlite3"
    (home / "notes").mkdir()
    said: list[tuple[str, str]] = []
    archive = open_archive(path, create=True)
    first = [home / "notes" / "x.jsonl", home / "notes" / "y.jsonl"]
    first[0].write_text(note("m0"))
    import_history(archive, places=Places.at(home))
    over = threading.Event()

    def keep_writing() -> None:
        own = open_archive(path)
        number = 0
        while not over.is_set():
            number += 1
            file = first[number % 2]
            with file.open("a") as opened:
                opened.write(note(f"m{number}"))
            said.append((f"plain/{file.stem}", f"m{number}"))
            import_history(own, places=Places.at(home))
        own.close()

    process, port = start(path, home, 0)
    try:
        with Ear(port) as ear:
            writer = threading.Thread(target=keep_writing)
            writer.start()
            for _ in range(2):
                heard = len(ear.messages())
                until(lambda: len(ear.messages()) > heard + 5)  # noqa: B023
                kill(process)
                process, _ = start(path, home, port)
            heard = len(ear.messages())
            until(lambda: len(ear.messages()) > heard + 5)
            over.set()
            writer.join()
            until(lambda: ear.last == archive.number())
            assert ear.connections >= 3
            for name in ("plain/x", "plain/y"):
                told = [message for talk, message in ear.messages() if talk == name]
                assert told == [message for talk, message in said if talk == name]
    finally:
        over.set()
        kill(process)
        archive.close()


def test_an_older_archive_put_back_is_noticed_after_a_restart(
    plain_source: None, tmp_path: Path, home: Path
) -> None:
    path = tmp_path / "kept" / "archive.sqlite3"
    (home / "notes").mkdir()
    file = home / "notes" / "x.jsonl"

    def write(message: str) -> int:
        with file.open("a") as opened:
            opened.write(note(message))
        archive = open_archive(path, create=True)
        import_history(archive, places=Places.at(home))
        number = archive.number()
        archive.close()
        return number

    older = write("m0")
    shutil.copy(path, tmp_path / "older")
    write("m1")
    process, port = start(path, home, 0)
    try:
        with Ear(port) as ear:
            kill(process)
            for left in path.parent.iterdir():
                left.unlink()
            shutil.copy(tmp_path / "older", path)
            process, _ = start(path, home, port)
            until(lambda: ear.kinds("reset"))
            assert ear.last == older
    finally:
        kill(process)
