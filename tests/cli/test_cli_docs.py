"""docs/commands.md and --help say the same."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from rireki.cli.main import cli

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
CONTEXT = click.Context(cli)
#: Said once at the top of the page.
EVERYWHERE = {"--archive", "--help"}


def sections() -> dict[str, str]:
    text = PAGE.read_text(encoding="utf-8")
    found = re.findall(r"^## rireki (\S+)\n(.*?)(?=^## )", text, flags=re.DOTALL | re.MULTILINE)
    return dict(found)


def params(name: str) -> list[click.Parameter]:
    command = cli.get_command(CONTEXT, name)
    assert command is not None
    return command.params


def options(name: str) -> set[str]:
    given = {opt for param in params(name) for opt in param.opts if opt.startswith("--")}
    return given - EVERYWHERE


def test_every_command_has_its_section_in_the_order_of_the_help() -> None:
    assert list(sections()) == cli.list_commands(CONTEXT)


@pytest.mark.parametrize("name", cli.list_commands(CONTEXT))
def test_every_option_is_documented_and_every_documented_option_exists(name: str) -> None:
    documented = set(re.findall(r"^\| `(--[a-z-]+)", sections()[name], flags=re.MULTILINE))
    assert documented == options(name)


@pytest.mark.parametrize("name", cli.list_commands(CONTEXT))
def test_every_section_has_an_example(name: str) -> None:
    assert re.search(rf"^    (?:eval \"\$\()?rireki {name}", sections()[name], flags=re.MULTILINE)


def test_what_all_commands_share_is_said_at_the_top() -> None:
    top = PAGE.read_text(encoding="utf-8").partition("\n## ")[0]
    for word in (*EVERYWHERE, "--version", "RIREKI_ARCHIVE", "NO_COLOR", "COLUMNS", "PAGER"):
        assert word in top


def test_almost_every_command_takes_the_archive_after_its_name() -> None:
    without = {
        name
        for name in cli.list_commands(CONTEXT)
        if not any("--archive" in p.opts for p in params(name))
    }
    assert without == {"demo", "completion", "team"}
