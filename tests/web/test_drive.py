"""Driving over HTTP: what is let in, what is refused, and that nothing is run twice."""

from __future__ import annotations

import html
import json
import re
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from rireki.archive.open import open_archive
from rireki.drive.agents import AgentProgram
from rireki.drive.bridge import Settings
from rireki.intake.sweep import import_history
from rireki.sources.kit.places import Places
from rireki.web.guard import GuardSettings
from rireki.web.serve import Server
from tests.browser.serving import Session
from tests.web.conftest import (
    BEARER,
    PATIENCE,
    TOKEN,
    client_at,
    client_of,
    events_in,
    serving,
    until,
)

AGENT = Path(__file__).parents[1] / "support" / "acp_agent.py"
DRIVE = "/api/v1/drive"
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def driven(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    place = tmp_path_factory.mktemp("driven")
    (place / "home").mkdir()
    (place / "work" / "garden").mkdir(parents=True)
    (place / "work" / "garden" / "notes.txt").write_text("nothing")
    (place / "work" / "way-out").symlink_to(place / "home")
    archive = place / "archive.sqlite3"
    command = (sys.executable, str(AGENT))
    agents = (
        AgentProgram("scripted", "The scripted agent", command, found=True),
        AgentProgram("absent", "One that is not here", ("nowhere",), reason="it is not on PATH"),
    )
    places = Places.at(place / "home").beside(archive)
    settings = Settings(archive, places, (place / "work",), agents)
    with serving(archive, place / "home", drive=settings) as server:
        yield server


@pytest.fixture
def web(driven: Server) -> Iterator[httpx.Client]:
    with client_of(driven) as client:
        yield client


def garden(server: Server) -> str:
    return str(server.archive.parent / "work" / "garden")


def begin(web: httpx.Client, server: Server, **more: Any) -> str:
    id = str(uuid.uuid4())
    asked = {"id": id, "project": garden(server), "agent": "scripted", **more}
    assert web.post(DRIVE, json=asked).status_code == 200
    return id


def status(web: httpx.Client, id: str) -> Any:
    return web.get(f"{DRIVE}/{id}").json()


def until_state(web: httpx.Client, id: str, state: str) -> Any:
    until(lambda: status(web, id)["state"] == state)
    return status(web, id)


# ── Who may ──


@pytest.fixture
def cookie(driven: Server) -> dict[str, str]:
    settings = GuardSettings(token=TOKEN, port=driven.port)
    return {"Cookie": f"{settings.cookie}={settings.cookie_value}"}


def test_our_own_page_may_and_has_to_say_that_it_is_ours(
    driven: Server, cookie: dict[str, str]
) -> None:
    asked = {"id": "one", "project": garden(driven), "agent": "scripted"}
    ours = {"Origin": f"http://127.0.0.1:{driven.port}"}
    with client_at(driven.port, **cookie) as browser:
        for foreign in ("http://evil.example", "null", f"http://localhost:{driven.port}"):
            answer = browser.post(DRIVE, json=asked, headers={"Origin": foreign})
            assert answer.status_code == 403
        assert browser.post(DRIVE, json=asked).status_code == 403
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        assert browser.post(DRIVE, content=b"{}", headers={**ours, **form}).status_code == 415
        assert browser.get(f"{DRIVE}/one").status_code == 404
        assert browser.post(DRIVE, json=asked, headers=ours).status_code == 200
        assert browser.get(f"{DRIVE}/one").status_code == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
@pytest.mark.parametrize("path", [DRIVE, f"{DRIVE}/one/prompts", f"{DRIVE}/one/kill"])
def test_nothing_is_done_without_the_token(driven: Server, method: str, path: str) -> None:
    with client_at(driven.port, **JSON) as stranger:
        assert stranger.request(method, path, content=b"{}").status_code == 401
        assert stranger.request(method, f"{path}?token={TOKEN}", content=b"{}").status_code == 401


@pytest.mark.parametrize("path", ["/", "/api/v1/health", "/api/v1/driven", "/new", "/inbox"])
def test_everything_else_is_only_read(web: httpx.Client, path: str) -> None:
    assert web.post(path, json={}).status_code == 405


def test_more_than_a_prompt_can_be_is_not_even_read(driven: Server, web: httpx.Client) -> None:
    id = begin(web, driven)
    large = b"x" * (21 * 1024 * 1024)
    assert web.post(f"{DRIVE}/{id}/prompts", content=large, headers=JSON).status_code == 413

    def pieces() -> Iterator[bytes]:
        # Without a word about its size.
        for _ in range(21):
            yield large[: 1024 * 1024]

    assert web.post(f"{DRIVE}/{id}/prompts", content=pieces(), headers=JSON).status_code == 413


def test_where_driving_is_off_that_is_said(tmp_path: Path) -> None:
    with serving(tmp_path / "archive.sqlite3", tmp_path) as server, client_of(server) as web:
        for answer in (web.get(DRIVE), web.post(DRIVE, json={}), web.get(f"{DRIVE}/events")):
            assert answer.status_code == 404
            assert "--drive" in answer.json()["error"]["hint"]
        for page in ("/new", "/inbox"):
            answer = web.get(page)
            assert answer.status_code == 404
            assert "--drive" in answer.text
        assert "/inbox" not in web.get("/").text


# ── Where ──


@pytest.mark.parametrize(
    ("project", "words"),
    [
        ("--help", "not an absolute path"),
        ("garden", "not an absolute path"),
        ("{work}/nowhere", "no directory"),
        ("{work}/garden/notes.txt", "not a directory"),
        ("{work}/../home", "outside"),
        ("{work}/way-out", "outside"),
        ("/", "outside"),
    ],
)
def test_agents_work_below_the_roots_only(
    driven: Server, web: httpx.Client, project: str, words: str
) -> None:
    path = project.format(work=driven.archive.parent / "work")
    asked = {"id": str(uuid.uuid4()), "project": path, "agent": "scripted"}
    answer = web.post(DRIVE, json=asked)
    assert answer.status_code == 400
    assert words in answer.json()["error"]["message"]
    judged = web.get(f"{DRIVE}/directory", params={"path": path}).json()
    assert not judged["allowed"]
    assert words in judged["message"]
    assert web.get(f"{DRIVE}/files", params={"project": path}).status_code == 400


def test_what_looks_like_an_option_is_no_model_and_no_conversation(
    driven: Server, web: httpx.Client
) -> None:
    asked = {"id": str(uuid.uuid4()), "project": garden(driven), "agent": "scripted"}
    for more in ({"model": "--yolo"}, {"continues": "claude-code/--yolo"}, {"agent": "absent"}):
        assert web.post(DRIVE, json={**asked, **more}).status_code == 400
    assert web.post(DRIVE, json={**asked, "id": "../../etc/passwd"}).status_code == 400
    assert web.post(DRIVE, json={**asked, "shell": "yes"}).status_code == 400


def test_agents_are_told_with_the_reason_and_without_their_environment(web: httpx.Client) -> None:
    told = web.get(DRIVE).json()
    found = {agent["name"]: (agent["found"], agent["reason"]) for agent in told["agents"]}
    assert found == {"scripted": (True, ""), "absent": (False, "it is not on PATH")}
    assert "environment" not in json.dumps(told["agents"])


def test_files_are_found_below_the_project(driven: Server, web: httpx.Client) -> None:
    asked = {"project": garden(driven), "q": "NOTE"}
    assert web.get(f"{DRIVE}/files", params=asked).json() == {"files": ["notes.txt"], "more": False}


# ── What is sent ──


def test_the_same_prompt_sent_twice_runs_once(driven: Server, web: httpx.Client) -> None:
    id = begin(web, driven)
    prompt = {"id": "p-1", "text": "echo once"}
    first = web.post(f"{DRIVE}/{id}/prompts", json=prompt).json()
    second = web.post(f"{DRIVE}/{id}/prompts", json=prompt).json()
    assert (first["known"], second["known"]) == (False, True)
    assert first["number"] == second["number"]
    until_state(web, id, "idle")
    journal = (driven.archive.parent / "bridge" / f"{id}.jsonl").read_text().splitlines()
    kinds = [json.loads(line)["kind"] for line in journal]
    assert (kinds.count("prompt"), kinds.count("given")) == (1, 1)


def test_an_answer_is_recorded_with_who_and_what_and_counts_once(
    driven: Server, web: httpx.Client
) -> None:
    id = begin(web, driven, prompt={"id": "p-1", "text": "permission"})
    (ask,) = until_state(web, id, "permission")["asks"]
    once = next(option for option in ask["options"] if option["kind"] == "allow_once")
    answer = {"ask": ask["id"], "option": once["id"]}
    assert web.post(f"{DRIVE}/{id}/answers", json=answer).status_code == 200
    refusal = {"ask": ask["id"], "reason": "too late"}
    assert web.post(f"{DRIVE}/{id}/answers", json=refusal).status_code == 400
    assert web.post(f"{DRIVE}/{id}/answers", json={"ask": "no-such"}).status_code == 404
    until_state(web, id, "idle")
    journal = (driven.archive.parent / "bridge" / f"{id}.jsonl").read_text().splitlines()
    (said,) = [line for line in map(json.loads, journal) if line["kind"] == "answer"]
    assert (said["by"], said["outcome"], said["option"]) == ("web", "selected", once["id"])


def test_a_queued_prompt_is_changed_and_taken_back(driven: Server, web: httpx.Client) -> None:
    id = begin(web, driven, prompt={"id": "p-1", "text": "forever"})
    until_state(web, id, "working")
    for name in ("p-2", "p-3"):
        web.post(f"{DRIVE}/{id}/prompts", json={"id": name, "text": f"echo {name}"})
    changed = web.put(f"{DRIVE}/{id}/prompts/p-2", json={"text": "echo changed"}).json()
    assert [queued["text"] for queued in changed["queue"]] == ["echo changed", "echo p-3"]
    left = web.request("DELETE", f"{DRIVE}/{id}/prompts/p-3", json={}).json()
    assert [queued["id"] for queued in left["queue"]] == ["p-2"]
    assert web.put(f"{DRIVE}/{id}/prompts/p-1", json={"text": "late"}).status_code == 400
    assert web.post(f"{DRIVE}/{id}/kill", json={}).status_code == 200


def test_what_cannot_be_read_is_told_and_nothing_is_stored(
    driven: Server, web: httpx.Client
) -> None:
    id = begin(web, driven)
    until_state(web, id, "idle")
    before = status(web, id)["number"]
    for sent in (
        b"",
        b"{",
        b"[]",
        b'{"id": 1, "text": "x"}',
        b'{"id": "x"}',
        b'{"id":"x","text":""}',
    ):
        answer = web.post(f"{DRIVE}/{id}/prompts", content=sent, headers=JSON)
        assert answer.status_code == 400, sent
        assert answer.json()["error"]["hint"]
    assert status(web, id)["number"] == before


# ── What is heard ──


def test_whoever_listens_hears_all_there_is_and_then_what_comes(
    driven: Server, web: httpx.Client
) -> None:
    id = begin(web, driven)
    until_state(web, id, "idle")
    heard: list[Any] = []

    def listen() -> None:
        with (
            client_at(driven.port, **BEARER) as client,
            client.stream("GET", f"{DRIVE}/events") as answer,
        ):
            for event in events_in(answer.iter_lines()):
                heard.append(event)
                if event.kind == "settled":
                    return

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    until(lambda: heard)
    assert heard[0].kind == "hello"
    assert id in [session["id"] for session in heard[0].data["sessions"]]
    web.post(f"{DRIVE}/{id}/prompts", json={"id": "p-1", "text": "stream 5 0.05"})
    thread.join(PATIENCE)
    assert not thread.is_alive()
    numbers = [event.id for event in heard]
    assert numbers == sorted(numbers)
    text = ""
    for event in heard:
        if event.kind == "delta":
            assert event.data["at"] == len(text)
            text += event.data["text"]
    assert text.split() == " ".join(f"piece {n}" for n in range(5)).split()


def test_a_server_that_ends_ends_its_streams_and_its_agents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rireki.drive.acp.driver.END", 0.2)
    archive = tmp_path / "archive.sqlite3"
    agent = AgentProgram("scripted", "The scripted agent", (sys.executable, str(AGENT)), found=True)
    settings = Settings(archive, Places.at(tmp_path).beside(archive), (tmp_path,), (agent,))
    with serving(archive, tmp_path, drive=settings) as server, client_of(server) as web:
        asked = {"id": "one", "project": str(tmp_path), "agent": "scripted"}
        web.post(DRIVE, json={**asked, "prompt": {"id": "p-1", "text": "forever deaf"}})
        until_state(web, "one", "working")
        journal = (archive.parent / "bridge" / "one.jsonl").read_text().splitlines()
        (process,) = [line for line in map(json.loads, journal) if line["kind"] == "process"]
        with web.stream("GET", f"{DRIVE}/events") as stream:
            lines = stream.iter_lines()
            next(lines)
            began = time.monotonic()
            server.stop()
            for _ in lines:
                continue
    assert time.monotonic() - began < PATIENCE
    until(lambda: not Path(f"/proc/{process['pid']}").exists())


def test_a_conversation_outside_the_roots_says_why_it_cannot_be_continued(tmp_path: Path) -> None:
    home, archive = tmp_path / "home", tmp_path / "archive.sqlite3"
    (tmp_path / "work").mkdir()
    talks = {}
    for name, folder in (("outside", "else where"), ("inside", "work"), ("moved", "gone")):
        talks[name] = Session(home, name)
        talks[name].cwd = str(tmp_path / folder)
        talks[name].turn("hello")
    (tmp_path / "else where").mkdir()
    agent = AgentProgram("claude-code", "Claude", ("x",), source="claude-code", found=True)
    places = Places.at(home).beside(archive)
    settings = Settings(archive, places, (tmp_path / "work",), (agent,))
    with closing(open_archive(archive, create=True)) as opened:
        import_history(opened, places=places)
    with serving(archive, home, drive=settings) as server, client_of(server) as web:

        def page(name: str, locale: str = "en") -> str:
            shown = web.get(f"/c/{talks[name].id}?lang={locale}").text
            return html.unescape(re.sub(r"<[^>]+>", " ", shown))

        outside = page("outside")
        assert "cannot be continued from here" in outside
        assert "lies outside of the directories agents may work in" in outside
        wider = f"rireki serve --drive --root {tmp_path}/work --root '{tmp_path}/else where'"
        assert wider in outside
        assert "ここから続けられません" in page("outside", "ja")
        assert "cannot be continued" not in page("inside") and "Continue here" in page("inside")
        assert "there is no directory" in page("moved")


def test_a_conversation_its_agent_cannot_continue_goes_on_with_another(tmp_path: Path) -> None:
    home, archive = tmp_path / "home", tmp_path / "archive.sqlite3"
    (tmp_path / "work").mkdir()
    old = Session(home, "old")
    old.cwd = str(tmp_path / "work")
    old.turn("<script>alert(1)</script> & more")
    old.call("t1")
    old.result("t1", "built in 3 s")
    own = AgentProgram(
        "claude-code", "Claude", ("x",), source="claude-code", reason="it is not on PATH"
    )
    other = AgentProgram("scripted", "The scripted agent", (sys.executable, str(AGENT)), found=True)
    places = Places.at(home).beside(archive)
    with closing(open_archive(archive, create=True)) as opened:
        import_history(opened, places=places)

    def pages(*agents: AgentProgram) -> tuple[str, str, str]:
        settings = Settings(archive, places, (tmp_path / "work",), agents)
        with serving(archive, home, drive=settings) as server, client_of(server) as web:
            talk, new = web.get(f"/c/{old.id}"), web.get("/new", params={"from": old.id})
            japanese = web.get("/new", params={"from": old.id, "lang": "ja"})
            return talk.text, new.text, japanese.text

    talk, new, japanese = pages(own, other)
    assert f"/new?from=claude-code%2F{old.native}" in talk and "Continue with another agent" in talk
    assert f'value="{old.cwd}"' in new
    box = html.unescape(re.findall(r"<textarea id=.prompt.*?>(.*?)</textarea>", new, re.DOTALL)[0])
    assert box.startswith("This conversation was held with another agent (claude-code):")
    assert "prompt <script>alert(1)</script> & more" in box and "built in 3 s" in box
    assert box.endswith("Go on with it from here.")
    assert "<script>alert(1)" not in new
    assert "この続きからお願いします。" in japanese
    talk, _, _ = pages(own)
    assert "Continue with another agent" not in talk
