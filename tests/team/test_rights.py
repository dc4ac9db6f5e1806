"""Who may see what, by every address and every tool: owner, member, stranger, auditor, revoked."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import httpx
import pytest

from rireki.archive.base import Archive
from rireki.live.feed import Feed
from rireki.team.app import SHOWN
from rireki.team.seen import SeenArchive
from rireki.web.api.call import PREFIX, TALK
from tests.support.reaching import ROUTES, TOOL_CALLS, Asked, addresses, filled, names_of
from tests.support.two_people import WORDS
from tests.team.conftest import Office
from tests.web.test_scopes import silent_of

Shared = tuple[Office, Asked]
READ = ("ann", "bob", "aud")
STRANGER, REVOKED = "eve", "rex"
LINK = re.compile(r'href="(/[^"]*)"')
#: What the server has besides the web app's routes, and who may ask.
OWN = {
    "/sign-in": "anybody",
    "/sign-out": "known",
    "/health": "anybody",
    "/metrics": "anybody",
    "/team": "known",
    "/api/team/v1/shares": "known",
    "/api/team/v1/me": "known",
    "/api/team/v1/audit": "known",
    "/api/team/v1/figures": "known",
    "/api/push/v1": "known",
    "/api/push/v1/streams": "known",
    "/api/push/v1/streams/{stream}/have": "known",
    "/api/push/v1/streams/{stream}/records": "known",
    "/api/push/v1/outgoing": "known",
    "/api/push/v1/outgoing/next": "known",
}
SEEN = [path for path, way in ROUTES.items() if path in SHOWN or path.startswith(PREFIX + TALK)]


def app_of(office: Office) -> Any:
    return office.server.app


def test_every_route_is_known_and_what_is_of_one_machine_is_not_there(shared: Shared) -> None:
    office, _ = shared
    there = names_of(app_of(office).routes)
    assert there - ROUTES.keys() == OWN.keys()
    kept_out = {path for path, way in ROUTES.items() if way.gives in ("machine", "agents")}
    assert not kept_out & there


def test_an_archive_has_no_verb_that_was_not_thought_of() -> None:
    verbs = {name for name in dir(Archive) if not name.startswith("_")}
    inherited = [each for each in verbs if getattr(SeenArchive, each) is getattr(Archive, each)]
    assert inherited == []


@pytest.mark.parametrize("path", [path for path in SEEN if ROUTES[path].gives == "one"])
def test_a_conversation_is_there_for_the_team_alone(shared: Shared, path: str) -> None:
    office, asked = shared
    for address in addresses(ROUTES[path], asked):
        for person in READ:
            answer = office.get(person, address)
            assert answer.status_code == 200, (person, address, answer.text[:300])
        answer = office.get(STRANGER, address)
        assert answer.status_code == 404, (address, answer.text[:300])
        silent_of(asked, answer.content, address)
        assert office.get(REVOKED, address).status_code == 401


@pytest.mark.parametrize("path", [path for path in SEEN if ROUTES[path].gives == "all"])
def test_lists_have_what_may_be_seen(shared: Shared, path: str) -> None:
    office, asked = shared
    for address in addresses(ROUTES[path], asked):
        answer = office.get(STRANGER, address)
        assert answer.status_code == 200, (address, answer.text[:300])
        silent_of(asked, answer.content, address)
        # And the other way round: nothing of Eve's reaches those of acme.
        for person in READ:
            assert WORDS["bob"].encode() not in office.get(person, address).content
        assert office.get(REVOKED, address).status_code == 401


@pytest.mark.parametrize("name", [*TOOL_CALLS])
def test_tools_answer_of_what_may_be_seen(shared: Shared, name: str) -> None:
    office, asked = shared
    for arguments in TOOL_CALLS[name]:
        given = {key: filled(value, asked) for key, value in arguments.items()}
        for person in READ:
            assert called(office, person, name, given).status_code == 200
        answer = called(office, STRANGER, name, given)
        silent_of(asked, answer.content, str(given))
        assert called(office, REVOKED, name, given).status_code == 401


def called(office: Office, person: str, name: str, arguments: dict[str, Any]) -> httpx.Response:
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": name, "arguments": arguments},
    }
    accepted = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-06-18",
    }
    return office.clients[person].post("/mcp", json=call, headers=accepted)


def test_a_member_finds_by_a_tool_what_is_shared(shared: Shared) -> None:
    office, asked = shared
    assert asked.word in called(office, "bob", "search", {"query": asked.word}).text
    opened = called(office, "bob", "open", {"ref": f"{asked.id}#{asked.message}"})
    assert f"tell me of {asked.word}" in opened.text


def test_each_item_says_whose_it_is(shared: Shared) -> None:
    office, asked = shared
    (found,) = office.get("bob", "/api/v1/conversations").json()["conversations"]
    assert (found["id"], found["owner"], found["teams"]) == (asked.id, "ann", ["acme"])
    assert "machines" not in found
    one = office.get("bob", f"/api/v1/conversations/{asked.id}").json()["conversation"]
    assert one["owner"] == "ann"
    (talk,) = office.get("bob", f"/api/v1/search?q={asked.word}").json()["talks"]
    assert talk["conversation"]["owner"] == "ann"


def test_without_a_token_there_is_nothing_but_the_door(shared: Shared) -> None:
    office, asked = shared
    with httpx.Client(base_url=office.server.url, timeout=30, verify=False) as stranger:
        for path in SEEN:
            if ROUTES[path].gives == "plain":
                continue
            for address in addresses(ROUTES[path], asked):
                answer = stranger.get(address)
                assert answer.status_code in (303, 401), address
                assert asked.word.encode() not in answer.content
        for path, who in OWN.items():
            if who == "known":
                address = path.replace("{stream}", "1")
                found = {stranger.get(address).status_code, stranger.post(address).status_code}
                assert not found & {200, 500}, path
        assert stranger.get("/health").json()["status"] == "ok"
        assert asked.word not in stranger.get("/metrics").text


def test_suggestions_have_no_word_that_may_not_be_read(shared: Shared) -> None:
    office, asked = shared
    for person, told in (("bob", [asked.word]), ("eve", [])):
        near = office.get(person, f"/api/v1/search?q={asked.word[:-2]}xx").json()["near"]
        assert near == told, person


def test_the_feed_names_what_may_be_seen(shared: Shared) -> None:
    office, asked = shared
    for person, told in (("ann", True), ("bob", True), ("eve", False)):
        member = office.team.people.admit(office.tokens[person])
        assert member is not None
        news = Feed(office.team.seen_by(member)).since(0)
        assert (asked.id in {each.conversation for each in news.changes}) == told


def test_a_stream_of_events_tells_of_what_may_be_seen(shared: Shared) -> None:
    office, asked = shared
    for person, told in (("bob", True), ("eve", False)):
        with office.clients[person].stream("GET", "/api/v1/events?after=0") as stream:
            said = ""
            for line in stream.iter_lines():
                said += line
                if "event: change" in said and line.startswith("data:"):
                    break
        assert (asked.id in said) == told


def test_an_auditor_reads_who_read_what_and_a_member_only_what_was_read_of_his(
    shared: Shared,
) -> None:
    office, asked = shared
    assert office.get("bob", f"/c/{asked.id}").status_code == 200
    entry = ("bob", "ann", asked.id)
    for person, told in (("aud", True), ("ann", True), ("bob", False), ("eve", False)):
        log = office.get(person, "/api/team/v1/audit").json()["entries"]
        found = {(each["reader"], each["owner"], each["conversation"]) for each in log}
        assert (entry in found) == told, person
    assert asked.word not in json.dumps(office.get("aud", "/api/team/v1/audit").json())


def test_an_auditor_gives_nothing(shared: Shared) -> None:
    office, _ = shared
    push = office.clients["aud"].post("/api/push/v1/streams", content=b"")
    share = office.clients["aud"].post("/api/team/v1/shares", content=b"{}")
    assert (push.status_code, share.status_code) == (401, 403)


def test_nobody_shares_with_a_team_he_is_not_of(shared: Shared) -> None:
    office, _ = shared
    change = {"shared": [{"family": "x", "grouping": "y", "teams": ["others"]}]}
    answer = office.clients["bob"].post("/api/team/v1/shares", json=change)
    assert answer.status_code == 400 and "others" in answer.text


def test_one_can_keep_to_a_person_or_a_team(shared: Shared) -> None:
    office, asked = shared
    for query, there in (("person=ann", True), ("person=bob", False), ("team=acme", True)):
        found = office.get("bob", f"/api/v1/conversations?{query}").json()["conversations"]
        assert bool(found) == there, query
        assert (asked.word in office.get("bob", f"/?{query}").text) == there
    assert office.get("bob", "/api/v1/conversations?person=eve").status_code == 404
    assert office.get("bob", "/api/v1/conversations?team=others").status_code == 404


def test_pages_say_whose_it_is(shared: Shared) -> None:
    office, asked = shared
    for address in ("/", f"/c/{asked.id}", f"/search?q={asked.word}"):
        assert 'href="/?person=ann"' in office.get("bob", address).text, address
    assert "ann" in office.get("aud", "/team").text


def test_pages_lead_nowhere_that_is_not_there(shared: Shared) -> None:
    """What changes something is offered on a machine of one's own alone."""
    office, asked = shared
    pages = ["/", f"/c/{asked.id}", f"/search?q={asked.word}", "/stats", "/usage", "/help", "/team"]
    pages += [f"/versions/{asked.id}", f"/files/{asked.id}", f"/explain/{asked.id}"]
    for person in ("ann", "bob"):
        seen = set(pages)
        for page in pages:
            text = office.get(person, page).text
            posting = re.findall(r'<form[^>]*method="post"[^>]*>', text)
            assert all('action="/sign-out"' in form for form in posting), (page, posting)
            links = {html.unescape(each).partition("#")[0] for each in LINK.findall(text)}
            for link in sorted(links - seen - {""}):
                assert office.get(person, link).status_code == 200, (person, page, link)
            seen |= links
