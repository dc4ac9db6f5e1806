"""What a person adds to conversations, in their words: checked, and noted as facts of the archive.

Says nothing twice: what is there already is not noted again. What goes to a team is decided here, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import category, normalize

from rireki.archive.base import Archive, Filter, Found, PersonFact
from rireki.errors import RirekiError
from rireki.late import LateModule
from rireki.model.conversation import Curation

if TYPE_CHECKING:
    import getpass
else:
    getpass = LateModule("getpass")

__all__ = [
    "NoteLine",
    "SavedSearch",
    "for_team",
    "hidden_count",
    "known_tags",
    "notes_of",
    "save_search",
    "saved_searches",
    "set_hidden",
    "set_note",
    "set_starred",
    "set_tags",
    "set_title",
    "tag_name",
    "tags_of_all",
    "told_to_teams",
]

#: Characters of a tag, a title, a note, the name of a search: more is a mistake of somebody's script.
TAG, TITLE, NOTE, NAME = 60, 300, 20_000, 100
_TOLD_TO_TEAMS = ("title", "tag")


class NoteLine(NamedTuple):
    """A note, the message it is on or none, who wrote it and when."""

    message: str
    text: str
    author: str
    at: str


class SavedSearch(NamedTuple):
    name: str
    query: str


# ── said of a conversation ──


def set_title(archive: Archive, found: Found, title: str | None) -> bool:
    """Returns whether anything is another than before, as all of these do."""
    if title is not None:
        title = _line(title, TITLE)
    return _say(archive, found, [("title", "", title)])


def set_tags(
    archive: Archive, found: Found, add: Iterable[str], remove: Iterable[str] = ()
) -> bool:
    mine = {fact.name.casefold(): fact.name for fact in archive.facts(found) if fact.kind == "tag"}
    wanted = [mine.get(tag.casefold(), tag) for tag in known_tags(archive, add)]
    gone = [mine.get(tag.casefold(), tag) for tag in map(tag_name, remove)]
    said = [("tag", tag, "") for tag in wanted] + [("tag", tag, None) for tag in gone]
    return _say(archive, found, said)


def set_starred(archive: Archive, found: Found, on: bool) -> bool:
    return _say(archive, found, [("star", "", "" if on else None)])


def set_hidden(archive: Archive, found: Found, on: bool) -> bool:
    return _say(archive, found, [("hidden", "", "" if on else None)])


def set_note(archive: Archive, found: Found, text: str | None, message: str = "") -> bool:
    """On a message, or on the conversation as a whole. There is one on each."""
    if text is not None:
        text = "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")
        _ensure_fits(text, NOTE)
    return _say(archive, found, [("note", "", text)], message)


def _say(
    archive: Archive,
    found: Found,
    said: Sequence[tuple[str, str, str | None]],
    message: str = "",
) -> bool:
    known = {(f.message, f.kind, f.name): f.value for f in archive.facts(found)}
    about = (found.family, found.conversation.native_id, message)
    news = [
        PersonFact(*about, kind, name, value, author=_author())
        for kind, name, value in dict.fromkeys(said)
        if known.get((message, kind, name)) != value
    ]
    if news:
        archive.add_facts(*news)
    return bool(news)


def _author() -> str:
    """Who is at this machine, as far as it says."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""


# ── what there is ──


def notes_of(archive: Archive, found: Found) -> list[NoteLine]:
    """That of the conversation first."""
    facts = [fact for fact in archive.facts(found) if fact.kind == "note"]
    return [NoteLine(f.message, f.value or "", f.author, f.at) for f in facts]


def tags_of_all(archive: Archive) -> dict[str, int]:
    """How many conversations have each tag, the commonest first."""
    counted = Counter(tag for added in archive.curations().values() for tag in added.tags)
    return dict(sorted(counted.items(), key=lambda each: (-each[1], each[0].casefold())))


def known_tags(archive: Archive, typed: Iterable[str]) -> list[str]:
    """Tags as they are spelled where they are, whatever their capitals here."""
    known = {tag.casefold(): tag for tag in tags_of_all(archive)}
    return [known.get(tag.casefold(), tag) for tag in map(tag_name, typed)]


def hidden_count(archive: Archive, wanted: Filter) -> int:
    """How many conversations a list leaves out because a person hid them."""
    if not any(added.hidden for added in archive.curations().values()):
        return 0
    values = {name: getattr(wanted, name) for name in wanted.__struct_fields__}
    asked = Filter(**(values | {"hidden": True, "limit": None, "after": None}))
    return sum(1 for _ in archive.conversations(asked))


# ── searches ──


def saved_searches(archive: Archive) -> list[SavedSearch]:
    facts = [fact for fact in archive.facts() if fact.kind == "search"]
    found = [SavedSearch(fact.name, fact.value or "") for fact in facts]
    return sorted(found, key=lambda each: each.name.casefold())


def save_search(archive: Archive, name: str, query: str | None) -> None:
    """Under a name, in place of one that has it already; or, with None, no longer."""
    name = _line(name, NAME)
    if query is not None:
        query = _line(query, NOTE)
    known = {each.name: each.query for each in saved_searches(archive)}
    if known.get(name) != query:
        archive.add_facts(PersonFact("", "", "", "search", name, query, author=_author()))


# ── for others ──


def for_team(facts: Iterable[PersonFact]) -> list[PersonFact]:
    """What of it goes to a team, where the words of the conversation go as well: titles and tags.

    Notes, stars and hiding are for oneself and one's own machines alone; so are saved searches.
    """
    return [
        fact
        for fact in facts
        if fact.kind in _TOLD_TO_TEAMS and fact.conversation and not fact.message
    ]


def told_to_teams(added: Curation) -> Curation:
    """The same of what it all comes to."""
    return Curation(title=added.title, tags=added.tags)


# ── what may be said ──


def tag_name(typed: str) -> str:
    """A tag as it is kept: without the sign in front, white space alike."""
    tag = _line(typed.strip().removeprefix("#"), TAG)
    if "," in tag or "、" in tag:
        raise RirekiError("bad-tag", tag=tag)
    return tag


def _line(text: str, most: int) -> str:
    """One line of text."""
    line = " ".join(normalize("NFC", text).split())
    line = "".join(c for c in line if category(c) not in ("Cc", "Cs"))
    _ensure_fits(line, most)
    return line


def _ensure_fits(text: str, most: int) -> None:
    if not text.strip():
        raise RirekiError("nothing-to-add")
    if len(text) > most:
        raise RirekiError("too-long-to-add", n=len(text), most=most)
