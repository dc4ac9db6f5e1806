"""Who gets in: wrong tokens, hosts and origins are refused, on every address alike."""

from __future__ import annotations

import hashlib
import socket
from collections.abc import Iterator

import httpx
import pytest

from rireki.web.app import FOREVER, STATIC
from rireki.web.guard import CSP, GuardSettings
from rireki.web.serve import Server
from tests.web.conftest import PATIENCE, TOKEN, client_at, client_of, serving

ADDRESSES = ["/", "/api/v1/health", "/api/v1/events", "/static/nothing.css", "/no/such/page"]


@pytest.fixture
def stranger(shown: Server) -> Iterator[httpx.Client]:
    """Knows the address, but not the token."""
    with client_at(shown.port) as client:
        yield client


@pytest.fixture
def cookie(shown: Server) -> dict[str, str]:
    settings = GuardSettings(token=TOKEN, port=shown.port)
    return {"Cookie": f"{settings.cookie}={settings.cookie_value}"}


@pytest.mark.parametrize("address", ADDRESSES)
def test_nothing_is_told_without_the_token(stranger: httpx.Client, address: str) -> None:
    answer = stranger.get(address)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert "rireki serve" in answer.text


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": f"Bearer {TOKEN[:-1]}"},
        {"Authorization": "Bearer"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Cookie": f"rireki={TOKEN}"},
        {"Cookie": "rireki_7475="},
    ],
    ids=str,
)
def test_a_wrong_token_is_no_token(
    stranger: httpx.Client, address: str, headers: dict[str, str]
) -> None:
    assert stranger.get(address, headers=headers).status_code == 401


def test_a_token_that_is_no_ascii_is_wrong_and_nothing_worse(stranger: httpx.Client) -> None:
    assert stranger.get("/?token=%E5%B1%A5%E6%AD%B4%FF").status_code == 401
    assert stranger.get("/", headers={b"Authorization": b"Bearer \xe5\xff"}).status_code == 401


def test_the_first_address_lets_the_browser_in_and_hides_the_token(
    stranger: httpx.Client, shown: Server
) -> None:
    first = stranger.get(f"/search?q=a%26b&token={TOKEN}&lang=ja")
    assert first.status_code == 303
    assert first.headers["location"] == "/search?q=a%26b&lang=ja"
    said = first.headers["set-cookie"]
    assert said.startswith(f"rireki_{shown.port}=")
    assert TOKEN not in said
    for promise in ("HttpOnly", "SameSite=strict", "Path=/"):
        assert promise in said
    # The client has kept the cookie.
    assert stranger.get("/api/v1/health").status_code == 200


def test_a_wrong_token_in_the_address_lets_nobody_in(
    stranger: httpx.Client, cookie: dict[str, str]
) -> None:
    for address in ("/?token=wrong", f"/?token={TOKEN}&token=wrong", "/?token="):
        answer = stranger.get(address, headers=cookie)
        assert answer.status_code == 401
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("path", ["//evil.example", "/\\evil.example", "///evil.example/x"])
def test_the_way_without_the_token_never_leads_elsewhere(
    stranger: httpx.Client, shown: Server, path: str
) -> None:
    url = httpx.URL(f"http://127.0.0.1:{shown.port}/?token={TOKEN}").copy_with(
        raw_path=f"{path}?token={TOKEN}".encode()
    )
    answer = stranger.get(url)
    assert answer.status_code == 303
    assert answer.headers["location"][0] == "/"
    assert answer.headers["location"][1] not in "/\\"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "LOCALHOST"])
def test_the_names_of_this_machine_are_answered_to(
    web: httpx.Client, shown: Server, host: str
) -> None:
    headers = {"Host": f"{host}:{shown.port}"}
    assert web.get("/api/v1/health", headers=headers).status_code == 200


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "localhost",
        "localhost:1",
        "127.0.0.1",
        "localhost.evil.example:{port}",
        "evil.example:{port}@localhost:{port}",
        "127.0.0.2:{port}",
        "",
    ],
)
def test_any_other_host_is_refused_even_with_the_token(
    web: httpx.Client, shown: Server, address: str, host: str
) -> None:
    answer = web.get(address, headers={"Host": host.format(port=shown.port)})
    assert answer.status_code in (400, 403)


@pytest.mark.parametrize(
    "hosts", ["", "Host: 127.0.0.1:{port}\r\nHost: evil\r\n"], ids=["none", "two"]
)
def test_one_host_must_be_named(shown: Server, hosts: str) -> None:
    asked = f"GET /api/v1/health HTTP/1.1\r\n{hosts.format(port=shown.port)}"
    with socket.create_connection(("127.0.0.1", shown.port), PATIENCE) as plain:
        plain.sendall(f"{asked}Authorization: Bearer {TOKEN}\r\n\r\n".encode())
        assert plain.recv(100).split()[1] in (b"400", b"403")


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "http://evil.example",
        "http://localhost:{port}",
        "http://127.0.0.1",
        "http://127.0.0.1:1",
        "http://127.0.0.1:{port}.evil.example",
        "evil://127.0.0.1:{port}",
        "",
    ],
)
def test_another_origin_is_refused_even_with_the_cookie(
    stranger: httpx.Client, shown: Server, cookie: dict[str, str], address: str, origin: str
) -> None:
    said = {"Origin": origin.format(port=shown.port), **cookie}
    assert stranger.get(address, headers=said).status_code == 403


def test_our_own_origin_is_fine(
    stranger: httpx.Client, shown: Server, cookie: dict[str, str]
) -> None:
    said = {"Origin": f"http://127.0.0.1:{shown.port}", "Sec-Fetch-Site": "same-origin", **cookie}
    assert stranger.get("/api/v1/health", headers=said).status_code == 200


NAVIGATION = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


@pytest.mark.parametrize("site", ["cross-site", "same-site", "whatever"])
@pytest.mark.parametrize(
    "how",
    [
        {"Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"},
        {"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"},
        {"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"},
        {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
        {},
    ],
    ids=str,
)
def test_what_another_site_embeds_or_fetches_is_refused(
    stranger: httpx.Client, cookie: dict[str, str], site: str, how: dict[str, str]
) -> None:
    headers = {"Sec-Fetch-Site": site, **how, **cookie}
    for address in ADDRESSES:
        assert stranger.get(address, headers=headers).status_code == 403


def test_a_link_from_elsewhere_opens_the_page(
    stranger: httpx.Client, cookie: dict[str, str]
) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", **NAVIGATION}
    assert stranger.get("/", headers={**headers, **cookie}).status_code == 200
    # The browser keeps a strict cookie back then; one click on our own page brings it along.
    refused = stranger.get('/c/x/"><script>?at=<b>', headers=headers)
    assert refused.status_code == 401
    assert 'href="/c/x/%22%3E%3Cscript%3E?at=' in refused.text
    assert "<script" not in refused.text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
@pytest.mark.parametrize("address", ADDRESSES)
def test_nothing_can_be_done_but_reading(web: httpx.Client, method: str, address: str) -> None:
    answer = web.request(method, address)
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize("address", [*ADDRESSES, "/api/v1/openapi.json", "/c/none"])
def test_every_answer_has_the_headers_that_keep_it_harmless(
    web: httpx.Client, stranger: httpx.Client, address: str
) -> None:
    for client in (web, stranger):
        with client.stream("GET", address) as answer:
            assert answer.headers["content-security-policy"] == CSP
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["referrer-policy"] == "same-origin"
            assert answer.headers["cross-origin-opener-policy"] == "same-origin"
            assert answer.headers["cross-origin-resource-policy"] == "same-origin"
            assert answer.headers["cache-control"] == "no-store"
            assert "server" not in answer.headers
    assert "unsafe" not in CSP


def test_a_name_that_something_in_front_uses_can_be_allowed(shown: Server) -> None:
    home = shown.archive_reader.places.home
    with (
        serving(shown.archive, home, allowed=("rireki.example",)) as server,
        client_of(server) as web,
    ):

        def ask(**headers: str) -> int:
            return web.get("/api/v1/health", headers=headers).status_code

        assert ask(Host="rireki.example") == 200
        assert ask(Host="rireki.example", Origin="https://rireki.example") == 200
        assert ask(Host="x.rireki.example") == 403


def test_each_port_has_a_cookie_of_its_own() -> None:
    one, other = (GuardSettings(token=TOKEN, port=port) for port in (1, 2))
    assert one.cookie != other.cookie
    assert GuardSettings(token=TOKEN + "x", port=1).cookie_value != one.cookie_value


def test_a_mistake_of_ours_leaves_through_the_guard_too(
    web: httpx.Client, shown: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(work: object) -> object:
        raise RuntimeError("a secret of the archive")

    monkeypatch.setattr(shown.archive_reader, "read", broken)
    for address in ("/api/v1/health", "/"):
        answer = web.get(address)
        assert answer.status_code == 500
        assert answer.headers["content-security-policy"] == CSP
        assert "RuntimeError" in answer.text
        assert "secret" not in answer.text


def test_static_files_are_kept_by_the_hash_of_their_content(web: httpx.Client) -> None:
    file = next(path for path in sorted(STATIC.iterdir()) if path.suffix == ".css")
    right = hashlib.sha256(file.read_bytes()).hexdigest()[:12]
    address = f"/static/{file.name}"
    kept = web.get(f"{address}?v={right}")
    assert kept.content == file.read_bytes()
    assert kept.headers["content-type"].startswith("text/css")
    assert kept.headers["cache-control"] == FOREVER
    assert kept.headers["x-content-type-options"] == "nosniff"
    for asked in ("", "?v=", "?v=0", f"?v={right[::-1]}"):
        assert web.get(address + asked).headers["cache-control"] == "no-cache"
    for path in ("..%2Fapp.py", "%2e%2e/app.py", "%2Fetc%2Fpasswd", ""):
        assert web.get(f"/static/{path}").status_code == 404
