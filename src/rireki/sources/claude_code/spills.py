"""Long tool outputs, which the source writes to a file of their own and only begins in the line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath, PureWindowsPath

from rireki.model.strand import Strand
from rireki.sources.kit.document import LANE

__all__ = ["SPILLED", "Spills", "base_name"]

#: How the text begins that stands in the place of the output.
SPILLED = "<persisted-output>"


class Spills:
    """The files of a session, by name."""

    def __init__(self, strands: Sequence[Strand]) -> None:
        self._files = {
            base_name(strand.place): strand for strand in strands if strand.role == "tool-output"
        }

    def __bool__(self) -> bool:
        return bool(self._files)

    def text(self, preview: str, path: str | None) -> str | None:
        """The whole of an output that the line only begins."""
        strand = self.file(preview, path)
        records = strand.story(LANE) if strand is not None else []
        return records[-1].data.decode("utf-8", "replace") if records else None

    def file(self, preview: str, path: str | None) -> Strand | None:
        """Where it lies: `path`, where the line names one, or what the preview says."""
        if path is None:
            path = preview.partition("saved to: ")[2].partition("\n")[0].strip()
        return self._files.get(base_name(path))


def base_name(path: str) -> str:
    """The last name of a path, whichever system wrote it."""
    return PureWindowsPath(path).name if "\\" in path else PurePosixPath(path).name
