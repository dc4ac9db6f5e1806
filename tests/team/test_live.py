"""What is shared reaches others by itself, goes when it is taken back, and survives what goes wrong."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from rireki.archive.forgetting import forget
from rireki.archive.open import open_archive
from rireki.home import Home
from rireki.live.keeper import Keeper
from rireki.shares.rules import write_rules
from rireki.sources.kit.places import Places
from rireki.sync.remotes import Remote, Remotes
from rireki.team.people import Role
from rireki.team.signed import SignedHeader
from tests.support.two_people import IDS, a_history, asked_of, write_session
from tests.team.conftest import Office, opened, rule
from tests.team.test_signed import HEADER, SECRET, claims, told
from tests.web.conftest import until

ANN, BOB = f"claude-code/{IDS['ann']}", f"claude-code/{IDS['bob']}"


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rireki.shares.rules.data_directory", lambda: tmp_path / "data")


def test_what_an_agent_writes_is_with_the_team_a_moment_later(
    office: Office, tmp_path: Path, rules: None
) -> None:
    home, path = tmp_path / "home", tmp_path / "archive.sqlite3"
    write_session(home, IDS["ann"], "/home/ann/work", "quokkaflux")
    write_rules([rule("/home/ann/work")])
    url = office.server.url.rstrip("/")
    Remotes(Home(path)).add(Remote(name="acme", url=url, kind="team", token=office.tokens["ann"]))
    keeper = Keeper(path, Places.at(home))
    keeper.start()
    try:
        until(lambda: office.ids("bob") == {ANN})
        write_session(home, IDS["bob"], "/home/ann/work/deeper", "zebrafinchery")
        write_session(home, "c" + IDS["bob"][1:], "/home/ann/diary", "privatissimum")
        until(lambda: office.ids("bob") == {ANN, BOB})
    finally:
        keeper.stop()
    assert "privatissimum" not in office.get("bob", "/api/v1/search?q=privatissimum").text[40:]


def test_what_is_taken_back_is_gone_from_lists_searches_and_open_pages(
    office: Office, tmp_path: Path
) -> None:
    path = a_history("ann", tmp_path)
    asked = asked_of("ann", path)
    with opened(path) as archive:
        office.push(archive, [rule("/")])
        assert asked.word in office.get("bob", f"/c/{asked.id}").text
        office.push(archive, [])
    assert office.get("bob", f"/c/{asked.id}").status_code == 404
    assert office.get("bob", f"/api/v1/search?q={asked.word}").json()["talks"] == []
    assert office.get("ann", f"/c/{asked.id}").status_code == 404
    office.settled()
    indexes = b"".join(f.read_bytes() for f in (tmp_path / "server").rglob("*") if f.is_file())
    assert asked.word.encode() not in indexes
    with opened(path) as archive:
        office.push(archive, [rule("/")])
    assert asked.word in office.get("bob", f"/c/{asked.id}").text


def test_what_is_forgotten_on_the_laptop_is_forgotten_there(office: Office, tmp_path: Path) -> None:
    path = a_history("ann", tmp_path)
    asked = asked_of("ann", path)
    with closing(open_archive(path, write=True)) as archive:
        office.push(archive, [rule("/")])
        assert office.ids("bob") == {asked.id}
        forget(archive, [archive.find(asked.id)])
        office.push(archive, [rule("/")])
    assert office.ids("bob") == office.ids("ann") == set()


def test_another_level_replaces_what_was_there(office: Office, tmp_path: Path) -> None:
    with opened(a_history("ann", tmp_path)) as archive:
        for level in ("full", "masked", "full", "counts", "masked"):
            office.push(archive, [rule("/", level)])
            there = office.ids("bob")
            assert there == (set() if level == "counts" else {ANN}), level
            figures = office.get("bob", "/api/team/v1/figures").json()["teams"][0]
            assert figures["conversations"] == (1 if level == "counts" else 0)


def test_two_people_with_one_conversation(office: Office, tmp_path: Path) -> None:
    """A copied home: each has it, and each sees his own."""
    for person in ("ann", "bob"):
        with opened(a_history("ann", tmp_path / person)) as archive:
            office.push(archive, [rule("/")], person)
    for person, other in (("bob", "ann"), ("ann", "bob")):
        assert office.ids(person) == {ANN, f"{ANN}~{other}"}
        mine = office.get(person, f"/api/v1/conversations/{ANN}").json()["conversation"]
        theirs = office.get(person, f"/api/v1/conversations/{ANN}~{other}").json()["conversation"]
        assert (mine["owner"], theirs["owner"]) == (person, other)
        assert office.get(person, f"/c/{ANN}~{other}").status_code == 200
    assert office.get("eve", f"/c/{ANN}~ann").status_code == 404


def test_a_revoked_token_opens_nothing_from_the_next_request_on(
    office: Office, tmp_path: Path
) -> None:
    with opened(a_history("ann", tmp_path)) as archive:
        office.push(archive, [rule("/")])
    with httpx.Client(base_url=office.server.url, timeout=30, verify=False) as browser:
        signed = browser.post("/sign-in", data={"token": office.tokens["bob"]})
        assert signed.status_code == 303
        assert ANN in browser.get("/").text
        assert browser.post("/sign-in", data={"token": "nonsense"}).status_code == 401
        office.team.people.revoke("bob")
        assert browser.get("/").headers["location"] == "/sign-in"
        assert browser.get("/api/v1/conversations").status_code == 401
    assert office.get("bob", "/api/v1/conversations").status_code == 401


def test_one_device_is_revoked_and_the_others_are_not(office: Office) -> None:
    second = office.team.people.add("bob", "acme")
    (bob,) = [each for each in office.team.people.all() if each.name == "bob"]
    member = office.team.people.admit(second)
    assert member is not None and member.device in bob.devices
    office.team.people.revoke_device(member.device)
    assert office.team.people.admit(second) is None
    assert office.get("bob", "/api/team/v1/me").json()["name"] == "bob"


def test_another_device_changes_nothing_of_what_somebody_may(office: Office) -> None:
    people = office.team.people

    def roles() -> dict[str, dict[str, Role]]:
        return {each.name: each.roles for each in people.all()}

    before = roles()
    for name in ("ann", "eve", "aud"):
        assert people.admit(people.add(name)) is not None
    # Ann is an owner still, and Eve is in no team of Ann's.
    assert roles() == before
    people.add("eve", role="owner")
    people.add("bob", "others")
    assert roles()["eve"] == {"others": "owner"}
    assert roles()["bob"] == {"acme": "member", "others": "member"}


def test_signing_out_ends_the_browser_alone(office: Office) -> None:
    with httpx.Client(base_url=office.server.url, timeout=30, verify=False) as browser:
        browser.get(f"/?token={office.tokens['bob']}")
        assert browser.get("/api/team/v1/me").json()["name"] == "bob"
        origin = {"Origin": office.server.url.rstrip("/")}
        assert browser.post("/sign-out", headers=origin).status_code == 303
        assert browser.get("/api/team/v1/me").status_code == 401
    assert office.get("bob", "/api/team/v1/me").status_code == 200


def test_what_a_browser_was_given_opens_nothing_else(office: Office) -> None:
    """It would stay when the device is revoked that the browser was signed in with."""
    cookie = f"rireki_{office.server.port}"
    with httpx.Client(base_url=office.server.url, timeout=30, verify=False) as browser:
        browser.post("/sign-in", data={"token": office.tokens["bob"]})
        value = browser.cookies[cookie]
    with httpx.Client(base_url=office.server.url, timeout=30, verify=False) as other:
        assert other.post("/sign-in", data={"token": value}).status_code == 401
        assert other.get(f"/?token={value}").status_code == 401
        for address in ("/api/team/v1/me", "/api/push/v1"):
            headers = {"Authorization": f"Bearer {value}"}
            assert other.get(address, headers=headers).status_code == 401
        assert cookie not in other.cookies
        given = other.get("/api/team/v1/me", headers={"Cookie": f"{cookie}={value}"})
        assert given.json()["name"] == "bob"


def test_a_token_in_an_address_leads_to_our_own_pages(office: Office) -> None:
    token = office.tokens["bob"]
    for path, target in (
        ("/c/a%20b?q=1&", "/c/a%20b?q=1"),
        ("/%5Cevil.example?", "/%5Cevil.example"),
        ("//evil.example?", "/evil.example"),
        ("/%E5%B1%A5?", "/%E5%B1%A5"),
        ("/%0d%0aSet-Cookie:a=b?", "/%0d%0aSet-Cookie:a=b"),
    ):
        answer = httpx.get(f"{office.server.url.rstrip('/')}{path}token={token}")
        assert (answer.status_code, answer.headers["location"]) == (303, target)


def test_a_link_that_somebody_sent_opens_in_a_browser_that_is_signed_in(office: Office) -> None:
    """Browsers keep a cookie back on the way from another site, and send it from a page of ours."""
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    followed |= {"Sec-Fetch-Dest": "document"}
    answer = httpx.get(office.server.url + "c/x?view=full", headers=followed)
    assert answer.status_code == 200
    assert '<meta http-equiv="refresh" content="0; url=/c/x?view=full">' in answer.text
    assert httpx.get(office.server.url + "c/x").headers["location"] == "/sign-in"


def test_a_page_elsewhere_can_do_nothing(office: Office) -> None:
    for headers in ({"Origin": "https://evil.example"}, {"Host": "evil.example"}):
        answer = httpx.get(office.server.url, headers=headers)
        assert answer.status_code == 403
    with httpx.Client(base_url=office.server.url, timeout=30, verify=False) as browser:
        browser.post("/sign-in", data={"token": office.tokens["bob"]})
        assert browser.get("/api/team/v1/me").status_code == 200
        posted = browser.post("/api/team/v1/shares", content=b"{}")
    assert posted.status_code == 401


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"shared": 1}', b"\xff" * 100])
def test_nonsense_about_shares_is_refused(office: Office, body: bytes) -> None:
    answer = office.clients["ann"].post("/api/team/v1/shares", content=body)
    assert answer.status_code == 400 and "error" in answer.json()


def test_figures_and_logs_have_nothing_of_anybody(office: Office, tmp_path: Path) -> None:
    with opened(a_history("ann", tmp_path)) as archive:
        office.push(archive, [rule("/")])
    office.get("bob", "/api/v1/search?q=quokkaflux")
    office.get("bob", f"/c/{ANN}")
    assert httpx.request("SESAME", office.server.url).status_code == 405
    told = httpx.get(office.server.url + "metrics").text
    assert 'method="OTHER"' in told and "SESAME" not in told
    assert 'kind="api search",status="200"' in told and "rireki_archives_waiting 0" in told
    for word in ("quokka", IDS["ann"], "claude-code"):
        assert word not in told
    away = httpx.get(office.server.url + "metrics", headers={"X-Forwarded-For": "10.0.0.1"})
    assert away.status_code == 404
    assert json.loads(httpx.get(office.server.url + "health").text)["status"] == "ok"


def test_a_proxy_vouches_for_who_is_known_and_for_nobody_else(
    office: Office, tmp_path: Path
) -> None:
    key = tmp_path / "secret"
    key.write_bytes(SECRET)
    assert office.get("bob", "/").status_code == 200
    guard: Any = office.server.app.middleware_stack
    guard.signed = SignedHeader(HEADER, key, audience="rireki")

    def asked(name: str, path: str = "api/team/v1/me", method: str = "GET") -> httpx.Response:
        headers = {HEADER: told(claims(email=name))}
        return httpx.request(method, office.server.url + path, headers=headers, content=b"{}")

    assert asked("Bob").json()["name"] == "bob"
    assert asked("nobody").status_code == asked("").status_code == 401
    assert asked("nobody", "").headers["location"] == "/sign-in"
    # What a browser can be made to send shares nothing and asks no tools.
    for path in ("api/team/v1/shares", "mcp", "api/push/v1/streams"):
        assert asked("bob", path, "POST").status_code == 401
    office.team.people.revoke("bob")
    assert asked("bob").status_code == 401
