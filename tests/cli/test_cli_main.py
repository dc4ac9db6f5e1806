"""The command as a whole: help, errors, start-up, completion."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import click
import pytest

from rireki import __version__
from rireki.archive.open import open_archive
from rireki.cli.main import cli
from rireki.sources import registry
from tests.cli.conftest import TALK, Rireki
from tests.support.homes import lay_out


def commands() -> dict[str, click.Command]:
    ctx = click.Context(cli)
    found = {name: cli.get_command(ctx, name) for name in cli.list_commands(ctx)}
    return {name: command for name, command in found.items() if command}


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, **environment},
        check=False,
    )


def test_every_command_is_in_the_help_and_helps_with_an_example(rireki: Rireki) -> None:
    told = rireki("--help").out
    for name, command in commands().items():
        assert f"\n  {name} " in told
        helped = rireki(name, "--help")
        assert helped.code == 0 and f"rireki {name}" in helped.out
        assert "Example" in (command.help or ""), name
        assert all(line.isprintable() for line in helped.lines)


def test_every_option_explains_itself() -> None:
    for name, command in commands().items():
        for option in command.params:
            if isinstance(option, click.Option):
                assert option.help, f"{name} {option.opts}"


def test_a_japanese_environment_is_heeded() -> None:
    ran = run("-m", "rireki", "serach", LANG="ja_JP.UTF-8", LC_ALL="", PYTHONUTF8="1")
    assert "エラー" in ran.stderr and "search" in ran.stderr


def test_the_version(rireki: Rireki) -> None:
    assert rireki("--version").out == f"rireki {__version__}\n"


def test_a_wrong_command_is_a_usage_error(rireki: Rireki) -> None:
    ran = rireki("lsit")
    assert ran.code == 2 and "lsit" in ran.err


def test_a_folder_that_cannot_be_written_is_no_traceback(imported: Rireki, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    ran = imported("restore", "aaaa", "--to", str(tmp_path / "file" / "below"))
    assert ran.code == 1 and ran.err.startswith("error: ")


HEAVY = "rich", "platformdirs", "importlib.metadata", "asyncio", "rireki.sources"


@pytest.mark.parametrize("arguments", [["--version"], ["list"], ["list", "--json"]])
def test_a_short_command_imports_nothing_it_does_not_need(
    imported: Rireki, arguments: list[str]
) -> None:
    """Start-up is counted in imports here and measured in bench/."""
    ran = run("-X", "importtime", "-m", "rireki", *arguments)
    assert ran.returncode == 0
    modules = {line.rpartition("|")[2].strip() for line in ran.stderr.splitlines()}
    loaded = {heavy for heavy in HEAVY for module in modules if module.split(".")[0] == heavy}
    assert not loaded | (modules & set(HEAVY))
    if arguments == ["--version"]:
        assert "msgspec" not in modules


def test_a_look_at_all_sources_loads_nothing_that_interprets(tmp_path: Path) -> None:
    """Most imports find nothing new: twenty readers may cost little then."""
    code = f"""import sys
from pathlib import Path
from rireki.sources import registry
from rireki.sources.kit.places import Places
places = Places.at(Path({str(tmp_path)!r}))
print(sum(len(reader.discover(places).looked) for reader in registry.readers()))
print([name for name in sys.modules if name == "rireki.sources.kit.pending"])"""
    looked, loaded = run("-c", code).stdout.splitlines()
    assert int(looked) > 20
    assert loaded == "[]"


def test_help_and_the_completion_of_names_import_no_command() -> None:
    """Every command has its line in the table: a file per command would be read for one screen."""
    asked = {"COMP_WORDS": "rireki s", "COMP_CWORD": "1", "_RIREKI_COMPLETE": "zsh_complete"}
    for arguments, environment in ((["--help"], {}), ([], asked)):
        ran = run("-X", "importtime", "-m", "rireki", *arguments, **environment)
        assert "serve" in ran.stdout and "Read, search and watch in a browser." in ran.stdout
        assert "rireki.cli.main" in ran.stderr
        assert "rireki.cli.commands" not in ran.stderr and "msgspec" not in ran.stderr


def test_names_are_completed_with_their_lines() -> None:
    asked = {"COMP_WORDS": "rireki sho", "COMP_CWORD": "1", "_RIREKI_COMPLETE": "zsh_complete"}
    assert run("-m", "rireki", **asked).stdout == "plain\nshow\nRead one conversation.\n"
    asked["COMP_WORDS"] = "rireki --ver"
    assert "--version" in run("-m", "rireki", **asked).stdout


def test_a_closed_pipe_is_quiet(imported: Rireki) -> None:
    script = (
        "import os, sys; r, w = os.pipe(); os.close(r); os.dup2(w, 1);"
        "sys.argv = ['rireki', 'show', 'aaaa', '--raw'];"
        "from rireki.sources import registry;"
        "registry._addresses = lambda: {'toy': 'tests.cli.toy:READER'};"
        "from rireki.cli.start import main; main()"
    )
    ran = run("-c", script)
    assert (ran.returncode, ran.stderr) == (141, "")


def test_ctrl_c_is_quiet(rireki: Rireki, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "main", interrupted)
    ran = rireki("list")
    assert (ran.code, ran.err) == (130, "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(rireki: Rireki, shell: str) -> None:
    assert "_RIREKI_COMPLETE" in rireki("completion", shell).out


def test_ids_are_completed(imported: Rireki) -> None:
    words = {"COMP_WORDS": "rireki show aaaa", "COMP_CWORD": "2"}
    script = "import sys; sys.argv = ['rireki']; from rireki.cli.start import main; main()"
    ran = run("-c", script, _RIREKI_COMPLETE="bash_complete", **words)
    assert ran.stdout == f"plain,{TALK}\n"
    words["COMP_WORDS"] = "rireki show "
    ran = run("-c", script, _RIREKI_COMPLETE="zsh_complete", **words)
    assert TALK in ran.stdout and "設定ファイルを読む" in ran.stdout


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_silence_and_the_work_is_done(tmp_path: Path, closed: str) -> None:
    lay_out("claude-code-1.0.51", tmp_path)
    path = tmp_path / "archive.sqlite3"
    rireki = f"'{sys.executable}' -m rireki --archive '{path}'"
    codes = {f"import --home '{tmp_path}'": 0, "list": 0, "search is:gone": 1, "show nobody": 1}
    for command, code in codes.items():
        ran = subprocess.run(
            ["sh", "-c", f"{rireki} {command} {closed}"], capture_output=True, text=True
        )
        assert (ran.returncode, "Traceback" in ran.stderr) == (code, False)
    with closing(open_archive(path)) as archive:
        assert archive.count() > 0


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("serach", "rireki search"), ("lst", "rireki list"), ("reindex", "rireki --help")],
)
def test_a_mistyped_command_is_told_what_was_meant(rireki: Rireki, typed: str, meant: str) -> None:
    ran = rireki(typed, "x")
    assert ran.code == 2 and f"there is no command '{typed}'" in ran.err and meant in ran.err


def test_what_a_plug_in_read_is_listed_when_the_plug_in_is_gone(
    imported: Rireki, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [name for name in registry.names() if name != "toy"]
    monkeypatch.setattr(registry, "names", lambda: names)
    ran = imported("list", "--source", "toy", "--json")
    assert ran.code == 0 and {each["source"] for each in ran.json} == {"toy"}
    assert imported("stats", "--source", "toy").code == 0
    assert "Did you mean toy?" in imported("list", "--source", "tyo").err


@pytest.mark.parametrize("command", ["list", "import", "stats"])
def test_a_source_that_is_none_is_said_to_be_none(imported: Rireki, command: str) -> None:
    ran = imported(command, "--source", "tyo")
    assert ran.code == 1 and ran.out == ""
    assert "there is no source 'tyo'" in ran.err and "Did you mean toy?" in ran.err
    assert imported(command, "--source", "toy").code == 0


@pytest.mark.parametrize("name", ["import", "list", "show", "search", "sources", "resume"])
def test_a_short_command_loads_neither_driving_nor_the_web(name: str, tmp_path: Path) -> None:
    heavy = "{'asyncio', 'ssl', 'starlette', 'rireki.drive.bridge', 'rireki.web.app'}"
    code = f"""import sys
from rireki.cli.main import cli
cli(["{name}", "--help"], standalone_mode=False)
print({heavy} & set(sys.modules))"""
    ran = run("-c", code, HOME=str(tmp_path))
    assert ran.stdout.splitlines()[-1] == "set()", ran.stderr
