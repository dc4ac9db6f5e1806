"""The files of a conversation: what became of each, with the way back to where it was changed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from rireki.archive.open import open_archive
from rireki.intake.sweep import import_history
from rireki.sources.kit.places import Places
from tests.sources.transcripts import SESSION, Transcript, lay
from tests.web.conftest import client_of, serving

ID = f"claude-code/{SESSION}"
MANY = 320


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    place = tmp_path_factory.mktemp("files")
    transcript = Transcript()
    transcript.user("change them", cwd="/work")
    for number, (old, new) in enumerate([("one", "two"), ("two", "<b>three</b>")]):
        given = {"file_path": "/work/a.py", "old_string": old, "new_string": new}
        transcript.call(f"e{number}", "Edit", input=given)
        transcript.result(f"e{number}", "done")
    transcript.user("and a long one")
    lines = "".join(f"line {number}\n" for number in range(MANY))
    transcript.call("w", "Write", input={"file_path": "/work/odd & <i>.txt", "content": lines})
    transcript.result("w", "done")
    lay(place / "home", transcript.bytes())
    archive = open_archive(place / "archive.sqlite3", create=True)
    import_history(archive, places=Places.at(place / "home"))
    archive.close()
    with serving(place / "archive.sqlite3", place / "home") as server, client_of(server) as client:
        yield client


def test_a_file_tells_what_became_of_it_from_first_to_last(pages: httpx.Client) -> None:
    html = pages.get(f"/files/{ID}").text
    assert "<code>a.py</code>" in html and "2 edits" in html
    assert html.count('class="row del"') == 1 and "&lt;b&gt;three&lt;/b&gt;" in html
    assert ">two<" not in html


def test_each_place_leads_to_the_turns_that_changed_it(pages: httpx.Client) -> None:
    html = pages.get(f"/files/{ID}").text
    link = html.split('<p class="from">')[1].split('href="')[1].split('"')[0]
    assert link.endswith("#opened")
    assert "change them" in pages.get(link.replace("&amp;", "&")).text


def test_a_long_file_is_cut_until_it_is_asked_for_alone(pages: httpx.Client) -> None:
    html = pages.get(f"/files/{ID}").text
    assert f"line {MANY - 1}" not in html and "<code>odd &amp; &lt;i&gt;.txt</code>" in html
    alone = pages.get(f"/files/{ID}", params={"file": "odd & <i>.txt"}).text
    assert f"line {MANY - 1}" in alone and "a.py" not in alone


def test_the_conversation_leads_to_its_files(pages: httpx.Client) -> None:
    html = pages.get(f"/c/{ID}").text
    assert f'href="/files/{ID}#file-1" title="a.py"' in html
    answer = pages.get(f"/fragments/{ID}", params={"messages": ""}).json()
    assert "a.py" in answer["regions"]["changed"]


def test_a_file_that_was_not_changed_is_no_error(pages: httpx.Client) -> None:
    answer = pages.get(f"/files/{ID}", params={"file": "nowhere"})
    assert answer.status_code == 200 and "No editing tool changed a file" in answer.text
    assert pages.get("/files/nothing/here").status_code == 404


def test_a_message_that_says_something_else_later_is_told_as_a_diff(tmp_path: Path) -> None:
    archive = open_archive(tmp_path / "archive.sqlite3", create=True)
    for words in ("the old words", "the new words"):
        transcript = Transcript()
        transcript.user(words)
        transcript.answer("so it is")
        lay(tmp_path / "home", transcript.bytes())
        import_history(archive, places=Places.at(tmp_path / "home"))
    archive.close()
    with (
        serving(tmp_path / "archive.sqlite3", tmp_path / "home") as server,
        client_of(server) as client,
    ):
        asked = {"from": "2020-01-01", "as_of": "2100-01-01"}
        html = client.get(f"/versions/{ID}", params=asked).text
    assert "<mark>old</mark>" in html and "<mark>new</mark>" in html
    assert html.count('class="step changed"') == 1 and "1 message unchanged" in html
    assert html.count('class="unchanged"') == 1
