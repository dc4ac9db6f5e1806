"""What `python -m tools.measure` counts, and what must not come back."""

from __future__ import annotations

import ast

from tools.measure import (
    doubled_classes,
    inner_imports,
    missing_words,
    read_modules,
    unexplained_imports,
)

#: Names that stand for one idea in several packages, each with a reason.
ALLOWED: dict[str, str] = {}

#: Imports inside functions.
MOST = 60


def test_a_public_class_has_a_name_of_its_own() -> None:
    doubled = doubled_classes(read_modules())
    assert {line.partition(":")[0] for line in doubled} == ALLOWED.keys(), doubled


def test_an_import_inside_a_function_says_why() -> None:
    """Most belong to the top of a file: commands are loaded by one table, see cli/main.py."""
    modules = read_modules()
    assert unexplained_imports(modules) == []
    assert len(inner_imports(modules)) <= MOST


def test_a_comment_above_imports_is_their_reason() -> None:
    text = (
        "def f():\n    # Imported late: slow.\n    import os\n    from sys import path\n\n"
        "    import re\n    x = 1\n    import json\n"
    )
    modules = {"a.py": (text, ast.parse(text))}
    assert unexplained_imports(modules) == ["a.py:8"]


def test_it_counts_what_it_says() -> None:
    text = (
        "class A: ...\nclass _B: ...\ndef f():\n    import os\n    def g():\n        import sys\n"
    )
    modules = {
        f"{name}/one.py": (text + use, ast.parse(text + use))
        for name, use in (("a", "from rireki.zebra import A\n"), ("b", ""), ("c", ""))
    }
    assert doubled_classes(modules) == ["A: a/one.py, b/one.py, c/one.py"]
    assert inner_imports(modules)[:2] == ["a/one.py:4", "a/one.py:6"]
    assert missing_words(modules) == []
    more = "from rireki.zebra import A\n"
    modules = {f"{n}/one.py": (text + more, ast.parse(text + more)) for n in "abc"}
    assert missing_words(modules) == ["A", "zebra"]


def test_every_word_that_three_packages_use_is_in_the_glossary() -> None:
    assert missing_words(read_modules()) == [], "add a line to ARCHITECTURE.md, Words"
