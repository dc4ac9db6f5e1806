"""A conversation's page with its secrets masked, and what is saved from there."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from rireki.show.formats import FORMATS
from tests.support.secret_history import ID, PASSWORD, SECRET, archive_with_secrets
from tests.web.conftest import client_of, serving

TALK = f"claude-code/{ID}"


@pytest.fixture
def web(tmp_path: Path) -> Iterator[httpx.Client]:
    archive = archive_with_secrets(tmp_path)
    with serving(archive, tmp_path / "home") as server, client_of(server) as client:
        yield client


def is_masked(text: str) -> bool:
    assert "[masked: github-token #" in text
    return SECRET not in text and PASSWORD.value not in text


def test_the_page_has_a_switch_that_all_of_it_obeys(web: httpx.Client) -> None:
    plain = web.get(f"/c/{TALK}").text
    assert SECRET in plain and "?mask=1" in plain
    page = web.get(f"/c/{TALK}?mask=1").text
    assert is_masked(page)
    # And what scripts ask for later.
    assert 'data-mask="1"' in page
    assert is_masked(web.get(f"/fragments/{TALK}?mask=1").text)
    assert is_masked(web.get(f"/fragments/{TALK}?mask=1&messages=a").text)
    # Without it everything is as it was.
    assert SECRET in web.get(f"/c/{TALK}").text


@pytest.mark.parametrize("form", FORMATS)
def test_what_is_saved_from_there_is_masked(web: httpx.Client, form: str) -> None:
    page = web.get(f"/c/{TALK}?mask=1").text
    address = f"/export/{TALK}?format={form}&amp;mask=1"
    assert address in page
    answer = web.get(address.replace("&amp;", "&"))
    assert is_masked(text_of(answer))
    assert SECRET not in str(answer.headers)
    assert SECRET in text_of(web.get(f"/export/{TALK}?format={form}"))


def text_of(answer: httpx.Response) -> str:
    """What is in it, of a zip what its files say."""
    if answer.headers["content-type"] != "application/zip":
        return answer.text
    with zipfile.ZipFile(io.BytesIO(answer.content)) as packed:
        return "\n".join(packed.read(name).decode() for name in packed.namelist())
