"""The document that stands alone, and everything the fixtures hold, told as HTML."""

from __future__ import annotations

import ast
import base64
import re
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import get_args

import pytest
from click.testing import CliRunner

from rireki.archive.base import Archive, Filter
from rireki.cli import main as face
from rireki.intake.interpret import read_conversation
from rireki.intake.sweep import import_history
from rireki.model.message import Message
from rireki.model.parts import Attachment, ResultStatus, ToolCall
from rireki.show.heading import RELATIONS
from rireki.show.html.export import export_html
from rireki.show.html.page import JAPANESE, RenderOptions, say
from rireki.show.html.render import TranscriptRenderer
from rireki.show.transcript import NEVER_ANSWERED, Transcript, choose
from rireki.show.words import NAMES as AUTHORS
from rireki.show.words import source_name
from rireki.sources.kit.places import Places
from tests.show.made import call, conversation, message, result
from tests.support.homes import NAMES, lay_out
from tests.support.payloads import parsed, problems

HTML = files("rireki.show.html")
CONVERSATION_CSS = HTML.joinpath("talk.css").read_text(encoding="utf-8")


def small() -> Transcript:
    messages = [
        message("1", "person", "読んで", turn=1),
        call("2", "A", "ls"),
        result("3", "A", "x\n" * 1000),
        message("4", "person", "もう一度", turn=2),
        message("5", "person", "left", parent="3", abandoned=True),
        message("6", text="left too", parent="5", abandoned=True),
        message("7", text="```py\nx = 1\n```"),
    ]
    return Transcript(conversation(upstream="changed"), messages)


# ── The document ──


def test_the_document() -> None:
    html = "".join(export_html(small(), RenderOptions("ja")))
    assert problems(html.removeprefix("<!doctype html>")) == [] and html.endswith("</html>\n")
    page = parsed(html)
    assert page.one("html").attributes["lang"] == "ja"
    assert page.one("title").text == page.one("h1").text == "設定ファイルを読む"
    assert page.one(kind="fate").text.startswith("toy にはもう一部しか")
    outline = page.one(kind="outline").find("a")
    assert [link.text for link in outline] == ["読んで", "もう一度"]
    names = {article.attributes["id"] for article in page.find("article")}
    assert {link.attributes["href"][1:] for link in outline} <= names
    assert not page.find("button") and not page.find(kind="raw")


def test_a_branch_that_was_left_is_folded_in_its_place() -> None:
    page = parsed("".join(export_html(small(), RenderOptions())))
    branch = page.one("details", "branch")
    assert [a.attributes["data-message"] for a in branch.find("article")] == ["5", "6"]
    assert branch.find("summary")[0].text == "A branch you left (2)"


def test_its_policy_allows_its_own_style_and_nothing_else() -> None:
    html = "".join(export_html(small(), RenderOptions()))
    style = html.partition("<style>")[2].partition("</style>")[0]
    assert CONVERSATION_CSS in style
    policy = parsed(html).find("meta")[1].attributes["content"]
    digest = base64.b64encode(sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy and "script" not in policy
    assert "url(" not in style and "@import" not in style


def test_nothing_is_cut_where_all_is_wanted() -> None:
    assert "more lines" in "".join(export_html(small(), RenderOptions()))
    assert "more lines" not in "".join(export_html(small(), RenderOptions(), full=True))


def test_links_of_a_page_do_not_get_into_the_document() -> None:
    look = RenderOptions(
        conversation_url=str, message_url=str, raw_url=str, attachment_url=lambda part: "/a"
    )
    picture = message("8", "person", parts=[Attachment("image/png", "d", "a.png", 1)])
    story = Transcript(small().conversation, [*small().messages, picture])
    page = parsed("".join(export_html(story, look)))
    assert {a.attributes["href"][0] for a in page.find("a")} == {"#"} and not page.find("img")


# ── Everything there is ──


@pytest.mark.parametrize("name", NAMES)
def test_every_fixture_can_be_told(name: str, archive: Archive, home: Path) -> None:
    lay_out(name, home)
    import_history(archive, places=Places.at(home))
    told = 0
    for about in archive.conversations(Filter(subagents=True)):
        reading = read_conversation(archive, archive.find(about.id))
        story = Transcript(reading.conversation, choose(reading.messages(), everything=True))
        teller = TranscriptRenderer(story, RenderOptions("ja", raw_url=lambda id: f"/raw?{id}"))
        html = [teller.render(index) for index in range(len(teller.units))]
        assert problems("".join(html)) == []
        for _message, place in _told_somewhere(story, teller):
            assert place is not None
        _calls_are_told_once(story, "".join(html))
        told += len(html)
    assert told > 0


def _told_somewhere(
    story: Transcript, teller: TranscriptRenderer
) -> Iterator[tuple[Message, int | None]]:
    for said in story.messages:
        if said.parts or said.author == "person":
            yield said, teller.place(said.id)


def _calls_are_told_once(story: Transcript, html: str) -> None:
    calls = [part for m in story.messages for part in m.parts if isinstance(part, ToolCall)]
    lines = [node for node in parsed(html).find("details", "call") if node.find(kind="tool")]
    assert len(lines) == len(calls)


# ── The command ──


def test_show_writes_the_document(tmp_path: Path) -> None:
    home = lay_out("claude-code-2.1.197", tmp_path / "home")
    where = ["--archive", str(tmp_path / "archive.sqlite3")]
    run = CliRunner()
    taken = run.invoke(face.cli, ["import", "--home", str(home), "--no-index", *where])
    assert taken.exit_code == 0, taken.output
    shown = run.invoke(face.cli, ["show", "becdaf4e", "--format", "html", "--nested", *where])
    assert shown.exit_code == 0, shown.output
    page = parsed(shown.output)
    assert problems(shown.output.removeprefix("<!doctype html>")) == []
    assert page.find(kind="diff") and page.find("li", "chosen")
    picture = page.find("img")[0].attributes["src"]
    assert base64.b64decode(picture.partition(",")[2]).startswith(b"\x89PNG")


def test_other_commands_do_not_load_what_html_needs() -> None:
    heavy = "{'markdown_it', 'pygments', 'jinja2', 'markupsafe'}"
    code = f"import sys; import rireki.cli.commands.show; print({heavy} & set(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "set()"


# ── Words and colours ──


def test_every_word_of_the_interface_has_a_translation() -> None:
    used = set(AUTHORS.values())
    for path in HTML.iterdir():
        if path.name.endswith(".py"):
            used |= set(_said_in(path.read_text(encoding="utf-8")))
    assert len(used) > 30 and used - JAPANESE.keys() == set()


def test_no_word_is_translated_in_vain() -> None:
    source = "".join(
        path.read_text(encoding="utf-8") for path in HTML.iterdir() if path.name.endswith(".py")
    )
    # What readers call a message stands in the readers, what became of a call in the model.
    own = list(JAPANESE)[: list(JAPANESE).index("asked again after a timeout")]
    elsewhere = {*AUTHORS.values(), *get_args(ResultStatus), *RELATIONS.values()}
    elsewhere |= {source_name("bridge"), NEVER_ANSWERED}
    unused = {text for text in own if f'"{text}"' not in source and f"'{text}'" not in source}
    assert unused - elsewhere == set()


def _said_in(source: str) -> Iterator[str]:
    """The texts handed to `say` and `count`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in ("say", "count"):
                leaves = [leaf for argument in node.args for leaf in ast.walk(argument)]
                values = [leaf.value for leaf in leaves if isinstance(leaf, ast.Constant)]
                yield from (v for v in values if isinstance(v, str) and re.search("[a-z]", v))


def test_translations_take_the_same_values() -> None:
    for english, japanese in JAPANESE.items():
        assert set(re.findall(r"{\w+}", english)) == set(re.findall(r"{\w+}", japanese)), english


def test_words_without_translation_stay_english() -> None:
    assert say("ja", "nobody says {n}", n=3) == "nobody says 3"
    assert say("xx", "{n} turns", n=3) == "3 turns"
    assert say("ja", "{n} turns", n=3) == "3 往復"


def test_every_colour_of_a_terminal_has_a_class() -> None:
    for number in range(256):
        assert (
            f".a-f{number}{{color:#" in CONVERSATION_CSS
            and f".a-b{number}{{background:#" in CONVERSATION_CSS
        )


def test_letters_can_be_read_on_their_paper() -> None:
    """Contrast of at least 4.5 to 1, in the light and in the dark."""
    found = dict(re.findall(r"(--r-[\w-]+): light-dark\(([^)]*)\)", CONVERSATION_CSS))
    colours = {name: [part.strip() for part in value.split(",")] for name, value in found.items()}
    inks = ["ink", "muted", "link", "person", "agent", "tool", "harness", "good", "bad", "warn"]
    for mode in (0, 1):
        for ink in inks:
            assert _contrast(colours[f"--r-{ink}"][mode], colours["--r-paper"][mode]) >= 4.5, ink
        for ink, paper in [("muted", "soft"), ("bad", "bad-paper"), ("warn", "warn-paper")]:
            assert _contrast(colours[f"--r-{ink}"][mode], colours[f"--r-{paper}"][mode]) >= 4.5, ink
        for code in re.findall(r"\.h-\w { color: light-dark\(([^)]*)\)", CONVERSATION_CSS):
            ink = code.split(",")[mode].strip()
            assert _contrast(ink, colours["--r-code"][mode]) >= 4.5, code
    for number in range(16):
        (ink,) = re.findall(rf"\.a-f{number}{{color:(#\w+)}}", CONVERSATION_CSS)
        assert _contrast(ink, "#1e2228") >= 4, number


def _contrast(one: str, other: str) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
