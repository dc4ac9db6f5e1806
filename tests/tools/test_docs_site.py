"""Every document is a page of the site, and every link leads somewhere; checked without mkdocs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from tools.docs_site import ROOT_PAGES, anchors, links, on_config, on_page_markdown, site_links

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def pages(entry: Any) -> list[str]:
    """The pages that a part of the navigation names."""
    if isinstance(entry, str):
        return [entry]
    parts = entry.values() if isinstance(entry, dict) else entry
    return [page for part in parts for page in pages(part)]


def test_every_document_is_in_the_navigation_once() -> None:
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))
    docs = ROOT / "docs"
    wanted = [path.relative_to(docs).as_posix() for path in docs.rglob("*.md")]
    missing = "name every page in the navigation of mkdocs.yml"
    assert sorted(pages(settings["nav"])) == sorted([*wanted, *ROOT_PAGES]), missing


def test_every_page_of_the_root_is_in_the_site() -> None:
    assert {path.name for path in ROOT.glob("*.md")} == set(ROOT_PAGES)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    for path, fragment in links(document.read_text("utf-8")):
        target = document.parent / path if path else document
        assert target.exists(), f"{document.name} links to {path}"
        if fragment:
            found = anchors(target.read_text("utf-8")).count(fragment)
            assert found == 1, f"{document.name} links to {path}#{fragment}: {found} headings"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_pages_of_docs_link_to_pages_of_the_site_only(document: Path) -> None:
    """mkdocs knows nothing outside of docs/; pages of the root are moved beside it."""
    text = document.read_text("utf-8")
    if document.parent == ROOT:
        text, document = site_links(text), ROOT / "docs" / document.name
    for path, _ in links(text):
        target = (document.parent / path).resolve()
        in_docs = target.is_relative_to(ROOT / "docs") and target.exists()
        assert not path or in_docs or path in ROOT_PAGES, f"{document.name} links to {path}"


def test_a_page_of_the_root_stands_beside_the_others_in_the_site() -> None:
    text = "[a](docs/search.md#filters), [b](LICENSE), [c](SECURITY.md), [d](https://x.example), [e](#f)"
    moved = "[a](search.md#filters), b, [c](SECURITY.md), [d](https://x.example), [e](#f)"
    assert site_links(text) == moved

    class Page:
        class file:
            src_uri = "README.md"

    assert on_page_markdown(text, Page, None, None) == moved


def test_anchors_are_those_of_github() -> None:
    text = (
        "# A `heading`, with [a link](x.md)!\n```sh\n# no heading\n```\n## 検索の例 2\n## --json\n"
    )
    assert anchors(text) == ["a-heading-with-a-link", "検索の例-2", "--json"]

    class Config:
        mdx_configs: dict[str, dict[str, Any]] = {"toc": {}}  # noqa: RUF012

    slugify = on_config(Config).mdx_configs["toc"]["slugify"]
    assert slugify("A `heading`", "-") == "a-heading"


def test_links_in_examples_are_none() -> None:
    assert list(links("[a](b.md#c)\n```\n[d](e.md)\n```\n[f](https://g.example)")) == [
        ("b.md", "c")
    ]
