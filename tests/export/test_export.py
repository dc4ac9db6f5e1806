"""`rireki export`: what is written where, once, whole, and again only when it changed."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from rireki.export import files
from rireki.show.formats import FORMATS
from tests.cli.conftest import CHILD, OTHER, TALK, Rireki, home, imported, rireki, said, write
from tests.show.test_otlp import spans_of

__all__ = ["home", "imported", "rireki"]


def written(folder: Path) -> dict[str, bytes]:
    """What lies in a folder, without the list of it."""
    found = {str(file.relative_to(folder)): file for file in folder.rglob("*") if file.is_file()}
    return {name: file.read_bytes() for name, file in sorted(found.items()) if name != files.LIST}


@pytest.mark.parametrize("form", [name for name in FORMATS if name != "native"])
def test_one_conversation_is_the_document_that_show_writes(
    form: str, imported: Rireki, tmp_path: Path
) -> None:
    file = tmp_path / "out" / f"talk.{FORMATS[form].ending}"
    ran = imported("export", TALK, "--format", form, "--to", str(file))
    assert (ran.code, ran.lines) == (0, [str(file)])
    assert file.read_text("utf-8") == imported("show", TALK, "--format", form).out


def test_the_agents_own_files_are_those_that_restore_gives(
    imported: Rireki, home: Path, tmp_path: Path
) -> None:
    assert imported("export", TALK, "--format", "native", "--to", str(tmp_path / "one")).code == 0
    assert imported("restore", TALK, "--to", str(tmp_path / "two")).code == 0
    assert written(tmp_path / "one") == written(tmp_path / "two")
    assert imported("show", TALK, "--format", "native").out == imported("show", TALK, "--raw").out


@pytest.mark.parametrize("form", ["json", "native"])
def test_all_are_written_once_and_again_when_they_changed(
    form: str, imported: Rireki, home: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    export = ("export", "--all", "--format", form, "--to", str(folder))
    assert imported(*export).lines == ["2 conversations written"]
    before = written(folder)
    assert len(before) == (2 if form == "json" else 3)
    times = {file: file.stat().st_mtime_ns for file in folder.rglob("*.*")}
    assert imported(*export).lines == ["0 conversations written, 2 unchanged"]
    assert {file: file.stat().st_mtime_ns for file in folder.rglob("*.*")} == times
    with (home / ".toy" / f"{OTHER}.jsonl").open("a") as file:
        file.write(json.dumps(said("n2", "agent", "hello to you", 12)) + "\n")
    imported("import", "--home", str(home))
    assert imported(*export).lines == ["1 conversation written, 1 unchanged"]
    after = written(folder)
    assert {name for name in after if after[name] != before[name]} == {
        name for name in before if OTHER in name
    }
    assert any(b"hello to you" in data for data in after.values())


def test_a_search_says_which(imported: Rireki, tmp_path: Path) -> None:
    ran = imported(
        "export", "--query", "hello", "--format", "markdown", "--to", str(tmp_path / "o")
    )
    assert ran.code == 0 and [*written(tmp_path / "o")] == [f"toy-{OTHER}.md"]


def test_an_export_that_was_cut_short_goes_on_where_it_was(
    imported: Rireki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "out"
    export = ("export", "--all", "--format", "json", "--to", str(folder))
    note = files.ExportFolder._note

    def crash(self: files.ExportFolder, entry: Any) -> None:
        raise KeyboardInterrupt

    # Killed after the first file was put in place, before the list names it.
    monkeypatch.setattr(files.ExportFolder, "_note", crash)
    assert imported(*export).code == 130
    assert len(written(folder)) == 1
    monkeypatch.setattr(files.ExportFolder, "_note", note)
    assert imported(*export).lines == ["2 conversations written"]
    # A list that a crash cut in the middle of a line loses that line alone.
    listed = (folder / files.LIST).read_bytes()
    (folder / files.LIST).write_bytes(listed[:-20])
    assert imported(*export).lines == ["1 conversation written, 1 unchanged"]


def test_half_a_file_is_never_there(
    imported: Rireki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pieces(self: Any) -> Iterator[str]:
        yield "half"
        raise KeyboardInterrupt

    monkeypatch.setattr("rireki.export.documents.Document.pieces", pieces)
    ran = imported("export", TALK, "--format", "json", "--to", str(tmp_path / "out" / "x.json"))
    assert ran.code == 130 and written(tmp_path / "out") == {}


def test_what_is_somebody_elses_is_not_overwritten(imported: Rireki, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    mine = tmp_path / "out" / f"toy-{TALK}.json"
    mine.write_text("mine")
    ran = imported("export", TALK, "--format", "json", "--to", str(mine))
    assert ran.code == 1 and "there is another file already" in ran.err
    ran = imported("export", "--all", "--format", "json", "--to", str(tmp_path / "out"))
    assert ran.code == 1 and ran.lines == ["1 conversation written, 1 could not be written"]
    assert mine.read_text() == "mine"


def test_a_folder_that_cannot_be_written_is_an_error(imported: Rireki, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    ran = imported("export", TALK, "--format", "json", "--to", str(tmp_path / "file" / "x.json"))
    assert ran.code == 1 and "could not be written" in ran.err


def test_ids_that_are_spelled_alike_as_names_have_files_of_their_own(
    rireki: Rireki, tmp_path: Path
) -> None:
    home = tmp_path / "odd"
    write(home, "a:b", [{"about": {"title": "one"}}, said("1", "person", "one", 1, turn=1)])
    rireki("import", "--home", str(home))
    folder = tmp_path / "out"
    rireki("export", "--all", "--format", "json", "--to", str(folder))
    line = json.loads((folder / files.LIST).read_text())
    # As if it had been written for another conversation.
    (folder / files.LIST).write_text(json.dumps(line | {"id": "json toy/other"}) + "\n")
    ran = rireki("export", "--all", "--format", "json", "--to", str(folder))
    assert ran.code == 0 and len(written(folder)) == 2


def test_programs_are_told_of_each(imported: Rireki, tmp_path: Path) -> None:
    export = ("export", "--all", "--format", "atif", "--to", str(tmp_path / "out"), "--json")
    first = imported(*export).json
    assert [set(line) for line in first] == [{"id", "files", "was_there", "notes"}] * 2
    assert not any(line["was_there"] for line in first)
    assert all(line["was_there"] for line in imported(*export).json)
    assert all(Path(file).is_file() for line in first for file in line["files"])


def test_what_is_left_out_of_many_is_one_remark_with_its_number(
    imported: Rireki, home: Path, tmp_path: Path
) -> None:
    picture = {"kind": "attachment", "media_type": "image/png", "name": "a.png"}
    for number, name in enumerate(("dddd4444", "eeee5555"), 1):
        write(home, name, [said("d", "person", "look", 20, parts=[picture] * number)])
    imported("import", "--home", str(home))
    ran = imported("export", "--all", "--format", "sts", "--to", str(tmp_path / "out"))
    assert [line for line in ran.err.splitlines() if "attachments" in line] == [
        "! sts: left out: attachments (3)"
    ]


def test_a_sub_agent_goes_with_the_conversation_that_started_it(
    imported: Rireki, tmp_path: Path
) -> None:
    imported("export", TALK, "--format", "atif", "--to", str(tmp_path / "x.atif.json"))
    (child,) = json.loads((tmp_path / "x.atif.json").read_text())["subagent_trajectories"]
    assert child["trajectory_id"] == f"toy/{CHILD}"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--to", "x"], 1, "nothing says what to export"),
        ([TALK, "--all", "--to", "x"], 1, "nothing says what to export"),
        (["nobody", "--to", "x"], 1, "no conversation has the id"),
        ([TALK, "--to", "http://127.0.0.1:9"], 1, "json cannot be sent to an address"),
    ],
)
def test_what_makes_no_sense_is_said(
    arguments: list[str], code: int, words: str, imported: Rireki
) -> None:
    ran = imported("export", *arguments, "--format", "json")
    assert ran.code == code and words in ran.err


# ── Masked ──

TOKEN = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.fixture
def leaky(rireki: Rireki, tmp_path: Path) -> Rireki:
    """A conversation with a secret in its title, words, a call and its result."""
    folder = tmp_path / "leaky"
    call = {"kind": "tool_call", "call_id": "A", "name": "Bash", "arguments": {"env": TOKEN}}
    back = {"kind": "tool_result", "call_id": "A", "status": "ok", "output": f"token {TOKEN}"}
    lines = [
        {"about": {"project": "/w/api", "title": f"use {TOKEN}"}},
        said("m1", "person", f"my token is {TOKEN}", 1, turn=1),
        said("m2", "agent", "", 2, parts=[call]),
        said("m3", "tool", "", 3, display="fold", parts=[back]),
        said("m4", "agent", f"no longer {TOKEN}", 4, abandoned=True),
    ]
    write(folder, TALK, lines)
    assert rireki("import", "--home", str(folder)).code == 0
    return rireki


@pytest.mark.parametrize("form", FORMATS)
def test_masked_there_is_no_secret_in_any_format(form: str, leaky: Rireki, tmp_path: Path) -> None:
    export = ("export", "--all", "--format", form, "--to")
    assert leaky(*export, str(tmp_path / "open")).code == 0
    assert leaky(*export, str(tmp_path / "shut"), "--mask").code == 0
    bare = b"".join(written(tmp_path / "open").values())
    masked = b"".join(written(tmp_path / "shut").values())
    assert TOKEN.encode() in bare and TOKEN.encode() not in masked
    assert b"[masked: github-token #" in masked or form == "html"
    assert leaky(*export, str(tmp_path / "shut"), "--mask").lines == [
        "0 conversations written, 1 unchanged"
    ]


def test_what_is_masked_now_is_written_again(
    leaky: Rireki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = ("export", "--all", "--format", "json", "--mask", "--to", str(tmp_path / "out"))
    leaky(*export)
    monkeypatch.setenv("DEPLOY_SECRET", "q8Zk2x91Lm77Ttw")
    assert leaky(*export).lines == ["1 conversation written"]


# ── A collector ──


class Collector(NamedTuple):
    url: str
    got: list[tuple[str, Any, bytes]]


@pytest.fixture
def collector() -> Iterator[Collector]:
    """What answers as a collector does, on the loopback."""
    got: list[tuple[str, Any, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            got.append((self.path, self.headers, body))
            status = {"/full": 503, "/away": 307}.get(self.path, 200)
            answer = b'{"partialSuccess":{"rejectedSpans":"3"}}' if self.path == "/picky" else b"{}"
            self.send_response(status)
            self.send_header("location", "/v1/traces")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *arguments: Any) -> None:
            """Nobody reads it."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield Collector(f"http://127.0.0.1:{server.server_port}", got)
        server.shutdown()
        thread.join()


def test_a_collector_is_sent_every_conversation(
    imported: Rireki, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=a%20b, other=c")
    ran = imported("export", "--all", "--format", "otlp", "--to", collector.url)
    assert (ran.code, ran.lines) == (0, ["2 conversations written"])
    names = [span.name for _, _, body in collector.got for span in spans_of(body)]
    assert names.count("invoke_agent toy") == 3 and "execute_tool Task" in names
    path, headers, _ = collector.got[0]
    assert path == "/v1/traces" and headers["content-type"] == "application/json"
    assert (headers["x-key"], headers["other"]) == ("a b", "c")


def test_what_the_collector_did_not_take_is_told(imported: Rireki, collector: Collector) -> None:
    ran = imported("export", TALK, "--format", "otlp", "--to", f"{collector.url}/picky")
    assert ran.code == 0 and "the collector did not take 3 spans" in ran.err


@pytest.mark.parametrize(("path", "words"), [("/full", "503"), ("/away", "307")])
def test_a_collector_that_refuses_is_an_error_and_nothing_goes_elsewhere(
    path: str, words: str, imported: Rireki, collector: Collector
) -> None:
    ran = imported("export", TALK, "--format", "otlp", "--to", collector.url + path)
    assert ran.code == 1 and words in ran.err
    assert [each[0] for each in collector.got] == [path]


def test_a_collector_that_is_not_there_is_an_error(imported: Rireki, collector: Collector) -> None:
    ran = imported("export", TALK, "--format", "otlp", "--to", "http://127.0.0.1:1")
    assert ran.code == 1 and "no collector answers at http://127.0.0.1:1/v1/traces" in ran.err
