"""An address as a QR code: for a page, and for the terminal."""

from __future__ import annotations

from io import BytesIO, StringIO

import segno
from markupsafe import Markup

__all__ = ["qr_svg", "qr_text"]


def qr_svg(address: str, label: str) -> Markup:
    """Dark on light in every theme: cameras want it so."""
    out = BytesIO()
    segno.make(address, error="m", micro=False).save(
        out,
        kind="svg",
        xmldecl=False,
        svgns=True,
        omitsize=True,
        border=4,
        dark="#000",
        light="#fff",
        svgclass="qr",
        lineclass=None,
        title=label,
    )
    drawn = out.getvalue().decode().strip()
    return Markup(drawn.replace("<svg ", '<svg role="img" ', 1))


def qr_text(address: str) -> str:
    """Two rows of it in a line, for a terminal of any colour."""
    out = StringIO()
    segno.make(address, error="l", micro=False).terminal(out, border=2, compact=True)
    return out.getvalue()
