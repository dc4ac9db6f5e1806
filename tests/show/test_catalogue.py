"""Everything rireki says in a terminal is said in Japanese too; programs are told the same in both."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import rireki
from rireki.show.catalogue import language_of, say, speak
from rireki.show.catalogue.terminal import JAPANESE, in_japanese
from rireki.show.catalogue.terminal_errors import JAPANESE as REFUSED
from rireki.show.width import width

ROOT = Path(rireki.__file__).parent
#: Hiragana, katakana or kanji.
JAPANESE_LETTER = re.compile("[\u3041-\u30ff\u4e00-\u9fff]")
ERRORS = {
    *("RirekiError", "NotFound", "Ambiguous", "ArchiveTrouble", "SourceTrouble", "Busy"),
    *("NoCommand", "Trouble"),
}
#: What a terminal can be told of. Libraries for programs (providers, history) speak English.
PACKAGES = ["faces/cli", "drive", "archive", "intake", "live", "search", "show", "sources", "model"]
#: What is joined from sentences that are looked at by themselves.
JOINED = {"GAP: GAP", "GAP: GAP (GAP)", "GAP (GAP)", "GAP cannot be GAP", "GAPKnown sources: GAP."}
#: Counts and units, which are told apart when they are there: one form of each as it is printed.
COUNTED = {
    "! GAP (--full lists them)": "! 2 more troubles (--full lists them)",
    "GAP GAP ago": "3 min ago",
    "GAP in GAP, GAP ms": "3 messages in 2 conversations, 5 ms",
    "GAP to be read again: another process is at it, or was interrupted. 'rireki import' finishes "
    "it.": "2 conversations wait to be read again: another process is at it, or was interrupted. "
    "'rireki import' finishes it.",
    "GAP, or your own words:": "Numbers, or your own words:",
    "Watching GAP in GAP; Ctrl-C ends.": "Watching 2 files in 2 folders; Ctrl-C ends.",
    "searched GAPGAP": "searched 2 conversations, up to 2026-01-01 00:00",
}


def modules(*packages: str) -> Iterator[ast.Module]:
    for package in packages:
        for module in sorted((ROOT / package).rglob("*.py")):
            yield ast.parse(module.read_text(encoding="utf-8"))


def calls(*packages: str) -> Iterator[tuple[str, ast.Call]]:
    for module in modules(*packages):
        for node in ast.walk(module):
            if isinstance(node, ast.Call):
                function = node.func
                name = function.id if isinstance(function, ast.Name) else ""
                yield (function.attr if isinstance(function, ast.Attribute) else name), node


def spelled(node: ast.expr) -> str:
    """A text as it stands in the code, with something in its gaps."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    pieces = node.values if isinstance(node, ast.JoinedStr) else []
    return "".join(str(p.value) if isinstance(p, ast.Constant) else "GAP" for p in pieces)


def is_said(text: str) -> bool:
    text = COUNTED.get(text, text)
    has_words = re.search("[a-z]{2}", text.replace("GAP", ""))
    return not has_words or text in JOINED or bool(JAPANESE_LETTER.search(in_japanese(text)))


def texts_in(node: ast.expr) -> list[str]:
    choices = [node.body, node.orelse] if isinstance(node, ast.IfExp) else [node]
    return [text for choice in choices if (text := spelled(choice))]


def test_every_sentence_of_the_terminal_has_a_japanese_one() -> None:
    told = [
        text
        for name, call in calls("faces/cli", "show")
        if name == "say" and isinstance(call.func, ast.Name)
        for argument in call.args
        for text in texts_in(argument)
    ]
    assert len(told) > 100
    assert sorted({text for text in told if not is_said(text)}) == []


def test_every_error_and_hint_has_a_japanese_one() -> None:
    told = [
        text
        for name, call in calls(*PACKAGES)
        if name in ERRORS
        # The first argument of a trouble is its place.
        for argument in call.args[name == "Trouble" :]
        for text in texts_in(argument)
    ]
    assert len(told) > 150
    assert sorted({text for text in told if not is_said(text)}) == []


def test_nothing_is_echoed_that_was_not_translated() -> None:
    bare = [
        text
        for name, call in calls("faces/cli")
        if name == "echo"
        for argument in call.args[:1]
        for text in texts_in(argument)
        # Addresses, ids, codes of providers: nothing but what stands in the gaps.
        if re.search("[a-z]{4}", text.replace("GAP", ""))
    ]
    assert [text for text in bare if "(message" not in text] == []


def test_gaps_are_filled_in_both_languages() -> None:
    for english, japanese in (JAPANESE | REFUSED).items():
        gaps = [set(re.findall(r"\{(\w+)\}", text)) for text in (english, japanese)]
        assert gaps[0] == gaps[1], english


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "ja_JP.UTF-8"}, "ja"),
        ({"LANG": "ja"}, "ja"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LANG": "ja_JP.UTF-8", "LC_MESSAGES": "en_US.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "ja_JP.eucJP"}, "ja"),
        ({"LANG": "ja_JP.UTF-8", "LC_MESSAGES": "ja_JP.UTF-8", "LC_ALL": "C.UTF-8"}, "en"),
        ({"LANG": "C", "LC_ALL": "ja_JP.UTF-8"}, "ja"),
        ({"LANG": "ja_JP.UTF-8", "LC_ALL": ""}, "ja"),
        ({"LANG": "jam_JM"}, "en"),
    ],
)
def test_the_environment_decides(environment: dict[str, str], language: str) -> None:
    assert language_of(environment) == language


def test_a_sentence_of_ours_inside_another_is_translated_and_words_of_others_are_not() -> None:
    try:
        speak("ja")
        assert say("nothing new in 3 files") == "新しいものはありません（3 ファイル）"
        assert say("nothing found for 3 files") == "「3 files」は見つかりませんでした"
        assert say("a line of a transcript") == "a line of a transcript"
    finally:
        speak("en")
    assert say("nothing new in 3 files") == "nothing new in 3 files"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("demo")
    environment = {"HOME": str(folder), "PATH": "/usr/bin:/bin", "PYTHONUTF8": "1"}
    told = _run(environment, "demo", "--dir", str(folder / "demo"), "--json").stdout
    return {**environment, "RIREKI_ARCHIVE": json.loads(told)["archive"]}


def _run(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rireki", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


COMMANDS = [
    ["list"],
    ["list", "--source", "nonsense"],
    ["search", "error"],
    ["search", "zyzzyva"],
    ["stats"],
    ["sources"],
    ["verify"],
    ["import"],
    ["show", "nowhere"],
    ["resume", "claude"],
    ["service", "status"],
    ["serach"],
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_japanese_terminal_is_told_in_japanese(
    demo: dict[str, str], arguments: list[str]
) -> None:
    spoken = _run(demo | {"LANG": "ja_JP.UTF-8"}, *arguments)
    plain = _run(demo, *arguments)
    assert spoken.returncode == plain.returncode
    told = spoken.stdout + spoken.stderr
    assert JAPANESE_LETTER.search(told) and told != plain.stdout + plain.stderr
    left = re.findall(
        r"^(?:error|hint|note):.*|^\s*(?:found|archived|besides|searched) .*", told, re.MULTILINE
    )
    assert left == []


@pytest.mark.parametrize("arguments", [["list"], ["search", "error"], ["stats"], ["sources"]])
def test_programs_are_told_the_same_in_every_language(
    demo: dict[str, str], arguments: list[str]
) -> None:
    spoken, plain = (
        re.sub(r'"milliseconds":[\d.]+', "", _run(each, *arguments, "--json").stdout)
        for each in (demo | {"LANG": "ja_JP.UTF-8"}, demo)
    )
    assert spoken == plain
    assert _run(demo | {"LANG": "ja_JP.UTF-8"}, "--help").stdout == _run(demo, "--help").stdout


def test_japanese_words_take_their_room(demo: dict[str, str]) -> None:
    rows = _run(demo | {"LANG": "ja_JP.UTF-8", "COLUMNS": "120"}, "list").stdout.splitlines()
    ends = {width(row.split("前")[0]) for row in rows if " 日前 " in row}
    assert len(ends) == 1, "times end in one column"
