"""Conversations with facts planted in them, and the questions that must find them again.

Written as Claude Code writes them. Facts are made of parts, so that no two are alike and much around
them looks nearly the same: every service has several of them, in different conversations.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias
from uuid import UUID, uuid5

__all__ = ["DROPPED", "Fact", "SessionWriter", "dropped_facts", "facts", "negatives", "plant"]

Where: TypeAlias = Literal["prompt", "reply", "output", "thinking", "gone", "japanese"]
COUNTS: dict[Where, int] = {
    "prompt": 40,
    "reply": 40,
    "output": 40,
    "thinking": 30,
    "gone": 20,
    "japanese": 30,
}
CWD = "/home/dev/ledger"
#: How many facts a compaction takes away.
DROPPED = 100

_FIRST: tuple[str, ...] = ("amber", "birch", "cobalt", "drift", "ember", "fjord")
_FIRST += ("garnet", "hazel", "indigo", "jasper", "kelp", "lotus")
_SECOND = ("gateway", "ledger", "relay", "vault", "beacon", "archive")
_ATTRIBUTES = (
    ("staging port", "listens on the staging port {v}", "which staging port does {s} use?"),
    ("retry limit", "has a retry limit of {v}", "{s} retry limit"),
    ("owner team", "belongs to the owner team {v}", "which owner team has {s}?"),
    (
        "cache lifetime",
        "keeps a cache lifetime of {v} seconds",
        "what cache lifetime did we choose for {s}",
    ),
    ("migration table", "writes its migration table {v}", "{s} migration table name"),
    ("rollout date", "gets its rollout date {v}", "when is the rollout date of {s}?"),
)
_JAPANESE = (
    ("接続上限", "{s} の接続上限は {v} 件に決めました。", "{s} の接続上限は何件？"),
    ("保存期間", "{s} の保存期間は {v} 日とします。", "{s} 保存期間"),
    ("担当班", "{s} の担当班は {v} 班です。", "{s} の担当班はどこですか"),
)
_CHATTER = (
    "Let me look at the tests first.",
    "I'll read the module and report back.",
    "Sure, one moment.",
    "That looks fine so far, going on.",
    "Thanks, please go on.",
    "Now I run the suite again.",
    "Could you explain that once more?",
    "Done, everything is green.",
)


class Fact(NamedTuple):
    where: Where
    text: str
    question: str
    #: What an answer has to hold.
    value: str


def facts(seed: int = 1) -> list[Fact]:
    """200, of every kind."""
    draw = random.Random(seed)
    services = [f"{first}-{second}" for first in _FIRST for second in _SECOND]
    pairs = [(service, number) for service in services for number in range(len(_ATTRIBUTES))]
    draw.shuffle(pairs)
    found: list[Fact] = []
    for where, count in COUNTS.items():
        for number in range(count):
            value = f"{draw.choice('bcdfghkmnp')}{draw.randrange(10_000, 99_999)}"
            if where == "japanese":
                _, text, question = _JAPANESE[number % len(_JAPANESE)]
                service = services[number]
            else:
                service, attribute = pairs.pop()
                _, says, question = _ATTRIBUTES[attribute]
                text = f"{{s}} {says}."
            text, question = text.format(s=service, v=value), question.format(s=service)
            found.append(Fact(where, text, question, value))
    return found


def negatives(seed: int = 1, count: int = 50) -> list[str]:
    """Questions that nothing answers: services that are not there, and what was never said of others."""
    draw = random.Random(seed)
    missing = [f"{draw.choice(_FIRST)}-{name}" for name in ("turbine", "sextant", "lathe", "kiln")]
    things = ("staging port", "retry limit", "encryption cipher", "on-call phone", "license fee")
    return [f"{draw.choice(missing)} {draw.choice(things)}" for _ in range(count)]


class SessionWriter:
    """A session, line by line."""

    def __init__(self, home: Path, number: int, at: datetime, cwd: str = CWD) -> None:
        self.id = str(UUID(int=(number << 96) | 0x4000_8000_0000_0000_0000 | number))
        self.file = home / ".claude" / "projects" / cwd.replace("/", "-") / f"{self.id}.jsonl"
        self.cwd = cwd
        self.at = at
        self.lines: list[dict[str, Any]] = []

    def prompt(self, text: str) -> None:
        self._line("user", {"role": "user", "content": text})

    def reply(self, text: str) -> None:
        self._answer([{"type": "text", "text": text}])

    def think(self, text: str) -> None:
        self._answer([{"type": "thinking", "thinking": text, "signature": "x"}])

    def run(self, tool: str, given: dict[str, Any], output: str, failed: bool = False) -> None:
        id = f"toolu_{len(self.lines)}_{self.id[:8]}"
        self._answer([{"type": "tool_use", "id": id, "name": tool, "input": given}])
        result = {"type": "tool_result", "tool_use_id": id, "content": output, "is_error": failed}
        self._line("user", {"role": "user", "content": [result]})

    def compact(self, summary: str) -> None:
        before = self.lines[-1]["uuid"] if self.lines else None
        self._put(
            {"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted"}
        )
        self.lines[-1] |= {"parentUuid": None, "logicalParentUuid": before, "level": "info"}
        self.lines[-1]["compactMetadata"] = {"trigger": "auto", "preTokens": 150_000}
        opening = (
            "This session is being continued from a previous conversation that ran out of context. "
        )
        self._line("user", {"role": "user", "content": opening + summary})
        self.lines[-1] |= {"isCompactSummary": True, "isVisibleInTranscriptOnly": True}

    def write(self) -> Path:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in self.lines)
        self.file.write_text(text, encoding="utf-8")
        return self.file

    def _answer(self, content: Sequence[dict[str, Any]]) -> None:
        usage = {"input_tokens": 10, "output_tokens": 5}
        message = {
            "id": f"msg_{len(self.lines)}_{self.id[:8]}",
            "type": "message",
            "role": "assistant",
        }
        more = {"model": "claude-opus-4-5", "content": list(content), "stop_reason": "end_turn"}
        self._line("assistant", {**message, **more, "usage": usage})

    def _line(self, kind: str, message: dict[str, Any]) -> None:
        self._put({"type": kind, "message": message})

    def _put(self, value: dict[str, Any]) -> None:
        self.at += timedelta(seconds=20)
        uuid = str(uuid5(UUID(self.id), str(len(self.lines))))
        before = self.lines[-1]["uuid"] if self.lines else None
        stamp = self.at.astimezone(timezone.utc).isoformat(timespec="milliseconds")
        facts = {
            "parentUuid": before,
            "isSidechain": False,
            "userType": "external",
            "cwd": self.cwd,
        }
        more = {"sessionId": self.id, "version": "2.1.197", "gitBranch": "main"}
        self.lines.append(
            {**facts, **more, **value, "uuid": uuid, "timestamp": stamp.replace("+00:00", "Z")}
        )


def plant(home: Path, given: Sequence[Fact], per_session: int = 5) -> Iterator[SessionWriter]:
    """Sessions with the facts in them, written; those whose facts are to be gone end with them."""
    draw = random.Random(2)
    start = datetime(2026, 9, 1, 9, tzinfo=timezone.utc)
    order = sorted(given, key=lambda fact: (fact.where == "gone", draw.random()))
    for number in range(0, len(order), per_session):
        session = SessionWriter(home, 0x9A000 + number, start + timedelta(hours=7 * number))
        session.prompt("We go over the services again, one by one.")
        for fact in order[number : number + per_session]:
            session.prompt(draw.choice(_CHATTER))
            _say(session, fact, draw)
            session.reply(draw.choice(_CHATTER))
        session.write()
        yield session


def _say(session: SessionWriter, fact: Fact, draw: random.Random) -> None:
    match fact.where:
        case "prompt" | "gone":
            session.prompt(f"For the record: {fact.text}")
        case "reply":
            session.reply(f"I checked it. {fact.text} Nothing else has to change.")
        case "thinking":
            session.think(f"The person wants this kept in mind: {fact.text}")
        case "output":
            lines = [f"line {draw.randrange(9_999)}: checked" for _ in range(40)]
            lines.insert(draw.randrange(40), fact.text)
            session.run("Bash", {"command": f"./describe {draw.randrange(999)}"}, "\n".join(lines))
        case "japanese":
            session.prompt(fact.text)


# ── what a compaction takes away ──

_THINGS = (
    "invoice export", "login form", "nightly sync", "price table", "mail queue", "search page", "audit log",
    "tax report", "avatar upload", "cart service", "webhook relay", "map tiles", "stock feed", "badge printer",
    "seat planner", "voucher check", "refund job", "news digest", "photo cache", "route finder",
)  # fmt: skip
_SAYINGS = (
    "We decided to keep the {t} on SQLite {v}.",
    "The {t} must answer within {v} ms.",
    "{T} settings live in conf/{u}/limits-{v}.toml.",
    "TODO: the {t} still needs ticket {v} closed.",
    "The {t} reads at most {v} rows per batch.",
    "For the {t} the vendor wants customer number {v}.",
    "{t} の上限は {v} 件に決めました。",
    "Rolling the {t} back worked with commit {v}abc.",
    "Never restart the {t} before job {v} is through.",
    "Turned out the {t} was slow because of index ix_{v}.",
)


def dropped_facts(seed: int = 3) -> list[tuple[str, str]]:
    """What was said, and what of it has to come back."""
    draw = random.Random(seed)
    found = []
    for at, thing in enumerate(_THINGS):
        for saying in _SAYINGS[at % 2 :: 2]:
            value = str(draw.randrange(1_000, 99_999))
            said = saying.format(t=thing, T=thing.capitalize(), u=thing.replace(" ", "-"), v=value)
            found.append((said, value))
    draw.shuffle(found)
    return found
