"""Looks at every page, in both languages and themes, on a desk and a phone: `python -m tests.looks`.

Says which differ from the pictures that are kept, and puts those as they look now into a folder; names of
pages limit it to them. `--accept` keeps what is seen.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Browser, Page, sync_playwright

from tests.looks.pictures import Lens
from tests.looks.site import PAGES, looking, stand_still
from tests.support.browser import launch

KEPT = Path(__file__).parent / "kept"
#: Of a long page this much is looked at.
TALLEST = 1600
SIZES: dict[str, dict[str, Any]] = {
    "desk": {"viewport": {"width": 1280, "height": 800}},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
}
LANGUAGES = {"en": "en-US", "ja": "ja-JP"}
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
#: Milliseconds.
SETTLED = 200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.looks")
    parser.add_argument("pages", nargs="*", metavar="PAGE", help=", ".join(PAGES))
    parser.add_argument("--accept", action="store_true", help="keep the pictures as they are now")
    arguments = parser.parse_args()
    wanted = arguments.pages or list(PAGES)
    if unknown := set(wanted) - set(PAGES):
        parser.error(f"no such page: {', '.join(sorted(unknown))}")
    sys.exit(look(wanted, arguments.accept))


def look(wanted: Sequence[str], accept: bool) -> int:
    """Whether something differs, as the exit code."""
    KEPT.mkdir(exist_ok=True)
    # A folder in which whoever looks into it finds the pictures side by side.
    now = Path(tempfile.gettempdir()) / "rireki-looks-now"
    differing = 0
    with sync_playwright() as play:
        browser = launch(play)
        with looking(browser) as entrance:
            lens = Lens(browser.new_page())
            for name, png in pictures(browser, entrance, wanted):
                kept, seen = KEPT / f"{name}.webp", lens.shrink(png)
                if told := _differs(lens, kept, seen):
                    differing += 1
                    print(f"{name}: {told}", flush=True)
                    target = kept if accept else now / kept.name
                    target.parent.mkdir(exist_ok=True)
                    target.write_bytes(seen)
        browser.close()
    print(f"{differing} of the pictures differ" if differing else "Everything looks as it did.")
    if differing and not accept:
        print(f"As they look now: {now}. To keep them: make looks ARGS=--accept")
    return 1 if differing and not accept else 0


def _differs(lens: Lens, kept: Path, seen: bytes) -> str:
    """Why a picture is another one than that which is kept."""
    if not kept.exists():
        return "there was none"
    difference = lens.compare(kept, seen)
    if difference.tolerated:
        return ""
    where = f" between {difference.top} and {difference.bottom} px" if difference.bottom else ""
    return f"{difference.parts} of 1000 squares differ{where}"


def pictures(browser: Browser, entrance: str, wanted: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    for size, options in SIZES.items():
        for language, locale in LANGUAGES.items():
            settings = {
                **options,
                "locale": locale,
                "timezone_id": "UTC",
                "reduced_motion": "reduce",
            }
            with browser.new_context(base_url=entrance, **settings) as context:
                page = context.new_page()
                page.goto(entrance)
                for name in wanted:
                    page.goto(PAGES[name])
                    # Modules that this page was the first to need.
                    stand_still()
                    page.reload()
                    for theme in THEMES:
                        page.emulate_media(color_scheme=theme)
                        yield f"{name}-{size}-{language}-{theme}", shot(page)


def shot(page: Page) -> bytes:
    # A page listens for ever, so it is never idle: what its scripts do at once is done by now.
    page.wait_for_timeout(SETTLED)
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(SETTLED / 2)
    width = page.evaluate("innerWidth")
    tall = min(TALLEST, page.evaluate("document.documentElement.scrollHeight"))
    return page.screenshot(full_page=True, clip={"x": 0, "y": 0, "width": width, "height": tall})


if __name__ == "__main__":
    main()
