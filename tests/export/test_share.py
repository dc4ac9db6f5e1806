"""What is shared: masked, told before it is written, one file that stands alone and can be read back."""

from __future__ import annotations

import base64
import json
import re
import zipfile
import zlib
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from rireki.archive.base import Archive, Filter
from rireki.archive.open import open_archive
from rireki.cli.output import StandardOutput
from rireki.errors import RirekiError
from rireki.export.sharing import share, turns_of_range
from rireki.intake.interpret import read_conversation
from rireki.intake.sweep import import_history
from rireki.library import open as library_open
from rireki.model.message import Message
from rireki.model.parts import Text
from rireki.sources import registry
from rireki.sources.exports import SHARED
from rireki.sources.kit.places import Places
from tests.cli.conftest import TALK, Rireki, home, imported, rireki, said, write
from tests.export.test_export import TOKEN, leaky
from tests.support.homes import NAMES, lay_out
from tests.support.payloads import parsed, problems

__all__ = ["home", "imported", "leaky", "rireki"]


def taken_in(file: Path, folder: Path) -> tuple[Any, list[Message]]:
    """What it is in somebody else's archive."""
    with_others = open_archive(folder / "archive.sqlite3", create=True)
    readers = {"shared": "rireki.sources.exports:SHARED"}
    try:
        with patch.object(registry, "_addresses", lambda: readers):
            import_history(with_others, paths=[file], places=Places.at(folder))
            return told_of(with_others)
    finally:
        with_others.close()


def told_of(archive: Archive) -> tuple[Any, list[Message]]:
    (about,) = archive.conversations(Filter(subagents=True))
    return about, read_conversation(archive, archive.find(about.id)).messages()


def test_secrets_are_masked_and_told_before_anything_is_written(
    leaky: Rireki, tmp_path: Path
) -> None:
    file = tmp_path / "talk.html"
    ran = leaky("share", TALK, "--to", str(file))
    assert (ran.code, ran.lines) == (0, [str(file)])
    first, second = ran.err.splitlines()
    assert first == "Masked: 1 secret in 5 places"
    assert re.fullmatch(r"  \[masked: github-token #[0-9a-f]+\] × 5", second)
    html = file.read_text("utf-8")
    assert TOKEN not in html and "[masked: github-token" in html
    assert TOKEN not in unsealed(html)


def unsealed(html: str) -> str:
    (content,) = re.findall(r'<template id="rireki-shared">(.*?)</template>', html)
    return zlib.decompress(base64.b64decode(content)).decode()


@pytest.mark.parametrize(
    ("typed", "flags", "is_written"),
    [("n\n", (), False), ("y\n", (), True), ("", ("--yes",), True)],
)
def test_on_a_terminal_you_are_asked_after_you_were_told(
    typed: str,
    flags: tuple[str, ...],
    is_written: bool,
    leaky: Rireki,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Terminal(StandardOutput):
        def __init__(self) -> None:
            super().__init__()
            self.terminal = True

    monkeypatch.setattr("rireki.cli.commands.share.StandardOutput", Terminal)
    file = tmp_path / "talk.html"
    ran = leaky("share", TALK, "--to", str(file), *flags, typed=typed)
    assert (ran.code, file.exists()) == ((0, True) if is_written else (130, False))
    assert ran.err.startswith("Masked: 1 secret") and ("Write" in ran.err) == (not flags)


def test_the_document_stands_alone(leaky: Rireki, tmp_path: Path) -> None:
    file = tmp_path / "talk.html"
    leaky("share", TALK, "--to", str(file))
    html = file.read_text("utf-8")
    # What nothing shows, and what it holds, is checked by reading it back.
    shown = re.sub(r"<template .*?</template>", "", html)
    assert problems(shown.removeprefix("<!doctype html>")) == []
    assert "<script" not in html and "http" not in html.partition("<main")[2]
    page = parsed(html)
    words = page.one("div", "seal").text
    assert words.startswith("Shared on ") and "with rireki" in words
    assert "Secrets masked: 1." in words and re.search(r"SHA-256 [0-9a-f]{64}\.", words)
    assert "details" in html


@pytest.mark.parametrize("ending", [".html", ".zip"])
def test_it_is_taken_in_as_somebody_elses(ending: str, leaky: Rireki, tmp_path: Path) -> None:
    file = tmp_path / f"talk{ending}"
    ran = leaky("share", TALK, "--to", str(file), "--json")
    (told,) = ran.json
    about, messages = taken_in(file, tmp_path / "other")
    assert about.id == f"shared/{told['digest'][:16]}" and about.source == "shared"
    assert about.troubles == [] and about.project == "/w/api"
    assert re.fullmatch(r"use \[masked: github-token #\w+\]", about.title)
    first, asked, called, back, left = messages
    assert first.label == "shared" and first.display == "chip"
    assert (asked.author, about.turns, about.tool_calls, about.tool_results) == ("person", 1, 1, 1)
    assert called.author == "agent" and back.author == "tool" and left.abandoned
    assert TOKEN not in str(messages)


def test_a_zip_has_both_documents(leaky: Rireki, tmp_path: Path) -> None:
    leaky("share", TALK, "--to", str(tmp_path / "talk.zip"))
    with zipfile.ZipFile(tmp_path / "talk.zip") as packed:
        assert packed.namelist() == ["conversation.html", "conversation.md"]
        assert TOKEN.encode() not in packed.read("conversation.md")


def test_markdown_says_where_it_comes_from(leaky: Rireki, tmp_path: Path) -> None:
    leaky("share", TALK, "--to", str(tmp_path / "talk.md"))
    text = (tmp_path / "talk.md").read_text("utf-8")
    assert TOKEN not in text and "*Shared on " in text


def test_only_the_turns_that_were_wanted_and_what_is_masked_in_them(
    rireki: Rireki, tmp_path: Path
) -> None:
    lines = [
        {"about": {"title": "three"}},
        said("m1", "person", f"one {TOKEN}", 1, turn=1),
        said("m2", "person", "two", 2, turn=2),
        said("m3", "agent", "answer", 3, turn=2),
        said("m4", "person", "three", 4, turn=3),
    ]
    write(tmp_path / "home", TALK, lines)
    rireki("import", "--home", str(tmp_path / "home"))
    file = tmp_path / "two.html"
    ran = rireki("share", TALK, "--turns", "2-3", "--to", str(file), "--json")
    assert ran.json[0]["masked"] == []
    about, messages = taken_in(file, tmp_path / "other")
    texts = [part.text for one in messages for part in one.parts if isinstance(part, Text)]
    assert texts == ["two", "answer", "three"] and about.turns == 2
    ran = rireki("share", TALK, "--turns", "7", "--to", str(tmp_path / "x.html"))
    assert ran.code == 1 and "no turns 7 to 7" in ran.err


@pytest.mark.parametrize("text", ["", "x", "0", "3-2", "2-", "-2", "1-2-3"])
def test_turns_are_numbers(text: str) -> None:
    with pytest.raises(RirekiError):
        turns_of_range(text)


def test_nothing_is_overwritten_and_only_three_endings_are_known(
    imported: Rireki, tmp_path: Path
) -> None:
    (tmp_path / "talk.html").write_text("mine")
    ran = imported("share", TALK, "--to", str(tmp_path / "talk.html"))
    assert ran.code == 1 and "another file" in ran.err
    assert "Nothing in it looks like a secret." in ran.err
    ran = imported("share", TALK, "--to", str(tmp_path / "talk.docx"))
    assert ran.code == 1 and ".html, .md or .zip" in ran.err


def test_without_a_name_it_is_called_after_the_conversation(
    imported: Rireki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert imported("share", TALK).lines == ["toy-aaaa1111.html"]
    assert (tmp_path / "toy-aaaa1111.html").stat().st_mode & 0o077 == 0


def altered(html: str, change: Any) -> str:
    value = json.loads(unsealed(html))
    change(value)
    packed = base64.b64encode(zlib.compress(json.dumps(value).encode())).decode()
    return re.sub(r'(<template id="rireki-shared">).*?(</template>)', rf"\g<1>{packed}\g<2>", html)


def test_what_was_changed_is_taken_in_with_a_trouble(imported: Rireki, tmp_path: Path) -> None:
    file = tmp_path / "talk.html"
    imported("share", TALK, "--to", str(file))

    def change(value: Any) -> None:
        value["messages"][0]["parts"][0]["text"] = "never said"

    file.write_text(altered(file.read_text("utf-8"), change), "utf-8")
    about, messages = taken_in(file, tmp_path / "other")
    assert [trouble.message for trouble in about.troubles] == [
        "it is not what was shared: its digest is another"
    ]
    assert len(messages) > 2


def test_a_page_that_was_changed_is_told_though_the_conversation_in_it_is_whole(
    imported: Rireki, tmp_path: Path
) -> None:
    file = tmp_path / "talk.html"
    imported("share", TALK, "--to", str(file))
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b"\n", b"\r\n"))
    about, messages = taken_in(file, tmp_path / "mailed")
    assert about.troubles == [] and len(messages) > 2
    file.write_bytes(whole.replace(b"</main>", b"<p>I agree to pay.</p></main>"))
    about, again = taken_in(file, tmp_path / "other")
    assert [trouble.message for trouble in about.troubles] == [
        "its page is not what was shared; the conversation in it is"
    ]
    assert again == messages


@pytest.mark.parametrize("language", ["en", "ja"])
def test_markdown_is_for_reading_and_says_so_when_it_is_imported(
    imported: Rireki, tmp_path: Path, language: str
) -> None:
    with library_open() as kept:
        shared = kept.ask(lambda archive: share(archive, TALK, locale=language))
    file = tmp_path / "talk.md"
    file.write_bytes(shared.content(".md"))
    ran = imported("import", str(file))
    assert ran.code == 1 and "Markdown" in ran.err and ".html" in ran.err
    file.write_text(file.read_text("utf-8") + "\nmore\n", "utf-8")
    assert "Markdown" not in imported("import", str(file)).err


@pytest.mark.parametrize(
    "content",
    [
        "",
        "AAAA",
        "not base64!",
        base64.b64encode(zlib.compress(b"[]")).decode(),
        base64.b64encode(zlib.compress(b'{"conversation": 5, "messages": []}')).decode(),
        base64.b64encode(zlib.compress(b"{" * 100_000)).decode(),
    ],
)
def test_what_cannot_be_read_is_a_trouble(content: str, tmp_path: Path) -> None:
    file = tmp_path / "odd.html"
    file.write_text(
        f'<!doctype html>\n<meta name="rireki-shared" content="sha256:{"0" * 64}">'
        f'<template id="rireki-shared">{content}</template>'
    )
    about, messages = taken_in(file, tmp_path / "other")
    assert messages == [] and about.troubles[0].message.startswith("nothing can be read")


def test_other_pages_are_not_ours(tmp_path: Path) -> None:
    file = tmp_path / "x.html"
    file.write_text("<!doctype html>\n<title>hello</title>")
    assert SHARED.recognise(file) == []


@pytest.mark.parametrize("name", NAMES)
def test_every_fixture_comes_back_with_every_word(
    name: str, archive: Archive, home: Path, tmp_path: Path
) -> None:
    import_history(archive, places=Places.at(lay_out(name, tmp_path / "theirs")))
    for n, each in enumerate(archive.conversations(Filter(limit=3))):
        shared = share(archive, each.id, locale="ja")
        if not shared.transcript.messages:
            continue
        file = tmp_path / f"{n}.html"
        file.write_bytes(shared.content(".html"))
        about, messages = taken_in(file, tmp_path / f"other-{n}")
        assert about.troubles == [] and about.title == shared.transcript.conversation.title
        mine = [(one.author, one.parts) for one in shared.transcript.messages]
        assert [(one.author, one.parts) for one in messages[1:]] == mine
