"""Code with colours, as classes: Pygments finds the tokens, a dozen classes of ours paint them.

The language is the one that was named; none is guessed. Knows no conversations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from pygments.lexers import find_lexer_class, get_all_lexers

from rireki.show.html.markup import EMPTY, Markup, tag, text
from rireki.show.safe import safe

if TYPE_CHECKING:
    from pygments.lexer import Lexer
    from pygments.token import _TokenType

    from rireki.show.html.page import Page

__all__ = ["code_block", "highlight", "highlight_lines", "language_of"]

#: Longer code, and code with longer lines, is shown without colours: it would take seconds.
_LARGEST, _LONGEST_LINE = 100_000, 4_000

_LANGUAGES = {
    "bash": "bash sh zsh bashrc profile",
    "bat": "bat cmd",
    "c": "c h",
    "clojure": "clj cljs",
    "cpp": "cc cpp cxx hpp hh",
    "csharp": "cs",
    "css": "css",
    "dart": "dart",
    "diff": "diff patch",
    "docker": "dockerfile containerfile",
    "elixir": "ex exs",
    "erlang": "erl",
    "go": "go",
    "graphql": "graphql gql",
    "groovy": "groovy gradle",
    "haskell": "hs",
    "hcl": "hcl tf",
    "html": "html htm xhtml vue svelte",
    "ini": "ini cfg conf",
    "java": "java",
    "js": "js mjs cjs",
    "json": "json jsonl ipynb webmanifest",
    "jsx": "jsx",
    "julia": "jl",
    "kotlin": "kt kts",
    "less": "less",
    "lua": "lua",
    "make": "makefile mk",
    "markdown": "md markdown mdx",
    "nix": "nix",
    "ocaml": "ml mli",
    "perl": "pl pm",
    "php": "php",
    "powershell": "ps1 psm1",
    "protobuf": "proto",
    "python": "py pyi pyw",
    "r": "r",
    "rst": "rst",
    "ruby": "rb gemspec rakefile gemfile",
    "rust": "rs",
    "scala": "scala",
    "scss": "scss",
    "sql": "sql",
    "swift": "swift",
    "toml": "toml lock",
    "ts": "ts mts cts",
    "tsx": "tsx",
    "xml": "xml svg xsd plist",
    "yaml": "yaml yml",
    "zig": "zig",
}
#: Files that are known by their whole name.
_FILES = {"makefile", "dockerfile", "containerfile", "rakefile", "gemfile"}
_BY_ENDING = {ending: name for name, endings in _LANGUAGES.items() for ending in endings.split()}

# What a class stands for is decided by the nearest of these above a token.
_CLASSES = {
    "Keyword": "h-k",
    "Keyword.Constant": "h-n",
    "Name.Builtin": "h-b",
    "Name.Function": "h-f",
    "Name.Class": "h-t",
    "Name.Exception": "h-t",
    "Name.Decorator": "h-d",
    "Name.Tag": "h-k",
    "Name.Attribute": "h-a",
    "Name.Variable": "h-v",
    "Name.Constant": "h-n",
    "Literal": "h-n",
    "Literal.String": "h-s",
    "Literal.String.Escape": "h-n",
    "Literal.String.Interpol": "h-n",
    "Comment": "h-c",
    "Operator.Word": "h-k",
    "Generic.Deleted": "h-x",
    "Generic.Inserted": "h-i",
    "Generic.Heading": "h-f",
    "Generic.Subheading": "h-d",
    "Generic.Prompt": "h-c",
    "Generic.Emph": "h-e",
    "Generic.Strong": "h-g",
}


def language_of(path: str) -> str:
    """The language of a file by its name; empty where the name says nothing."""
    name = path.replace("\\", "/").rpartition("/")[2].lower()
    stem, dot, ending = name.rpartition(".")
    for known in (name, stem):
        if known in _FILES:
            return _BY_ENDING[known]
    return _BY_ENDING.get(ending, "") if dot else ""


def highlight_lines(code: str, language: str) -> list[Markup]:
    """The lines of the code, each with its colours."""
    code = safe(code)
    lines: list[list[str]] = [[]]
    for style, words in _tokens(code, language):
        for number, piece in enumerate(words.split("\n")):
            if number:
                lines.append([])
            if piece:
                lines[-1].append(tag("span", piece, class_=style) if style else text(piece))
    return [EMPTY.join(map(Markup, line)) for line in lines]


def highlight(code: str, language: str) -> Markup:
    return Markup("\n").join(highlight_lines(code, language))


def code_block(code: str, language: str, page: Page) -> Markup:
    """A block of code as it is: with its language, and a button that copies it."""
    name = page.block()
    return tag(
        "div",
        tag("span", language, class_="lang") if language else EMPTY,
        page.copy(name),
        tag("pre", tag("code", highlight(code, language)), id=name, tabindex=0),
        class_="code",
    )


def _is_small(code: str) -> bool:
    if len(code) > _LARGEST:
        return False
    return len(code) <= _LONGEST_LINE or max(map(len, code.split("\n"))) <= _LONGEST_LINE


def _tokens(code: str, language: str) -> list[tuple[str, str]]:
    lexer = _lexer(language.lower()) if language and _is_small(code) else None
    if lexer is None:
        return [("", code)]
    try:
        return list(_merged(lexer.get_tokens_unprocessed(code)))
    except Exception:  # noqa: BLE001 - a lexer that stumbles over odd code costs its colours only
        return [("", code)]


def _merged(tokens: Iterable[tuple[int, _TokenType, str]]) -> Iterator[tuple[str, str]]:
    """Words with their classes, those of one class that follow each other as one."""
    style, words = "", ""
    for _, kind, value in tokens:
        new = style if value.isspace() else _class(kind)
        if new != style and words:
            yield style, words
            words = ""
        style, words = new, words + value
    yield style, words


@cache
def _class(kind: _TokenType) -> str:
    names = list(kind)
    while names:
        if found := _CLASSES.get(".".join(names)):
            return found
        names.pop()
    return ""


@lru_cache(maxsize=200)
def _lexer(language: str) -> Lexer | None:
    name = _aliases().get(language) or _aliases().get(_BY_ENDING.get(language, ""))
    found = find_lexer_class(name) if name else None
    return found(stripnl=False, ensurenl=False) if found else None


@cache
def _aliases() -> dict[str, str]:
    """Every name a language has. Not Pygments' own look-up: that asks all installed packages."""
    return {
        alias.lower(): name
        for name, aliases, _, _ in get_all_lexers(plugins=False)
        for alias in aliases
    }
