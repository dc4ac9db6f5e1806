"""The figures of recall: `python -m bench.recall` prints them as JSON.

How long each tool takes on a corpus of 1,000 sessions, whether planted facts are found again and
questions without an answer get none, whether secrets stay in, and what `recover` brings back. Each
figure stands with its limit.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import tempfile
import time
from collections.abc import Sequence
from datetime import datetime, timezone
from itertools import islice
from pathlib import Path
from typing import Any

from bench.measure import at_most, copy_corpus, import_command, percentile
from bench.planted import DROPPED, Fact, SessionWriter, dropped_facts, facts, negatives, plant
from bench.secrets import secrets

from rireki.library import Library
from rireki.library import open as open_library
from rireki.mcp.answers import LARGEST_BUDGET, tokens
from rireki.mcp.caller import Caller
from rireki.mcp.recall import Memory, Recall
from rireki.mcp.tools import call
from rireki.sources.kit.places import Places

#: Hits that count.
BEST = 5
#: Calls of each tool that are timed.
CALLS = 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, help="a corpus made before (it is copied)")
    parser.add_argument("--sessions", type=int, default=1000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rireki-bench-") as folder:
        figures = measure(Path(folder), arguments.corpus, arguments.sessions)
    print(json.dumps(figures, indent=2, ensure_ascii=False))


def measure(folder: Path, corpus: Path | None, sessions: int) -> dict[str, Any]:
    home, archive = folder / "home", folder / "archive.sqlite3"
    copy_corpus(home, sessions, corpus)
    known = facts()
    planted = list(plant(home, known))
    dropped = _compacted(home)
    keys = secrets()
    exposed = _exposed(home, keys)
    _import(home, archive)
    _take_away(planted, known)
    _import(home, archive)
    with open_library(archive) as library:
        recall = _Bench(library, home, archive)
        return {
            "facts": _facts(recall, known),
            "negative_controls": _negatives(recall),
            "recover": _recover(recall, dropped),
            "secrets_out": _secrets(recall, exposed, keys),
            "milliseconds_p95": _times(recall, known),
        }


def _import(home: Path, archive: Path) -> None:
    subprocess.run(import_command(home, archive), check=True, stdout=subprocess.DEVNULL)


class _Bench:
    """Calls of tools, as an agent makes them one after the other."""

    def __init__(self, library: Library, home: Path, archive: Path) -> None:
        self.library = library
        self.places = Places.at(home)
        self.memory = Memory()
        self.said: list[str] = []

    def __call__(self, tool: str, **arguments: Any) -> str:
        recall = Recall(
            self.library,
            Caller(None),
            self.places,
            datetime.now(timezone.utc),
            self.memory,
        )
        answer = call(recall, tool, arguments)
        self.said.append(answer.text + json.dumps(answer.data, ensure_ascii=False))
        return answer.text


# ── facts ──


def _facts(recall: _Bench, known: Sequence[Fact]) -> dict[str, Any]:
    found: dict[str, list[bool]] = {}
    noes = []
    for fact in known:
        answer = recall("search", query=fact.question, limit=BEST)
        hits = "\n".join(answer.split("\n- ")[: BEST + 1])
        found.setdefault(fact.where, []).append(fact.value in hits)
        if answer.startswith("Nothing found"):
            noes.append(fact.question)
    right = sum(map(sum, found.values())) / len(known)
    return {
        "recall_at_5": {"value": right, "limit": 0.97, "ok": right >= 0.97},
        "by_kind": {kind: sum(each) / len(each) for kind, each in found.items()},
        "false_noes": at_most(len(noes), 0),
    }


def _negatives(recall: _Bench) -> dict[str, Any]:
    asked = negatives()
    claimed = [
        question for question in asked if not _is_no(recall("search", query=question, limit=BEST))
    ]
    return {"asked": len(asked), "claimed_to_be_known": at_most(len(claimed), 0)}


def _is_no(answer: str) -> bool:
    return answer.startswith(("Nothing found", "Nothing has all"))


def _take_away(planted: Sequence[SessionWriter], known: Sequence[Fact]) -> None:
    """The facts that are to be gone go from the files; what was taken in stays."""
    gone = [fact.text for fact in known if fact.where == "gone"]
    for session in planted:
        kept = [line for line in session.lines if not any(text in str(line) for text in gone)]
        if len(kept) < len(session.lines):
            session.lines = kept
            session.write()


# ── recover ──


def _compacted(home: Path) -> tuple[str, list[tuple[str, str]]]:
    """A session whose facts stand among much else, with a summary that has none of them."""
    draw = random.Random(4)
    said = dropped_facts()
    session = SessionWriter(home, 0x7C0FFEE, datetime(2026, 11, 1, 9, tzinfo=timezone.utc))
    code = Path(random.__file__).read_text(encoding="utf-8").split("\n")
    for number, (text, _) in enumerate(said):
        session.prompt("Please go on with the next one." if number % 3 else text)
        session.reply("Let me look at the module first.")
        at = draw.randrange(len(code) - 60)
        session.run(
            "Read",
            {"file_path": f"/home/dev/ledger/src/m{number}.py"},
            "\n".join(code[at : at + 40]),
        )
        if number % 3 == 1:
            session.reply(f"I went through it. {text} The rest stays as it was.")
        elif number % 3 == 2:
            session.reply(f"Good.\n\n- {text}\n- Nothing else came up.")
        session.reply("Running the tests again now.")
    session.compact("The person and the agent went over the parts of a shop, one after the other.")
    session.reply("I go on from here.")
    session.write()
    return session.id, said


def _recover(recall: _Bench, dropped: tuple[str, list[tuple[str, str]]]) -> dict[str, Any]:
    session, said = dropped
    answer = recall("recover", session=session)
    back = sum(value in answer for _, value in said)
    return {
        "of": DROPPED,
        "back": {"value": back, "limit": 95, "ok": back >= 95},
        "tokens": at_most(tokens(answer), 2000),
    }


# ── secrets ──


def _exposed(home: Path, keys: Sequence[str]) -> str:
    session = SessionWriter(home, 0x5EC4E7, datetime(2026, 10, 1, 9, tzinfo=timezone.utc))
    for number, key in enumerate(keys):
        session.prompt(f"Deploy station number{number} with {key} please.")
        session.run("Bash", {"command": f"deploy{number} {key}"}, f"deployed{number} by {key}\nok")
        session.think(f"station number{number} has {key} now")
    session.compact("Stations were deployed.")
    session.write()
    return session.id


def _secrets(recall: _Bench, session: str, keys: Sequence[str]) -> dict[str, Any]:
    """Whatever was answered so far, and whatever is asked about the secrets themselves."""
    for number in range(len(keys)):
        recall("search", query=f"number{number}")
        recall("search", query=f"deployed{number}")
    recall("recover", session=session, budget=LARGEST_BUDGET)
    recall("error", text="deployed7 by nobody")
    cursor: str | None = session
    while cursor:
        answer = recall("open", ref=cursor, budget=LARGEST_BUDGET)
        for line in answer.split("\n"):
            if "#" in line and "person" in line:
                recall("open", ref=line.split()[1], around=3)
        last = answer.rstrip().split("\n")[-1]
        cursor = last.split("open('")[1].split("'")[0] if "open('" in last else None
    said = "\n".join(recall.said)
    out = [key for key in keys if key in said]
    return {"of": len(keys), **at_most(len(out), 0)}


# ── time ──


def _times(recall: _Bench, known: Sequence[Fact]) -> dict[str, Any]:
    newest = list(islice(recall.library.conversations(), CALLS))
    common = ("import", "test failed", "file path", "エラー", "データベース 設計", "def class")
    errors = (
        "ModuleNotFoundError: No module named 'x'",
        "AssertionError: assert 3 == 4",
        "exit code 1",
    )
    asked: dict[str, tuple[str, list[dict[str, Any]]]] = {
        "search": ("search", [{"query": fact.question} for fact in known]),
        "search_common": ("search", [{"query": words} for words in common] * 10),
        "list": ("list", [{}] * CALLS),
        "open": ("open", [{"ref": each.id} for each in newest]),
        "file": ("file", [{"path": f"{each.project}/src/main.py"} for each in newest]),
        "file_common": ("file", [{"path": name} for name in _files(recall)]),
        "error": ("error", [{"text": text} for text in errors] * 20),
        "recover": ("recover", [{"session": each.id} for each in newest]),
    }
    return {name: at_most(_p95(recall, *calls), 100) for name, calls in asked.items()}


def _files(recall: _Bench) -> list[str]:
    """Files that calls of the corpus really name."""
    found = recall.library.search("tool:read OR tool:edit OR tool:write", limit=30, hits=1)
    names = [
        word
        for talk in found.talks
        for hit in talk.hits
        for word in hit.snippet.text.split()
        if "/" in word and "." in word
    ]
    return names[:CALLS] or ["main.py"]


def _p95(recall: _Bench, tool: str, calls: Sequence[dict[str, Any]]) -> float:
    taken = []
    for arguments in calls:
        begin = time.perf_counter()
        recall(tool, **arguments)
        taken.append((time.perf_counter() - begin) * 1000)
    return round(percentile(taken, 0.95), 1)


if __name__ == "__main__":
    main()
