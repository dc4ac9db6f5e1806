"""All that is said to the database, read by a parser: no server is needed for it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlglot import exp

import rireki.archive.postgres
from rireki.archive.postgres import statements
from rireki.archive.postgres.questions import PostgresQuestions
from rireki.archive.rows import Row
from rireki.archive.values import Filter
from tests.support.sql_lint import COMMON, lint, lint_schema, schema

ROOT = Path(rireki.archive.postgres.__file__).parent


class Overheard(PostgresQuestions):
    """Answers every question with one number."""

    owner = 7

    def __init__(self) -> None:
        self.questions: list[str] = []
        self.values: list[Sequence[Any] | dict[str, Any]] = []

    def _run(self, question: str, values: Sequence[Any] | dict[str, Any]) -> list[Row]:
        self.questions.append(question)
        self.values.append(values)
        return [(1,)]


FILTERS = (
    Filter(),
    Filter(ids=["a"], source="s", upstream="gone", since="2026", before="2027", limit=3),
    Filter(project="/p", below=False, title="two words", subagents=True, after=("2026", "a")),
    Filter(project="/p", tags=["x", "y"], starred=True, hidden=False),
    Filter(hidden=True, streams=[0, 1]),
)
#: How each question is asked, in each of its forms.
ASKED: dict[str, list[Callable[[Overheard], Any]]] = {
    "orphans": [lambda q: q.orphans()],
    "origins": [lambda q: q.origins(0, 5, True), lambda q: q.origins(0, 5, False)],
    "reopen_origins": [lambda q: q.reopen_origins()],
    "troubles": [lambda q: q.troubles(None)],
    "strands": [lambda q: q.strands("f", "c")],
    "holders": [lambda q: q.holders("f", "c")],
    "shared_strands": [lambda q: q.shared_strands("f")],
    "chunks": [lambda q: q.chunks(1, "lines", 0, 9, "first, data", 5)],
    "weight": [lambda q: q.weight("f", "c")],
    "groups": [lambda q: q.groups(("", ""), 5)],
    "changed": [lambda q: q.changed((0, 0), 5)],
    "between": [
        lambda q: [
            q.between(t, c, 0, 9)
            for t, c in (("removed", "strand"), ("forgotten", "family, at"), ("fact", "kind"))
        ]
    ],
    "taken": [
        lambda q: q.taken("strand", 1, [1], "strand.remote, strand.id"),
        lambda q: q.taken("origin", 1, [1], "origin.remote, origin.id"),
    ],
    "lanes": [lambda q: q.lanes([1])],
    "waiting": [lambda q: q.waiting(("", ""), 5, True)],
    "lacking": [lambda q: q.lacking()],
    "mark_all": [lambda q: q.mark_all(3)],
    "reached": [lambda q: q.reached("c", None)],
    "changes": [lambda q: q.changes(0, 9)],
    "count": [lambda q: q.count()],
    "listed": [lambda q: [q.listed(wanted) for wanted in FILTERS]],
    "links": [lambda q: q.links(None), lambda q: q.links([1])],
    "headings": [
        lambda q: q.headings(True, 5),
        lambda q: q.headings(False, 5, beginning="a"),
        lambda q: q.headings(False, -1, ids=["a"]),
        lambda q: q.headings(False, -1, after=3),
        lambda q: q.headings(False, -1, since="2026"),
    ],
    "missing": [lambda q: q.missing(["a"])],
    "beginning": [lambda q: q.beginning("a")],
    "aliased": [lambda q: q.aliased("a", True)],
    "neighbours": [lambda q: q.neighbours(["a"])],
    "projects": [lambda q: q.projects()],
    "forgotten": [lambda q: q.forgotten(None), lambda q: q.forgotten(["a"])],
    "sightings": [lambda q: q.sightings("/p", True), lambda q: q.sightings("/p", False)],
    "answers": [lambda q: q.answers("", 5, None, None)],
    "curations": [lambda q: q.curations(None), lambda q: q.curations([1])],
    "read_on": [lambda q: q.read_on(None), lambda q: q.read_on([1])],
    "ties": [lambda q: q.ties(1)],
    "named_by": [lambda q: q.named_by("f", "g")],
    "related": [lambda q: q.related([1])],
    "offered": [lambda q: q.offered(1)],
    "title_elsewhere": [lambda q: q.title_elsewhere(1)],
    "elder": [lambda q: q.elder(1)],
}


def test_every_question_is_looked_at() -> None:
    public = {name for name in vars(PostgresQuestions) if not name.startswith("_")}
    assert set(ASKED) == public - {"owner"}


@pytest.mark.parametrize("name", ASKED)
def test_a_question_asks_one_owner(name: str) -> None:
    overheard = Overheard()
    for ask in ASKED[name]:
        ask(overheard)
    assert [(q, wrong) for q in overheard.questions if (wrong := lint(q))] == []


@pytest.mark.parametrize("table", sorted(statements.TABLES))
def test_rows_of_a_table_are_those_of_one_owner(table: str) -> None:
    columns = [column.name for column in schema()[table].find_all(exp.ColumnDef)]
    key = statements.KEYS[table]
    others = ", ".join(name for name in columns if name != "owner")
    said = [
        statements.select(table, others, key, "", True),
        statements.select(table, others, (), key[0], False),
        statements.insert(table, others, True),
        statements.insert(table, others, False),
        statements.update(table, (columns[-1],), key),
        statements.delete(table, ()),
    ]
    assert set(key) <= set(columns)
    assert [(each, wrong) for each in said if (wrong := lint(each))] == []


def plain_statements() -> list[str]:
    """All others that stand in the code as they are."""
    begins = ("SELECT ", "INSERT ", "UPDATE ", "DELETE ")
    return [
        node.value
        for module in sorted(ROOT.glob("*.py"))
        if module.name not in ("questions.py", "statements.py")
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if node.value.strip().startswith(begins) and "pg_" not in node.value
    ]


def test_what_else_is_said_is_looked_at() -> None:
    said = [each for each in plain_statements() if not COMMON & set(each.split())]
    assert len(said) >= 5
    assert [(each, wrong) for each in said if (wrong := lint(each))] == []


def test_the_tables_have_what_every_engine_has() -> None:
    assert lint_schema() == []
    assert set(schema()) == statements.TABLES | {"counter"}


@pytest.mark.parametrize(
    "bad",
    [
        "SELECT id FROM strand WHERE family = %(family)s",
        "SELECT id FROM strand WHERE owner = %(owner)s OR family = %(family)s",
        """SELECT s.id FROM strand s JOIN origin o ON o.id = s.origin
            WHERE s.owner = %(owner)s""",
        """SELECT id FROM strand WHERE owner = %(owner)s AND id IN
                (SELECT strand FROM chunk WHERE lane = %(lane)s)""",
        "DELETE FROM strand WHERE id = %s",
        "UPDATE strand SET key = %s WHERE id = %s",
        "INSERT INTO strand (id, owner) VALUES (%s, %s)",
        "INSERT INTO meta (owner, key) VALUES (%s, %s) ON CONFLICT (key) DO NOTHING",
        "SELECT id FROM conversation WHERE owner = %(owner)s ORDER BY updated_at DESC",
        "SELECT id FROM strand WHERE owner = %(owner)s FOR UPDATE",
        "SELECT nextval('numbers') FROM strand WHERE owner = %(owner)s",
        "SELECT id FROM strand WHERE owner = %(owner)s AND key ILIKE %(key)s",
    ],
)
def test_a_statement_that_some_engine_refuses_is_found(bad: str) -> None:
    assert lint(bad)
