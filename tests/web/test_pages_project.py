"""The page of a project: its figures, the files it changed most, and worktrees that belong to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from rireki.archive.open import open_archive
from rireki.intake.sweep import import_history
from rireki.sources.kit.places import Places
from rireki.web.parts.worktrees import root_of, siblings_of
from rireki.web.serve import Server
from tests.sources.transcripts import Transcript
from tests.web.conftest import client_of, serving


def conversation(number: int, directory: str, *files: str) -> Transcript:
    made = Transcript(f"{number:08x}-2222-4000-8000-000000000000")
    made.user(f"prompt {number}", cwd=directory, uuid=f"u{number}")
    for at, file in enumerate(files):
        given = {"file_path": file, "old_string": "a", "new_string": "b"}
        call = f"c{number}-{at}"
        made.call(call, "Edit", input=given, cwd=directory, uuid=f"e{number}-{at}", id=f"m{call}")
        made.result(call, "done", cwd=directory, uuid=f"r{number}-{at}")
    made.answer("done", cwd=directory, uuid=f"a{number}", id=f"a{number}")
    return made


class Repository:
    """A repository, a worktree that git made, one that an agent made, and a directory beside."""

    def __init__(self, folder: Path) -> None:
        self.main = folder / "repo"
        self.tree = folder / "repo-feature"
        self.agents = self.main / ".claude" / "worktrees" / "fix"
        self.other = folder / "repo-other"
        for directory in (self.main / ".git", self.tree, self.other / ".git"):
            directory.mkdir(parents=True)
        link = f"gitdir: {self.main}/.git/worktrees/repo-feature\n"
        (self.tree / ".git").write_text(link, encoding="utf-8")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return Repository(tmp_path_factory.mktemp("repositories"))


@pytest.fixture(scope="module")
def server(repository: Repository, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    place = tmp_path_factory.mktemp("project")
    made = [
        conversation(
            1, str(repository.main), f"{repository.main}/app.py", f"{repository.main}/app.py"
        ),
        conversation(
            2, str(repository.tree), f"{repository.tree}/app.py", f"{repository.tree}/b.py"
        ),
        conversation(3, str(repository.agents)),
        conversation(4, str(repository.other), f"{repository.other}/app.py"),
    ]
    folder = place / "home" / ".claude" / "projects" / "-x"
    folder.mkdir(parents=True)
    for each in made:
        (folder / f"{each.session}.jsonl").write_bytes(b"".join(each.lines))
    archive = open_archive(place / "archive.sqlite3", create=True)
    import_history(archive, places=Places.at(place / "home"))
    archive.close()
    with serving(place / "archive.sqlite3", place / "home") as server:
        yield server


@pytest.fixture
def web(server: Server) -> Iterator[httpx.Client]:
    with client_of(server) as client:
        yield client


def rows(html: str) -> set[int]:
    return {int(id, 16) for id in re.findall(r'data-conversation="claude-code/(\w{8})', html)}


def test_worktrees_are_the_repository_they_were_made_of(repository: Repository) -> None:
    main, tree, agents = map(str, (repository.main, repository.tree, repository.agents))
    assert [root_of(each, look=True) for each in (main, tree, agents)] == [main] * 3
    # Of somebody else's directories only the names are known.
    assert root_of(tree, look=False) == tree and root_of(agents, look=False) == main
    known = [main, tree, agents, str(repository.other), "/not/there"]
    assert siblings_of(tree, known, look=True) == [main, agents]
    (repository.other / ".git").rmdir()
    (repository.other / ".git").write_bytes(b"\xff" * 9000)
    assert root_of(str(repository.other), look=True) == str(repository.other)


def test_a_project_has_its_worktrees_unless_they_are_left_out(
    web: httpx.Client, repository: Repository
) -> None:
    page = web.get("/project", params={"path": str(repository.main)}).text
    assert rows(page) == {1, 2, 3}
    assert rows(web.get("/project", params={"path": str(repository.tree)}).text) == {1, 2, 3}
    alone = web.get("/project", params={"path": str(repository.main), "alone": "1"}).text
    assert rows(alone) == {1} and "repo-feature" in alone


def test_the_files_it_changed_most_are_those_of_all_its_worktrees(
    web: httpx.Client, repository: Repository
) -> None:
    page = web.get("/project", params={"path": str(repository.main)}).text
    told = re.findall(
        r'<tr><th scope="row" title="([^"]+)">.*?class="figure">(.*?)</td>', page, re.DOTALL
    )
    assert told == [("app.py", "3 edits · 2 conversations"), ("b.py", "1 edit · 1 conversation")]
    tiles = re.findall(r"<li[^>]*><strong[^>]*>[^<]+</strong>([a-z ]+)<", page)
    assert tiles == ["conversations", "turns", "tokens", "files changed"]


def test_its_figures_are_of_its_conversations_alone(
    web: httpx.Client, repository: Repository
) -> None:
    page = web.get("/project", params={"path": str(repository.other)}).text
    # Two answers of 10 tokens in and 20 out.
    assert '<strong title="60">60</strong>tokens' in page
    assert "Tokens over time" in page
    assert web.get("/project", params={"path": "/nowhere"}).status_code == 404
    assert web.get("/project").status_code == 404
