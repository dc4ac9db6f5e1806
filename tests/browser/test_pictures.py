"""The kept pictures of the pages: what differs is seen, what does not is let through."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import Visiting
from tests.browser.serving import Site
from tests.looks.pictures import Lens

#: What went wrong once, and what may differ.
HIDDEN_CARD = "document.querySelector('.card').style.display = 'none'"
HIDDEN_ROWS = (
    "document.querySelectorAll('.query-terms dd').forEach(e => e.style.visibility = 'hidden')"
)
LINE_LOWER = "document.querySelector('h1').style.paddingTop = '6px'"
OTHER_NUMBER = "document.querySelector('.keys dd').append(' 3')"


@pytest.fixture
def kept(shown: Site, visit: Visiting, tmp_path: Path) -> tuple[Page, Lens, Path]:
    """A page, and its picture."""
    visitor = visit(shown)
    page, lens = visitor.open("/help"), Lens(visitor.context.new_page())
    picture = tmp_path / "kept.webp"
    picture.write_bytes(lens.shrink(page.screenshot()))
    return page, lens, picture


@pytest.mark.parametrize("change", [HIDDEN_CARD, HIDDEN_ROWS, LINE_LOWER])
def test_what_another_page_looks_like_differs(kept: tuple[Page, Lens, Path], change: str) -> None:
    page, lens, picture = kept
    page.evaluate(change)
    found = lens.compare(picture, lens.shrink(page.screenshot()))
    assert not found.tolerated
    assert 0 < found.top < found.bottom <= 800


@pytest.mark.parametrize("change", ["1", OTHER_NUMBER])
def test_the_same_page_and_a_small_number_do_not(
    kept: tuple[Page, Lens, Path], change: str
) -> None:
    page, lens, picture = kept
    page.evaluate(change)
    assert lens.compare(picture, lens.shrink(page.screenshot())).tolerated


def test_a_picture_of_another_size_differs(kept: tuple[Page, Lens, Path]) -> None:
    page, lens, picture = kept
    page.set_viewport_size({"width": 1280, "height": 900})
    assert not lens.compare(picture, lens.shrink(page.screenshot())).tolerated
