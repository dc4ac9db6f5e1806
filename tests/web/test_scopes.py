"""Whoever reads reaches what his scope has, and nothing else, by whatever address and tool."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

import pytest
from starlette.requests import Request
from starlette.testclient import TestClient

from rireki.live.feed import Feed
from rireki.mcp.http import RecallEndpoint
from rireki.mcp.tools import TOOLS
from rireki.sources.kit.places import Places
from rireki.web.app import create_app
from rireki.web.archive_reader import ArchiveReader
from rireki.web.broadcaster import Broadcaster
from rireki.web.guard import GuardSettings
from rireki.web.scope import ReaderScope, scope_of
from tests.support.reaching import ROUTES, TOOL_CALLS, Asked, addresses, filled, names_of
from tests.support.two_people import a_history, asked_of

TOKEN = "the-token-of-the-tests-0123456789"
PEOPLE = ("ann", "bob")


class Two(NamedTuple):
    client: TestClient
    asked: dict[str, Asked]
    scopes: dict[str, ReaderScope]

    def get(self, person: str, address: str) -> Any:
        return self.client.get(address, headers=heads(person), follow_redirects=False)


def heads(person: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {TOKEN}", "X-Person": person}


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    folder = tmp_path_factory.mktemp("two")
    nowhere = Places.at(folder / "nowhere")
    scopes, asked = {}, {}
    with ExitStack() as ending:
        for person in PEOPLE:
            path = a_history(person, folder)
            reader = ArchiveReader(path, nowhere)
            ending.callback(reader.close)
            broadcaster = Broadcaster(path)
            scopes[person] = ReaderScope(
                archive_reader=reader, broadcaster=broadcaster, person=person
            )
            asked[person] = asked_of(person, path)
        recall = RecallEndpoint(lambda request: scope_of(request).archive_reader.library, nowhere)
        app = create_app(
            lambda request: scopes[Request(request.scope).headers["x-person"]],
            GuardSettings(token=TOKEN, port=7),
            recall=recall,
        )
        client = ending.enter_context(TestClient(app, base_url="http://127.0.0.1:7"))
        yield Two(client, asked, scopes)


def test_every_route_says_what_it_gives_and_of_whom(two: Two) -> None:
    assert names_of(two.client.app.routes) == ROUTES.keys()  # type: ignore[attr-defined]
    assert {tool.name for tool in TOOLS} == TOOL_CALLS.keys()


@pytest.mark.parametrize("path", [path for path, way in ROUTES.items() if way.gives == "one"])
def test_a_conversation_is_there_for_one_and_not_for_the_other(two: Two, path: str) -> None:
    asked = two.asked["ann"]
    for address in addresses(ROUTES[path], asked):
        own, foreign = two.get("ann", address), two.get("bob", address)
        assert own.status_code == 200, (address, own.text[:300])
        assert foreign.status_code == 404, (address, foreign.text[:300])
        silent_of(asked, foreign.content, address)


def test_nobody_who_signs_in_adds_or_forgets(two: Two) -> None:
    asked = two.asked["ann"]
    for path in ("/curate/{id:path}", "/forget/{id:path}", "/searches"):
        for address in [*addresses(ROUTES[path], asked), filled("/forget/{id}", asked)]:
            for person in PEOPLE:
                assert two.get(person, address).status_code == 400
                sent = two.client.post(address, headers=heads(person), data={"star": "1", "q": "x"})
                assert sent.status_code == 400, sent.text
                silent_of(asked, sent.content, address)


@pytest.mark.parametrize("path", [path for path, way in ROUTES.items() if way.gives == "all"])
def test_a_list_has_what_the_scope_has(two: Two, path: str) -> None:
    asked = two.asked["ann"]
    for address in addresses(ROUTES[path], asked):
        own, foreign = two.get("ann", address), two.get("bob", address)
        assert own.status_code == foreign.status_code == 200, (address, foreign.text[:300])
        silent_of(asked, foreign.content, address)


def silent_of(asked: Asked, said: bytes, address: str) -> None:
    """Of what was asked for nothing comes back but the very words that were sent."""
    for word in (asked.word, asked.id.partition("/")[2], asked.message):
        if word in address:
            continue
        assert word.encode() not in said, (address, word)
    assert f"no such thing as {asked.word}".encode() not in said, address


@pytest.mark.parametrize("name", [*TOOL_CALLS])
def test_a_tool_answers_of_the_scope_alone(two: Two, name: str) -> None:
    # The one who may asks first: what was read for him is at hand then.
    for arguments in TOOL_CALLS[name]:
        mine = called(two, "ann", name, arguments)
        theirs = called(two, "bob", name, arguments)
        silent_of(two.asked["ann"], json.dumps(theirs).encode(), str(arguments_for(two, arguments)))
        if arguments and "typo" not in str(arguments):
            assert mine != theirs


def arguments_for(two: Two, arguments: dict[str, Any]) -> dict[str, Any]:
    return {key: filled(value, two.asked["ann"]) for key, value in arguments.items()}


def called(two: Two, person: str, name: str, arguments: dict[str, Any]) -> Any:
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": name, "arguments": arguments_for(two, arguments)},
    }
    accepted = {"Accept": "application/json, text/event-stream"}
    answer = two.client.post(
        "/mcp",
        json=call,
        headers={**heads(person), **accepted, "MCP-Protocol-Version": "2025-06-18"},
    )
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_what_one_has_rendered_is_not_given_to_the_other(two: Two) -> None:
    asked = two.asked["ann"]
    assert asked.word in two.get("ann", f"/c/{asked.id}").text
    assert two.get("bob", f"/c/{asked.id}").status_code == 404


def test_the_feed_of_one_does_not_name_what_is_the_others(two: Two) -> None:
    for person, other in (PEOPLE, PEOPLE[::-1]):
        news = two.scopes[person].archive_reader.library.ask(lambda a: Feed(a).since(0))
        named = {change.conversation for change in news.changes}
        assert two.asked[person].id in named and two.asked[other].id not in named
