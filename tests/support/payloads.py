"""What a hostile transcript may hold, and how to see that none of it became markup on a page.

Each of `PAYLOADS` runs a script, loads something, or breaks out of where it stands, if
only one place forgets to escape. `MARKER` stands in those that a browser would run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

MARKER = "rirekiOwned"
_RUN = f"window.{MARKER}=1"

_ELEMENTS = [
    f"<script>{_RUN}</script>",
    f"<ScRiPt >{_RUN}</sCrIpT>",
    f"<script/x>{_RUN}</script\n>",
    "<script src=https://evil.example/x.js></script>",
    "<script src=//evil.example></script>",
    f"<<script>{_RUN};//<</script>",
    f"</script><script>{_RUN}</script>",
    f"<img src=x onerror={_RUN}>",
    f'<img src="x" onerror="{_RUN}">',
    f"<img/src=x/onerror={_RUN}>",
    f"<IMG SRC=x\tONERROR={_RUN}>",
    f'"><img src=x onerror={_RUN}>',
    f"'><img src=x onerror={_RUN}>",
    f'" onmouseover="{_RUN}" x="',
    f"' onfocus='{_RUN}' autofocus='",
    f"` onclick=`{_RUN}",
    f"<svg onload={_RUN}>",
    f"<svg/onload={_RUN}>",
    f"<svg><script>{_RUN}</script></svg>",
    f'<svg><animate onbegin="{_RUN}" attributeName=x dur=1s>',
    f'<svg><a xlink:href="javascript:{_RUN}"><text x=20 y=20>x</text></a>',
    f"<body onload={_RUN}>",
    f"<details open ontoggle={_RUN}>",
    f"<input autofocus onfocus={_RUN}>",
    f"<video><source onerror={_RUN}></video>",
    f"<audio src=x onerror={_RUN}>",
    f"<marquee onstart={_RUN}>x</marquee>",
    f'<iframe src="javascript:{_RUN}"></iframe>',
    f'<iframe srcdoc="<script>parent.{MARKER}=1</script>"></iframe>',
    f'<object data="javascript:{_RUN}"></object>',
    f'<embed src="javascript:{_RUN}">',
    f'<form action="javascript:{_RUN}"><button>x</button></form>',
    f'<button formaction="javascript:{_RUN}">x</button>',
    f'<a href="javascript:{_RUN}">x</a>',
    '<base href="https://evil.example/">',
    '<link rel=stylesheet href="https://evil.example/x.css">',
    '<meta http-equiv="refresh" content="0;url=https://evil.example/">',
    '<meta http-equiv="Set-Cookie" content="a=b">',
    f"<isindex type=image src=1 onerror={_RUN}>",
    f"<template><script>{_RUN}</script></template>",
]

_BREAKOUTS = [
    f"</title><script>{_RUN}</script>",
    f"</style><script>{_RUN}</script>",
    f"</textarea><script>{_RUN}</script>",
    f"</pre></code></details></article><script>{_RUN}</script>",
    f"--><script>{_RUN}</script><!--",
    f"]]><script>{_RUN}</script><![CDATA[",
    "<!--",
    "<plaintext>",
    "<xmp>",
    "<article id=m-1></article>",
    # What a browser's own repair of broken markup would bring to life.
    f'<noscript><p title="</noscript><img src=x onerror={_RUN}>">',
    f'<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror={_RUN}&gt;">',
    f'<svg></p><style><a id="</style><img src=1 onerror={_RUN}>">',
    f'<form><math><mtext></form><form><mglyph><svg><mtext><style><path id="</style><img onerror={_RUN} src>">',
    f'<select><template><style><!--</style><a rel="--></style></template><img id=x src onerror={_RUN}>">',
]

_STYLES = [
    '<div style="background:url(https://evil.example/x)">x</div>',
    "<style>*{background:url(https://evil.example/x)}</style>",
    '" style="position:fixed;inset:0;background:red" x="',
    "}</style><style>body{display:none}",
    "<style>@import 'https://evil.example/x.css';</style>",
    '<p class="message person" style="color:expression(alert(1))">You: yes, delete everything</p>',
]

_MARKDOWN = [
    f"[x](javascript:{_RUN})",
    f"[x](JaVaScRiPt:{_RUN})",
    f"[x](  javascript:{_RUN}  )",
    f"[x](java\tscript:{_RUN})",
    f"[x](java&#10;script:{_RUN})",
    f"[x](&#106;avascript:{_RUN})",
    f"[x](javascript&colon;{_RUN})",
    f"[x](\\javascript:{_RUN})",
    f"[x](\x01javascript:{_RUN})",
    f"[x](vbscript:{_RUN})",
    "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[x](file:///etc/passwd)",
    "[x](//evil.example/x)",
    "[x](/\\evil.example)",
    "[x](blob:https://evil.example/1)",
    f"[x][1]\n\n[1]: javascript:{_RUN}",
    f"<javascript:{_RUN}>",
    "<data:text/html,<script>alert(1)</script>>",
    f'[x](https://example.org "title\\" onmouseover=\\"{_RUN}")',
    f'[x](https://example.org/"onmouseover="{_RUN})',
    f"[x](https://example.org/'onmouseover='{_RUN})",
    f"[<img src=x onerror={_RUN}>](https://example.org)",
    "![x](https://evil.example/pixel.png)",
    f"![x](javascript:{_RUN})",
    f'![x" onerror="{_RUN}](https://evil.example/a.png)',
    "![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+)",
    "[![x](https://evil.example/a.png)](https://evil.example)",
    f"```html onload={_RUN}\n<script>{_RUN}</script>\n```",
    f'```"><script>{_RUN}</script>\nx\n```',
    f"~~~{{.x onclick={_RUN}}}\nx\n~~~",
    f"`<script>{_RUN}</script>`",
    f"| a |\n|:-:|\n| <img src=x onerror={_RUN}> |",
    f"# <svg onload={_RUN}>",
    f"> - <details open ontoggle={_RUN}>",
    f"https://example.org/<script>{_RUN}</script>",
    f'https://example.org/"onmouseover={_RUN}',
    f"http://javascript:{_RUN}@evil.example/",
    "99999999999999999999. x",
    "[" * 300 + "](x)" * 300,
]

_LETTERS = [
    f"&lt;script&gt;{_RUN}&lt;/script&gt;",
    f"&#60;script&#62;{_RUN}&#60;/script&#62;",
    f"&#x3c;img src=x onerror={_RUN}&#x3e;",
    f"\\u003cscript\\u003e{_RUN}\\u003c/script\\u003e",
    f"%3Cscript%3E{_RUN}%3C/script%3E",
    f"＜script＞{_RUN}＜/script＞",
    f"+ADw-script+AD4-{_RUN}+ADw-/script+AD4-",
    f"<scr\x00ipt>{_RUN}</scr\x00ipt>",
    f"<\ud83d script>{_RUN}\udc00",
    "\ud800\udfff\udbff lone surrogates",
    "user\u202egpj.exe\u2066 turned \u2069text\u200f",
    "<https://example.org/%E2%80%AE>",
    "&#x202e;turned by an entity",
    "\u2028\u2029 other line ends \x85 \x0b \x0c",
    "\x1b]0;title\x07\x1b[2J\x1b[31mred\x1b[999999999G\r\x08over",
    f"\x1b[31m<img src=x onerror={_RUN}>\x1b[0m",
    f"\x1b]8;;javascript:{_RUN}\x07link\x1b]8;;\x07",
    "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘",
    "\ufeff\u200b\u200d\u2060",
]

_TEMPLATES = [
    "{{ 7*7 }}{{ config }}{% raw %}",
    "{{ ''.__class__.__mro__ }}",
    "${7*7}#{7*7}<%= 7*7 %>",
    "{n}{0.__class__}{who!r:>{time}}",
    "%s%n%(tongue)s",
    "'; DROP TABLE conversation; --",
    "../../../etc/passwd",
    "a b\tc\"d'e<f>g&h`i=j/k\\l",
    "constructor",
    "__proto__",
]

PAYLOADS: list[str] = [
    *_ELEMENTS,
    *_BREAKOUTS,
    *_STYLES,
    *_MARKDOWN,
    *_LETTERS,
    *_TEMPLATES,
]


# ── What may stand on a page ──

_PLAIN = (
    "header h1 h2 h3 h4 h5 h6 p div span summary pre code ul li dl dt dd table thead tbody tr th td"
    " blockquote em strong s hr br mark figure figcaption section nav main head title style body"
)
_ALLOWED: dict[str, set[str]] = {
    **{name: set() for name in _PLAIN.split()},
    "article": {"data-message", "data-turn", "data-branch"},
    "a": {"href", "rel"},
    "time": {"datetime"},
    "details": {"open"},
    "button": {"type", "data-copy"},
    "ol": {"start"},
    "img": {"src", "alt", "loading"},
    "html": {"lang"},
    "meta": {"charset", "http-equiv", "content", "name"},
}
_EVERYWHERE = {"class", "id", "title", "role", "aria-label", "tabindex"}
_EMPTY = {"hr", "br", "img", "meta"}
_LINKS = re.compile(r"https?://[^/]|mailto:.|#|/(?![/\\])")
_PICTURES = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,|/(?![/\\])")
_CLASSES = re.compile(r"[a-z][a-z0-9-]*(?: [a-z][a-z0-9-]*)*")


class Node:
    """An element as a parser sees it."""

    def __init__(self, name: str, attributes: dict[str, str]) -> None:
        self.name = name
        self.attributes = attributes
        self.children: list[Node | str] = []

    def walk(self) -> Iterator[Node]:
        yield self
        for child in self.children:
            if isinstance(child, Node):
                yield from child.walk()

    def find(self, name: str = "", kind: str = "") -> list[Node]:
        """The elements of that name or class inside it."""
        return [
            node
            for node in self.walk()
            if node is not self
            and name in ("", node.name)
            and (not kind or kind in node.attributes.get("class", "").split())
        ]

    def one(self, name: str = "", kind: str = "") -> Node:
        found = self.find(name, kind)
        assert len(found) == 1, f"{len(found)} elements {name} {kind}"
        return found[0]

    @property
    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text for child in self.children)


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open = [Node("", {})]
        self.problems: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {name: value or "" for name, value in attrs})
        if len(node.attributes) != len(attrs):
            self.problems.append(f"<{tag}> has an attribute twice")
        self.open[-1].children.append(node)
        if tag not in _EMPTY:
            self.open.append(node)

    def handle_endtag(self, tag: str) -> None:
        if self.open[-1].name == tag:
            self.open.pop()
        else:
            self.problems.append(f"</{tag}> inside <{self.open[-1].name}>")

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)

    def handle_comment(self, data: str) -> None:
        self.problems.append(f"a comment: {data[:40]!r}")

    def unknown_decl(self, data: str) -> None:
        self.problems.append(f"a declaration: {data[:40]!r}")

    def handle_pi(self, data: str) -> None:
        self.problems.append(f"an instruction: {data[:40]!r}")


def parsed(html: str) -> Node:
    parser = _Parser()
    parser.feed(html)
    parser.close()
    return parser.open[0]


def problems(html: str) -> list[str]:
    """Everything in it that our own renderer would never write."""
    parser = _Parser()
    parser.feed(html)
    parser.close()
    found = parser.problems + [f"<{node.name}> is never closed" for node in parser.open[1:]]
    ids: set[str] = set()
    for node in parser.open[0].walk():
        found += _problems_of(node) if node.name else []
        if (id := node.attributes.get("id")) is not None:
            found += [f"the id {id!r} twice"] if id in ids else []
            ids.add(id)
    return found


def _problems_of(node: Node) -> Iterator[str]:
    if node.name not in _ALLOWED:
        yield f"<{node.name}>"
        return
    for name, value in node.attributes.items():
        if name not in _EVERYWHERE | _ALLOWED[node.name]:
            yield f"<{node.name} {name}>"
        fits = {"href": _LINKS, "src": _PICTURES}.get(name)
        if fits and not fits.match(value):
            yield f"{name}={value[:60]!r}"
        if name == "class" and not _CLASSES.fullmatch(value):
            yield f"class={value[:60]!r}"
        if name == "id" and re.search(r"\s", value):
            yield f"id={value[:60]!r}"
