"""A conversation in pieces: every unit once and in order, from wherever one comes, live ones too."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from rireki.archive.open import open_archive
from rireki.cli.main import cli
from rireki.intake.demo import change_demo_home, make_demo_home
from rireki.intake.sweep import import_history
from rireki.model.strand import Run, State, Strand
from rireki.show.formats import FORMATS
from rireki.sources.kit.places import Places
from rireki.web.pages.conversation import last_window, window_around
from rireki.web.pages.project import held_in
from rireki.web.pages.stats import bars
from rireki.web.pages.versions import Moment, moments
from rireki.web.parts.calendar import calendar
from rireki.web.serve import Server
from tests.browser.serving import save_row
from tests.support.driven import Journal
from tests.support.q_rows import said, talk
from tests.web.conftest import client_of, serving

SESSION = "5471a680-0000-4000-8000-00000000000a"
LONG = f"claude-code/{SESSION}"
TURNS = 120
BRANCHED = "claude-code/d91ab509-84e4-5b20-bfa0-06407b5fa7a5"
PARENT = "claude-code/f841ddf1-d22b-51ba-9e60-bf81220f3f78"
CLEARED = "kiro/a4fada7f-f076-5a93-82ae-e2879fdea9c7"
GONE = "claude-code/f5e20f6a-53dd-52f9-90d5-548212613e70"
NIGHT_TRAIN = "/home/aiko/infra/night-train"


class Place:
    """A home with the invented history and one long conversation, and its archive."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.archive = folder / "archive.sqlite3"
        self.transcript = self.home / ".claude" / "projects" / "-long" / f"{SESSION}.jsonl"
        make_demo_home(self.home)
        self.transcript.parent.mkdir(parents=True)
        self.transcript.touch()
        for turn in range(TURNS):
            self.say(turn)
        self.take_in()
        change_demo_home(self.home)
        self.take_in()

    def take_in(self) -> None:
        archive = open_archive(self.archive, create=True)
        import_history(archive, places=Places.at(self.home))
        archive.close()

    def say(self, turn: int, result: str | None = "fine") -> None:
        """A prompt, an answer with a call, its result."""
        base: dict[str, object] = {"sessionId": SESSION, "cwd": "/long", "version": "2.1.0"}
        base |= {
            "isSidechain": False,
            "timestamp": f"2026-11-14T10:{turn // 60:02}:{turn % 60:02}.000Z",
        }
        call = {"type": "tool_use", "id": f"t{turn}", "name": "Bash", "input": {"command": "make"}}
        said = [{"type": "text", "text": f"answer {turn}"}, call]
        answer = {"id": f"m{turn}", "type": "message", "role": "assistant", "model": "opus"}
        lines = [_line(turn, "a", base, "user", {"role": "user", "content": f"prompt {turn}"})]
        lines += [_line(turn, "b", base, "assistant", answer | {"content": said})]
        with self.transcript.open("a", encoding="utf-8") as file:
            file.writelines(lines)
        if result is not None:
            self.result(turn, result)

    def result(self, turn: int, output: str) -> None:
        base = {"sessionId": SESSION, "cwd": "/long", "timestamp": "2026-11-14T12:00:00.000Z"}
        came = {"type": "tool_result", "tool_use_id": f"t{turn}", "content": output}
        with self.transcript.open("a", encoding="utf-8") as file:
            file.write(_line(turn, "c", base, "user", {"role": "user", "content": [came]}))


def _line(turn: int, step: str, base: dict[str, Any], kind: str, message: object) -> str:
    before = {"a": f"{turn - 1:08x}-c", "b": f"{turn:08x}-a", "c": f"{turn:08x}-b"}[step]
    own = {"uuid": f"{turn:08x}-{step}", "parentUuid": before if turn or step != "a" else None}
    return json.dumps({**base, **own, "type": kind, "message": message}) + "\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("talks"))


@pytest.fixture(scope="module")
def server(place: Place) -> Iterator[Server]:
    with serving(place.archive, place.home) as server:
        yield server


@pytest.fixture
def pages(server: Server) -> Iterator[httpx.Client]:
    with client_of(server) as client:
        yield client


def units(html: str) -> list[str]:
    return re.findall(r'<div class="unit[^"]*" data-unit="([^"]*)"', html)


def fragments(pages: httpx.Client, id: str = LONG, **query: str) -> dict[str, Any]:
    answer: dict[str, Any] = pages.get(f"/fragments/{id}", params=query).json()
    return answer


# ── Windows ──


def test_a_window_stands_around_its_place_and_within_the_conversation() -> None:
    assert window_around(1000, 500) == (485, 545)
    assert window_around(1000, 3) == (0, 60)
    assert window_around(1000, 999) == (940, 1000)
    assert window_around(10, 9) == (0, 10)
    assert last_window(1000) == (940, 1000)
    assert last_window(3) == (0, 3)


def test_a_finished_conversation_opens_at_its_beginning(pages: httpx.Client) -> None:
    html = pages.get(f"/c/{LONG}").text
    shown = units(html)
    assert shown[0] == "00000000-a"
    assert len(shown) == 60
    assert 'data-total="240"' in html
    assert 'id="earlier" hidden' in html and 'id="later" hidden' not in html
    assert units(pages.get(f"/c/{LONG}?end=1").text)[-1] == f"{TURNS - 1:08x}-b"


def test_scrolling_down_brings_every_unit_once_and_in_order(pages: httpx.Client) -> None:
    whole = [f"{turn:08x}-{step}" for turn in range(TURNS) for step in "ab"]
    seen = units(pages.get(f"/c/{LONG}").text)
    while more := fragments(pages, after=seen[-1])["units"]:
        assert more[0]["after"] == seen[-1]
        assert [unit["index"] for unit in more] == list(range(len(seen), len(seen) + len(more)))
        seen += [unit["id"] for unit in more]
    assert seen == whole


def test_scrolling_up_brings_every_unit_once_and_in_order(pages: httpx.Client) -> None:
    seen = [unit["id"] for unit in fragments(pages, end="1")["units"]]
    while more := fragments(pages, before=seen[0])["units"]:
        seen = [unit["id"] for unit in more] + seen
    assert seen == [f"{turn:08x}-{step}" for turn in range(TURNS) for step in "ab"]


def test_a_message_has_a_lasting_address(pages: httpx.Client) -> None:
    html = pages.get(f"/c/{LONG}?at=0000003c-b").text
    assert "0000003c-b" in units(html)
    assert 'data-opened="0000003c-b"' in html
    # A result is told under its call; a beginning of an id is enough.
    assert 'data-opened="0000003c-b"' in pages.get(f"/c/{LONG}?at=0000003c-c").text
    assert fragments(pages, around="0000003c-c")["at"] == "0000003c-b"
    assert pages.get(f"/c/{LONG}?at=nothing").status_code == 404


def test_the_outline_has_every_prompt_with_its_place(pages: httpx.Client) -> None:
    html = pages.get(f"/c/{LONG}").text
    outline = html.partition('id="prompts"')[2]
    places = re.findall(r'<li data-index="(\d+)" data-turn="(\d+)">.*?>([^<]*)</a>', outline)
    assert places[0] == ("0", "1", "prompt 0")
    assert places[-1] == ("238", str(TURNS), f"prompt {TURNS - 1}")
    assert len(places) == TURNS
    assert fragments(pages, outline="1")["html"].count("<li") == TURNS


def test_hidden_messages_are_shown_when_asked_for(pages: httpx.Client) -> None:
    id = "claude-code/21fac117-6aab-54d2-80ac-88161ad4984f"
    usual, all_of_them = (units(pages.get(f"/c/{id}{q}").text) for q in ("", "?all=1"))
    assert set(usual) < set(all_of_them)
    hidden = next(unit for unit in all_of_them if unit not in usual)
    assert hidden in units(pages.get(f"/c/{id}", params={"at": hidden}).text)


def test_a_branch_that_was_left_can_be_switched(pages: httpx.Client) -> None:
    html = pages.get(f"/c/{BRANCHED}").text
    (switch,) = re.findall(r'data-switch="([^"]*)"', html)
    on_it = re.findall(
        r'data-unit="([^"]*)" data-index="\d+" data-turn="\d+" data-branch="([^"]*)"', html
    )
    assert on_it[0] == (switch, switch)
    assert {branch for _, branch in on_it} == {switch}
    assert f"{len(on_it)} messages" in html


def test_sub_agents_are_linked_where_they_were_started(pages: httpx.Client) -> None:
    html = pages.get(f"/c/{PARENT}").text
    children = set(re.findall(r'href="(/c/claude-code/agent-[^"]*)"', html))
    assert len(children) == 2
    for child in children:
        assert f'href="/c/{PARENT}"' in pages.get(child).text


def test_the_way_to_go_on_is_told(pages: httpx.Client) -> None:
    assert f"claude --resume {SESSION}" in pages.get(f"/c/{LONG}").text
    lost = pages.get(f"/c/{GONE}").text
    assert f"rireki restore {GONE} --to DIR" in lost
    assert "claude-code no longer has this conversation." in lost


@pytest.mark.parametrize(
    ("locale", "taken", "took"),
    [
        ("en", "its place was taken by", "took the place of"),
        ("ja", "置き換えられた先", "置き換えた会話"),
    ],
)
def test_ties_are_told_in_the_words_of_the_terminal(
    tmp_path: Path, locale: str, taken: str, took: str
) -> None:
    for name in ("one", "two"):
        save_row(tmp_path / "home", "/home/u/w", talk(name, said(name, f"prompt {name}", "done")))
        archive = open_archive(tmp_path / "archive.sqlite3", create=True)
        import_history(archive, places=Places.at(tmp_path / "home"))
        archive.close()
    with (
        serving(tmp_path / "archive.sqlite3", tmp_path / "home") as server,
        client_of(server) as pages,
    ):
        one = pages.get(f"/c/amazon-q/one?lang={locale}").text
        two = pages.get(f"/c/amazon-q/two?lang={locale}").text
    assert f'<span class="muted">{taken}</span> <a href="/c/amazon-q/two">' in one
    assert f'<span class="muted">{took}</span> <a href="/c/amazon-q/one">' in two
    assert "supersedes" not in one + two


def test_a_conversation_that_is_named_by_a_path_has_its_pages(tmp_path: Path) -> None:
    entry = said("m1", "hello path", "Hi.")
    save_row(tmp_path / "home", "/home/u/w", {"history": [[entry["user"], entry["assistant"]]]})
    archive = open_archive(tmp_path / "archive.sqlite3", create=True)
    import_history(archive, places=Places.at(tmp_path / "home"))
    archive.close()
    with (
        serving(tmp_path / "archive.sqlite3", tmp_path / "home") as server,
        client_of(server) as pages,
    ):
        (address,) = set(re.findall(r'row-link" href="([^"]*)"', pages.get("/").text))
        assert address == "/c/amazon-q//home/u/w"
        assert "hello path" in pages.get(address).text
        for way in ("versions", "explain", "export", "fragments"):
            assert pages.get(address.replace("/c/", f"/{way}/")).status_code == 200, way
        api = pages.get("/api/v1/conversations/amazon-q/%2Fhome%2Fu%2Fw/messages")
        assert "hello path" in api.text


def test_the_part_that_drives_agents_is_not_named_by_our_word_for_it(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "home", "d1")
    journal.start(None)
    journal.send("p1", "hello there")
    archive = open_archive(tmp_path / "archive.sqlite3", create=True)
    import_history(archive, places=Places.at(tmp_path / "home"))
    archive.close()
    with (
        serving(tmp_path / "archive.sqlite3", tmp_path / "home") as server,
        client_of(server) as pages,
    ):
        for locale, name in (("en", "rireki (driven)"), ("ja", "rireki（操作）")):
            for address in ("/", "/c/bridge/d1"):
                html = pages.get(f"{address}?lang={locale}").text
                assert f'<span class="source" data-source="bridge">{name}</span>' in html
                assert not re.search(r">\s*bridge\s*<", html)


# ── As it happens ──


def test_what_changed_is_brought_with_its_place(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with serving(place.archive, place.home) as server, client_of(server) as pages:
        place.say(TURNS, result=None)
        place.take_in()
        names = [f"{TURNS:08x}-a", f"{TURNS:08x}-b"]
        answer = pages.get(f"/fragments/{LONG}", params={"messages": ",".join(names)}).json()
        assert [unit["id"] for unit in answer["units"]] == names
        assert [unit["after"] for unit in answer["units"]] == [f"{TURNS - 1:08x}-b", names[0]]
        assert answer["total"] == 2 * TURNS + 2
        assert f"{TURNS + 1} turns" in answer["regions"]["head"]
        assert [line["id"] for line in answer["outline"]] == [names[0]]
        # A result changes the unit of its call, and nothing else.
        place.result(TURNS, "came later")
        place.take_in()
        answer = pages.get(f"/fragments/{LONG}", params={"messages": f"{TURNS:08x}-c"}).json()
        assert [unit["id"] for unit in answer["units"]] == [names[1]]
        assert "came later" in answer["units"][0]["html"]
        assert answer["outline"] == []
        number = int(pages.get("/").text.partition('data-number="')[2].partition('"')[0])
        assert answer["number"] == number
        everything = [f"{turn:08x}-{step}" for turn in range(TURNS) for step in "ab"]
        many = pages.get(f"/fragments/{LONG}", params={"messages": everything}).json()
        assert many["many"] is True


# ── Taking it away ──


@pytest.mark.parametrize("form", ["markdown", "html", "json"])
@pytest.mark.parametrize("options", [{}, {"all": "1"}, {"full": "1"}])
def test_an_export_is_what_the_command_writes(
    place: Place, pages: httpx.Client, form: str, options: dict[str, str]
) -> None:
    flags = [f"--{name}" for name in options]
    command = ["show", BRANCHED, "--format", form, *flags, "--archive", str(place.archive)]
    written = CliRunner().invoke(cli, command)
    assert written.exit_code == 0, written.output
    answer = pages.get(f"/export/{BRANCHED}", params={"format": form, **options})
    assert answer.content == written.stdout_bytes
    assert "filename*=UTF-8''%E5%96%AB" in answer.headers["content-disposition"]


@pytest.mark.parametrize("form", [name for name in FORMATS if name not in ("native", "otlp")])
def test_every_format_of_the_list_is_offered_and_given(
    place: Place, pages: httpx.Client, form: str
) -> None:
    assert f'/export/{BRANCHED}?format={form}"' in pages.get(f"/c/{BRANCHED}").text
    command = ["show", BRANCHED, "--format", form, "--archive", str(place.archive)]
    written = CliRunner().invoke(cli, command)
    answer = pages.get(f"/export/{BRANCHED}", params={"format": form})
    assert answer.content == written.stdout_bytes


def test_the_agents_own_files_come_as_a_zip(pages: httpx.Client) -> None:
    answer = pages.get(f"/export/{BRANCHED}?format=native")
    assert answer.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as packed:
        assert any(
            name.endswith(f"{BRANCHED.partition('/')[2]}.jsonl") for name in packed.namelist()
        )


def test_what_is_shared_is_told_before_and_given_in_three_forms(pages: httpx.Client) -> None:
    assert f'href="/share/{BRANCHED}"' in pages.get(f"/c/{BRANCHED}").text
    told = pages.get(f"/share/{BRANCHED}").text
    assert "Nothing in it looks like a secret." in told
    for ending in ("html", "md", "zip"):
        assert f"/share/{BRANCHED}?file={ending}" in told
        answer = pages.get(f"/share/{BRANCHED}?file={ending}")
        assert f'.{ending}"' in answer.headers["content-disposition"] and answer.content
    html = pages.get(f"/share/{BRANCHED}?file=html&turns=1").text
    assert '<meta name="rireki-shared"' in html
    for wrong in ("turns=x", "turns=99", "file=docx"):
        assert pages.get(f"/share/{BRANCHED}?{wrong}").status_code == 400


def test_an_unknown_format_is_refused(pages: httpx.Client) -> None:
    answer = pages.get(f"/export/{LONG}?format=docx")
    assert answer.status_code == 400
    assert "markdown, html, json" in answer.text


def test_the_raw_view_has_the_very_line(place: Place, pages: httpx.Client) -> None:
    line = place.transcript.read_text(encoding="utf-8").splitlines()[1]
    html = pages.get(f"/raw/{LONG}?message=00000000-b").text
    assert str(place.transcript) in html
    assert "answer 0" in html
    download = pages.get(f"/raw/{LONG}?message=00000000-b&record=0")
    assert download.content.decode().strip() == line
    assert download.headers["content-type"] == "application/octet-stream"
    for number in ("7", "9" * 5000, "²"):
        assert pages.get(f"/raw/{LONG}?message=00000000-b&record={number}").status_code == 404
    both = pages.get(f"/raw/{LONG}?message=00000000-b&message=00000000-c").text
    assert both.count('class="card record"') == 2


# ── Earlier times ──


def test_the_slider_shows_what_was_held_and_marks_what_was_lost(pages: httpx.Client) -> None:
    html = pages.get(f"/versions/{GONE}").text
    at = re.findall(r'data-at="([^"]*)"', html)
    assert len(at) == 2
    assert "no longer found at the source" in html
    then = pages.get(f"/versions/{GONE}", params={"as_of": at[0], "fragment": "1"}).json()
    assert then["as_of"] == at[0]
    assert "lost later" in then["summary"]
    assert then["html"].count('class="unit lost"') == len(units(then["html"])) == then["total"]
    now = pages.get(f"/versions/{GONE}", params={"as_of": at[1], "fragment": "1"}).json()
    assert "the source held 0 messages" in now["summary"]
    assert 'class="unit lost"' not in now["html"]


def test_two_moments_can_be_compared(pages: httpx.Client) -> None:
    at = re.findall(r'data-at="([^"]*)"', pages.get(f"/versions/{GONE}").text)
    html = pages.get(f"/versions/{GONE}", params={"from": at[0], "as_of": at[1]}).text
    assert html.count('class="step lost"') == 6 and "6 messages lost" in html
    assert 'class="step came"' not in html and "unchanged" not in html
    # The elder one stands first, whichever way they were chosen.
    assert (
        "6 messages lost"
        in pages.get(f"/versions/{GONE}", params={"from": at[1], "as_of": at[0]}).text
    )
    same = pages.get(f"/versions/{GONE}", params={"from": at[0], "as_of": at[0]}).text
    assert "No message differs." in same and "6 messages unchanged" in same
    assert pages.get(f"/versions/{GONE}", params={"from": "nonsense"}).status_code == 400


def test_one_version_needs_no_slider(pages: httpx.Client) -> None:
    html = pages.get(f"/versions/{BRANCHED}").text
    assert "one version of it only" in html and 'type="range"' not in html
    assert pages.get(f"/versions/{BRANCHED}", params={"from": "2026-01-01"}).status_code == 200


def test_the_whole_conversation_can_be_read_as_it_was(pages: httpx.Client) -> None:
    (first, *_) = re.findall(r'data-at="([^"]*)"', pages.get(f"/versions/{GONE}").text)
    then = pages.get(f"/c/{GONE}", params={"as_of": first}).text
    assert "As the source held it on" in then
    assert "The source lost this later" in then
    assert "The source lost this later" not in pages.get(f"/c/{GONE}").text


def strand(*states: tuple[str, str], vanished_at: str | None = None) -> Strand:
    return Strand(
        id=1,
        source="x",
        role="",
        place="/x",
        states=[State(n, at, (Run("main", held),)) for n, (at, held) in enumerate(states)],
        vanished_at=vanished_at,
        fetch=lambda lane, ordinals: [],
    )


def test_moments_tell_what_came_and_what_went() -> None:
    grown = strand(("t1", "0-3"), ("t2", "0-5"), ("t4", "4-6"), vanished_at="t5")
    beside = strand(("t2", "0"))
    assert moments([grown, beside]) == [
        Moment("t1", 4, 0),
        Moment("t2", 3, 0),
        Moment("t4", 1, 4),
        Moment("t5", 0, 3, vanished=True),
    ]
    assert moments([]) == []


def test_many_moments_are_thinned_out_but_no_loss_is() -> None:
    states = [(f"t{n:05}", f"0-{n}") for n in range(1, 2000)]
    states.insert(1000, ("t00999x", "0-9"))
    found = moments([strand(*states)])
    assert len(found) < 450
    assert Moment("t00999x", 0, 990) in [m._replace(lost=990) for m in found if m.lost]
    assert (found[0].at, found[-1].at) == ("t00001", "t01999")


def test_a_directory_tells_what_it_held_when(pages: httpx.Client, place: Place) -> None:
    archive = open_archive(place.archive)
    rows = held_in(archive.sightings(NIGHT_TRAIN), "2026-11-16T00:00:00.000Z")
    archive.close()
    (lost,) = [row for row in rows if row.last]
    assert lost.was_there(lost.first) and not lost.was_there(lost.last or "")
    assert all(row.start >= 0 and row.start + row.length <= 1000 for row in rows)
    html = pages.get("/project", params={"path": NIGHT_TRAIN, "as_of": lost.first}).text
    assert html.count("elsewhen") == sum(not row.was_there(lost.first) for row in rows)


# ── Figures ──


def test_a_calendar_has_a_square_per_day_and_colours_by_share() -> None:
    from datetime import date

    made = calendar({"2026-11-15": 8, "2026-11-14": 1, "2026-11-16": 4}, date(2026, 11, 16))
    days = made.days
    assert days[-1].date == "2026-11-16"
    assert [(day.number, day.level) for day in days[-3:]] == [(1, 1), (8, 4), (4, 2)]
    assert {day.week for day in days} == set(range(53))
    assert (days[0].weekday, days[-1].weekday) == (0, 0)
    assert all(day.level == 0 for day in calendar({}, date(2026, 11, 16)).days)
    assert [month.month for month in made.months] == [12, *range(1, 12)]
    assert (made.total, made.busy) == (13, 3)


def test_bars_are_as_long_as_they_are_large() -> None:
    assert [bar[:3] for bar in bars({"a": 1, "b": 4})] == [("b", 4, 100.0), ("a", 1, 25.0)]
    assert bars({"a": 0})[0].length == 0
    assert len(bars({str(n): n for n in range(50)})) == 12


def test_the_figures_of_the_page_are_those_of_the_command(
    place: Place, pages: httpx.Client
) -> None:
    command = ["stats", "--json", "--archive", str(place.archive)]
    told = json.loads(CliRunner().invoke(cli, command).stdout)
    html = pages.get("/stats").text
    assert f"<strong>{told['conversations']:,}</strong>" in html
    assert f"<strong>{told['tool_uses']['total']:,}</strong>" in html
    for model, total in told["tokens"].items():
        assert model in html and f"{total['output_tokens']:,}" in html
