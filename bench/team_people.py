"""A team's database as it is after years: people, what each shares with whom, and their conversations.

The rows are put there at once, as they would be stored; there are no records behind them.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import psycopg

from rireki.archive.pack import squeeze
from rireki.model.conversation import Answer, Conversation
from rireki.model.message import Usage
from rireki.team.store import Team

__all__ = ["FEW", "Populated", "populate"]

#: Of each person's conversations these parts go to everybody, and to a small team; no one reads the rest.
EVERYBODY, OWN_TEAM = 0.6, 0.2
#: People of a small team.
FEW = 20
PROJECTS = 6
SOURCES = ("claude-code", "codex", "cursor", "copilot-cli")
MODELS = ("claude-opus-4", "gpt-5", "claude-sonnet-4")
#: Days that the conversations are spread over, until now.
DAYS = 365
COLUMNS = (
    "owner, number, id, native_id, family, grouping, source, nature, project, title, started_at,"
    " updated_at, upstream, changed, data"
)


class Populated(NamedTuple):
    """Tokens of those who read what everybody shares, and of one who is of a small team alone."""

    members: list[str]
    few: str


def populate(database: str, folder: Path, people: int, each: int) -> Populated:
    team = Team(database, folder, create=True)
    try:
        tokens = _accounts(team, people)
    finally:
        team.close()
    with psycopg.connect(database) as connection:
        shared = _put_conversations(connection, people, each)
        _copy(connection, "team_audience (person, family, grouping, team)", shared)
        connection.commit()
        connection.autocommit = True
        connection.execute("VACUUM ANALYZE")
    return tokens


def _accounts(team: Team, people: int) -> Populated:
    """`everybody` is the first team; each twenty have one of their own, and one is only of the second."""
    tokens = [team.people.begin("p0001", "everybody")]
    tokens += [team.people.add(f"p{number:04}", "everybody") for number in range(2, people + 1)]
    for number in range(people):
        team.people.add(f"p{number + 1:04}", _team_of(number))
    return Populated(tokens, team.people.add("few", _team_of(0)))


def _team_of(number: int) -> str:
    return f"team{number // FEW + 1:03}"


def _put_conversations(
    connection: psycopg.Connection[Any], people: int, each: int
) -> Iterable[tuple[Any, ...]]:
    """Returns what is shared with whom."""
    chance = random.Random(20)
    shared: list[tuple[Any, ...]] = []
    for person in range(1, people + 1):
        made = list(_conversations(chance, person, each))
        _copy(connection, f"conversation ({COLUMNS})", made)
        _copy(
            connection,
            "answers (owner, conversation, data)",
            ((person, row[1], squeeze(msgspec.json.encode(_answers(chance)))) for row in made),
        )
        _copy(connection, "counter (owner, number, id)", [(person, each, each)])
        for row in made:
            dice = chance.random()
            if dice < EVERYBODY:
                shared.append((person, row[4], row[5], 1))
            elif dice < EVERYBODY + OWN_TEAM:
                shared.append((person, row[4], row[5], 2 + (person - 1) // FEW))
    return shared


def _conversations(chance: random.Random, person: int, each: int) -> Iterator[tuple[Any, ...]]:
    now = datetime.now(timezone.utc)
    projects = [f"/home/p{person:04}/src/project-{place}" for place in range(PROJECTS - 1)]
    projects.append("/srv/together")
    for number in range(1, each + 1):
        begin = now - timedelta(days=chance.random() * DAYS)
        turns = chance.randint(1, 8)
        moments = [_stamp(begin + timedelta(minutes=7 * place)) for place in range(turns)]
        native = f"{person:08x}-{number:08x}-{chance.getrandbits(32):08x}"
        source = chance.choice(SOURCES)
        about = Conversation(
            id=f"{source}/{native}",
            source=source,
            native_id=native,
            project=chance.choice(projects),
            title=f"Mend the {chance.choice(WORDS)} of the {chance.choice(WORDS)}",
            started_at=moments[0],
            updated_at=moments[-1],
            messages=turns * 6,
            turns=turns,
            finished=True,
            tool_calls=turns * 2,
            tool_results=turns * 2,
            pattern="several tools",
            turns_at=moments,
            models=[chance.choice(MODELS)],
            tools={"Read": turns, "Edit": turns},
            nature="subagent" if number % 10 == 0 else "conversation",
        )
        data = msgspec.json.encode(about).decode()
        yield (
            *(person, number, about.id, native, source, native, source, about.nature),
            *(about.project, about.title, about.started_at, about.updated_at, "present", number),
            data,
        )


def _answers(chance: random.Random) -> list[Answer]:
    """Without times: they count where their conversation was updated."""
    return [
        Answer(
            key=f"answer {chance.getrandbits(64):x}",
            model=chance.choice(MODELS),
            usage=Usage(
                chance.randint(10, 4000), chance.randint(10, 900), chance.randint(0, 90000)
            ),
        )
        for _ in range(chance.randint(2, 12))
    ]


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03}Z"


def _copy(connection: psycopg.Connection[Any], table: str, rows: Iterable[Sequence[Any]]) -> None:
    with connection.cursor().copy(f"COPY {table} FROM STDIN".encode()) as copy:
        for row in rows:
            copy.write_row(row)


WORDS = (
    *("parser", "ledger", "queue", "invoice", "cache", "router", "mailer", "index", "schedule"),
    *("importer", "widget", "session", "archive", "gateway", "renderer", "counter", "calendar"),
)
