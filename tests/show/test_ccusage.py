"""What ccusage counts of the same files, and why that is something else where it is.

`make test` installs ccusage when npm is there; where it is not, the summary says so.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.open import open_archive
from rireki.intake.sweep import import_history
from rireki.model.conversation import Answer
from rireki.model.prices import KNOWN, Prices, read_prices
from rireki.show.usage import collect, grouped
from rireki.sources.kit.places import Places
from tests.support import ccusage
from tests.support.homes import TREES, lay_out
from tests.support.tokens import tally

pytestmark = pytest.mark.skipif(bool(ccusage.absent()), reason=ccusage.absent() or "-")

NAMES = [name for name in TREES if name.startswith("claude-code")]
PRICES = Prices(read_prices(KNOWN.read_bytes()))
#: Their word for each class of tokens, and the records'.
CLASSES = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "cacheReadTokens": "cache_read_input_tokens",
    "cacheCreationTokens": "cache_creation_input_tokens",
}


def lines_with_tokens(home: Path) -> Iterator[dict[str, Any]]:
    for file in sorted((home / ".claude" / "projects").rglob("*.jsonl")):
        for data in file.read_bytes().split(b"\n"):
            try:
                line = json.loads(data)
            except ValueError:
                continue
            message = line.get("message") if isinstance(line, dict) else None
            if not isinstance(message, dict) or not isinstance(message.get("usage"), dict):
                continue
            if message["model"] != "<synthetic>":
                yield line


def explained(home: Path) -> dict[str, dict[str, int]]:
    """How much more, or less, ccusage counts per model, and why.

    1. It tells answers apart by their id and that of the request. A resumed session of version
       1.0 has copies without the latter, which it counts again; and our scripted model gave one
       id in two sessions, which a real one never does.
    2. It passes over lines whose time has more than three decimals (one line of 2.1.325).
    """
    answers: dict[str, dict[Any, dict[str, Any]]] = defaultdict(dict)
    seen: dict[str, dict[str, Any]] = {}
    for line in lines_with_tokens(home):
        message = line["message"]
        best = seen.setdefault(message["id"], message)
        if message["usage"]["output_tokens"] > best["usage"]["output_tokens"]:
            seen[message["id"]] = message
        if len(line["timestamp"]) <= len("2026-11-15T18:39:05.226Z"):
            # Without the id of a request, each file's copy is an answer of its own.
            request = line.get("requestId") or line["sessionId"]
            known = answers[message["id"]].get(request)
            if known is None or message["usage"]["output_tokens"] > known["usage"]["output_tokens"]:
                answers[message["id"]][request] = message
    more: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(CLASSES, 0))
    for id, message in seen.items():
        counted = list(answers[id].values())
        for name, field in CLASSES.items():
            theirs = sum(one["usage"][field] for one in counted)
            more[message["model"]][name] += theirs - message["usage"][field]
    return dict(more)


@pytest.mark.parametrize("name", NAMES)
def test_every_difference_is_explained(name: str, tmp_path: Path) -> None:
    home = lay_out(name, tmp_path / "home")
    theirs = ccusage.sums(home)
    with closing(open_archive(tmp_path / "archive.sqlite3", create=True)) as archive:
        import_history(archive, places=Places.at(home))
        ours = grouped(collect(archive, PRICES, source="claude-code"), "model")
    more = explained(home)
    assert theirs.keys() == ours.keys()
    for model, total in ours.items():
        counts = (total.input, total.output, total.cache_read, total.cache_write)
        expected = dict(zip(CLASSES, counts, strict=True))
        assert {each: theirs[model][each] for each in CLASSES} == {
            each: expected[each] + more[model][each] for each in CLASSES
        }, model
        # What they count costs by our prices what it costs by theirs, if they know one at all.
        tokens = tally(*(int(theirs[model][each]) for each in CLASSES))
        if theirs[model]["cost"]:
            cost = PRICES.cost(Answer("", model, tokens))
            assert theirs[model]["cost"] == pytest.approx(cost), model


def test_there_is_something_to_explain(tmp_path: Path) -> None:
    """Each reason is met in a fixture: none is left over from long ago."""
    said = {name: explained(lay_out(name, tmp_path / name)) for name in NAMES}
    differing = {
        name: [sum(more.values()) for more in models.values() if any(more.values())]
        for name, models in said.items()
    }
    copies = 2 * (110 + 150 + 2 * (1 + 2000 + 50))
    assert differing == {
        "claude-code-1.0.51": [copies],
        "claude-code-2.0.76": [],
        "claude-code-2.1.197": [120 + 21 + 2000 + 50],
        "claude-code-2.1.325": [-(160 + 17 + 2000 + 50)],
    }
