"""Every page answers, in both languages, and stays text whatever a transcript says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from rireki.archive.open import open_archive
from rireki.intake.demo import change_demo_home, make_demo_home
from rireki.intake.sweep import import_history
from rireki.sources.kit.places import Places
from rireki.web.serve import Server
from tests.web.conftest import client_of, serving

COMPACTED = "claude-code/21fac117-6aab-54d2-80ac-88161ad4984f"
GONE = "claude-code/f5e20f6a-53dd-52f9-90d5-548212613e70"
NIGHT_TRAIN = "/home/aiko/infra/night-train"
#: Titles of each page in English and Japanese.
PAGES = {
    "/": ("Conversations", "会話"),
    "/search?q=test": ("Search", "検索"),
    "/sources": ("Sources", "取り込み元"),
    "/stats": ("Statistics", "統計"),
    "/usage?period=all": ("Usage", "利用量"),
    "/devices": ("Devices", "デバイス"),
    "/help": ("Help", "ヘルプ"),
    f"/project?path={quote(NIGHT_TRAIN)}": ("night-train", "night-train"),
    f"/c/{COMPACTED}": ("What you asked", "あなたの発言"),
    f"/versions/{COMPACTED}": ("Versions", "過去の版"),
    f"/files/{COMPACTED}": ("Files changed", "変更したファイル"),
    f"/explain/{COMPACTED}": ("Explain", "分類の根拠"),
}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The invented history, seen before and after its agents lost some of it."""
    place = tmp_path_factory.mktemp("demo")
    home = place / "home"
    make_demo_home(home)
    archive = open_archive(place / "archive.sqlite3", create=True)
    import_history(archive, places=Places.at(home))
    change_demo_home(home)
    import_history(archive, places=Places.at(home))
    archive.close()
    with serving(place / "archive.sqlite3", home) as server:
        yield server


@pytest.fixture
def pages(demo: Server) -> Iterator[httpx.Client]:
    with client_of(demo) as client:
        yield client


class Checked(HTMLParser):
    """Gathers what the policy forbids, and the landmarks of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.forbidden: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        given = dict(attrs)
        self.ids += [given["id"] or ""] if "id" in given else []
        if tag == "style" or (
            tag == "script" and not (given.get("src") or "").startswith("/static/")
        ):
            self.forbidden.append(tag)
        self.forbidden += [name for name in given if name == "style" or name.startswith("on")]
        link = given.get("href") or ""
        if link.lower().startswith(("javascript:", "data:")):
            self.forbidden.append(link)


@pytest.mark.parametrize("path", PAGES)
def test_a_page_answers_in_english_and_japanese(pages: httpx.Client, path: str) -> None:
    for locale, said in zip(("en", "ja"), PAGES[path], strict=True):
        answer = pages.get(path, headers={"Accept-Language": locale})
        assert answer.status_code == 200
        assert f'<html lang="{locale}"' in answer.text
        assert said in answer.text
        seen = Checked(answer.text)
        assert seen.forbidden == []
        assert {"header", "nav", "main", "h1"} <= set(seen.tags)
        assert seen.tags.count("h1") == 1
        assert len(seen.ids) == len(set(seen.ids)), "two elements have one id"


def test_every_conversation_of_the_fixtures_can_be_read(web: httpx.Client) -> None:
    ids = _rows(web.get("/?subagents=1").text)
    assert len(ids) > 10
    for id in ids:
        html = web.get(f"/c/{id}?all=1").text
        seen = Checked(html)
        assert seen.forbidden == [], id
        assert len(seen.ids) == len(set(seen.ids)), f"two elements of {id} have one id"
        for path in ("versions", "explain", "fragments", "export"):
            assert web.get(f"/{path}/{id}").status_code == 200, (path, id)


def test_the_language_is_the_browsers_unless_another_is_chosen(pages: httpx.Client) -> None:
    def lang(answer: httpx.Response) -> str:
        return answer.text.partition('<html lang="')[2][:2]

    assert lang(pages.get("/help", headers={"Accept-Language": "fr,ja;q=0.8,en;q=0.3"})) == "ja"
    assert lang(pages.get("/help", headers={"Accept-Language": "fr"})) == "en"
    assert lang(pages.get("/help", headers={"Accept-Language": "en;q=oops,ja;q=0.1"})) == "ja"
    chosen = pages.get("/help?lang=ja", headers={"Accept-Language": "en"})
    assert lang(chosen) == "ja"
    assert chosen.cookies["rireki_lang"] == "ja"
    remembered = {"Accept-Language": "en", "Cookie": "rireki_lang=ja"}
    assert lang(pages.get("/help", headers=remembered)) == "ja"
    pages.cookies.clear()
    assert lang(pages.get("/help?lang=xx", headers={"Accept-Language": "en"})) == "en"


def test_the_theme_is_remembered(pages: httpx.Client) -> None:
    assert 'data-theme="dark"' in pages.get("/", headers={"Cookie": "rireki_theme=dark"}).text
    assert "data-theme" not in pages.get("/", headers={"Cookie": 'rireki_theme="><b>'}).text


def test_the_list_is_newest_first_and_can_be_narrowed(pages: httpx.Client) -> None:
    whole = _rows(pages.get("/").text)
    assert len(whole) == 36
    kiro = _rows(pages.get("/?source=kiro").text)
    assert kiro == [id for id in whole if id.startswith("kiro/")]
    assert GONE in _rows(pages.get("/?state=gone").text)
    assert len(_rows(pages.get("/?subagents=1").text)) == 38
    in_project = _rows(pages.get("/", params={"project": NIGHT_TRAIN}).text)
    assert 0 < len(in_project) < len(whole)
    assert "Nothing in the archive fits" in pages.get("/?source=kiro&project=/nowhere").text
    side = pages.get("/?fragment=1&source=kiro").json()["side"]
    assert "state=gone" in side and "fragment=" not in side


def test_sources_count_conversations_as_the_list_does(pages: httpx.Client) -> None:
    page = pages.get("/sources").text
    for source, words in re.findall(
        r'data-source-card="(.+?)"><h2>.*?<span class="muted">(.*?)</span>', page, re.DOTALL
    ):
        listed, all_of = (
            _rows(pages.get("/", params={"source": source, "subagents": subagents}).text)
            for subagents in ("", "1")
        )
        numbers = [int(number) for number in re.findall(r"(\d+) \w", words)]
        children = len(all_of) - len(listed)
        assert numbers == [len(listed), *([children] if children else [])], source
    assert "2 sub-agents" in page


def test_statistics_count_the_calls_of_each_tool_by_its_own_name(pages: httpx.Client) -> None:
    told = pages.get("/api/v1/stats").json()
    assert sum(told["tools"].values()) == told["tool_uses"]["total"]
    bars = dict(
        re.findall(r'<th scope="row" title="(.+?)">.*?class="figure">(\d+)<', _tools(pages))
    )
    assert bars and all(told["tools"][name] == int(number) for name, number in bars.items())
    assert {"Bash", "execute_bash"} <= bars.keys()
    assert "execute_bash" not in _tools(pages, "claude-code")


def test_what_the_list_has_and_the_statistics_leave_out_is_counted_beside_them(
    pages: httpx.Client,
) -> None:
    told = pages.get("/api/v1/stats").json()
    assert told["prompts_only"]
    tile = f"<li><strong>{told['prompts_only']}</strong>besides, with only the prompts left</li>"
    assert tile in pages.get("/stats").text


def _tools(pages: httpx.Client, source: str = "") -> str:
    page = pages.get("/stats", params={"source": source}).text
    return page.partition("<h2>Tools</h2>")[2].partition("</section>")[0].replace("\n", "")


def test_a_long_list_comes_in_pages_with_every_row_once(tmp_path: Path) -> None:
    folder = tmp_path / "home" / ".claude" / "projects" / "-many"
    folder.mkdir(parents=True)
    for number in range(130):
        session = f"{number:08x}-0000-4000-8000-000000000000"
        # Some share a time: the order among them must hold from page to page.
        stamp = f"2026-11-01T10:{number // 7:02}:00.000Z"
        line: dict[str, object] = {
            "type": "user",
            "uuid": f"u{number}",
            "sessionId": session,
            "timestamp": stamp,
        }
        line |= {"cwd": "/many", "message": {"role": "user", "content": f"prompt {number}"}}
        (folder / f"{session}.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    archive = open_archive(tmp_path / "archive.sqlite3", create=True)
    import_history(archive, places=Places.at(tmp_path / "home"))
    archive.close()
    place = tmp_path / "archive.sqlite3"
    with serving(place, tmp_path / "home") as server, client_of(server) as client:
        seen: list[str] = []
        after: str | None = ""
        while after is not None:
            answer = client.get("/", params={"fragment": "1", "after": after}).json()
            seen += _rows(answer["html"])
            after = answer["next"] or None
        assert len(seen) == len(set(seen)) == 130
        more = client.get("/").text.partition('id="more"')[2].partition('href="')[2]
        following = client.get(more.partition('"')[0].replace("&amp;", "&")).text
        assert _rows(following) == seen[60:120]


def test_rows_that_changed_are_brought_alone(pages: httpx.Client) -> None:
    asked = {"ids": [COMPACTED, "claude-code/none"], "source": "claude-code"}
    rows = pages.get("/fragments/home", params=asked).json()["rows"]
    assert [row["id"] for row in rows] == asked["ids"]
    assert _rows(rows[0]["html"]) == [COMPACTED]
    assert rows[1]["html"] is None
    elsewhere = pages.get("/fragments/home", params={"ids": COMPACTED, "source": "kiro"}).json()
    assert elsewhere["rows"][0]["html"] is None


def test_a_search_marks_what_it_found_and_links_to_the_message(pages: httpx.Client) -> None:
    found = pages.get("/search", params={"q": "夜間", "fragment": "1"}).json()
    assert found["query"] == "夜間"
    assert "<mark>夜間</mark>" in found["html"]
    link = found["html"].partition('class="hit')[2].partition('href="')[2].partition('"')[0]
    opened = pages.get(link.replace("&amp;", "&"))
    assert opened.status_code == 200
    assert 'data-opened=""' not in opened.text


def test_a_query_that_cannot_be_read_says_where(pages: httpx.Client) -> None:
    found = pages.get("/search", params={"q": "a sorce:kiro", "fragment": "1"}).json()["html"]
    assert "This query cannot be read" in found
    assert "source" in found
    nothing = pages.get("/search", params={"q": "quokkaflux"}).text
    assert "Nothing found for quokkaflux" in nothing
    assert re.search(r"Searched: \d+ conversations, up to \d+ \w+", nothing)


def test_what_is_not_there_is_said_and_linked_home(pages: httpx.Client) -> None:
    for path in ("/c/nowhere", "/versions/x/y", "/project?path=/nowhere", f"/raw/{COMPACTED}"):
        answer = pages.get(path)
        assert answer.status_code == 404
        assert "Not found" in answer.text and 'href="/"' in answer.text
    assert pages.get("/c/claude-code/").status_code == 409
    assert pages.get("/fragments/nowhere/x").json()["error"].startswith("no conversation")
    assert pages.get(f"/c/{COMPACTED}?as_of=nonsense").status_code == 400


def test_the_demo_is_marked_as_such(demo: Server, pages: httpx.Client) -> None:
    assert 'id="demo"' not in pages.get("/").text
    demo.archive_reader.demo = True
    try:
        assert "Invented history" in pages.get("/").text
    finally:
        demo.archive_reader.demo = False


def test_an_empty_machine_is_told_where_was_looked(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    with (
        serving(tmp_path / "archive.sqlite3", tmp_path / "home") as server,
        client_of(server) as client,
    ):
        client.headers["Accept-Language"] = "ja"
        first = client.get("/").text
        assert 'id="first"' in first
        assert "まだエージェントの履歴がありません" in first
        assert str(tmp_path / "home" / ".claude") in first
        assert client.get("/fragments/status").json()["done"] is False
        assert client.get("/stats").status_code == 200
        assert "アーカイブは空です" in client.get("/search?q=x").text


# ── Hostile transcripts ──

EVIL = "</title><script>alert(1)</script><img src=x onerror=alert(2)>\u202e\x1b[31m"
EVIL_ID = "a\"'><script>alert(3)</script>"


@pytest.fixture
def hostile(tmp_path: Path) -> Iterator[httpx.Client]:
    session = "5471a680-0000-4000-8000-000000000001"
    folder = tmp_path / "home" / ".claude" / "projects" / "-evil"
    folder.mkdir(parents=True)
    base: dict[str, object] = {
        "sessionId": session,
        "cwd": f"/evil/{EVIL}",
        "version": "2.1.0",
        "userType": "external",
    }
    base |= {"isSidechain": False, "timestamp": "2026-11-15T10:00:00.000Z", "gitBranch": EVIL}
    answer: dict[str, object] = {"id": "m1", "role": "assistant", "model": EVIL, "type": "message"}
    answer["usage"] = {"input_tokens": 5, "output_tokens": 7}
    lines = [
        {"type": "summary", "summary": EVIL, "leafUuid": "x"},
        base | {"type": "user", "uuid": EVIL_ID, "message": {"role": "user", "content": EVIL}},
        base
        | {"type": "assistant", "uuid": "b", "parentUuid": EVIL_ID}
        | {
            "message": answer | {"content": [{"type": "text", "text": f"[x](javascript:1) {EVIL}"}]}
        },
        base
        | {"type": "user", "uuid": "half\ud800", "parentUuid": "b"}
        | {"message": {"role": "user", "content": "half \ud800 a pair"}},
        {"type": "custom-title", "customTitle": EVIL, "sessionId": session},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / f"{session}.jsonl").write_text(text, encoding="utf-8")
    archive = open_archive(tmp_path / "archive.sqlite3", create=True)
    import_history(archive, places=Places.at(tmp_path / "home"))
    archive.close()
    with (
        serving(tmp_path / "archive.sqlite3", tmp_path / "home") as server,
        client_of(server) as client,
    ):
        yield client


def test_a_hostile_transcript_stays_text_on_every_page(hostile: httpx.Client) -> None:
    id = "claude-code/5471a680-0000-4000-8000-000000000001"
    project = quote(f"/evil/{EVIL}")
    message = quote(EVIL_ID)
    paths = [
        "/",
        "/stats",
        "/usage?period=all",
        "/sources",
        "/search?q=alert",
        f"/search?q={quote(EVIL)}",
    ]
    paths += [f"/project?path={project}", f"/?project={project}", f"/?source={quote(EVIL_ID)}"]
    paths += [f"/c/{id}", f"/c/{id}?at={message}", f"/versions/{id}", f"/explain/{id}"]
    paths += [f"/raw/{id}?message={message}", f"/c/{quote(EVIL_ID)}", f"/c/{id}?at={quote(EVIL)}"]
    for path in paths:
        html = hostile.get(path).text
        assert "alert(" in html or path in ("/stats", "/sources"), path
        assert Checked(html).forbidden == [], path
        assert "\u202e" not in html and "\x1b" not in html, path
    assert hostile.get(f"/c/{id}?at=half").status_code == 200
    for path in (f"/fragments/{id}", "/search?q=alert&fragment=1", "/?fragment=1"):
        for html in _pieces(hostile.get(path).json()):
            assert Checked(html).forbidden == [], path


def test_a_download_cannot_forge_a_header(hostile: httpx.Client) -> None:
    answer = hostile.get("/export/claude-code/5471a680-0000-4000-8000-000000000001?format=html")
    named = answer.headers["content-disposition"]
    assert named.startswith("attachment; ")
    assert not set("<>\r\n\\") & set(named)


def _pieces(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name, each in value.items():
            if name == "html":
                yield each
            else:
                yield from _pieces(each)
    elif isinstance(value, list):
        for each in value:
            yield from _pieces(each)


def _rows(html: str) -> list[str]:
    return [piece.partition('"')[0] for piece in html.split('data-conversation="')[1:]]


@pytest.mark.parametrize("name", ["files", "versions", "share", "explain", "curate", "forget"])
def test_the_pages_of_a_conversation_lead_to_each_other(pages: httpx.Client, name: str) -> None:
    left = pages.get(f"/{name}/{COMPACTED}").text.partition("<main")[0]
    for other in ("c", "files", "versions", "share", "explain", "curate", "forget"):
        here = ' aria-current="page"' if other == name else ""
        assert f'<a href="/{other}/{COMPACTED}"{here}>' in left


def test_a_day_leads_to_the_other_days(pages: httpx.Client) -> None:
    left = pages.get("/digest?day=2026-11-05").text.partition("<main")[0]
    assert '<a href="/digest?day=2026-11-05" aria-current="page">' in left
    days = re.findall(r'<a href="/digest\?day=([\d-]+)"', left)
    assert len(days) > 3 and days == sorted(days, reverse=True)


def test_what_was_found_at_a_place_is_told_in_the_language_of_the_page(
    pages: httpx.Client,
) -> None:
    assert "1 threads" not in pages.get("/sources").text
    assert ">1 thread<" in pages.get("/sources").text
    japanese = pages.get("/sources?lang=ja").text
    assert ">1 スレッド<" in japanese
    assert re.findall(r">\d+ [a-z]+<", japanese) == []
