"""One list of formats: what the command takes, the page offers and the address answers."""

from __future__ import annotations

import click
import pytest

from rireki.cli.commands.show import command
from rireki.model.providers import PROVIDERS
from rireki.show.formats import FORMATS, FormatOptions, write
from tests.show.test_html_export import small


def test_the_command_takes_every_format() -> None:
    option = next(each for each in command.params if each.name == "form")
    assert isinstance(option.type, click.Choice)
    assert {"text", *FORMATS} <= set(option.type.choices)


DOCUMENTS = [name for name, form in FORMATS.items() if form.module]


def test_every_provider_is_a_format() -> None:
    assert [name for name, form in FORMATS.items() if form.for_models] == [*PROVIDERS]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_format_writes_a_document_that_ends_with_its_line(name: str) -> None:
    document = "".join(write(name, small(), FormatOptions()))
    assert "もう一度" in document and document.endswith("\n")


def test_a_document_says_which_message_was_asked_for_where_the_format_can() -> None:
    message = small().messages[-1].id
    assert f'"at":"{message}"' in "".join(write("json", small(), FormatOptions(opened=message)))
