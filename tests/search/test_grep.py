"""Search finds just what a grep over the archive's own texts finds."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.base import Archive, Filter
from rireki.archive.open import open_archive
from rireki.intake.interpret import read_conversation
from rireki.model.parts import Attachment, Notice, Text, Thinking, ToolCall, ToolResult, Unknown
from rireki.search.index.importing import take_in
from rireki.search.index.update import catch_up
from rireki.search.results import Results, SearchOptions
from rireki.search.search import Search
from rireki.sources.kit.places import Places

ALL = SearchOptions(limit=10**6, hits=10**6)
Message = tuple[str, str]


def strings(value: Any, inside: bool = False) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            if inside or not re.fullmatch("[A-Za-z0-9_]*", key):
                yield key
            yield from strings(item, isinstance(item, dict))
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield str(value)


def texts_of(message: Any) -> Iterator[str]:
    if message.label and ": " in message.label:
        yield message.label.split(": ", 1)[1]
    for part in message.parts:
        match part:
            case Text() | Thinking() | Notice():
                yield part.text
            case ToolResult():
                yield part.output
            case ToolCall():
                yield part.name
                yield from strings(part.arguments)
            case Attachment():
                yield part.name
            case Unknown():
                yield part.what
                yield from strings(part.raw)


def grep_texts(archive: Archive) -> dict[Message, list[str]]:
    """Every visible message, read through the reader, without the index."""
    found: dict[Message, list[str]] = {}
    for conversation in archive.conversations(Filter(subagents=True)):
        messages = read_conversation(archive, archive.find(conversation.id)).messages()
        last = {m.id: list(texts_of(m)) for m in messages if m.replaced_by is None}
        for message in messages:
            texts = list(texts_of(message))
            superseded = message.replaced_by and last.get(message.replaced_by) == texts
            if message.display != "hidden" and not superseded:
                found[conversation.id, message.id] = texts
    return found


@cache
def plain(text: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def grep(texts: dict[Message, list[str]], word: str) -> set[Message]:
    """Written independently of search/language/match.py."""
    if not word.isascii():
        return {name for name, each in texts.items() if any(word in plain(t) for t in each)}
    whole = re.compile(rf"(?<![^\W_ぁ-ヿ㐀-鿿]){word}(?![^\W_ぁ-ヿ㐀-鿿])")
    return {
        name
        for name, each in texts.items()
        if any(word in (low := plain(t)) and (whole.search(low) or is_piece(word, t)) for t in each)
    }


def is_piece(word: str, text: str) -> bool:
    for identifier in re.findall(r"[A-Za-z0-9]+", unicodedata.normalize("NFKC", text)):
        if word not in identifier.lower() or word.isdigit() or len(word) < 2:
            continue
        if re.fullmatch(r"([a-z]{2,}|[A-Z]{2,})[0-9]+", identifier):
            if identifier.rstrip("0123456789").lower() == word:
                return True
        elif re.search(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}", identifier):
            parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", identifier)
            if word in [part.lower() for part in parts]:
                return True
    return False


def found(results: Results) -> set[Message]:
    return {
        (talk.conversation.id, hit.message)
        for talk in results.talks
        for hit in talk.hits
        if hit.message is not None
    }


def samples(texts: dict[Message, list[str]], number: int, seed: int) -> list[str]:
    """Random words and pieces of Japanese, as likely rare as frequent."""
    chosen = random.Random(seed)
    everything = [plain(text) for each in texts.values() for text in each if text]
    joined = [run for text in everything for run in re.findall(r"[ぁ-ゖァ-ヺー一-鿿]+", text)]
    words: list[str] = []
    while len(words) < number:
        if len(words) % 2:
            run = chosen.choice(joined)
            start = chosen.randrange(len(run))
            words.append(run[start : start + chosen.randint(1, 6)])
        else:
            latin = re.findall(r"(?<![^\W_])[a-z0-9]{2,}(?![^\W_])", chosen.choice(everything))
            words += [chosen.choice(latin)] if latin else []
    return words


def test_random_words(everything: Archive, pytestconfig: pytest.Config) -> None:
    catch_up(everything)
    texts = grep_texts(everything)
    search = Search(everything)
    words = samples(texts, 200 if pytestconfig.getoption("campaign") else 80, seed=20261116)
    wrong = {}
    for word in words:
        results = search.find(word, ALL)
        assert results.exact and results.scope.direct == 0
        if found(results) != (wanted := grep(texts, word)):
            wrong[word] = (found(results) - wanted, wanted - found(results))
    search.close()
    assert not wrong


def phrases(texts: dict[Message, list[str]], number: int, seed: int) -> list[str]:
    """Random neighbours, as they stand between white space."""
    chosen = random.Random(seed)
    everything = [words for each in texts.values() for t in each if len(words := t.split()) > 1]
    found: list[str] = []
    while len(found) < number:
        words = chosen.choice(everything)
        start = chosen.randrange(len(words) - 1)
        phrase = " ".join(words[start : start + chosen.randint(2, 4)])
        # A backslash before a quote is part of the query language.
        if len(phrase) < 200 and not {'"', "\\"} & set(phrase):
            found.append(phrase)
    return found


def grep_phrase(texts: dict[Message, list[str]], phrase: str) -> set[Message]:
    letter = r"[^\W_ぁ-ヿ㐀-鿿]"
    before = rf"(?<!{letter})" if re.match(letter, plain(phrase)) else ""
    behind = rf"(?!{letter})" if re.match(letter, plain(phrase)[-1]) else ""
    wanted = re.compile(before + r"\s+".join(map(re.escape, plain(phrase).split())) + behind)
    return {name for name, each in texts.items() if any(wanted.search(plain(t)) for t in each)}


def test_random_phrases(everything: Archive, pytestconfig: pytest.Config) -> None:
    catch_up(everything)
    texts = grep_texts(everything)
    search = Search(everything)
    number = 100 if pytestconfig.getoption("campaign") else 40
    for phrase in phrases(texts, number, seed=20261117):
        assert found(search.find(f'"{phrase}"', ALL)) == grep_phrase(texts, phrase), phrase
        # An equals sign before a space would end it.
        exact = phrase.replace("=", r"\=")
        assert found(search.find(f"={exact}=", ALL)) == {
            name for name, each in texts.items() if any(phrase in t for t in each)
        }, phrase
    search.close()


def test_without_an_index_the_same_is_found(everything: Archive) -> None:
    """What the index has not yet is read directly: by the same rules."""
    from rireki.search.execute.pages import page_of
    from rireki.search.execute.run import Hunt
    from rireki.search.execute.view import look_without_index
    from rireki.search.language.parse import parse
    from rireki.search.text.text_store import TextStore
    from tests.search.test_match import NOW

    texts = grep_texts(everything)
    view, library = look_without_index(everything), TextStore(everything)
    for word in samples(texts, 12, seed=7):
        hunt = Hunt(library, view, parse(word, NOW), ALL)
        talks = page_of(everything, hunt, hunt.gather())
        hits = {(t.conversation.id, hit.message) for t in talks for hit in t.hits if hit.message}
        assert hits == grep(texts, word), word


@pytest.mark.parametrize(
    ("query", "finds"), [("buckets since:1960", True), ("buckets -since:1960", False)]
)
def test_what_has_no_time_is_as_old_as_our_knowledge_of_it(
    everything: Archive, query: str, finds: bool
) -> None:
    from rireki.search.execute.view import look_without_index
    from rireki.search.language.parse import parse
    from tests.search.test_match import NOW

    catch_up(everything)
    search = Search(everything)
    direct = search._answer(look_without_index(everything), parse(query, NOW), ALL)
    assert found(search.find(query, ALL)) == found(direct)
    assert bool(found(direct)) == finds
    search.close()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_planted_words_stand_where_they_were_planted(
    seed: int, corpus: Callable[[int], tuple[Path, dict[str, Any]]], tmp_path: Path
) -> None:
    home, manifest = corpus(seed)
    archive = open_archive(tmp_path / "archive.sqlite3", create=True)
    take_in(archive, Places.at(home))
    search = Search(archive)
    assert manifest["needles"]
    for needle, sessions in manifest["needles"].items():
        for query in {needle, needle.lower()}:
            results = search.find(query, ALL)
            ids = {talk.conversation.native_id for talk in results.talks}
            assert ids == set(sessions), query
            assert results.conversations == len(sessions)
    search.close()
    archive.close()


def test_an_import_may_leave_the_index_to_the_first_search(
    corpus: Callable[[int], tuple[Path, dict[str, Any]]], tmp_path: Path
) -> None:
    home, manifest = corpus(1)
    archive = open_archive(tmp_path / "archive.sqlite3", create=True)
    take_in(archive, Places.at(home), index=False)
    assert not (tmp_path / "archive.search").exists()
    search = Search(archive)
    ids = {talk.conversation.native_id for talk in search.find("quokkaflux", ALL).talks}
    assert ids == set(manifest["needles"]["quokkaflux"])
    assert (tmp_path / "archive.search" / "current").exists()
    search.close()
    archive.close()
