"""What axe finds fault with on a page: the rules of WCAG 2.2 at A and AA."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from playwright.sync_api import Page

__all__ = ["failing"]

RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")
_RUN = """async ([values, colours]) => {
  const { violations } = await axe.run(document, {
    runOnly: { type: "tag", values },
    rules: { "color-contrast": { enabled: colours } },
    resultTypes: ["violations"],
  });
  const why = (node) => [...node.any, ...node.all, ...node.none][0]?.message ?? "";
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(node => `${id}: ${node.html.slice(0, 120)} ${why(node)}`));
}"""


def failing(page: Page, colours: bool = True) -> list[str]:
    """A line for each element that fails a rule; colours take as long as all else together."""
    page.evaluate(_axe())
    found: list[str] = page.evaluate(_RUN, [list(RULES), colours])
    return found


@cache
def _axe() -> str:
    """Axe itself is under the Mozilla Public License: a tool of the tests, no part of rireki."""
    return files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
