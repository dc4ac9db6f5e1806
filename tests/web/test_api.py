"""The API says what the command line says, page by page, and fails in words."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from rireki.archive.base import Archive
from rireki.archive.open import open_archive
from rireki.intake.interpret import read_conversation
from rireki.intake.sweep import import_history
from rireki.model.parts import Attachment
from rireki.show.json import line
from rireki.show.transcript import choose
from rireki.sources.kit.places import Places
from rireki.web.api.raw import kind_of_picture
from rireki.web.api.routes import OPERATIONS, _named
from rireki.web.serve import Server
from tests.web.conftest import PATIENCE, client_of, serving

API = "/api/v1"
READ = [
    *(o.path for o in OPERATIONS if "{" not in o.path and not o.path.startswith("/drive")),
    "/events",
]


@pytest.fixture(scope="module")
def kept(shown: Server) -> Iterator[Archive]:
    archive = open_archive(shown.archive)
    yield archive
    archive.close()


def all_of(web: httpx.Client, address: str, key: str, link: str) -> list[Any]:
    """Every page of an answer, one after the other."""
    found: list[Any] = []
    turn: str | None = address
    while turn:
        answer = web.get(turn)
        assert answer.status_code == 200, answer.text
        page = answer.json()
        found = page[key] + found if link == "previous" else found + page[key]
        turn = page[link]
        if turn and key == "conversations":
            turn = f"{address}&cursor={turn}"
    return found


def as_json(value: Any) -> Any:
    return json.loads(line(value))


def longest(kept: Archive) -> str:
    return max(kept.conversations(), key=lambda c: c.messages).id


# ── The list ──


def test_the_list_is_the_list_of_the_archive(web: httpx.Client, kept: Archive) -> None:
    found = web.get(f"{API}/conversations?limit=500").json()
    assert found == {"conversations": as_json(list(kept.conversations())), "next": None}


@pytest.mark.parametrize("limit", [1, 2, 7])
def test_pages_of_the_list_give_everything_once_in_order(
    web: httpx.Client, kept: Archive, limit: int
) -> None:
    found = all_of(web, f"{API}/conversations?limit={limit}", "conversations", "next")
    assert [c["id"] for c in found] == [c.id for c in kept.conversations()]


def test_the_list_is_filtered_as_on_the_command_line(web: httpx.Client, kept: Archive) -> None:
    everything = list(kept.conversations())
    for name in ("source", "project"):
        values = {getattr(c, name) for c in everything} - {None}
        assert values
        for value in values:
            asked = httpx.QueryParams({name: value, "limit": 500})
            found = web.get(f"{API}/conversations?{asked}").json()["conversations"]
            assert found
            assert all(c[name] == value for c in found)
    newest = everything[0].updated_at
    since = web.get(f"{API}/conversations", params={"since": newest or ""}).json()
    assert [c["id"] for c in since["conversations"]] == [everything[0].id]
    subagents = web.get(f"{API}/conversations?subagents=true&limit=500").json()["conversations"]
    assert {c["nature"] for c in subagents} > {"conversation"}


def test_a_directory_is_listed_alone_unless_those_below_are_asked_for(
    plain_source: None, archive: Archive, home: Path
) -> None:
    notes = home / "notes"
    notes.mkdir()
    for name, project in (("a", "/w/app"), ("b", "/w/app/frontend"), ("c", "/w/app-two")):
        said = {"id": "1", "who": "person", "text": "hello", "project": project}
        (notes / f"{name}.jsonl").write_text(json.dumps(said) + "\n", encoding="utf-8")
    import_history(archive, places=Places.at(home))
    with serving(archive.home.archive, home) as server, client_of(server) as web:

        def listed(query: str) -> list[str]:
            found = web.get(f"{API}/conversations?{query}").json()["conversations"]
            return sorted(one["native_id"] for one in found)

        def shown(query: str) -> list[str]:
            return sorted(
                re.findall(r'<li class="row [^>]*plain/(\w)"', web.get(f"/?{query}").text)
            )

        def counted(query: str) -> list[str]:
            side = web.get(f"/?fragment=1&{query}").json()["side"]
            return re.findall(r'title="/w/app">.*?class="number">(\d+)<', side)

        for look in (listed, shown):
            assert look("project=/w/app") == ["a"]
        assert listed("project=/w/app&below=true") == ["a", "b"]
        assert shown("project=/w/app&below=1") == ["a", "b"]
        assert shown("project=/w/app/") == ["a"]
        assert counted("") == ["1"] and counted("below=1") == ["2"]
        switch = re.search(r'<a id="below" href="([^"]*)"', web.get("/?project=/w/app").text)
        assert switch is not None and switch[1] == "/?project=%2Fw%2Fapp&amp;below=1"


def test_paging_goes_on_where_it_was_while_the_list_changes(
    plain_source: None, archive: Archive, home: Path
) -> None:
    notes = home / "notes"
    notes.mkdir()

    def say(name: str, at: str | None) -> None:
        note = {"id": f"{name}-{at}", "who": "me", "text": "x"} | ({"at": at} if at else {})
        with (notes / f"{name}.jsonl").open("a") as file:
            file.write(json.dumps(note) + "\n")
        import_history(archive, places=Places.at(home))

    for number in range(6):
        say(f"n{number}", None)
    with serving(archive.home.archive, home) as server, client_of(server) as web:
        first = web.get(f"{API}/conversations?limit=3").json()
        say("n0", None)
        say("new", None)
        (notes / "n1.jsonl").unlink()
        rest = web.get(f"{API}/conversations?limit=9&cursor={first['next']}").json()
        said = [c["id"] for c in first["conversations"] + rest["conversations"]]
        # No time is known of any of them: they stand by their ids, and "new" behind the others.
        assert said == [f"plain/n{number}" for number in range(6)] + ["plain/new"]


# ── One conversation ──


def test_one_conversation_with_its_subagents(web: httpx.Client, kept: Archive) -> None:
    parents = [
        c
        for c in kept.conversations()
        if any(link.kind == "subagent" and link.side == "child" for link in c.links)
    ]
    assert parents
    for parent in parents:
        found = web.get(f"{API}/conversations/{parent.id}").json()
        assert found["conversation"] == as_json(parent)
        assert all(child["nature"] == "subagent" for child in found["subagents"])
        (heading,) = kept.headings(ids=[parent.id])
        assert found["changed"] == heading.changed


def test_a_beginning_of_an_id_is_enough_unless_it_fits_several(
    web: httpx.Client, kept: Archive
) -> None:
    id = longest(kept)
    assert web.get(f"{API}/conversations/{id[:-6]}").json()["conversation"]["id"] == id
    source = id.partition("/")[0]
    several = web.get(f"{API}/conversations/{source}/")
    assert several.status_code == 409
    assert several.json()["error"]["code"] == "ambiguous"
    none = web.get(f"{API}/conversations/{source}/no-such-id")
    assert none.status_code == 404
    assert "no-such-id" in none.json()["error"]["message"]


@pytest.mark.parametrize(
    ("address", "conversation", "last"),
    [
        ("a/b", "a/b", ""),
        ("a%2Fb", "a/b", ""),
        ("a/b/messages", "a/b", "/messages"),
        ("a%2Fb/messages", "a/b", "/messages"),
        ("a/b/c", "a/b/c", ""),
        ("a/b/c/messages", "a/b/c", "/messages"),
        ("a/b/c/attachments/00", "a/b/c", "/attachments/{digest}"),
        ("a/b/messages/m", "a/b", "/messages/{message}"),
        ("a/b/messages/m%2Fn/raw", "a/b", "/messages/{message}/raw"),
        # Encoded, an id may even end like one of our addresses.
        ("a/b%2Fmessages", "a/b/messages", ""),
        ("a/b%2Fmessages/messages", "a/b/messages", "/messages"),
        ("a/b%3A%3F%23", "a/b:?#", ""),
    ],
)
def test_an_address_means_one_thing(address: str, conversation: str, last: str) -> None:
    from urllib.parse import unquote

    operation, names = _named([unquote(segment) for segment in address.split("/")])
    assert operation is not None
    assert names["conversation"] == conversation
    assert operation.path == "/conversations/{source}/{native_id}" + last


@pytest.mark.parametrize("limit", [1, 3, 50])
def test_messages_page_by_page_in_both_directions(
    web: httpx.Client, kept: Archive, limit: int
) -> None:
    id = longest(kept)
    messages = read_conversation(kept, kept.find(id)).messages()
    for everything in ("false", "true"):
        chosen = as_json(choose(messages, everything == "true"))
        address = f"{API}/conversations/{id}/messages?limit={limit}&all={everything}"
        assert all_of(web, address, "messages", "next") == chosen
        assert all_of(web, f"{address}&last=true", "messages", "previous") == chosen


def test_messages_around_one(web: httpx.Client, kept: Archive) -> None:
    id = longest(kept)
    ids = [m.id for m in choose(read_conversation(kept, kept.find(id)).messages())]
    middle = len(ids) // 2
    page = web.get(
        f"{API}/conversations/{id}/messages", params={"around": ids[middle], "limit": 5}
    ).json()
    assert [m["id"] for m in page["messages"]] == ids[middle - 2 : middle + 3]
    assert (page["first"], page["total"]) == (middle - 2, len(ids))
    before = web.get(page["previous"]).json()["messages"][-1]["id"]
    after = web.get(page["next"]).json()["messages"][0]["id"]
    assert (before, after) == (ids[middle - 3], ids[middle + 3])


def test_one_message_and_what_cannot_be_asked_of_messages(web: httpx.Client, kept: Archive) -> None:
    id = longest(kept)
    messages = read_conversation(kept, kept.find(id)).messages()
    address = f"{API}/conversations/{id}/messages"
    one = web.get(f"{address}/{messages[0].id}").json()
    assert one["message"] == as_json(messages[0])
    assert web.get(f"{address}/none").status_code == 404
    assert web.get(f"{address}?before=none").status_code == 404
    assert web.get(f"{address}?before=a&after=b").status_code == 400
    hidden = next(m for m in messages if m.display == "hidden" or m.replaced_by)
    refused = web.get(f"{address}?around={hidden.id}")
    assert refused.status_code == 404
    assert "all=true" in refused.json()["error"]["hint"]


def test_messages_as_they_were(web: httpx.Client, kept: Archive) -> None:
    found = kept.find(longest(kept))
    address = f"{API}/conversations/{found.conversation.id}/messages?limit=500"
    moment = found.conversation.updated_at or ""
    told = read_conversation(kept, found, moment).messages()
    page = web.get(address, params={"as_of": moment, "limit": 500}).json()
    assert page["messages"] == as_json(choose(told))
    early = web.get(address, params={"as_of": "2001-01-01", "limit": 500})
    assert early.status_code == 404
    assert "had not begun" in early.json()["error"]["message"]
    assert web.get(f"{address}&as_of=someday").status_code == 400


def test_the_records_of_a_message_are_the_bytes_that_were_written(
    web: httpx.Client, kept: Archive
) -> None:
    for conversation in kept.conversations():
        found = kept.find(conversation.id)
        reading = read_conversation(kept, found)
        known = reading.records()
        raw = b"\n".join(
            occurrence.data
            for strand in kept.strands(found.family, found.grouping)
            for lane in {run.lane for state in strand.states for run in state.runs}
            for occurrence in strand.story(lane)
        )
        for id in list(known)[:2]:
            asked = httpx.URL(path=f"{API}/conversations/{conversation.id}/messages/{id}/raw")
            answer = web.get(asked).json()
            assert len(answer["records"]) == len(known[id])
            for record in answer["records"]:
                data = (
                    record["text"].encode()
                    if record["base64"] is None
                    else base64.b64decode(record["base64"])
                )
                assert data in raw
                assert record["size"] == len(data)
                assert record["origin"]


def test_the_whole_transcript_is_something_to_save(web: httpx.Client, shown: Server) -> None:
    (file,) = shown.archive_reader.places.home.rglob("becdaf4e-5d54-4031-a161-6c017325d5ec.jsonl")
    address = f"{API}/conversations/claude-code/{file.stem}/raw"
    answer = web.get(address)
    assert file.read_bytes() in answer.content
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in answer.headers["content-security-policy"]
    assert web.get(f"{address}?all=true").content.splitlines()[0] in file.read_bytes()


def test_versions_tell_what_the_source_held(web: httpx.Client, kept: Archive) -> None:
    for conversation in kept.conversations():
        answer = web.get(f"{API}/conversations/{conversation.id}/versions").json()
        found = kept.find(conversation.id)
        strands = kept.strands(found.family, found.grouping)
        assert [s["origin"] for s in answer["strands"]] == [s.place for s in strands]
        for told, strand in zip(answer["strands"], strands, strict=True):
            assert len(told["versions"]) == len(strand.states)
            held = 0
            for version in told["versions"]:
                held += version["added"] - version["lost"]
                assert version["records"] == held


def test_versions_tell_what_was_lost(plain_source: None, archive: Archive, home: Path) -> None:
    (home / "notes").mkdir()
    file = home / "notes" / "talk.jsonl"
    notes = [json.dumps({"id": id, "who": "me", "text": id}) + "\n" for id in "abcde"]
    for lines in (notes[:3], notes[:4], notes[2:5]):
        file.write_text("".join(lines))
        import_history(archive, places=Places.at(home))
    with serving(archive.home.archive, home) as server, client_of(server) as web:
        (strand,) = web.get(f"{API}/conversations/plain/talk/versions").json()["strands"]
    told = [(v["records"], v["added"], v["lost"]) for v in strand["versions"]]
    assert told == [(3, 3, 0), (4, 1, 0), (3, 1, 2)]


def test_explain_says_what_the_command_says(web: httpx.Client, kept: Archive) -> None:
    from rireki.show.decisions import explained, may_be_typed

    id = longest(kept)
    reading = read_conversation(kept, kept.find(id))
    every = list(explained(reading.conversation, reading.messages()))
    answer = web.get(f"{API}/conversations/{id}/explain?all=true").json()
    assert answer == {"conversation": id, "decisions": as_json(every)}
    answer = web.get(f"{API}/conversations/{id}/explain").json()
    typed = list(filter(may_be_typed, every))
    assert answer["decisions"] == as_json(typed) and 0 < len(typed) < len(every)


# ── Attachments ──


def attachments(kept: Archive) -> list[tuple[str, str, str]]:
    return [
        (conversation.id, part.digest, part.media_type)
        for conversation in kept.conversations()
        for message in read_conversation(kept, kept.find(conversation.id)).messages()
        for part in message.parts
        if isinstance(part, Attachment) and part.digest
    ]


def test_pictures_are_served_with_the_kind_their_bytes_prove(
    web: httpx.Client, kept: Archive
) -> None:
    found = attachments(kept)
    assert found
    for conversation, digest, media_type in found:
        answer = web.get(f"{API}/conversations/{conversation}/attachments/{digest}")
        assert hashlib.sha256(answer.content).hexdigest() == digest
        assert answer.headers["content-type"] == media_type
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert "sandbox" in answer.headers["content-security-policy"]
    assert web.get(f"{API}/conversations/{found[0][0]}/attachments/00").status_code == 404


HOSTILE = [
    b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
    b"<!doctype html><script>alert(1)</script>",
    b"GIF8<script>alert(1)</script>",
    b"%PDF-1.4",
    b"RIFF\x00\x00\x00\x00AVI ",
    b"\x89PNG",
]
CLAIMS = ["image/svg+xml", "image/png", "text/html", "text/javascript"]


def test_what_only_claims_to_be_a_picture_is_something_to_save(tmp_path: Path, home: Path) -> None:
    folder = home / ".claude" / "projects" / "-w"
    folder.mkdir(parents=True)
    session = "11111111-2222-4333-8444-555555555555"
    content = [
        {
            "type": "image",
            "source": {
                "type": "base64",
                "media_type": claimed,
                "data": base64.b64encode(data + claimed.encode()).decode(),
            },
        }
        for data in HOSTILE
        for claimed in CLAIMS
    ]
    entry = {
        "type": "user",
        "uuid": "66666666-2222-4333-8444-555555555555",
        "sessionId": session,
        "timestamp": "2026-11-15T18:29:46.542Z",
        "cwd": "/w",
        "message": {"role": "user", "content": [{"type": "text", "text": "look"}, *content]},
    }
    (folder / f"{session}.jsonl").write_text(json.dumps(entry) + "\n")
    archive = open_archive(tmp_path / "a.sqlite3", create=True)
    import_history(archive, places=Places.at(home))
    found = attachments(archive)
    archive.close()
    assert len(found) == len(HOSTILE) * len(CLAIMS)
    with serving(tmp_path / "a.sqlite3", home) as server, client_of(server) as web:
        for conversation, digest, _ in found:
            answer = web.get(f"{API}/conversations/{conversation}/attachments/{digest}")
            assert answer.content.startswith(tuple(HOSTILE))
            assert answer.headers["content-type"] == "application/octet-stream"
            assert answer.headers["content-disposition"].startswith("attachment")
            assert "sandbox" in answer.headers["content-security-policy"]


def test_pictures_are_known_by_how_they_begin() -> None:
    assert kind_of_picture(b"\x89PNG\r\n\x1a\n...") == "image/png"
    assert kind_of_picture(b"\xff\xd8\xff\xe0") == "image/jpeg"
    assert kind_of_picture(b"GIF89a") == "image/gif"
    assert kind_of_picture(b"RIFF....WEBPVP8 ") == "image/webp"
    assert not any(kind_of_picture(data) for data in [*HOSTILE, b""])


# ── Everything else ──


def test_search_gives_what_the_command_gives(web: httpx.Client, kept: Archive) -> None:
    word = "demo"
    answer = web.get(f"{API}/search", params={"q": word, "limit": 3, "context": 1}).json()
    assert answer["query"] == word
    assert 0 < len(answer["talks"]) <= 3
    for talk in answer["talks"]:
        for hit in talk["hits"]:
            assert hit["snippet"]["marks"]
    more = web.get(f"{API}/search", params={"q": word, "limit": 1, "offset": 1}).json()
    assert more["talks"][0]["conversation"]["id"] != answer["talks"][0]["conversation"]["id"]


def test_what_is_wrong_with_a_query_is_pointed_at(web: httpx.Client) -> None:
    answer = web.get(f"{API}/search", params={"q": 'fine "not closed'})
    assert answer.status_code == 422
    problem = answer.json()["error"]
    assert (problem["code"], problem["position"]) == ("query", 5)
    assert problem["hint"]
    assert web.get(f"{API}/search", params={"q": " "}).status_code == 400
    assert web.get(f"{API}/search").status_code == 400


def test_health_sources_and_stats(web: httpx.Client, kept: Archive, shown: Server) -> None:
    from rireki.show.figures import figures

    health = web.get(f"{API}/health").json()
    assert (health["number"], health["conversations"]) == (kept.number(), kept.count())
    assert health["archive"] == str(shown.archive)
    assert health["keeper"] is None
    sources = {s["source"]: s for s in web.get(f"{API}/sources").json()["sources"]}
    assert {"claude-code", "amazon-q", "kiro"} <= sources.keys()
    assert all(sources[name]["read"] for name in ("claude-code", "amazon-q", "kiro"))
    assert all(source["looked"] for source in sources.values())
    assert web.get(f"{API}/stats").json() == as_json(figures(kept))
    one = web.get(f"{API}/stats?source=kiro").json()
    assert list(one["sources"]) == ["kiro"]


@pytest.mark.parametrize(
    "address",
    [
        "conversations?limit=0",
        "conversations?limit=501",
        "conversations?limit=many",
        "conversations?limt=5",
        "conversations?since=someday",
        "conversations?upstream=lost",
        "conversations?cursor=x",
        "conversations?cursor=W10",
        "conversations?subagents=perhaps",
        "search?q=a&limit=1000",
        "search?q=a&offset=-1",
        "events?after=x",
        "events?after=-1",
        "health?x=1",
    ],
)
def test_what_cannot_be_understood_is_named(web: httpx.Client, address: str) -> None:
    answer = web.get(f"{API}/{address}")
    assert answer.status_code == 400
    problem = answer.json()["error"]
    assert problem["code"] == "bad_request"
    assert problem["hint"]


@pytest.mark.parametrize(
    "address", ["nothing", "conversations/x", "conversations/a/b/c/d/no/such", "", "../v2"]
)
def test_an_unknown_address_is_told_in_json(web: httpx.Client, address: str) -> None:
    answer = web.get(f"{API}/{address}")
    assert answer.status_code == 404
    assert "error" in answer.json()


@pytest.mark.parametrize("path", READ)
def test_a_head_has_no_body(web: httpx.Client, path: str) -> None:
    answer = web.head(f"{API}{path}")
    assert answer.status_code == (400 if path == "/search" else 200)
    assert answer.content == b""


def test_text_that_is_no_text_never_breaks_an_answer(
    plain_source: None, archive: Archive, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The kit cleans what it decodes; somebody else's reader may not.
    monkeypatch.setattr("rireki.sources.kit.records.load", json.loads)
    (home / "notes").mkdir()
    notes = [
        '{"id": "half\\ud83d", "who": "me", "text": "half of a pair: \\ud83d"}\n',
        '{"id": "b", "who": "me", "text": "\\u0000\\u2028\\u202e"}\n',
        '{"id": "c/d?e#f", "who": "me", "text": "odd id"}\n',
    ]
    (home / "notes" / "odd.jsonl").write_text("".join(notes))
    import_history(archive, places=Places.at(home))
    with serving(archive.home.archive, home) as server, client_of(server) as web:
        address = f"{API}/conversations/plain/odd/messages"
        page = web.get(address)
        assert [m["id"] for m in page.json()["messages"]] == ["half\ud83d", "b", "c/d?e#f"]
        assert all_of(web, f"{address}?limit=1", "messages", "next") == page.json()["messages"]
        assert web.get(f"{address}/c%2Fd%3Fe%23f").json()["message"]["id"] == "c/d?e#f"


@pytest.mark.parametrize("asked", ["%ED%A0%BD", "%FF%00", "%00", "%F0%9F%98%80", "%E2%80%AE"])
@pytest.mark.parametrize(
    "path",
    [
        "conversations/{0}/{0}",
        "conversations/kiro/{0}/messages/{0}",
        "conversations?title={0}&project={0}&source={0}",
        "conversations?cursor={0}",
        "search?q={0}",
        "search?q=/{0}/",
        "stats?source={0}",
        "{0}",
    ],
)
def test_questions_that_are_no_text_are_answered(web: httpx.Client, asked: str, path: str) -> None:
    answer = web.get(f"{API}/{path.format(asked)}")
    assert answer.status_code in (200, 400, 404, 409, 422)
    assert answer.json()


def test_an_archive_that_cannot_be_read_is_said_in_words(tmp_path: Path, home: Path) -> None:
    broken = tmp_path / "broken.sqlite3"
    broken.write_bytes(b"this is no archive" * 100)
    with serving(broken, home) as server, client_of(server) as web:
        answer = web.get(f"{API}/health", timeout=PATIENCE)
    assert answer.status_code == 503
    assert str(broken) in answer.json()["error"]["message"]
