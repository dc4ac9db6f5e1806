"""Every code is documented, and every documented code exists."""

from __future__ import annotations

import re
from pathlib import Path

import rireki.providers
from rireki.providers.notes import CODES

ROOT = Path(__file__).parents[2]


def test_the_page_explains_every_code() -> None:
    page = (ROOT / "docs" / "providers.md").read_text()
    table = page.split("## The codes")[1].split("## ")[0]
    assert re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE) == sorted(CODES)


def test_every_code_that_is_noted_is_known() -> None:
    package = Path(rireki.providers.__file__).parent
    source = "\n".join(path.read_text() for path in package.glob("*.py"))
    noted = set(re.findall(r"(?:notes\.add|_note)\(\s*\"([a-z-]+)\"", source))
    assert noted == set(CODES)


def test_no_package_of_a_provider_is_needed() -> None:
    package = Path(rireki.providers.__file__).parent
    for path in package.glob("*.py"):
        imported = re.findall(r"^(?:from|import) ([\w.]+)", path.read_text(), re.MULTILINE)
        assert not {name.split(".")[0] for name in imported} & {
            "anthropic",
            "openai",
            "google",
            "ollama",
            "botocore",
            "boto3",
            "pydantic",
        }, path
