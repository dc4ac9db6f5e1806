"""What is asked of all archives together: listed, read by a parser, and each says who may see it."""

from __future__ import annotations

import re

import pytest
import sqlglot
from sqlglot import exp

from rireki.team import statements
from rireki.team.statements import ACROSS
from tests.support.sql_lint import FORBIDDEN, schema

#: Of rows that were found before, by a statement that asked, or of no archive.
ASKED_BEFORE = {
    *(statements.TEAMS, statements.OWN_TEAMS, statements.CURATIONS, statements.LINKS),
    *(statements.AUDIENCE, statements.PEOPLE),
}
#: Counted for everybody, apart for each audience: who asks is given those that are his.
APART = {each for each in ACROSS if "string_agg(team" in each}
PARAMETER = re.compile(r"%\((\w+)\)s")


def parsed(statement: str) -> exp.Expr:
    return sqlglot.parse_one(PARAMETER.sub(r"'$\1'", statement), dialect="postgres")


def test_every_statement_over_all_archives_is_listed() -> None:
    said = {
        name
        for name, value in vars(statements).items()
        if isinstance(value, str) and value.lstrip().startswith("SELECT")
    }
    begun = {each.strip()[:40] for each in ACROSS}
    assert {name for name in said if getattr(statements, name).strip()[:40] not in begun} == set()


@pytest.mark.parametrize("statement", ACROSS)
def test_rows_of_an_archive_are_joined_by_their_owner(statement: str) -> None:
    assert FORBIDDEN.findall(statement) == []
    for select in parsed(statement).find_all(exp.Select):
        tables = [each for each in select.find_all(exp.Table) if each.name in schema()]
        mine = [each for each in tables if each.find_ancestor(exp.Select) is select]
        owners = {
            each.alias_or_name
            for each in mine
            if f"{each.alias_or_name}.owner = " in select.sql("postgres")
            or f" = {each.alias_or_name}.owner" in select.sql("postgres")
        }
        assert {each.alias_or_name for each in mine[1:]} <= owners, select.sql("postgres")


@pytest.mark.parametrize("statement", [each for each in ACROSS if each not in ASKED_BEFORE | APART])
def test_rights_stand_in_the_statement_itself(statement: str) -> None:
    for word in ("team_audience s", "m.person = %(reader)s", "s.grouping = c.", "%(own)s"):
        assert word in statement


@pytest.mark.parametrize("statement", [each for each in ACROSS if "LIMIT" not in each])
def test_what_has_no_limit_asks_of_given_rows_or_counts(statement: str) -> None:
    given = ("string_agg(team", "%(ids)s", "%(owners)s", "%(grouping)s", "team_account")
    assert any(each in statement for each in given)
