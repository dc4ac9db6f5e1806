"""What a masker makes of texts, messages and records."""

from __future__ import annotations

from pathlib import Path

from rireki.home import Home
from rireki.masking import Masker
from rireki.model.message import Message
from rireki.model.parts import Text, ToolCall

TOKEN = "ghp_" + "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"


def test_equal_secrets_have_equal_marks(tmp_path: Path) -> None:
    masker = Masker.for_home(Home(tmp_path / "archive.sqlite3"))
    first, second = masker.text(f"{TOKEN} and {TOKEN}").split(" and ")
    assert first == second
    assert first.startswith("[masked: github-token #")
    assert sum(masker.found.values()) == 2


def test_arguments_are_masked_and_keys_stay(tmp_path: Path) -> None:
    masker = Masker.for_home(Home(tmp_path / "archive.sqlite3"))
    call = ToolCall("1", "Bash", {"env": [{"name": TOKEN}]})
    message = Message(id="1", author="agent", display="bubble", parts=[Text("x"), call])
    masked = masker.message(message)
    assert TOKEN not in str(masked)
    assert isinstance(masked.parts[1], ToolCall)
    assert list(masked.parts[1].arguments["env"][0]) == ["name"]
