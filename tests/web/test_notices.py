"""When an agent waits: told once, with a link and no words of it, to whom the user named, and nobody else."""

from __future__ import annotations

import base64
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import http_ece  # type: ignore[import-untyped]
import httpx
import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

from rireki.drive.agents import AgentProgram
from rireki.drive.bridge import Settings
from rireki.errors import RirekiError
from rireki.home import Home
from rireki.sources.kit.places import Places
from rireki.sync.devices import Devices
from rireki.web.notices.settings import NoticeSettings, read_notices
from rireki.web.notices.subscriptions import Subscriptions
from rireki.web.serve import Server
from tests.support.recording import Recording, recording
from tests.web.conftest import client_of, serving, until
from tests.web.test_drive import AGENT, begin, status, until_state

NOW = "2026-11-19T00:00:00.000Z"


@pytest.fixture
def recorder() -> Iterator[Recording]:
    with recording() as server:
        yield server


@contextmanager
def driving(place: Path, **notices: Any) -> Iterator[Server]:
    (place / "home").mkdir()
    (place / "work" / "garden").mkdir(parents=True)
    archive = place / "archive.sqlite3"
    command = (sys.executable, str(AGENT))
    agents = (AgentProgram("scripted", "The scripted agent", command, found=True),)
    places = Places.at(place / "home").beside(archive)
    settings = Settings(archive, places, (place / "work",), agents)
    given = NoticeSettings(**notices)
    with serving(archive, place / "home", drive=settings, notices=given) as server:
        yield server


def ask(web: httpx.Client, server: Server) -> str:
    id = begin(web, server, prompt={"id": "first", "text": "permission"})
    until_state(web, id, "permission")
    return id


def answer(web: httpx.Client, id: str) -> None:
    waiting = status(web, id)["asks"][0]
    said = {"ask": waiting["id"], "option": waiting["options"][0]["id"]}
    assert web.post(f"/api/v1/drive/{id}/answers", json=said).status_code == 200


def test_an_ask_is_told_once_with_a_link_and_none_of_its_words(
    tmp_path: Path, recorder: Recording
) -> None:
    named = {"ntfy": f"{recorder.url}/secret-topic", "ntfy_token": "tk_1", "after": 0.1}
    with (
        driving(tmp_path, **named, webhook=f"{recorder.url}/hook?k=v") as server,
        client_of(server) as web,
    ):
        id = ask(web, server)
        until(lambda: len(recorder.sent) == 2)
        ntfy, hook = recorder.sent
        assert ntfy.path == "/" and ntfy.headers["authorization"] == "Bearer tk_1"
        said = json.loads(ntfy.body)
        link = f"{server.plain_url}c/bridge/{id}"
        assert said["topic"] == "secret-topic" and said["click"] == link
        assert said["title"] == "The scripted agent: waits for your permission"
        assert hook.path == "/hook?k=v"
        told = json.loads(hook.body)
        assert told["event"] == "waits" and told["what"] == "permission" and told["link"] == link
        assert "text" not in told
        for sent in recorder.sent:
            assert b"rm -rf" not in sent.body and b"token" not in sent.body.replace(b"tk_1", b"")
        # Whatever else happens while it waits, it is told no more.
        web.put(f"/api/v1/drive/{id}/prompts/none", json={"text": "x"})
        time.sleep(0.3)
        assert len(recorder.sent) == 2
        answer(web, id)
        until_state(web, id, "idle")
        page = web.get("/devices").text
        assert "secret-topic" not in page and "told" in page
        # The next one is another.
        prompt = {"id": "second", "text": "permission"}
        assert web.post(f"/api/v1/drive/{id}/prompts", json=prompt).status_code == 200
        until(lambda: len(recorder.sent) == 4)
        answer(web, id)


def test_what_is_answered_soon_is_not_told(tmp_path: Path, recorder: Recording) -> None:
    with (
        driving(tmp_path, webhook=f"{recorder.url}/hook", after=1.0) as server,
        client_of(server) as web,
    ):
        id = ask(web, server)
        answer(web, id)
        until_state(web, id, "idle")
        time.sleep(1.3)
        assert recorder.sent == []


def test_the_words_are_told_where_that_is_wanted_without_secrets(
    tmp_path: Path, recorder: Recording
) -> None:
    with (
        driving(tmp_path, webhook=f"{recorder.url}/hook", after=0.0, text=True) as server,
        client_of(server) as web,
    ):
        id = ask(web, server)
        until(lambda: recorder.sent)
        assert "rm -rf build" in json.loads(recorder.sent[0].body)["text"]
        answer(web, id)
        until_state(web, id, "idle")


def test_one_that_cannot_be_reached_is_named_once_and_holds_nobody_up(
    tmp_path: Path, recorder: Recording, caplog: pytest.LogCaptureFixture
) -> None:
    recorder.status = 302
    gone = "http://127.0.0.1:9/nobody"
    with (
        driving(tmp_path, ntfy=gone, webhook=f"{recorder.url}/hook", after=0.0) as server,
        client_of(server) as web,
    ):
        id = ask(web, server)
        until(lambda: recorder.sent)
        until(lambda: "could not be told" in web.get("/devices").text)
        answer(web, id)
        until_state(web, id, "idle")
        assert [sent.path for sent in recorder.sent] == ["/hook"]
        prompt = {"id": "second", "text": "permission"}
        assert web.post(f"/api/v1/drive/{id}/prompts", json=prompt).status_code == 200
        until(lambda: len(recorder.sent) == 2)
        answer(web, id)
        until_state(web, id, "idle")
        named = [r.getMessage() for r in caplog.records if "cannot be told" in r.getMessage()]
        assert len([line for line in named if line.startswith("ntfy (127.0.0.1:9)")]) == 1
        assert len([line for line in named if "webhook" in line]) == 1


def test_one_that_does_not_answer_holds_up_neither_the_agent_nor_the_end(
    tmp_path: Path, recorder: Recording
) -> None:
    recorder.answers.clear()
    with (
        driving(tmp_path, webhook=f"{recorder.url}/hook", after=0.0) as server,
        client_of(server) as web,
    ):
        id = ask(web, server)
        until(lambda: recorder.sent)
        answer(web, id)
        until_state(web, id, "idle")
        begun = time.monotonic()
    assert time.monotonic() - begun < 8


def test_without_the_setting_nothing_is_sent_and_a_foreign_file_counts_for_nothing(
    tmp_path: Path,
) -> None:
    assert read_notices(tmp_path / "config.toml") == NoticeSettings()


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ('ntfy = "http://ntfy.example/topic"', "bad-notify-address"),
        ('webhook = "ftp://example.com/x"', "bad-notify-address"),
        ('webhook = "https://me:secret@example.com/x"', "bad-notify-address"),
        ('webhook = "https://exam ple.com/x"', "bad-notify-address"),
        ('ntfy = "https://ntfy.sh"', "bad-notify"),
        ("after = -1", "bad-notify"),
        ('text = "yes"', "bad-notify"),
        ('nfty = "https://ntfy.sh/topic"', "bad-notify"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_refused(tmp_path: Path, said: str, code: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(f"[notify]\n{said}\n")
    with pytest.raises(RirekiError) as error:
        read_notices(file)
    assert error.value.code == code
    assert "secret" not in "".join(error.value.lines("ja"))


# ── browsers ──


class Browser:
    """The half of Web Push that is a browser's."""

    def __init__(self) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.secret = b"0123456789abcdef"

    def subscription(self, endpoint: str) -> dict[str, str]:
        point = self.key.public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
        )
        return {
            "endpoint": endpoint,
            "p256dh": base64.urlsafe_b64encode(point).decode().rstrip("="),
            "auth": base64.urlsafe_b64encode(self.secret).decode().rstrip("="),
        }

    def read(self, body: bytes) -> Any:
        given = {"private_key": self.key, "auth_secret": self.secret, "version": "aes128gcm"}
        return json.loads(http_ece.decrypt(body, **given))


def subscribe(web: httpx.Client, said: dict[str, str]) -> httpx.Response:
    return web.post("/devices", data=said)


def check_signature(header: str, audience: str) -> None:
    """As a push service does: by the key that comes with it."""
    fields = dict(part.split("=", 1) for part in header.removeprefix("vapid ").split(", "))
    head, claims, signature = fields["t"].split(".")
    pad = "=" * 3
    point = base64.urlsafe_b64decode(fields["k"] + pad)
    key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
    raw = base64.urlsafe_b64decode(signature + pad)
    both = (int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    text = f"{head}.{claims}".encode()
    key.verify(encode_dss_signature(*both), text, ec.ECDSA(hashes.SHA256()))
    said = json.loads(base64.urlsafe_b64decode(claims + pad))
    assert said["aud"] == audience and said["sub"].startswith("mailto:")
    assert 0 < said["exp"] - time.time() <= 86400


def test_a_browser_is_told_what_its_push_service_cannot_read(
    tmp_path: Path, recorder: Recording
) -> None:
    browser = Browser()
    recorder.status = 201
    with (
        driving(tmp_path, after=0.0, push_services=(recorder.url,)) as server,
        client_of(server) as web,
    ):
        assert subscribe(web, browser.subscription(f"{recorder.url}/push/1")).status_code == 303
        id = ask(web, server)
        until(lambda: recorder.sent)
        sent = recorder.sent[0]
        assert sent.path == "/push/1" and sent.headers["content-encoding"] == "aes128gcm"
        assert sent.headers["ttl"] == "3600"
        check_signature(sent.headers["authorization"], recorder.url)
        said = browser.read(sent.body)
        assert said["url"] == f"/c/bridge/{id}" and said["body"] == ""
        assert b"scripted" not in sent.body and b"rm -rf" not in sent.body
        answer(web, id)
        until_state(web, id, "idle")
        # One that the service does not know any more is taken away.
        assert "127.0.0.1" in web.get("/devices").text
        recorder.status = 410
        prompt = {"id": "second", "text": "permission"}
        assert web.post(f"/api/v1/drive/{id}/prompts", json=prompt).status_code == 200
        until(lambda: len(recorder.sent) == 2)
        until(lambda: not Subscriptions(Home(server.archive)).all())
        answer(web, id)
        until_state(web, id, "idle")
        key = Home(server.archive).sync / "push.pem"
        assert key.stat().st_mode & 0o777 == 0o600


def test_subscriptions_are_taken_away_by_who_made_them_and_with_their_device(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path / "archive.sqlite3")
    devices, kept = Devices(home), Subscriptions(home)
    found = [devices.find(devices.new(n, NOW, opens="pages"), "pages") for n in ("one", "two")]
    for n, device in enumerate([*found, None]):
        said = Browser().subscription(f"https://fcm.googleapis.com/fcm/send/{n}")
        kept.add(said, device, NOW)
    first, second, desk = kept.all()
    with pytest.raises(RirekiError):
        kept.remove(second.id, found[0])
    kept.remove(first.id, found[0])
    devices.revoke("two")
    assert kept.all() == [desk]
    kept.remove(desk.id)
    assert kept.all() == []


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://127.0.0.1:7475/api",
        "https://127.0.0.1/x",
        "https://evil.example/fcm.googleapis.com",
        "https://fcm.googleapis.com.evil.example/x",
        "https://fcm.googleapis.com@evil.example/x",
        "https://fcm.googleapis.com:22/x",
        "http://fcm.googleapis.com/x",
        "https://fcm.googleapis.com/x\r\nHost: evil",
        "file:///etc/passwd",
        "",
    ],
)
def test_no_browser_makes_us_send_elsewhere(tmp_path: Path, endpoint: str) -> None:
    kept = Subscriptions(Home(tmp_path / "archive.sqlite3"))
    with pytest.raises(RirekiError) as error:
        kept.add(Browser().subscription(endpoint), None, NOW)
    assert error.value.code == "unknown-push-service"
    broken = {**Browser().subscription("https://fcm.googleapis.com/x"), "p256dh": "AAAA"}
    with pytest.raises(RirekiError) as error:
        kept.add(broken, None, NOW)
    assert error.value.code == "bad-subscription"
