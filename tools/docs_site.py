"""What mkdocs does not do by itself: the pages at the root of the repository, and GitHub's anchors.

Loaded by mkdocs.yml; `links` and `anchors` also serve the test that checks every link of the
documents without mkdocs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["ROOT_PAGES", "anchors", "links", "site_links"]

ROOT = Path(__file__).parents[1]
#: Pages that lie beside docs/, where GitHub shows them.
ROOT_PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
_FENCED = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\[([^\[\]]*)\]\(([^()\s]+)\)")


def anchor(heading: str) -> str:
    """What a link to a heading names, as GitHub has it: letters of every script stay."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(markdown: str) -> list[str]:
    headings = re.findall(r"^#+ +(.+?) *#*$", _FENCED.sub("", markdown), re.MULTILINE)
    return [anchor(_LINK.sub(r"\1", heading)) for heading in headings]


def links(markdown: str) -> Iterator[tuple[str, str]]:
    """Path and anchor of every link inside the repository; either may be empty."""
    for _, target in _LINK.findall(_FENCED.sub("", markdown)):
        if not re.match(r"[a-z]+:", target):
            path, _, fragment = target.partition("#")
            yield path, fragment


def site_links(markdown: str) -> str:
    """A page of the root as it is in the site: beside docs/*.md, no links to files that are no pages."""

    def moved(found: re.Match[str]) -> str:
        text, target = found.groups()
        if re.match(r"[a-z]+:|#", target):
            return found[0]
        path = target.partition("#")[0]
        if path in ROOT_PAGES or path.startswith("docs/"):
            return f"[{text}]({target.removeprefix('docs/')})"
        return text

    return _LINK.sub(moved, markdown)


# ── what mkdocs calls ──


def on_config(config: Any) -> Any:
    config.mdx_configs["toc"]["slugify"] = lambda heading, separator: anchor(heading)
    return config


def on_files(files: Any, config: Any) -> Any:
    # Only the environment of the site has mkdocs; that of the tests does without.
    from mkdocs.structure.files import File  # type: ignore[import-not-found]

    for name in ROOT_PAGES:
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    return site_links(markdown) if page.file.src_uri in ROOT_PAGES else markdown
