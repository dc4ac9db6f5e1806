"""Devices of the local network: let in by a code, by a token of their own, and locked out at once."""

from __future__ import annotations

import hashlib
import socket
import ssl
import stat
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from rireki.errors import RirekiError
from rireki.home import Home
from rireki.sync.devices import Devices, device_name
from rireki.web.lan.address import lan_address
from rireki.web.lan.certificate import ensure_certificate, own_certificate
from rireki.web.lan.pairing import LETTERS, PER_ADDRESS, TRIES, Pairing
from rireki.web.serve import Server
from tests.support.lan import ADDRESS, Phone, a_code, open_to_lan
from tests.web.conftest import BEARER, TOKEN, client_of, until

NOW = "2026-11-19T00:00:00.000Z"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    place = tmp_path_factory.mktemp("lan")
    (place / "home").mkdir()
    with open_to_lan(place / "archive.sqlite3", place / "home") as server:
        yield server


@pytest.fixture
def phone(served: Server) -> Iterator[Phone]:
    with Phone(served) as phone:
        yield phone


def devices_page(served: Server) -> str:
    with client_of(served) as desk:
        return desk.get("/devices").text.replace("<wbr>", "")


@pytest.fixture(autouse=True)
def fresh(request: pytest.FixtureRequest) -> None:
    """How often codes were tried is counted for minutes."""
    if "served" in request.fixturenames:
        served: Server = request.getfixturevalue("served")
        assert served.lan is not None
        served.lan.pairing = Pairing()


# ── pairing ──


def test_a_code_lets_a_device_in_by_a_cookie_of_its_own(served: Server, phone: Phone) -> None:
    assert not phone.is_in
    code = a_code(served)
    shown = phone.web.get("/pair", params={"code": code})
    assert shown.status_code == 200 and code in shown.text
    answer = phone.pair(code, "My phone")
    assert answer.status_code == 303 and answer.headers["location"] == "/"
    said = answer.headers["set-cookie"]
    assert said.startswith("__Host-rireki_")
    for promise in ("Secure", "HttpOnly", "SameSite=strict", "Path=/"):
        assert promise in said
    assert "Domain" not in said
    assert phone.is_in
    assert "My phone" in devices_page(served)
    # What it has opens nothing on this machine's own address, and is kept nowhere as it is.
    token = said.partition("=")[2].partition(";")[0]
    kept = (Home(served.archive).sync / "devices.json").read_text()
    assert token not in kept
    with httpx.Client(headers={"Authorization": f"Bearer {token}"}, verify=False) as other:
        assert other.get(f"http://127.0.0.1:{served.port}/").status_code == 401
        push = other.get(f"http://127.0.0.1:{served.port}/api/push/v1")
        assert push.status_code in (401, 404)


def test_what_is_typed_may_be_small_or_spaced(served: Server, phone: Phone) -> None:
    code = a_code(served)
    assert phone.pair(f" {code.lower().replace('-', ' ')} ").status_code == 303


def test_a_code_is_good_once_also_for_a_second_device(served: Server, phone: Phone) -> None:
    code = a_code(served)
    assert phone.pair(code).status_code == 303
    with Phone(served) as second:
        assert second.pair(code).status_code == 403
        assert not second.is_in
    assert phone.pair(code).status_code == 403
    assert phone.is_in


def test_two_devices_at_once_with_one_code_are_one(served: Server) -> None:
    code = a_code(served)
    answers: list[int] = []

    def come() -> None:
        with Phone(served) as phone:
            answers.append(phone.pair(code).status_code)

    threads = [threading.Thread(target=come) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [303, *[403] * 7]


def test_looking_at_the_address_uses_nothing_up(served: Server, phone: Phone) -> None:
    code = a_code(served)
    for _ in range(3):
        assert phone.web.get("/pair", params={"code": code}).status_code == 200
    assert phone.pair(code).status_code == 303


def test_whoever_pairs_again_has_one_entry(served: Server, phone: Phone) -> None:
    assert phone.pair(a_code(served), "twice").status_code == 303
    assert phone.pair(a_code(served), "twice").status_code == 303
    names = [each.name for each in Devices(Home(served.archive)).all("pages")]
    assert names.count("twice") == 1 and phone.is_in


def test_codes_cannot_be_guessed() -> None:
    pairing = Pairing()
    code = pairing.new(read_only=False)
    assert len(code.value) == 8 and set(code.value) <= set(LETTERS)
    for n in range(TRIES):
        with pytest.raises(RirekiError) as error:
            pairing.redeem("WRONG", f"10.0.0.{n}")
        assert error.value.code == "pairing-refused"
    # Now the right one opens nothing either, and is told in the same words.
    with pytest.raises(RirekiError) as error:
        pairing.redeem(code.value, "10.0.0.9")
    assert error.value.code == "pairing-refused"


def test_whoever_tries_often_has_to_wait_and_so_do_all_together() -> None:
    now = [0.0]
    pairing = Pairing(lambda: now[0])

    def outcome(address: str) -> str:
        with pytest.raises(RirekiError) as error:
            pairing.redeem("", address)
        return error.value.code

    said = [outcome("10.0.0.1") for _ in range(PER_ADDRESS + 1)]
    assert said[-2:] == ["pairing-refused", "pairing-too-often"]
    many = [outcome(f"10.0.1.{n}") for n in range(60)]
    assert many[-1] == "pairing-too-often"
    now[0] = 301
    assert outcome("10.0.0.1") == "pairing-refused"


def test_a_code_ends_after_minutes_and_another_one_replaces_it() -> None:
    now = [0.0]
    pairing = Pairing(lambda: now[0])
    first, second = pairing.new(read_only=True), pairing.new(read_only=False)
    with pytest.raises(RirekiError):
        pairing.redeem(first.value, "")
    now[0] = 299
    assert pairing.code == second
    now[0] = 300
    assert pairing.code is None
    with pytest.raises(RirekiError):
        pairing.redeem(second.value, "")


def test_the_number_of_tries_is_told_with_its_status(served: Server, phone: Phone) -> None:
    for _ in range(PER_ADDRESS):
        assert phone.pair("WRONG").status_code == 403
    refused = phone.pair("WRONG", "Hostile \u202e<b>name")
    assert refused.status_code == 429
    assert "<b>" not in refused.text and "\u202e" not in refused.text
    # Nobody gets round it by saying that he is somebody else.
    said = {"X-Forwarded-For": "10.9.8.7", "Forwarded": "for=10.9.8.7"}
    assert phone.post("/pair", {"code": "WRONG"}, **said).status_code == 429


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("  My   phone ", "My phone"),
        ("a\nb\x1b[2Jc", "a b [2Jc"),
        ("\u202egnp.exe", "gnp.exe"),
        ("x" * 500, "x" * 40),
        ("\u200b\u2066", ""),
        ("スマホ📱", "スマホ📱"),
    ],
)
def test_a_hostile_name_is_a_line_of_letters(given: str, kept: str) -> None:
    assert device_name(given) == kept


def test_a_name_that_is_taken_gets_a_number(served: Server) -> None:
    for _ in range(2):
        with Phone(served) as phone:
            assert phone.pair(a_code(served), "<script>alert(1)</script>").status_code == 303
    page = devices_page(served)
    assert "&lt;script&gt;alert(1)&lt;/script&gt; 2" in page
    assert "<script>alert" not in page


# ── who asks ──


@pytest.mark.parametrize("address", ["/", "/devices", "/api/v1/health", "/api/v1/events", "/c/x"])
def test_nothing_is_told_to_a_device_that_is_not_paired(phone: Phone, address: str) -> None:
    for headers in (
        {},
        BEARER,
        {"Cookie": f"rireki_{phone.lan.port}={TOKEN}"},
        {"Cookie": f"__Host-rireki_{phone.lan.port}={TOKEN}"},
        {"Cookie": f"__Host-rireki_{phone.lan.port}="},
    ):
        answer = phone.web.get(address, headers=headers)
        assert answer.status_code == 401, headers
    assert phone.web.get(f"{address}?token={TOKEN}").status_code == 401


def test_a_device_that_pushes_does_not_open_the_pages(served: Server, phone: Phone) -> None:
    token = Devices(Home(served.archive)).new("laptop", NOW)
    said = {"Cookie": f"__Host-rireki_{phone.lan.port}={token}"}
    assert phone.web.get("/", headers=said).status_code == 401


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1:{port}", "localhost:{port}", ""]
)
def test_another_name_for_the_address_is_refused(served: Server, phone: Phone, host: str) -> None:
    assert phone.pair(a_code(served)).status_code == 303
    named = host.format(port=phone.lan.port)
    origin = f"https://{named}"
    for path in ("/", "/pair", "/static/frame.css"):
        answer = phone.web.get(path, headers={"Host": named})
        assert answer.status_code in (400, 403)
    answer = phone.web.post("/pair", data={"code": "x"}, headers={"Host": named, "Origin": origin})
    assert answer.status_code in (400, 403)


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.2:{port}", "https://127.0.0.2"]
)
@pytest.mark.parametrize("path", ["/pair", "/devices", "/searches", "/curate/x"])
def test_a_page_of_another_site_can_send_nothing(
    served: Server, phone: Phone, origin: str, path: str
) -> None:
    code = a_code(served)
    assert phone.pair(a_code(served)).status_code == 303
    code = a_code(served)
    said = {"code": code, "leave": "1", "q": "x"}
    answer = phone.post(path, said, Origin=origin.format(port=phone.lan.port))
    assert answer.status_code == 403
    site = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors", "Origin": phone.base}
    assert phone.post(path, said, **site).status_code == 403
    # Without an origin it is no page of ours either.
    assert phone.web.post(path, data=said).status_code == 403
    assert phone.is_in


def test_a_large_body_is_refused_before_anybody_is_known(phone: Phone) -> None:
    large = phone.post("/pair", {"code": "x" * 5000})
    assert large.status_code == 413
    form = {"Origin": phone.base, "Content-Type": "application/x-www-form-urlencoded"}
    pieces = phone.web.post("/pair", content=iter([b"code="] * 3), headers=form)
    assert pieces.status_code == 413
    json = phone.web.post("/pair", json={"code": "x"}, headers={"Origin": phone.base})
    assert json.status_code == 415
    assert phone.post("/searches", {"q": "x" * 5000}).status_code == 401


def test_whoever_is_not_known_sees_no_page_but_the_form(phone: Phone) -> None:
    many = {f"field{n}": "" for n in range(100)}
    asked = ("/static/none.css", "/talk.cssx", "/static/../devices", "/static/page.js", "/sw.js")
    answers = [phone.post("/pair", many), phone.pair("WRONG"), phone.web.get("/pair")]
    answers += [phone.web.get(path) for path in asked]
    assert [each.status_code for each in answers] == [403, 403, 200, *[401] * 5]
    for each in answers:
        # What every page has: what waits, what there is, who is let in.
        assert 'class="top"' not in each.text and "/sources" not in each.text


def test_programs_have_nothing_to_ask_here(served: Server, phone: Phone) -> None:
    assert phone.pair(a_code(served)).status_code == 303
    assert phone.web.post("/mcp", json={}, headers=BEARER).status_code == 404
    assert phone.web.get("/api/push/v1").status_code == 404
    assert phone.web.put("/").status_code == 405


def test_without_encryption_there_is_no_answer(served: Server) -> None:
    assert served.lan is not None
    with pytest.raises(httpx.TransportError), httpx.Client(verify=False) as plain:
        plain.get(f"http://{ADDRESS}:{served.lan.port}/", timeout=5)


def test_this_machine_s_own_address_has_nothing_to_pair(served: Server) -> None:
    with client_of(served) as desk:
        assert desk.get("/pair").status_code == 404
        lied = {"X-Forwarded-Proto": "https", "Host": f"127.0.0.1:{served.port}"}
        assert desk.get("/pair", headers=lied).status_code == 404


# ── what a device may ──


def test_one_that_only_reads_changes_nothing(served: Server, phone: Phone) -> None:
    assert phone.pair(a_code(served, reads="1"), "reader").status_code == 303
    assert phone.is_in
    assert phone.post("/searches", {"q": "x"}).status_code == 403
    assert phone.post("/curate/x", {"star": "1"}).status_code == 403
    assert "reader" in phone.web.get("/devices").text


def test_a_device_lets_nobody_in_and_locks_nobody_but_itself_out(
    served: Server, phone: Phone
) -> None:
    assert phone.pair(a_code(served), "one of two").status_code == 303
    with Phone(served) as other:
        assert other.pair(a_code(served), "Pixel nine").status_code == 303
        assert phone.post("/devices", {"pair": "1"}).status_code == 400
        assert phone.post("/devices", {"revoke": "Pixel nine"}).status_code == 400
        assert "Pixel nine" not in phone.web.get("/devices").text
        assert phone.lan.pairing.code is None
        left = phone.post("/devices", {"leave": "1"})
        assert left.status_code == 303 and "Max-Age=0" in left.headers["set-cookie"]
        assert not phone.is_in and other.is_in


# ── locking out ──


def test_a_device_that_is_locked_out_hears_nothing_more_at_once(
    served: Server, phone: Phone
) -> None:
    assert phone.pair(a_code(served), "to be locked out").status_code == 303
    ended = threading.Event()
    heard: list[str] = []

    def listen() -> None:
        with phone.web.stream("GET", "/api/v1/events") as stream:
            heard.extend(stream.iter_lines())
        ended.set()

    thread = threading.Thread(target=listen)
    thread.start()
    until(lambda: phone.lan._seen)
    Devices(Home(served.archive)).revoke("to be locked out", "pages")
    # Long before the next sign of life on a quiet stream.
    assert ended.wait(5)
    thread.join()
    assert not phone.is_in


def test_a_list_that_cannot_be_read_lets_nobody_in(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    with (
        open_to_lan(tmp_path / "archive.sqlite3", tmp_path / "home") as server,
        Phone(server) as phone,
    ):
        assert phone.pair(a_code(server)).status_code == 303
        (Home(server.archive).sync / "devices.json").write_text("[{")
        assert not phone.is_in


def test_two_that_change_the_list_at_once_lose_nothing(tmp_path: Path) -> None:
    devices = Devices(Home(tmp_path / "archive.sqlite3"))

    def add(names: range) -> None:
        for n in names:
            devices.new(f"device {n}", NOW, opens="pages")

    threads = [threading.Thread(target=add, args=[range(n, n + 5)]) for n in (0, 5, 10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {each.name for each in devices.all()} == {f"device {n}" for n in range(15)}


# ── the certificate ──


def test_the_key_is_for_its_owner_alone_and_stays_the_same(tmp_path: Path) -> None:
    first = ensure_certificate(tmp_path / "kept", ADDRESS)
    file = tmp_path / "kept" / f"{ADDRESS}.pem"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert ensure_certificate(tmp_path / "kept", ADDRESS).fingerprint == first.fingerprint
    assert len(first.fingerprint) == 95 and not first.trusted
    # What others may have read is thrown away, and so is what is damaged.
    file.chmod(0o644)
    second = ensure_certificate(tmp_path / "kept", ADDRESS)
    assert second.fingerprint != first.fingerprint
    file.write_text("nonsense")
    assert ensure_certificate(tmp_path / "kept", ADDRESS).fingerprint != second.fingerprint
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert ensure_certificate(tmp_path / "kept", "fe80::1").names == ()


def test_it_lies_in_the_user_s_data_and_not_beside_a_foreign_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    found = Home(tmp_path / "foreign" / "archive.sqlite3").certificates
    assert tmp_path / "data" in found.parents


def test_one_of_one_s_own_is_taken_with_its_names(tmp_path: Path) -> None:
    ensure_certificate(tmp_path, ADDRESS)
    both = tmp_path / f"{ADDRESS}.pem"
    assert own_certificate(both, None).trusted
    text = both.read_text()
    end = text.index("-----BEGIN PRIVATE KEY")
    (tmp_path / "cert.pem").write_text(text[:end])
    (tmp_path / "key.pem").write_text(text[end:])
    own_certificate(tmp_path / "cert.pem", tmp_path / "key.pem")
    for file, key in (("cert.pem", None), ("key.pem", None), ("absent", None)):
        with pytest.raises(RirekiError) as error:
            own_certificate(tmp_path / file, key)
        assert error.value.code == "certificate-unusable"


def test_what_the_server_shows_is_what_the_browser_is_shown(served: Server) -> None:
    assert served.lan is not None
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    place = (ADDRESS, served.lan.port)
    with (
        socket.create_connection(place, 10) as plain,
        context.wrap_socket(plain) as secret,
    ):
        given = secret.getpeercert(binary_form=True)
        assert secret.version() in ("TLSv1.2", "TLSv1.3")
    assert given
    shown = hashlib.sha256(given).hexdigest().upper()
    assert served.lan.certificate.fingerprint.replace(":", "") == shown
    assert served.lan.certificate.fingerprint in devices_page(served)


def named_certificate(file: Path, *names: str) -> Path:
    """One for these names, as somebody has it from an authority of their own."""
    key = ec.generate_private_key(ec.SECP256R1())
    now, name = datetime.now(timezone.utc), x509.Name([])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now)
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([*map(x509.DNSName, names)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    pem, kind = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    file.write_bytes(made.public_bytes(pem) + key.private_bytes(pem, kind, plain))
    return file


def test_with_one_s_own_certificate_its_names_are_answered_to_and_no_others(
    tmp_path: Path,
) -> None:
    own = named_certificate(tmp_path / "own.pem", "laptop.test", "*.home.test")
    (tmp_path / "home").mkdir()
    with open_to_lan(tmp_path / "archive.sqlite3", tmp_path / "home", own) as server:
        assert server.lan is not None and server.lan.certificate.trusted
        port = server.lan.port
        assert server.lan.url == f"https://laptop.test:{port}/"
        base = f"https://{ADDRESS}:{port}"
        with httpx.Client(base_url=base, verify=False) as there:
            said = {"laptop.test": 200, "evil.home.test": 403, "laptop.test.evil": 403}
            for name, status in said.items():
                asked = there.get("/pair", headers={"Host": f"{name}:{port}"})
                assert asked.status_code == status, name
            # Nobody is asked to compare what the browser has compared.
            assert "fingerprint" not in there.get("/pair").text
        assert "fingerprint" not in devices_page(server)


def test_without_drive_no_device_lets_an_agent_work(served: Server, phone: Phone) -> None:
    assert phone.pair(a_code(served)).status_code == 303
    started = phone.web.post("/api/v1/drive", json={}, headers={"Origin": phone.base})
    assert started.status_code == 404
    # One that may do more than read adds what a person adds.
    assert phone.post("/searches", {"q": "kept"}).status_code == 303


@pytest.mark.parametrize("named", ["0.0.0.0", "::", "nonsense", "224.0.0.1", "laptop.local"])
def test_an_address_that_nobody_could_open_is_refused(named: str) -> None:
    with pytest.raises(RirekiError) as error:
        lan_address(named)
    assert error.value.code == "bad-lan-address"
    assert lan_address("192.168.1.5") == "192.168.1.5"
