"""Agents' settings: our entry comes and goes, all else stays, and nothing hostile is touched."""

from __future__ import annotations

import json
import os
import stat
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from rireki.cli.main import cli
from rireki.errors import RirekiError
from rireki.mcp.install import json_text, toml_text
from rireki.mcp.install.agents import AGENTS, settings_of
from rireki.mcp.install.notes import BLOCK, with_notes, without_notes
from rireki.sources.kit.places import Places

PATH = ("mcpServers", "rireki")
ENTRY = {"command": "/usr/bin/python3", "args": ["-P", "-m", "rireki", "mcp"]}
WRITTEN = """{
  // what we like
  "theme": "dark", /* really */
  "mcpServers": {
    "other": { "command": "x" }, // stays
  },
  "last": [1, 2.50, "\\u00e9"],
}
"""


class Ended(NamedTuple):
    exit_code: int
    output: str
    stdout: str


def install(*arguments: str | Path) -> Ended:
    """With both lines of an error, as `rireki` tells them."""
    ended = CliRunner().invoke(cli, ["install", *map(str, arguments)])
    error = ended.exception
    lines = [error.message, error.hint] if isinstance(error, RirekiError) else []
    assert error is None or lines or isinstance(error, SystemExit), error
    return Ended(ended.exit_code, "\n".join([ended.output, *lines]), ended.stdout)


def target(agent: str, home: Path) -> Path:
    return settings_of(agent, Places.at(home)).file


# ── JSON that people write ──


def test_comments_and_commas_of_json_stay() -> None:
    made = json_text.with_member(WRITTEN, PATH, ENTRY)
    for kept in ("// what we like", "/* really */", "// stays", "2.50", "\\u00e9"):
        assert kept in made
    assert json_text.parse(made)["mcpServers"] == {"other": {"command": "x"}, "rireki": ENTRY}
    assert json_text.parse(json_text.without_member(made, PATH)) == json_text.parse(WRITTEN)


@pytest.mark.parametrize(
    "text", ["", "  \n", "{}", "{ }\n", '{"mcpServers": {}}', '{"mcpServers":{"rireki":1}}']
)
def test_little_is_enough(text: str) -> None:
    made = json_text.with_member(text, PATH, ENTRY)
    assert json_text.parse(made)["mcpServers"]["rireki"] == ENTRY
    assert json.loads(made)
    assert "rireki" not in json_text.without_member(made, PATH)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(max_size=6), VALUES, max_size=4),
    st.dictionaries(st.sampled_from(["a", "b", "rireki", "zz"]), VALUES, max_size=4),
    st.sampled_from([None, 1, 2, 4, "\t"]),
)
def test_whatever_else_there_is_stays(
    rest: dict[str, Any], servers: dict[str, Any], indent: Any
) -> None:
    before = {**rest, "mcpServers": servers}
    text = json.dumps(before, indent=indent, ensure_ascii=False)
    made = json_text.with_member(text, PATH, ENTRY)
    assert json.loads(made) == {**before, "mcpServers": {**servers, "rireki": ENTRY}}
    left = {name: value for name, value in servers.items() if name != "rireki"}
    assert json.loads(json_text.without_member(made, PATH)) == {**before, "mcpServers": left}


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "nonsense",
        '{"mcpServers": []}',
        '{"a": 1} x',
        '{"a" 1}',
        "[" * 5000,
        '{"a":1,"a":2}',
        "null",
    ],
)
def test_what_is_not_understood_is_not_changed(text: str) -> None:
    with pytest.raises(ValueError):
        json_text.with_member(text, PATH, ENTRY)


# ── TOML that people write ──

TOML = """# mine
model = "o4"  # the best

[mcp_servers.other]
command = "x"

[mcp_servers.other.env]
A = '''
[mcp_servers.rireki]
not = "a table"
'''
"""


def test_comments_of_toml_stay() -> None:
    path = ("mcp_servers", "rireki")
    made = toml_text.with_table(TOML, path, ENTRY)
    assert made.startswith(TOML) and tomllib.loads(made)["mcp_servers"]["rireki"] == ENTRY
    assert toml_text.without_table(made, path) == TOML
    # Installed again, with what an agent wrote below it meanwhile.
    more = made + '\n[mcp_servers.rireki.tools.search]\napproval_mode = "approve"\n\n[tui]\nx = 1\n'
    again = toml_text.with_table(more, path, {"command": "other"})
    assert tomllib.loads(again)["mcp_servers"]["rireki"] == {"command": "other"}
    assert tomllib.loads(again)["tui"] == {"x": 1}


@pytest.mark.parametrize(
    "text",
    [
        "[",
        "a = ",
        'mcp_servers = { rireki = { command = "x" } }',
        "mcp_servers.rireki.command = 'x'",
        "mcp_servers = 3",
    ],
)
def test_toml_that_cannot_be_changed_safely_is_left(text: str) -> None:
    with pytest.raises(ValueError):
        toml_text.with_table(text, ("mcp_servers", "rireki"), ENTRY)


# ── the command ──


@pytest.mark.parametrize("agent", AGENTS)
def test_it_comes_and_goes(agent: str, tmp_path: Path) -> None:
    file = target(agent, tmp_path)
    file.parent.mkdir(parents=True, exist_ok=True)
    before = 'model = "x" # mine\n' if file.suffix == ".toml" else '{\n  "theme": "dark"\n}\n'
    file.write_text(before)
    file.chmod(0o640)
    ended = install(agent, "--yes", "--home", tmp_path)
    assert ended.exit_code == 0, ended.output
    assert file.with_name(file.name + ".before-rireki").read_text() == before
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    text = file.read_text()
    assert '"mcp"' in text and '"-P"' in text
    # Once more changes nothing.
    assert "already" in install(agent, "--yes", "--home", tmp_path).output
    assert file.read_text() == text
    assert install(agent, "--undo", "--yes", "--home", tmp_path).exit_code == 0
    left = file.read_text()
    assert "rireki" not in left
    values = tomllib.loads(left) if file.suffix == ".toml" else json.loads(left)
    assert values in (
        {"model": "x"},
        {"theme": "dark", "mcpServers": {}},
        {"theme": "dark", "mcp": {}},
    )
    assert "Nothing to take out" in install(agent, "--undo", "--yes", "--home", tmp_path).output


@pytest.mark.parametrize("agent", AGENTS)
def test_settings_that_are_not_there_are_made_for_their_owner(agent: str, tmp_path: Path) -> None:
    assert install(agent, "--yes", "--home", tmp_path).exit_code == 0
    file = target(agent, tmp_path)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path for path in file.parent.iterdir() if path.is_file()] == [file]


def test_it_asks_first(tmp_path: Path) -> None:
    ended = install("cursor", "--home", tmp_path)
    assert ended.exit_code == 1 and "--yes" in ended.output
    assert '+  "mcpServers": {' in ended.output
    assert not target("cursor", tmp_path).exists()


def test_the_change_is_told_to_programs(tmp_path: Path) -> None:
    told = json.loads(install("q", "--yes", "--json", "--home", tmp_path).stdout)
    assert told["agent"] == "q" and told["changed"] == [str(target("q", tmp_path))]


def test_another_archive_is_named(tmp_path: Path) -> None:
    archive = tmp_path / "kept" / "archive.sqlite3"
    assert install("kiro", "--yes", "--home", tmp_path, "--archive", archive).exit_code == 0
    entry = json.loads(target("kiro", tmp_path).read_text())["mcpServers"]["rireki"]
    assert (
        entry["args"][-2:] == ["--archive", str(archive)] and Path(entry["command"]).is_absolute()
    )


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text("{}")
    file = target("cursor", tmp_path / "home")
    file.parent.mkdir(parents=True)
    file.symlink_to(outside)
    ended = install("cursor", "--yes", "--home", tmp_path / "home")
    assert ended.exit_code == 1 and "link that leads elsewhere" in ended.output
    file.unlink()
    file.parent.rmdir()
    (tmp_path / "elsewhere").mkdir()
    file.parent.symlink_to(tmp_path / "elsewhere")
    assert install("cursor", "--yes", "--home", tmp_path / "home").exit_code == 1
    assert outside.read_text() == "{}" and not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.parametrize(
    "content", [b"\xff\xfe\x00", b"{", b"[]", b'{"mcpServers": 5}', b"[" * 100_000]
)
def test_hostile_settings_are_left_as_they_are(content: bytes, tmp_path: Path) -> None:
    file = target("gemini", tmp_path)
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    ended = install("gemini", "--yes", "--home", tmp_path)
    assert (
        ended.exit_code == 1 and str(file) in ended.output and "Nothing was changed" in ended.output
    )
    assert "Traceback" not in ended.output
    assert file.read_bytes() == content and list(file.parent.iterdir()) == [file]


def test_a_folder_or_a_pipe_in_its_place_is_said(tmp_path: Path) -> None:
    file = target("gemini", tmp_path)
    file.mkdir(parents=True)
    assert install("gemini", "--yes", "--home", tmp_path).exit_code == 1
    file.rmdir()
    os.mkfifo(file)
    ended = install("gemini", "--yes", "--home", tmp_path)
    assert ended.exit_code == 1 and "no plain file" in ended.output


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / ".cursor").write_text("in the way")
    ended = install("cursor", "--yes", "--home", tmp_path)
    assert ended.exit_code == 1 and "Traceback" not in ended.output


def test_notes_come_and_go(tmp_path: Path) -> None:
    notes = tmp_path / "AGENTS.md"
    notes.write_text("# Rules\n\nBe kind.\n")
    assert install("codex", "--yes", "--home", tmp_path, "--notes", notes).exit_code == 0
    assert notes.read_text() == f"# Rules\n\nBe kind.\n\n{BLOCK}\n"
    assert install("codex", "--undo", "--yes", "--home", tmp_path, "--notes", notes).exit_code == 0
    assert notes.read_text() == "# Rules\n\nBe kind.\n"
    assert BLOCK.count("\n") == 4


@pytest.mark.parametrize("text", ["", "# A\n", "# A", f"# A\n\n{BLOCK}\n\n# B\n"])
def test_the_block_stands_there_once(text: str) -> None:
    made = with_notes(with_notes(text))
    assert made.count(BLOCK) == 1 and made == with_notes(text)
    assert BLOCK not in without_notes(made)
