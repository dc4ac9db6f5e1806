"""Masking: `python -m bench.masking` prints speed, what is found, and what is masked by mistake, as JSON.

MB/s over raw records of the corpus and over the texts of its messages; 100 planted secrets in every
kind of part, in texts and in raw records; marks in the corpus, which has no secrets; and how much
longer an export takes with masking, both by turns: of a conversation, and of all by the command.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from bench.measure import at_most, copy_corpus, rireki
from tests.support.secrets import Secret, secrets

from rireki.archive.open import open_archive
from rireki.intake.sweep import import_history
from rireki.library import Library
from rireki.masking import Masker
from rireki.masking.find import finder
from rireki.model.conversation import Conversation
from rireki.model.message import Message
from rireki.model.parts import (
    Attachment,
    Notice,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from rireki.show.formats import FormatOptions, write
from rireki.show.transcript import Transcript, mask_transcript
from rireki.sources.kit.places import Places

PLANTED = 100
#: Conversations that are exported, and how often by each way.
EXPORTED, TIMES = 60, 5
#: Formats that the command exports everything in.
WHOLE = ("json", "atif", "openai", "markdown")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, help="a corpus made before (it is copied)")
    parser.add_argument("--sessions", type=int, default=1000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rireki-bench-") as folder:
        print(json.dumps(measure(Path(folder), arguments.corpus, arguments.sessions), indent=2))


def measure(folder: Path, corpus: Path | None, sessions: int) -> dict[str, Any]:
    home = folder / "home"
    copy_corpus(home, sessions, corpus)
    planted = secrets(PLANTED)
    left = [secret for secret in planted if not is_gone_everywhere(secret)]
    return {
        **over_records(sorted(home.rglob("*.jsonl"))),
        "planted": len(planted),
        "kinds": len({secret.kind for secret in planted}),
        "left": at_most(len(left), 0),
        **over_exports(home, folder / "archive.sqlite3"),
    }


def masker() -> Masker:
    """Of no archive: the values of this environment are not part of the figures."""
    return Masker(b"bench" * 8, finder())


# ── how fast, and how often by mistake ──


def over_records(files: list[Path]) -> dict[str, Any]:
    masking = masker()
    size, seconds = 0, 0.0
    for file in files:
        data = file.read_bytes()
        started = time.process_time()
        masking.record(data)
        seconds += time.process_time() - started
        size += len(data)
    speed = round(size / seconds / 1e6)
    return {
        "megabytes": round(size / 1e6),
        "MB/s": {"value": speed, "limit": 100, "ok": speed >= 100},
        "marks in the corpus": at_most(sum(masking.found.values()), 0),
    }


# ── what is found ──


def is_gone_everywhere(secret: Secret) -> bool:
    texts = [told for made in holders(secret.text) for told in made]
    return not any(is_left(secret.value, text) for text in texts)


def holders(text: str) -> Iterator[list[str]]:
    """The text in every place there is, masked, as JSON."""
    parts: list[Part] = [
        Text(text),
        Thinking(text),
        Notice(text),
        ToolCall("1", "Bash", {"command": text, "nested": [{"deep": [text]}]}),
        ToolResult("1", "ok", f"+{text}\n-nothing\n"),
        Attachment("text/plain", name=text),
        Unknown("what", {"raw": text}),
    ]
    masking = masker()
    for part in parts:
        message = Message(id="1", author="agent", display="bubble", label=text, parts=[part])
        yield [msgspec.json.encode(masking.message(message)).decode()]
        record = msgspec.json.encode(message)
        yield [masking.record(each).decode() for each in spellings(record)]
    about = Conversation(id="1", source="x", native_id="1", title=text, project=text, trail=[text])
    yield [msgspec.json.encode(masking.conversation(about)).decode()]


def spellings(record: bytes) -> list[bytes]:
    """As other writers of JSON spell it."""
    return [record, record.replace(b"/", b"\\/"), record.replace(b"+", b"\\u002b")]


def is_left(secret: str, text: str) -> bool:
    lines = [line for line in secret.split("\n") if line and not line.startswith("-----")]
    return any(line[1:14] in text for line in lines)


# ── what it costs ──


def over_exports(home: Path, path: Path) -> dict[str, Any]:
    archive = open_archive(path, create=True)
    import_history(archive, places=Places.at(home))
    archive.close()
    with Library(lambda: open_archive(path)) as library:
        ids = [about.id for about in library.conversations(limit=EXPORTED)]
        ratios = [ratio(library, id) for _ in range(TIMES) for id in ids]
    longer = round(statistics.median(ratios), 3)
    return {
        "exported": len(ids),
        "export, times longer": at_most(longer, 1.1),
        **{f"export --all --format {form}": of_all(path, form) for form in WHOLE},
    }


def of_all(path: Path, form: str) -> dict[str, Any]:
    ratios = [of_command(path, form, "--mask") / of_command(path, form) for _ in range(TIMES)]
    return at_most(round(statistics.median(ratios), 3), 1.1)


def of_command(path: Path, form: str, *options: str) -> float:
    """Seconds of processor time: the quickest formats are those where masking weighs most."""
    with tempfile.TemporaryDirectory(prefix="rireki-bench-") as folder:
        command = rireki("export", "--all", "--format", form, "--archive", path, "--to", folder)
        before = spent_by_children()
        subprocess.run([*command, *options], check=True, stderr=subprocess.DEVNULL)
        return spent_by_children() - before


def spent_by_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def ratio(library: Library, id: str) -> float:
    """One right after the other: what else the machine does meanwhile meets both."""
    plain = timed(lambda: export(library, id, None))
    return timed(lambda: export(library, id, masker())) / plain


def export(library: Library, id: str, masking: Masker | None) -> None:
    story: Transcript = library.read(id)
    if masking is not None:
        story = mask_transcript(story, masking)
    for _ in write("markdown", story, FormatOptions(full=True)):
        pass


def timed(work: Callable[[], None]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


if __name__ == "__main__":
    main()
