"""Pictures that are small, and how far two of them are apart; the browser reads and writes them."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Page

__all__ = ["Difference", "Lens"]

#: Pictures are kept at half their size, which words can still be read in.
SCALE = 0.5
QUALITY = 0.6
#: A picture is compared by squares of so many pixels: letters drawn a little otherwise are the same.
SQUARE = 4
#: From this difference of a colour on, of 255, a square is another one.
FAINT = 20
#: So many squares of a thousand may be others: a time that a search took, the edge of a column.
MAY_DIFFER = 1.0

_SHRINK = """async ([png, scale, quality]) => {
  const picture = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(picture.width * scale);
  canvas.height = Math.round(picture.height * scale);
  const context = canvas.getContext("2d");
  context.imageSmoothingQuality = "high";
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/webp", quality).split(",")[1];
}"""
_COMPARE = """async ([one, other, square, faint]) => {
  const squares = async (data, size) => {
    const picture = await createImageBitmap(await (await fetch(`data:image/webp;base64,${data}`)).blob());
    const width = Math.ceil(picture.width / square), height = Math.ceil(picture.height / square);
    const canvas = document.createElement("canvas");
    canvas.width = width;
    canvas.height = height;
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.imageSmoothingQuality = "high";
    context.drawImage(picture, 0, 0, width, height);
    return { width, height, data: context.getImageData(0, 0, width, height).data };
  };
  const a = await squares(one), b = await squares(other);
  if (a.width !== b.width || a.height !== b.height) return null;
  let others = 0, top = a.height, bottom = 0;
  for (let at = 0; at < a.data.length; at += 4) {
    const far = Math.max(...[0, 1, 2].map(i => Math.abs(a.data[at + i] - b.data[at + i])));
    if (far <= faint) continue;
    others++;
    const row = Math.floor(at / 4 / a.width);
    top = Math.min(top, row);
    bottom = Math.max(bottom, row + 1);
  }
  return { parts: 1000 * others / (a.width * a.height), top: top * square, bottom: bottom * square };
}"""


class Difference(NamedTuple):
    """How much of a picture is another one, and where from top to bottom, in pixels of the page."""

    parts: float
    top: int
    bottom: int

    @property
    def tolerated(self) -> bool:
        return self.parts <= MAY_DIFFER


class Lens:
    """Works in a page of its own."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def shrink(self, png: bytes) -> bytes:
        given = [base64.b64encode(png).decode(), SCALE, QUALITY]
        return base64.b64decode(self._page.evaluate(_SHRINK, given))

    def compare(self, kept: Path, seen: bytes) -> Difference:
        """Pictures of two sizes differ altogether."""
        pair = [base64.b64encode(each).decode() for each in (kept.read_bytes(), seen)]
        found = self._page.evaluate(_COMPARE, [*pair, SQUARE, FAINT])
        if found is None:
            return Difference(1000.0, 0, 0)
        top, bottom = (round(found[name] / SCALE) for name in ("top", "bottom"))
        return Difference(round(found["parts"], 2), top, bottom)
