"""Every error has its words in every language, and every value that they need."""

from __future__ import annotations

import ast
import json
import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

import rireki
from rireki.errors import NotFound, RirekiError, SourceTrouble, Wording
from rireki.errors.catalogues import catalogue, reworded
from rireki.model.conversation import Trouble
from rireki.search.language.query import QueryError
from rireki.show.catalogue import LANGUAGES

ROOT = Path(rireki.__file__).parent
CODE = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)+")
#: What is made of codes besides errors: functions that pass code and values on.
MADE_BY = {"fail", "instead", "of"}
#: The hint may always be another one; where a query is wrong is always said.
ALWAYS = {"hint", "at"}
#: What the archive says of itself, in plain words that other languages know again.
PLAIN = ("row-not-as-written", "rows-damaged", "projection-damaged")


def gaps(lines: tuple[str, str]) -> set[str]:
    return {name for line in lines for _, name, _, _ in Formatter().parse(line) if name}


def kinds() -> set[str]:
    found: set[str] = set(MADE_BY)
    todo: list[type[Wording]] = [Wording]
    found.add("Wording")
    while todo:
        below = todo.pop().__subclasses__()
        todo += below
        found |= {kind.__name__ for kind in below}
    return found


def raised() -> Iterator[tuple[str, str, set[str], bool]]:
    """Where a code is used: the place, the code, the values, and whether others are passed on."""
    names = kinds()
    for module in sorted(ROOT.rglob("*.py")):
        for call in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if not isinstance(call, ast.Call):
                continue
            name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
            name = call.func.id if isinstance(call.func, ast.Name) else name
            is_super = name == "__init__" and ast.unparse(call.func).startswith("super()")
            if name in names or is_super:
                for argument in [*call.args, *(k.value for k in call.keywords if k.arg == "code")]:
                    for code in codes_in(argument):
                        values = {keyword.arg or "" for keyword in call.keywords} - {"code"}
                        more = "" in values or name == "instead"
                        yield f"{module.name}:{call.lineno}", code, values - {""}, more


def codes_in(node: ast.expr) -> list[str]:
    if isinstance(node, ast.IfExp):
        return codes_in(node.body) + codes_in(node.orelse)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value] if CODE.fullmatch(node.value) else []
    return []


ENGLISH = catalogue(Wording.catalogues, "en")


def test_every_code_has_words_and_gets_the_values_they_need() -> None:
    wrong = []
    for place, code, values, more in raised():
        if code not in ENGLISH:
            wrong.append(f"{place}: no words for {code}")
            continue
        needed = gaps(ENGLISH[code])
        missing, unused = needed - values - ALWAYS, values - needed - ALWAYS
        if unused or (missing and not more):
            wrong.append(f"{place}: {code} lacks {sorted(missing)}, does not use {sorted(unused)}")
    assert wrong == []


def test_nobody_words_an_error_where_it_arises() -> None:
    """Words belong into errors/en.json and ja.json, under a code: `Trouble.of(place, "code", …)`."""
    worded = [
        f"{module.relative_to(ROOT)}:{call.lineno}"
        for module in sorted(ROOT.rglob("*.py"))
        if "archive" not in module.relative_to(ROOT).parts
        for call in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and ast.unparse(call.func) in kinds() | {"Trouble"}
        # The place of a trouble comes first.
        for argument in call.args[isinstance(call.func, ast.Name) and call.func.id == "Trouble" :]
        if any(
            isinstance(node, ast.Constant) and " " in str(node.value) for node in ast.walk(argument)
        )
    ]
    assert worded == []


def test_no_words_are_left_over() -> None:
    written = "".join(module.read_text(encoding="utf-8") for module in ROOT.rglob("*.py"))
    assert [code for code in ENGLISH if f'"{code}"' not in written] == [*PLAIN]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_says_the_same(language: str) -> None:
    other = catalogue(Wording.catalogues, language)
    assert list(other) == list(ENGLISH)
    for code, lines in ENGLISH.items():
        assert gaps(other[code]) == gaps(lines), code
        assert [bool(line) for line in other[code]] == [bool(line) for line in lines], code


def test_an_error_is_worded_in_the_language_asked_for() -> None:
    error = NotFound("no-source", name="kirro", names=["kiro", "amazon-q"])
    assert str(error) == error.message == "there is no source 'kirro'"
    assert error.hint == "Known sources: kiro, amazon-q."
    assert error.lines("ja") == (
        "'kirro' という取り込み元はありません",
        "使える取り込み元: kiro、amazon-q",
    )
    assert (error.code, error.values["name"]) == ("no-source", "kirro")
    # A language that nobody has written is English.
    assert error.lines("de") == error.lines("en")


def test_a_sentence_within_another_follows_its_language() -> None:
    why = Wording("old-format", version=3, known=9)
    error = RirekiError("archive-read-only", path="a.db", why=why, name="a.db")
    assert "(it has format 3 and has to be brought to 9 first)" in error.message
    assert "（形式 3 を 9 に更新する必要があります）" in error.lines("ja")[0]


def test_names_in_a_row_are_joined_as_the_language_does() -> None:
    error = QueryError("query-which-source", 4, 1, value="k", names=["kiro", "kiro-ide", "kimi"])
    assert error.message == "source:k at character 5 may be kiro, kiro-ide or kimi"
    assert "kiro、kiro-ide、kimi" in error.lines("ja")[0]


def test_plain_words_need_no_catalogue() -> None:
    error = SourceTrouble("the {file} is odd", hint="Look at it.")
    assert error.lines("ja") == error.lines("en") == ("the {file} is odd", "Look at it.")


def test_errors_of_another_package_may_have_their_own_words(tmp_path: Path) -> None:
    for language, words in (("en", "{n} rows are odd"), ("ja", "おかしな行が {n} 件あります")):
        text = json.dumps({"odd-rows": [words]}, ensure_ascii=False)
        (tmp_path / f"{language}.json").write_text(text, encoding="utf-8")

    class OddRows(SourceTrouble):
        catalogues = tmp_path

    assert OddRows("odd-rows", n=2).lines("ja") == ("おかしな行が 2 件あります", "")
    assert str(OddRows("odd-rows", n=2)) == "2 rows are odd"


def test_an_error_goes_from_process_to_process() -> None:
    error = QueryError("query-which-source", 4, 1, value="k", names=["kiro", "kimi"])
    again = pickle.loads(pickle.dumps(error))
    assert again.lines() == error.lines() and again.position == 4


def test_what_was_stored_in_english_is_known_again() -> None:
    stored = Trouble.of("a.db", Wording("database-locked", place="a.db", why="busy"))
    assert reworded(stored.message, "ja") == "a.db：ロックされています（busy）"
    assert reworded(stored.message, "en") == stored.message
    error = SourceTrouble(stored.message, stored.hint)
    assert error.lines("ja") == Wording("database-locked", place="a.db", why="busy").lines("ja")
