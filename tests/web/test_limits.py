"""What a stranger may cost: over real sockets, without the token."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from rireki.archive.open import open_archive
from rireki.web import connection
from rireki.web.api import events
from rireki.web.serve import Server
from tests.web.conftest import PATIENCE, TOKEN, client_of, serving, until


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """As they are, only sooner."""
    monkeypatch.setattr(connection, "HEADER_SECONDS", 0.6)
    monkeypatch.setattr(connection, "BODY_SECONDS", 0.6)
    monkeypatch.setattr(connection, "LINGER_SECONDS", 0.6)


@pytest.fixture
def server(tmp_path: Path, limits: None) -> Iterator[Server]:
    open_archive(tmp_path / "archive.sqlite3", create=True).close()
    with serving(tmp_path / "archive.sqlite3", tmp_path) as server:
        yield server


def connect(server: Server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), PATIENCE)


def rest(plain: socket.socket) -> bytes:
    """Everything until the other side hangs up."""
    got = b""
    try:
        while piece := plain.recv(65536):
            got += piece
    except ConnectionResetError:
        pass
    return got


def answer(plain: socket.socket) -> bytes:
    """One whole answer."""
    got = b""
    while b"}}" not in got:
        piece = plain.recv(65536)
        assert piece, got
        got += piece
    return got


def head(server: Server, line: str = "GET /api/v1/health", *more: str) -> bytes:
    lines = [f"{line} HTTP/1.1", f"Host: 127.0.0.1:{server.port}", *more]
    return "\r\n".join(lines).encode()


def status(got: bytes) -> int:
    return int(got.split()[1])


def test_a_connection_that_asks_nothing_is_closed(server: Server) -> None:
    with connect(server) as plain:
        assert status(rest(plain)) == 408


def test_headers_that_drip_in_gain_no_time(server: Server) -> None:
    """Slowloris: a byte now and then, for ever."""
    with connect(server) as plain:
        plain.sendall(head(server))
        over = threading.Event()

        def drip() -> None:
            while not over.wait(0.05):
                try:
                    plain.sendall(b"\r\nX-More: x")
                except OSError:
                    return

        dripping = threading.Thread(target=drip)
        started = time.monotonic()
        dripping.start()
        got = rest(plain)
        over.set()
        dripping.join()
    assert not got or status(got) == 408
    assert time.monotonic() - started < 10


def test_the_second_request_of_a_connection_is_waited_for_no_longer(server: Server) -> None:
    with connect(server) as plain:
        plain.sendall(head(server) + f"\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode())
        assert status(plain.recv(65536)) == 200
        plain.sendall(head(server))
        assert b"HTTP/1.1 408" in rest(plain)


def test_a_quick_second_request_is_answered(server: Server) -> None:
    with client_of(server) as client:
        for _ in range(3):
            assert client.get("/api/v1/health").status_code == 200
            time.sleep(0.3)


@pytest.mark.parametrize(
    "announced", ["Content-Length: 100000000000", "Transfer-Encoding: chunked"]
)
@pytest.mark.parametrize("line", ["POST /api/v1/drive/new", "GET /api/v1/health", "PUT /"])
def test_a_body_without_the_token_is_not_taken(server: Server, line: str, announced: str) -> None:
    """Refused at once, and cut off soon although it goes on."""
    piece = b"10000\r\n" + bytes(65536) + b"\r\n" if "chunked" in announced else bytes(65536)
    with connect(server) as plain:
        plain.sendall(head(server, line, announced) + b"\r\n\r\n")
        first = plain.recv(65536)
        assert status(first) in (401, 403, 405)
        sent, cut = 0, False
        while sent < 64 << 20:
            try:
                plain.sendall(piece)
            except OSError:
                cut = True
                break
            sent += len(piece)
    # What the system itself holds on the way comes on top.
    assert cut and sent < 24 << 20


def test_a_body_that_does_not_come_is_not_waited_for(server: Server) -> None:
    with connect(server) as plain:
        plain.sendall(head(server, "POST /api/v1/drive/new", "Content-Length: 100") + b"\r\n\r\n{")
        started = time.monotonic()
        assert status(rest(plain)) == 401
        assert time.monotonic() - started < 10


def test_a_small_body_that_comes_after_the_answer_does_not_cost_the_connection(
    server: Server,
) -> None:
    with connect(server) as plain:
        for _ in range(3):
            plain.sendall(head(server, "POST /api/v1/drive/new", "Content-Length: 4") + b"\r\n\r\n")
            assert status(answer(plain)) == 401
            plain.sendall(b"{  }")
        time.sleep(0.8)
        assert status(rest(plain)) == 408


def test_a_bad_chunk_after_the_answer_harms_nobody(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    with connect(server) as plain:
        plain.sendall(head(server, "GET /", "Transfer-Encoding: chunked") + b"\r\n\r\n")
        assert status(plain.recv(65536)) == 401
        plain.sendall(b"not a chunk\r\n" * 100)
        rest(plain)
    with client_of(server) as client:
        assert client.get("/api/v1/health").status_code == 200
    assert not caplog.records


@pytest.mark.parametrize(
    "asked",
    [
        b"GET /" + b"x" * 200_000 + b" HTTP/1.1\r\n",
        b"GET / HTTP/1.1\r\n" + b"X: " + b"y" * 200_000 + b"\r\n",
        b"GET / HTTP/1.1\r\n" + b"".join(b"X-%d: y\r\n" % n for n in range(50_000)),
        b"\x16\x03\x01\x02\x00\x01\x00" + bytes(1000) + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    ],
    ids=["a long line", "a long header", "many headers", "TLS", "a web socket"],
)
def test_what_is_no_decent_request_is_refused_without_a_word_in_the_log(
    server: Server, asked: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with connect(server) as plain:
        with suppress(ConnectionError):
            plain.sendall(asked)
        got = rest(plain)
    assert not got or status(got) in (400, 403, 431)
    assert not caplog.records


def test_many_idle_connections_keep_nobody_out(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "HEADER_SECONDS", 600.0)
    monkeypatch.setattr(connection, "MOST", 40)
    idle = [connect(server) for _ in range(60)]
    try:
        with client_of(server) as client, client.stream("GET", "/api/v1/events") as stream:
            next(stream.iter_lines())
            idle += [connect(server) for _ in range(60)]
            # Somebody who is let in goes on, and others still can be.
            with client_of(server) as other:
                assert other.get("/api/v1/health").status_code == 200
            until(lambda: len(server._server.server_state.connections) <= 41)
            assert not stream.is_closed
    finally:
        for one in idle:
            one.close()


def test_listening_is_no_waiting(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream lives far longer than a header may take."""
    monkeypatch.setattr(events, "KEEP_ALIVE", 0.3)
    with client_of(server) as client, client.stream("GET", "/api/v1/events") as stream:
        lines = stream.iter_lines()
        started = time.monotonic()
        while time.monotonic() - started < 2 * connection.HEADER_SECONDS:
            next(lines)
