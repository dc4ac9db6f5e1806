"""The scripts are checked for their types, by a compiler that is the pinned one or none."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.error import URLError

import pytest

from tools import javascript

ROOT = Path(__file__).parents[2]


def test_a_mistake_in_a_script_is_found(tmp_path: Path) -> None:
    try:
        javascript.ensure_compiler(javascript.FOLDER)
    except OSError as error:
        pytest.skip(f"TypeScript cannot be had: {error}")
    script = tmp_path / "script.js"
    script.write_text('document.getElementById("query").valu = "";\n')
    files = [str(ROOT / "tools" / "pages.d.ts"), str(script)]
    settings = tmp_path / "jsconfig.json"
    settings.write_text(json.dumps({"extends": str(ROOT / "jsconfig.json"), "include": files}))
    said = javascript.check(settings)
    assert "Property 'valu' does not exist on type 'HTMLInputElement'" in said
    script.write_text('document.getElementById("query").value = "";\n')
    assert javascript.check(settings) == ""


def test_a_compiler_other_than_the_pinned_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(javascript, "FOLDER", tmp_path / "typescript")
    monkeypatch.setattr(javascript, "fetch", lambda: b"another")
    assert javascript.main() == 1
    what, todo = capsys.readouterr().out.splitlines()
    assert "is not the package that was pinned" in what and "Nothing of it was used" in todo
    assert list(tmp_path.iterdir()) == []


def test_without_a_network_the_check_is_left_out_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fetch() -> bytes:
        raise URLError("no route")

    monkeypatch.setattr(javascript, "FOLDER", tmp_path / "typescript")
    monkeypatch.setattr(javascript, "fetch", fetch)
    assert javascript.main() == 0
    assert "WARNING: the types of the scripts are not checked" in capsys.readouterr().out


def test_every_script_is_checked() -> None:
    included = json.loads((ROOT / "jsconfig.json").read_text("utf-8"))["include"]
    checked = {path for pattern in included for path in ROOT.glob(pattern)}
    scripts = {path for top in ("src", "examples") for path in (ROOT / top).rglob("*.js")}
    assert scripts and scripts <= checked


def test_elements_that_the_types_name_are_in_the_templates() -> None:
    types = (ROOT / "tools" / "pages.d.ts").read_text("utf-8")
    (body,) = re.findall(r"interface PageElements \{\n(.*?)\n\}", types, re.DOTALL)
    names = re.findall(r'^  "?([\w-]+)"?:', body, re.MULTILINE)
    templates = (ROOT / "src" / "rireki" / "web" / "templates").glob("*.html")
    text = "".join(path.read_text("utf-8") for path in templates)
    assert names and [name for name in names if f'id="{name}"' not in text] == []
