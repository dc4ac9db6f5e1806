"""Reading a query: what a person types, as the tree of `query`, or what is wrong with it.

Pure. Does not know the index, nor what a word matches.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Sequence
from datetime import datetime
from string import punctuation
from typing import TYPE_CHECKING, NoReturn

from rireki.errors import RirekiError, Wording
from rireki.late import LateModule
from rireki.model.when import when
from rireki.search.language.patterns import Bounded
from rireki.search.language.query import (
    Exact,
    FilterName,
    FilterNode,
    Node,
    Phrase,
    Query,
    QueryError,
    Regex,
    Word,
    all_of,
    any_of,
    none_of,
)
from rireki.search.language.vocabulary import (
    EXAMPLES,
    NAMES,
    SHOWN,
    VALUES,
    filter_like,
    quote,
    short,
)

if TYPE_CHECKING:
    import difflib
else:
    difflib = LateModule("difflib")

__all__ = ["parse"]

#: Filters whose names with a colon and nothing behind it are just words.
_OFTEN_WORDS = ("note", "tag")

_LONGEST = 10_000
_LONGEST_PATTERN = 1_000
_DEEPEST = 50

#: What opens a phrase and what closes it. Input methods type curly quotes in either direction.
_QUOTES = {'"': '"', "“": "“”", "”": "“”", "＂": "＂"}
#: What closes `=…=` and `/…/`: the sign before white space, `)` or the end.
_CLOSING_SIGN = {
    "=": re.compile(r"(?<!\\)(?:\\\\)*=(?=[\s)]|\Z)"),
    "/": re.compile(r"(?<!\\)(?:\\\\)*/(?=[\s)]|\Z)"),
}
_SPACE = re.compile(r"\s*")
_RUN = re.compile(r"\S*")
#: A second colon makes it a name of some program: `model::User`.
_NAMED = re.compile(r"([A-Za-z]+)([:：])(?!:)")
#: Upper-case letters of a pattern that are syntax: `\S`, `(?P<name>…)`.
_SYNTAX = re.compile(r"\\.|\(\?P", re.DOTALL)


def parse(text: str, now: datetime, sources: Sequence[str] = ()) -> Query:
    """The meaning of a query; `sources` are the names that `source:` may have, if that is known."""
    if len(text) > _LONGEST:
        raise QueryError(
            "query-too-long", _LONGEST, len(text) - _LONGEST, n=len(text), most=_LONGEST
        )
    return Query(text, _Parser(text, now, sources).whole())


def _bared(inside: str, signs: str) -> str:
    """What stands between two signs, without the backslashes before such signs, and before
    backslashes at its end."""
    text = inside.rstrip("\\")
    ending = inside[len(text) :]
    return re.sub(rf"\\([{signs}])", r"\1", text) + ending[: len(ending) // 2]


class _Parser:
    """Reads a query from left to right; `at` is where it stands."""

    def __init__(self, text: str, now: datetime, sources: Sequence[str]) -> None:
        self.text = text
        self.now = now
        self.sources = sources
        self.at = 0
        #: Parentheses around the place where it stands.
        self.depth = 0
        #: Where `=…=` and `/…/` may end. Looked up once: a query may have thousands of slashes.
        self.endings: dict[str, list[int]] = {}

    def whole(self) -> Node | None:
        terms = self.terms()
        if self.at < len(self.text):
            self.unexpected_parenthesis()
        if not terms and (alone := self.text.find("AND")) >= 0:
            self.fail("query-lonely-and", alone, alone + len("AND"))
        return all_of(terms)

    def terms(self) -> list[Node]:
        """What stands side by side, up to the end or to a closing parenthesis."""
        found: list[Node] = []
        # Where an OR waits for its right side, and whether one would have a left side.
        waiting: int | None = None
        left = False
        while not self.ends():
            start, run = self.at, self.run()
            if run in ("OR", "AND"):
                self.at += len(run)
                if waiting is not None:
                    self.lonely(waiting, "right")
                if run == "OR" and not left:
                    self.lonely(start, "left")
                waiting, left = (start if run == "OR" else None), False
            elif run == "-":
                self.at += 1
            else:
                term = self.term()
                if waiting is None:
                    found.append(term)
                else:
                    found[-1] = any_of(found[-1], term)
                waiting, left = None, True
        if waiting is not None:
            self.lonely(waiting, "right")
        return found

    def ends(self) -> bool:
        """Goes over white space; true where the query or the group ends."""
        self.at = self.over(_SPACE).end()
        return self.text[self.at : self.at + 1] in ("", ")")

    def term(self) -> Node:
        sign = self.text[self.at]
        if sign in _QUOTES:
            return Phrase(self.quoted())
        if sign == "(":
            return self.group()
        if sign == "-" and self.negates():
            self.at += 1
            return none_of(self.term())
        if sign in _CLOSING_SIGN and (enclosed := self.enclosed(sign)):
            return enclosed
        return self.filter() or self.word()

    def over(self, pattern: re.Pattern[str]) -> re.Match[str]:
        """What a pattern that fits everywhere finds here."""
        found = pattern.match(self.text, self.at)
        assert found is not None
        return found

    def run(self) -> str:
        """What stands here up to white space, without parentheses that close a group around it."""
        run = self.over(_RUN)[0]
        surplus = run.count(")") - run.count("(")
        while surplus > 0 and run.endswith(")"):
            run, surplus = run[:-1], surplus - 1
        return run

    def take(self) -> str:
        run = self.run()
        self.at += len(run)
        return run

    # ── One form each ──

    def group(self) -> Node:
        start = self.at
        self.at += 1
        self.depth += 1
        if self.depth > _DEEPEST:
            self.fail("query-too-deep", start, most=_DEEPEST)
        inside = all_of(self.terms())
        if self.at == len(self.text):
            self.unclosed_parenthesis(start)
        self.at += 1
        self.depth -= 1
        if inside is None:
            self.fail(
                "query-empty-parentheses",
                start,
                hint=self.instead(start, quote(self.text[start : self.at])),
            )
        return inside

    def negates(self) -> bool:
        """Whether the minus here is one: not in `--flag`, `->` and other signs of code."""
        run = self.run()
        following = self.text[self.at + 1]
        if following == "(" or following in _QUOTES:
            return True
        return following not in "->" and not all(sign in punctuation for sign in run)

    def quoted(self, name: str = "") -> str:
        start = self.at
        signs = _QUOTES[self.text[start]]
        closing = re.compile(rf"(?<!\\)(?:\\\\)*[{signs}]").search(self.text, start + 1)
        if closing is None:
            self.unclosed_quote(start)
        self.at = closing.end()
        inside = _bared(self.text[start + 1 : closing.end() - 1], signs)
        if not inside.strip():
            if name:
                self.fail("query-empty-value", start, name=name)
            self.fail("query-empty-phrase", start)
        return inside

    def enclosed(self, sign: str) -> Exact | Regex | None:
        """`=…=` or `/…/`; None where the sign is text, as in `a = b`, `==` or `/usr/lib`."""
        start = self.at
        # A parenthesis may be part of it, unless there is a group that it may close.
        run = self.run() if self.depth else self.over(_RUN)[0]
        if not run.strip(sign) or self.text[start + 1].isspace():
            return None
        end = self.ending(sign, start + 2)
        # An end that leaves nothing inside: `//`, `==`.
        if end is None or end == start + 2:
            return None
        inside = self.text[start + 1 : end - 1]
        self.at = end
        return Exact(_bared(inside, "=")) if sign == "=" else self.regex(inside, start)

    def ending(self, sign: str, least: int) -> int | None:
        if sign not in self.endings:
            self.endings[sign] = [m.end() for m in _CLOSING_SIGN[sign].finditer(self.text)]
        ends = self.endings[sign]
        following = bisect_left(ends, least)
        return ends[following] if following < len(ends) else None

    def regex(self, pattern: str, start: int) -> Regex:
        if len(pattern) > _LONGEST_PATTERN:
            self.fail("pattern-too-long", start, n=len(pattern), most=_LONGEST_PATTERN)
        found = Regex(pattern, not any(map(str.isupper, _SYNTAX.sub("", pattern))))
        try:
            # Python's own says best what is wrong with it.
            found.compiled()
            Bounded(found)
        except (re.error, ValueError, OverflowError, RecursionError) as error:
            self.bad_pattern(start, error)
        return found

    def word(self) -> Word:
        start, run = self.at, self.take()
        text = run.removesuffix("*")
        if not text or "*" in text:
            self.misplaced_star(start, run)
        return Word(text, prefix=text != run)

    # ── Filters ──

    def filter(self) -> FilterNode | None:
        start = self.at
        found = _NAMED.match(self.text, start)
        if found is None:
            return None
        name = NAMES.get(found[1].lower())
        if name is None:
            if found[2] == ":":
                self.refuse_misspelled(found)
            return None
        self.at = found.end()
        if name in _OFTEN_WORDS and not self._has_value():
            # "NOTE: …" is how many a line begins.
            self.at = start
            return None
        value = self.value(name, start)
        return FilterNode(name, self.meant(name, value, found.end()))

    def _has_value(self) -> bool:
        here = self.at
        has = self.text[here : here + 1] in _QUOTES or bool(self.take())
        self.at = here
        return has

    def value(self, name: FilterName, start: int) -> str:
        here = self.at
        if self.text[here : here + 1] in _QUOTES:
            return self.quoted(name)
        value = self.take()
        if not value:
            self.missing_value(name, start)
        return value

    def meant(self, name: FilterName, value: str, start: int) -> str:
        """The value in our spelling."""
        if name in VALUES:
            return self.one_of(name, value, start)
        if name == "source" and self.sources:
            return self.source(value, start)
        if name == "project":
            return self.directory(value, start)
        if name in ("since", "before"):
            try:
                return when(value, self.now)
            except RirekiError as error:
                self.fail("query-bad-time", start, value=short(value), hint=error.hint)
        return value

    def knows(self, name: FilterName, value: str) -> bool:
        """Whether a filter would take a value."""
        try:
            self.meant(name, value, 0)
        except QueryError:
            return False
        return True

    def one_of(self, name: FilterName, value: str, start: int) -> str:
        known = VALUES[name]
        if value.lower() not in known:
            self.unknown_value(name, value, start, list(known), list(dict.fromkeys(known.values())))
        return known[value.lower()]

    def source(self, value: str, start: int) -> str:
        """A source by its name or by a beginning that only one has. Exports come after agents, and
        what goes on after another's whole name comes after that one."""
        names = {name.lower(): name for name in self.sources}
        fitting = sorted(name for name in names if name.startswith(value.lower()))
        fitting = [name for name in fitting if not name.endswith("-export")] or fitting
        if fitting and all(name.startswith(fitting[0]) for name in fitting):
            fitting = fitting[:1]
        if len(fitting) > 1:
            self.fail("query-which-source", start, value=value, names=fitting)
        if not fitting:
            self.unknown_value("source", value, start, list(names), sorted(self.sources))
        return names[fitting[0]]

    def directory(self, value: str, start: int) -> str:
        """A path as agents note it; what begins elsewhere than here or at home stays as typed."""
        if value == "~" or value.startswith(("~/", "~" + os.sep)):
            value = os.path.expanduser(value)  # noqa: PTH111
        elif value not in (".", "..") and not re.match(r"\.\.?[/\\]", value):
            return value
        try:
            # Not resolve(): agents note the name of a directory, not what its links lead to.
            return os.path.abspath(value)  # noqa: PTH100
        except (OSError, ValueError):
            self.fail("query-directory-gone", start, value=short(value))

    # ── What to say when it cannot be read ──

    def fail(self, code: str, start: int, end: int | None = None, **values: object) -> NoReturn:
        end = self.at if end is None else end
        raise QueryError(code, start, end - start, **values)

    def instead(
        self, start: int, better: str, end: int | None = None, code: str = "try", **values: object
    ) -> Wording:
        """The query with another spelling of what stands between two places."""
        end = self.at if end is None else end
        whole = " ".join(f"{self.text[:start]}{better}{self.text[end:]}".splitlines()).strip()
        return Wording(code, better=short(whole if len(whole) <= SHOWN else better), **values)

    def lonely(self, start: int, side: str) -> NoReturn:
        end = start + len("OR")
        without = f"{self.text[:start].rstrip()} {self.text[end:].lstrip()}"
        hint = None
        if without.strip(" ()"):
            # A suggestion has to be one: groups that are still open are closed.
            still_open = without.count("(") - without.count(")")
            hint = self.instead(0, without.rstrip() + ")" * still_open, len(self.text))
        self.fail("query-or-left" if side == "left" else "query-or-right", start, end, hint=hint)

    def unexpected_parenthesis(self) -> NoReturn:
        start = self.at
        # The whole of what it ends, to be put in quotes.
        begin = start - len(re.split(r"\s", self.text[:start])[-1])
        self.at = begin
        run = self.over(_RUN)[0]
        hint = self.instead(begin, quote(run), begin + len(run))
        self.fail("query-unopened", start, start + 1, hint=hint)

    def unclosed_parenthesis(self, start: int) -> NoReturn:
        last = self.text.split()[-1].lstrip("-(")
        hint = None
        if last and "(" not in last:
            hint = self.instead(0, self.text.rstrip() + ")" * self.depth)
        self.fail("query-unclosed", start, hint=hint)

    def unclosed_quote(self, start: int) -> NoReturn:
        closing = _QUOTES[self.text[start]][-1]
        body, end = self.text.rstrip(), len(self.text)
        hint = Wording("close-with", sign=closing)
        if body.endswith("\\" + closing) and len(body) > start + 3:
            # "C:\dir\": the last quote was meant to close.
            hint = self.instead(0, body[:-1] + "\\" + closing, end)
        elif len(body) > start + 1 and not self.depth and not body.endswith("\\"):
            hint = self.instead(0, body + closing, end)
        self.fail("query-unclosed-quote", start, end, hint=hint)

    def bad_pattern(self, start: int, error: Exception) -> NoReturn:
        place, why = start, str(error)
        if isinstance(error, re.error):
            why = error.msg
            place = start + 1 + (error.pos or 0)
        elif isinstance(error, RecursionError):
            why = "it is nested too deeply"
        self.fail(
            "pattern-unreadable",
            place,
            why=why,
            hint=self.instead(start, quote(self.text[start : self.at])),
        )

    def misplaced_star(self, start: int, run: str) -> NoReturn:
        where = start + run.index("*")
        hint = None
        if run.count(")") > run.count("("):
            # It is text after all, and begins before the parenthesis: `(.*),x`.
            start -= len(re.split(r"\s", self.text[:start])[-1])
            run = self.text[start : self.at]
        if run.strip("*"):
            pieces = [re.escape(piece).replace("/", r"\/") for piece in run.split("*")]
            pattern = re.sub(r"(\\S\*)+", lambda _: r"\S*", r"\S*".join(pieces))
            hint = self.instead(start, f"/{pattern}/", code="try-star", quoted=short(quote(run)))
        self.fail("query-misplaced-star", where, where + 1, hint=hint)

    def missing_value(self, name: FilterName, start: int) -> NoReturn:
        end = self.at
        hint = Wording("say-value", example=f"{name}:{EXAMPLES[name]}")
        if not self.ends() and (run := self.run()):
            hint = self.instead(start, f"{name}:{run}", self.at + len(run))
            if not self.knows(name, run):
                hint = self.instead(start, quote(self.text[start:end]), end, "try-text")
        self.fail("query-no-value", start, end, name=name, hint=hint)

    def unknown_value(
        self, name: FilterName, value: str, start: int, near: list[str], known: list[str]
    ) -> NoReturn:
        if close := difflib.get_close_matches(value.lower()[:SHOWN], near, n=1):
            hint = self.instead(start, close[0])
        else:
            begin = start - len(name) - 1
            hint = self.instead(begin, quote(f"{name}:{value}"), code="try-text")
        self.fail(
            "query-unknown-value",
            start,
            name=name,
            value=short(value),
            known=known,
            hint=hint,
        )

    def refuse_misspelled(self, found: re.Match[str]) -> None:
        """Says so when `role:user` or `sorce:kiro` looks like one of our filters."""
        run = self.run()
        value = run[found.end() - self.at :]
        name = filter_like(found[1].lower(), value)
        # Without a value it is prose (`From: Ken`), and no filter looks like an address.
        if name is None or not value or value.startswith("//"):
            return
        start, end = self.at, self.at + len(run)
        hint = self.instead(start, quote(run), end, "try-text")
        if self.knows(name, value):
            better, quoted = f"{name}:{value}", short(quote(run))
            hint = self.instead(start, better, end, "try-either", quoted=quoted)
        self.fail("query-no-filter", start, end, typed=found[1], name=name, hint=hint)
