"""Everything rireki says in a terminal is said in Japanese too; programs are told the same in both."""

from __future__ import annotations

import ast
import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple, get_args
from unittest.mock import patch

import pytest
from click.testing import CliRunner

import rireki
from rireki.archive.open import open_archive
from rireki.cli.main import run
from rireki.intake.interpret import read_conversation
from rireki.intake.sweep import import_history
from rireki.model.message import Author, Display
from rireki.model.parts import Attachment, ToolCall, ToolResult, Unknown
from rireki.providers.notes import CODES
from rireki.show.catalogue import language_of, say, speak
from rireki.show.catalogue.readings import JAPANESE as READINGS
from rireki.show.catalogue.readings import reading_in_japanese
from rireki.show.catalogue.terminal import JAPANESE, in_japanese
from rireki.show.decisions import explained
from rireki.show.formats import FormatOptions, write
from rireki.show.transcript import Transcript
from rireki.show.width import width
from rireki.sources import registry
from rireki.sources.amazon_q import pending
from rireki.sources.amazon_q.messages import REWRITTEN
from rireki.sources.amazon_q.pending import TASK, TYPED_PROMPT
from rireki.sources.kit.places import Places
from tests.golden import DRIVEN, FIXTURES, HOMES
from tests.show.made import conversation, message

ROOT = Path(rireki.__file__).parent
#: Hiragana, katakana or kanji.
JAPANESE_LETTER = re.compile("[\u3041-\u30ff\u4e00-\u9fff]")
#: What is joined from sentences that are looked at by themselves.
JOINED = {"GAP: GAP", "GAP: GAP (GAP)", "GAP (GAP)", "GAP cannot be GAP", "GAPKnown sources: GAP."}
#: Counts and units, which are told apart when they are there: one form of each as it is printed.
COUNTED = {
    "Masked: GAP in GAP": "Masked: 2 secrets in 3 places",
    "GAP written": "2 conversations written",
    "! GAP; --json tells them all": "! 2 more remarks; --json tells them all",
    "! GAP (--full lists them)": "! 2 more troubles (--full lists them)",
    "GAP GAP ago": "3 min ago",
    "GAP in GAP, GAP ms": "3 messages in 2 conversations, 5 ms",
    "GAP to be read again: another process is at it, or was interrupted. 'rireki import' finishes "
    "it.": "2 conversations wait to be read again: another process is at it, or was interrupted. "
    "'rireki import' finishes it.",
    "GAP, or your own words:": "Numbers, or your own words:",
    "Watching GAP in GAP; Ctrl-C ends.": "Watching 2 files in 2 folders; Ctrl-C ends.",
    "tokens: GAP": "tokens: 8 in, ≥ 76 out, 9 from cache, 7 into cache",
    "GAP: GAP, GAP, checked.": "bk: 2 conversations, 1 other file, 3 KB, checked.",
    "  ! GAP: 'rireki sources' lists them": "  ! 2 more troubles: 'rireki sources' lists them",
    "A keeper is runningGAP.": "A keeper is running as process 7.",
    " and GAP": " and 2 sub-agents",
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
    told = in_japanese(reading_in_japanese(text))
    return not has_words or text in JOINED or bool(JAPANESE_LETTER.search(told))


def texts_in(node: ast.expr) -> list[str]:
    if isinstance(node, ast.IfExp):
        return texts_in(node.body) + texts_in(node.orelse)
    if isinstance(node, ast.BoolOp):
        return [text for value in node.values for text in texts_in(value)]
    return [text] if (text := spelled(node)) else []


def test_every_sentence_of_the_terminal_has_a_japanese_one() -> None:
    told = [
        text
        for name, call in calls("cli", "show")
        if name in ("say", "say_label", "say_reading") and isinstance(call.func, ast.Name)
        for argument in call.args
        for text in texts_in(argument)
    ]
    assert len(told) > 100
    assert sorted({text for text in told if not is_said(text)}) == []


def test_nothing_is_echoed_that_was_not_translated() -> None:
    bare = [
        text
        for name, call in calls("cli")
        if name in ("echo", "ask", "hint")
        for argument in call.args[:1]
        for text in texts_in(argument)
    ]
    bare += [
        text
        for module in modules("cli")
        for node in ast.walk(module)
        if isinstance(node, ast.Yield) and node.value is not None
        for text in texts_in(node.value)
    ]
    # Addresses, ids, figures: nothing but what stands in the gaps.
    assert [text for text in bare if re.search("[a-z]{4}", text.replace("GAP", ""))] == []


def test_why_an_entry_is_shown_so_is_told_in_japanese() -> None:
    told = {
        *(
            why
            for name in registry.names()
            for why in getattr(registry.reader(name), "reasons", {}).values()
        ),
        *(rule.name for rule in pending.RULES),
        *(TYPED_PROMPT, REWRITTEN, TASK),
        *get_args(Author),
        *get_args(Display),
    }
    assert len(told) > 45
    assert sorted(text for text in told if not is_said(text)) == []


def test_what_a_format_could_not_carry_is_told_in_japanese() -> None:
    noted = ["otlp: the collector did not take 3 spans"]
    parts = [
        Attachment("image/png", "", "a b.png"),
        Attachment("application/pdf", "d"),
        ToolCall("A", "Bash", "ls"),
        ToolResult("nobody"),
        Unknown("riddle"),
    ]
    told = [message("1", parts=parts), message("2", text="left", abandoned=True)]
    child = Transcript(conversation(), [])
    options = FormatOptions(note=noted.append, attachment_bytes=lambda part: part.digest.encode())
    for form in ("atif", "sts"):
        assert [*write(form, Transcript(conversation(), told, [child]), options)]
    assert len(noted) > 8 and [sentence for sentence in noted if not is_said(sentence)] == []


#: Where readers say something of their own: by the function, the argument with the words.
READERS_SAY = {
    "Notice": 0,
    "ChipContent": 0,
    "divider": 1,
    "_divide": 0,
    "pending": 4,
    "_chip": 1,
    "TextRule": 1,
    "tagged": 1,
    "say": 5,
}
#: Words of a source before a colon of ours, or one word of it in a sentence of ours.
_OF_THE_SOURCE = {
    *("GAP (GAP)", "GAP: GAP", "GAP", "@GAP: GAP", "task GAP: GAP", "task GAP", "from GAP"),
    *(
        "GAP for GAP",
        "The app GAP this threadGAP",
        "plan approvedGAP",
        "GAP by GAP",
        "GAPGAPGAPGAP",
    ),
}


def test_what_readers_call_a_message_and_note_in_it_is_told_in_japanese() -> None:
    """Readers have no `say`: what they write is translated where it is shown, by its words alone."""
    told = {
        text
        for name, call in calls("sources")
        for argument in [
            *call.args[READERS_SAY.get(name, 99) :][:1],
            *(keyword.value for keyword in call.keywords if keyword.arg == "label"),
        ]
        for text in texts_in(argument)
    }
    told |= {
        text
        for module in modules("sources")
        for node in ast.walk(module)
        if isinstance(node, ast.Assign) and "label" in ast.unparse(node.targets[0])
        for text in texts_in(node.value)
    }
    # A note is one sentence; a label may be a word of ours before words of theirs.
    heads = {
        text if is_said(text) else text.partition(": GAP")[0] for text in told - _OF_THE_SOURCE
    }
    assert len(heads) > 60
    assert sorted(text for text in heads if not is_said(text)) == []


#: What stands in the fixtures where readers say what a message is: names of tools, of commands and of
#: things that only the source knows.
_A_NAME = re.compile(
    r"/.*|! .*|[a-z]+(?:_[a-z]+)+|[A-Z][A-Za-z]+|5 steps|weather|date|model|environment|instructions"
)


def test_every_rule_and_label_of_real_histories_is_told_in_japanese(tmp_path: Path) -> None:
    found: set[str] = set()
    archive = open_archive(
        tmp_path / "a.sqlite3", create=True, clock=lambda: "2026-01-01T00:00:00Z"
    )
    with closing(archive):
        for home in (DRIVEN, *HOMES):
            import_history(archive, places=Places.at(home))
        stores = [path for path in (FIXTURES / "amazon-q").iterdir() if path.is_dir()]
        paths = [*stores, *(FIXTURES / "chatkit").glob("*.sqlite3")]
        paths += [FIXTURES / "rireki" / "histories"]
        import_history(archive, places=Places.at(tmp_path), paths=sorted(paths))
        for id in {each.id for each in archive.headings()}:
            reading = read_conversation(archive, archive.find(id))
            about = reading.conversation
            for message in reading.messages():
                found.add((message.label or "").partition(": ")[0])
            found |= {decision.why for decision in explained(about, reading.messages())}
    assert len(found) > 80
    left = {text for text in found if not is_said(text) and not _A_NAME.fullmatch(text)}
    assert sorted(left) == []


def test_what_a_provider_lacks_is_told_in_japanese() -> None:
    assert sorted(text for text in CODES.values() if not is_said(text)) == []
    told = f"gemini: same-role (message 1, 2, 3 and 4 more): {CODES['same-role']}"
    assert in_japanese(told) == (
        "gemini: same-role（メッセージ 1、2、3 ほか 4 件）: "
        "書き出しでは、同じ役割の隣り合うメッセージをまとめます。"
    )


def test_what_was_seen_at_a_place_is_told_in_japanese() -> None:
    told = {
        text
        for name, call in calls("sources", "intake")
        if name == "Scanned" and len(call.args) > 3
        for text in texts_in(call.args[3])
    }
    assigned = {
        text
        for module in modules("sources")
        for node in ast.walk(module)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id in ("note", "QUIET", "NOTHING_THERE")
        for text in texts_in(node.value)
    }
    assert "it cannot be read" in told and "nothing there" in assigned
    assert sorted(text for text in told | assigned if not is_said(text)) == []


@pytest.mark.parametrize(
    ("told", "japanese"),
    [
        ("No such option '--nope'.", "'--nope' というオプションはありません。"),
        (
            "No such option: --limt Did you mean --limit?",
            "--limt というオプションはありません。--limit のことでしょうか。",
        ),
        (
            "Invalid value for '--limit': 'two words' is not a valid integer range.",
            "'--limit' の値が正しくありません: 'two words' は整数ではありません。",
        ),
        ("Missing argument 'ID'.", "引数 'ID' が必要です。"),
        ("Got unexpected extra arguments (a b)", "余分な引数があります（a b）"),
        (
            "tokens: 8 in, ≥ 76 out, 9 from cache, 7 into cache",
            "トークン: 入力 8、出力 ≥ 76、キャッシュから 9、キャッシュへ 7",
        ),
        (" and 2 sub-agents", "、サブエージェント 2 件"),
        ("3 prompts from before rireki was restarted", "rireki の再起動前の入力 3 件"),
    ],
)
def test_longer_sentences_are_taken_as_a_whole(told: str, japanese: str) -> None:
    assert in_japanese(told) == japanese


def test_gaps_are_filled_in_both_languages() -> None:
    for english, japanese in (JAPANESE | READINGS).items():
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


class Told(NamedTuple):
    stdout: str
    stderr: str
    returncode: int


def _run(environment: dict[str, str], *arguments: str) -> Told:
    """A command as a terminal of this environment would start it, in this process."""
    with patch.dict(os.environ, environment, clear=True), CliRunner().isolation() as (out, err, _):
        try:
            code = run(arguments)
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            speak("en")
        return Told(out.getvalue().decode(), err.getvalue().decode(), code)


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
    ["explain", "5a7c", "--all"],
    ["explain", "5a7c", "--compare"],
    ["explain", "406e"],
    ["show", "5a7c"],
    ["show", "5a7c", "--format", "gemini"],
    ["search", "error", "--html", "--context", "1"],
    ["import", "--check"],
    ["backup", "BACKUP"],
    ["token", "--new"],
    ["list", "--nope"],
    ["list", "--limit", "x"],
    ["list", "--upstream", "x"],
    ["list", "one", "two"],
    ["show"],
    ["service"],
    ["search", "--limt", "3"],
    ["chatkit", "adopt", "nowhere.db"],
    ["explain", "5a7c", "--all", "--no-pager"],
]
#: Words of ours that would stand in what is told if a sentence were left in English.
LEFT = re.compile(
    r"^(?:error|hint|note):.*|^\s*(?:found|archived|besides|searched) .*"
    r"|^(?:Usage|Try|Error).*|\bfrom cache\b|\banswers\b|\bentries\b|\bby (?:person|text)\b"
    r"|\byour message\b|\btyped prompt\b|\bThe copy\b|\bnothing there\b|\bchecked\.$"
    r"|\(result\)|\(and \d+ more\)|\(thinking\)|\[attachment:"
    r"|\bconversations?\b|<p class=.neighbour.>(?:you|agent|tool|program):",
    re.MULTILINE,
)


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_japanese_terminal_is_told_in_japanese(
    demo: dict[str, str], arguments: list[str], tmp_path: Path
) -> None:
    names = [[each.replace("BACKUP", str(tmp_path / name)) for each in arguments] for name in "ab"]
    spoken = _run(demo | {"LANG": "ja_JP.UTF-8"}, *names[0])
    plain = _run(demo, *names[1])
    assert spoken.returncode == plain.returncode
    told = spoken.stdout + spoken.stderr
    assert JAPANESE_LETTER.search(told) and told != plain.stdout + plain.stderr
    assert LEFT.findall(told) == []


@pytest.mark.parametrize(
    "arguments",
    [["list"], ["search", "error"], ["stats"], ["sources"], ["explain", "5a7c", "--compare"]],
)
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


def test_japanese_tables_stand_in_columns(demo: dict[str, str]) -> None:
    spoken = demo | {"LANG": "ja_JP.UTF-8", "COLUMNS": "120"}
    *tokens, legend = _run(spoken, "stats").stdout.partition("\nトークン\n")[2].splitlines()
    assert legend.startswith("  ≥ ")
    assert len(tokens) > 1 and {width(row) for row in tokens} == {width(tokens[0])}
    rows = _run(spoken, "explain", "5a7c", "--compare").stdout.splitlines()
    head = next(row for row in rows if row.endswith("理由"))
    chip = next(row for row in rows if "入力されたコマンド ·" in row)
    assert width(head.partition("理由")[0]) == width(chip.partition("入力されたコマンド")[0])
    told = _run(spoken, "explain", "5a7c", "--all").stdout.splitlines()
    whys = {width(row.partition(" user · ")[0]) for row in told if " user · " in row}
    assert len(whys) == 1
