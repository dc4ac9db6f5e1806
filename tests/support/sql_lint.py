"""What a statement must have so that it means the same, and finds its rows on one node, on
PostgreSQL, Citus, CockroachDB and YugabyteDB."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

import sqlglot
from sqlglot import exp

__all__ = ["COMMON", "lint", "lint_schema", "schema"]

#: Of no owner: what processes agree about.
COMMON = frozenset({"lease", "schema_step"})
#: What one of them lacks, or does otherwise.
FORBIDDEN = re.compile(
    r"\b(ADVISORY|COPY|DEFERRABLE|ENUM|GENERATED|GLOB|ILIKE|LISTEN|LOCK\s+TABLE|NEXTVAL|NOTIFY|"
    r"RECURSIVE|REFERENCES|RULE|SEQUENCE|SERIAL|BIGSERIAL|SETVAL|SIMILAR|TEMP|TEMPORARY|TRIGGER|"
    r"TRUNCATE|UNLOGGED)\b",
    re.IGNORECASE,
)
_STEPS = files("rireki.archive.postgres") / "schema"
_PARAMETER = re.compile(r"%\((\w+)\)s|%s")


@cache
def schema() -> dict[str, exp.Create]:
    """Every table, as it is made."""
    found = {}
    for file in sorted(_STEPS.iterdir(), key=str):
        for made in sqlglot.parse(file.read_text(encoding="utf-8"), dialect="postgres"):
            if isinstance(made, exp.Create) and made.kind == "TABLE":
                found[next(made.find_all(exp.Table)).name] = made
    return found


def lint(statement: str) -> list[str]:
    """What is wrong with it."""
    wrong = [f"forbidden: {word}" for word in FORBIDDEN.findall(statement)]
    # Every parameter as a literal that tells its name: %(owner)s, and a first %s, are the owner's.
    parsed = sqlglot.parse_one(_PARAMETER.sub(_named, statement), dialect="postgres")
    return [*wrong, *_owners(parsed), *_conflicts(parsed), *_orders(parsed), *_locks(parsed)]


def _named(found: re.Match[str]) -> str:
    return f"'${found[1] or 'value'}'"


def _owners(parsed: exp.Expr) -> Iterator[str]:
    if isinstance(parsed, exp.Insert):
        columns = [column.name for column in parsed.this.expressions]
        if _table(parsed) not in COMMON and columns[:1] != ["owner"]:
            yield f"rows of {_table(parsed)} without an owner"
    for table in parsed.find_all(exp.Table):
        if table.name not in schema() or _is_target(table, parsed):
            continue
        if not any(_is_owned(each, table) for each in _equalities(table)):
            yield f"{table.alias_or_name} without an owner"


def _is_target(table: exp.Table, parsed: exp.Expr) -> bool:
    """Where rows are put."""
    return isinstance(parsed, exp.Insert) and table is _target(parsed)


def _target(parsed: exp.Insert) -> exp.Expr:
    target: exp.Expr = parsed.this
    return next(target.find_all(exp.Table))


def _table(parsed: exp.Insert) -> str:
    return str(_target(parsed).name)


def _equalities(table: exp.Table) -> Iterator[exp.EQ]:
    """What has to hold of a row of a table: in its join, or in the WHERE of its statement."""
    join = table.find_ancestor(exp.Join, exp.Select)
    if isinstance(join, exp.Join) and join.args.get("on"):
        yield from _all_of(join.args["on"])
    statement = table.find_ancestor(exp.Select, exp.Update, exp.Delete)
    where = statement.args.get("where") if statement else None
    if where is not None:
        yield from _all_of(where.this)


def _all_of(condition: exp.Expr) -> Iterator[exp.EQ]:
    """What is joined by AND: of an OR nothing holds for certain."""
    condition = condition.unnest()
    if isinstance(condition, exp.And):
        yield from _all_of(condition.left)
        yield from _all_of(condition.right)
    elif isinstance(condition, exp.EQ):
        yield condition


def _is_owned(equality: exp.EQ, table: exp.Table) -> bool:
    column, value = equality.left, equality.right
    if not isinstance(column, exp.Column) or column.name != "owner":
        return False
    return column.table in ("", table.alias_or_name) and value.name in ("$owner", "$value")


def _conflicts(parsed: exp.Expr) -> Iterator[str]:
    for conflict in parsed.find_all(exp.OnConflict):
        keys = [key.name for key in conflict.args.get("conflict_keys") or ()]
        table = conflict.find_ancestor(exp.Insert)
        if isinstance(table, exp.Insert) and _table(table) not in COMMON and keys[:1] != ["owner"]:
            yield f"a conflict without an owner: {keys}"


def _orders(parsed: exp.Expr) -> Iterator[str]:
    """Where NULL stands is written: SQLite has it below everything, PostgreSQL above."""
    columns = [each for made in schema().values() for each in made.find_all(exp.ColumnDef)]
    filled = {each.name for each in columns if each.find(exp.NotNullColumnConstraint)}
    nullable = {each.name for each in columns} - filled - {"owner"}
    for ordered in parsed.find_all(exp.Ordered):
        column = ordered.this
        bare = isinstance(column, exp.Column) and column.name in nullable
        if bare and "NULLS" not in ordered.sql("postgres") and not _excludes(ordered, column):
            yield f"the place of NULL among {column.name} is not written"


def _excludes(ordered: exp.Ordered, column: exp.Column) -> bool:
    """Whether rows without it are left out."""
    select = ordered.find_ancestor(exp.Select)
    where = select.args.get("where") if select else None
    if where is None:
        return False
    compared = where.find_all(exp.GTE, exp.GT, exp.LT, exp.LTE, exp.Is, exp.Tuple)
    return any(column.name in {c.name for c in each.find_all(exp.Column)} for each in compared)


def _locks(parsed: exp.Expr) -> Iterator[str]:
    for lock in parsed.find_all(exp.Lock):
        select = lock.find_ancestor(exp.Select)
        tables = {table.name for table in select.find_all(exp.Table)} if select else set()
        if tables != {"counter"}:
            yield f"locked: {sorted(tables)}"


def lint_schema() -> list[str]:
    wrong = []
    for file in sorted(_STEPS.iterdir(), key=str):
        text = file.read_text(encoding="utf-8")
        plain = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
        wrong += [f"forbidden: {word}" for word in FORBIDDEN.findall(plain)]
        for made in sqlglot.parse(plain, dialect="postgres"):
            if made is not None:
                wrong += _made_wrong(made)
    return wrong


def _made_wrong(made: exp.Expr) -> Iterator[str]:
    said = made.sql("postgres")
    if " IF NOT EXISTS " not in said:
        yield f"not to be repeated: {said[:60]}"
    if isinstance(made, exp.Create) and made.kind == "INDEX":
        first = next(made.find_all(exp.Ordered))
        # What a team's server asks of all archives together is named so.
        if first.this.name != "owner" and "_of_all_by_" not in said:
            yield f"an index without an owner: {said}"
    for key in made.find_all(exp.PrimaryKey, exp.UniqueColumnConstraint):
        names = [each.name for each in key.find_all(exp.Identifier)]
        if names[:1] != ["owner"]:
            yield f"a key without an owner: {key.sql('postgres')} in {said[:60]}"
    for column in made.find_all(exp.ColumnDef):
        if column.kind is not None and column.kind.this == exp.DataType.Type.TEXT:
            collation = column.find(exp.CollateColumnConstraint)
            if collation is None or collation.this.name != "C":
                yield f"text in the order of a language: {column.sql('postgres')}"
