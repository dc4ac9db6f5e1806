"""Readers are found through the entry points that strangers use too, and each costs itself alone."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib import invalidate_caches as import_caches
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from rireki.archive.base import Archive
from rireki.errors import NotFound, RirekiError
from rireki.intake.interpret import read_conversation
from rireki.intake.survey import survey
from rireki.intake.sweep import import_history
from rireki.sources import guarded, registry
from rireki.sources.kit.places import Places

Install = Callable[..., Path]

#: The made-up reader of the tests, with one of its verbs spoiled.
SPOILED = """
from tests.support.plain import Plain

class Reader(Plain):
    name = family = {name!r}
    {body}

READER = Reader()
"""
RAISES = "def {verb}(self, *_): raise KeyError('spoiled')"


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Puts a distribution with one reader on the path."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))

    def add(owner: str, name: str, code: str = "", module: str = "") -> Path:
        info = site / f"{owner}-1.0.dist-info"
        info.mkdir()
        module = module or f"{owner}_reader"
        if code:
            import_caches()
        (info / "entry_points.txt").write_text(
            f"[console_scripts]\nx = y:z\n\n[{registry.GROUP}]\n{name} = {module}:READER\n\n"
            "[other]\na = b:c\n"
        )
        if code:
            (site / f"{module}.py").write_text(code)
        forget()
        return info

    yield add
    for name in [n for n, m in sys.modules.items() if str(site) in str(getattr(m, "__file__", ""))]:
        del sys.modules[name]
    forget()


def forget() -> None:
    registry._installed.cache_clear()
    registry._loaded.cache_clear()
    guarded._mistakes.clear()


def spoiled(verb: str, name: str = "notes") -> str:
    return SPOILED.format(name=name, body=RAISES.format(verb=verb))


def talk(home: Path) -> None:
    """What the made-up reader would read."""
    (home / "notes").mkdir()
    (home / "notes" / "one.jsonl").write_text('{"id": "1", "who": "me", "text": "hello"}\n')


def named(home: Path, archive: Archive | None = None) -> list[str]:
    """What `rireki sources` says of the source of somebody else's reader."""
    (source,) = [each for each in survey(archive, Places.at(home)) if each.source == "notes"]
    return [trouble.message for trouble in source.troubles]


def test_it_finds_what_the_standard_library_finds() -> None:
    standard = {point.name: point.value for point in entry_points(group=registry.GROUP)}
    assert registry._addresses() == standard


def test_a_strangers_reader_is_found(install: Install) -> None:
    install("stranger", "plain", module="tests.support.plain")
    assert "plain" in registry.names() and "a" not in registry.names()
    assert registry.reader("plain").name == "plain"
    assert registry.broken() == []


def test_an_unknown_source_is_named_with_the_known_ones() -> None:
    with pytest.raises(NotFound, match="no reader for the source 'copilot'") as caught:
        registry.reader("copilot")
    assert "claude-code" in caught.value.hint
    assert registry.find("copilot") is None


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import no_such_module", "ModuleNotFoundError"),
        ("READER = 1 / 0", "ZeroDivisionError"),
        ("raise SystemExit(3)", "SystemExit"),
        ("class READER: pass", "AttributeError"),
        ("from tests.support.plain import READER", "calls itself 'plain', not 'notes'"),
        ("def", "SyntaxError"),
    ],
)
def test_a_reader_that_cannot_be_imported_costs_itself_alone(
    install: Install, home: Path, archive: Archive, code: str, words: str
) -> None:
    install("stranger", "notes", code)
    report = import_history(archive, places=Places.at(home))
    (source,) = [each for each in report.sources if each.source == "notes"]
    (trouble,) = source.troubles
    assert "stranger-1.0" in trouble.message and words in trouble.message and trouble.hint
    assert len(report.sources) > 5, "all others were looked for"
    assert named(home) == [trouble.message]
    with pytest.raises(RirekiError, match=r"stranger-1\.0"):
        import_history(archive, places=Places.at(home), sources=["notes"])


@pytest.mark.parametrize("verb", ["discover", "read", "interpret"])
def test_a_reader_that_raises_costs_itself_alone(
    install: Install, home: Path, archive: Archive, verb: str
) -> None:
    talk(home)
    install("stranger", "notes", spoiled(verb))
    install("other", "plain", module="tests.support.plain")
    report = import_history(archive, places=Places.at(home))
    counted = {each.source: each for each in report.sources}
    assert counted["plain"].new_conversations == 1 and counted["plain"].troubles == []
    told = [trouble.message for trouble in counted["notes"].troubles]
    assert told == [f"the reader of stranger-1.0 failed to {verb} (KeyError: 'spoiled')"]
    # As in another process, later.
    guarded._mistakes.clear()
    shown = set(named(home, archive))
    whole = {"1 of its conversations could not be interpreted, such as notes/one"}
    assert shown == (whole if verb == "interpret" else set(told))


@pytest.mark.parametrize("verb", ["recognise", "watched", "locate", "activity", "resume"])
def test_so_does_one_that_raises_elsewhere(install: Install, home: Path, verb: str) -> None:
    talk(home)
    install("stranger", "notes", spoiled(verb))
    reader = registry.reader("notes")
    assert not getattr(reader, verb)("x")
    assert "failed to" in named(home)[0]


def test_a_reader_that_raises_while_it_is_shown_says_so_there(
    install: Install, home: Path, archive: Archive
) -> None:
    talk(home)
    body = """
    def interpret(self, conversation, strands):
        readings = super().interpret(conversation, strands)
        for reading in readings:
            reading.messages = lambda: 1 / 0
        return readings
"""
    install("stranger", "notes", SPOILED.format(name="notes", body=body.strip()))
    import_history(archive, places=Places.at(home))
    (message,) = read_conversation(archive, archive.find("notes/one")).messages()
    assert "failed to interpret (ZeroDivisionError" in getattr(message.parts[0], "text", "")


def test_a_reader_cannot_bring_what_is_another_readers(install: Install, home: Path) -> None:
    body = """
    def discover(self, places):
        import msgspec
        found = super().discover(places)
        origins = [msgspec.structs.replace(o, source="claude-code") for o in found.origins]
        return type(found)(origins, found.looked)
"""
    talk(home)
    install("stranger", "notes", SPOILED.format(name="notes", body=body.strip()))
    assert "it found something of the source 'claude-code'" in named(home)[0]


def test_a_reader_called_like_ours_never_replaces_it(install: Install, home: Path) -> None:
    install("aaa", "claude-code", spoiled("discover", "claude-code"))
    assert registry.reader("claude-code").__class__.__module__.startswith("rireki.")
    ((name, trouble),) = registry.broken()
    assert name == "claude-code" and "only that of rireki is used" in trouble.message
    assert "aaa-1.0" in trouble.message and "rireki-" in trouble.message
    (source,) = [each for each in survey(None, Places.at(home)) if each.source == "claude-code"]
    assert source.troubles == [trouble] and source.looked


def test_two_readers_of_one_name_are_an_error_that_names_both(install: Install, home: Path) -> None:
    install("one", "notes", spoiled("none"))
    install("two", "notes", spoiled("none"))
    assert "notes" not in registry.names()
    with pytest.raises(RirekiError, match=r"one-1\.0 and two-1\.0 both bring a reader"):
        registry.reader("notes")
    assert "none of them is used" in named(home)[0]


def test_a_distribution_that_lies_twice_on_the_path_is_one(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("stranger", "plain", module="tests.support.plain")
    again = tmp_path / "again" / "stranger-2.0.dist-info"
    again.mkdir(parents=True)
    (again / "entry_points.txt").write_text(f"[{registry.GROUP}]\nplain = elsewhere:READER\n")
    monkeypatch.setattr("sys.path", [*sys.path, str(again.parent)])
    forget()
    assert registry.broken() == [] and registry.reader("plain").name == "plain"


def test_a_conversation_whose_reader_is_gone_is_kept_and_says_why(
    install: Install, home: Path, archive: Archive
) -> None:
    talk(home)
    info = install("stranger", "plain", module="tests.support.plain")
    import_history(archive, places=Places.at(home))
    (info / "entry_points.txt").unlink()
    forget()
    found = archive.find("plain/one")
    (trouble,) = read_conversation(archive, found).conversation.troubles
    assert "no reader for the source 'plain'" in trouble.message


@pytest.mark.parametrize("spelling", ["", ".", "absolute", "link", "dots"])
def test_readers_of_the_current_directory_count_for_nothing(
    install: Install,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    spelling: str,
) -> None:
    install("stranger", "plain", module="tests.support.plain")
    here = tmp_path / "site"
    (tmp_path / "link").symlink_to(here)
    spelled = {
        "absolute": str(here),
        "link": str(tmp_path / "link"),
        "dots": f"{tmp_path}/site/../site/",
    }.get(spelling, spelling)
    monkeypatch.setattr(sys, "path", [spelled, *(p for p in sys.path if p and p != str(here))])
    monkeypatch.chdir(here)
    forget()
    assert "plain" not in registry.names()
    monkeypatch.chdir(tmp_path)
    forget()
    # From elsewhere the same folder counts, unless it is only named relatively.
    assert ("plain" in registry.names()) == (spelling not in ("", "."))
