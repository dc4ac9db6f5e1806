"""Whatever a transcript holds, on a page it is text: no field of the model is a way in."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from rireki.model.conversation import Link, Trouble
from rireki.model.message import Message, Usage
from rireki.model.parts import Attachment, Notice, Text, Thinking, ToolCall, ToolResult, Unknown
from rireki.show.html.export import about, export_html
from rireki.show.html.page import RenderOptions
from rireki.show.html.render import TranscriptRenderer
from rireki.show.safe import safe, safe_for_browsers
from rireki.show.transcript import Transcript
from tests.show.made import conversation, message
from tests.support.payloads import MARKER, PAYLOADS, parsed, problems

LINKED = RenderOptions(
    conversation_url=lambda id: "/c/" + quote(id, errors="replace"),
    message_url=lambda id: "/c/x?at=" + quote(id, errors="replace"),
    raw_url=lambda id: "/raw/x?message=" + quote(id, errors="replace"),
    attachment_url=lambda part: "/a/" + quote(part.digest, errors="replace"),
)
KINDS = [
    ("bubble", "person"),
    ("bubble", "agent"),
    ("chip", "person"),
    ("divider", "harness"),
    ("fold", "tool"),
    ("hidden", "harness"),
]
PICTURE = b"\x89PNG\r\n\x1a\n"


def shapes(bad: str) -> list[Any]:
    """Arguments of every shape, with the payload in all keys and values that are free."""
    return [
        bad,
        [bad, {bad: bad}],
        {bad: {bad: [bad]}},
        {"command": bad, "description": bad, bad: bad},
        {"command": [bad, bad]},
        {"file_path": bad, "old_string": f"a\n{bad}\nb", "new_string": f"a\n{bad}{bad}\nc"},
        {"file_path": bad, "edits": [{"old_string": bad, "new_string": "x"}]},
        {"file_path": bad, "content": bad, bad: 1},
        {"command": "insert", "path": bad, "new_str": bad, "insert_line": 3},
        {"command": bad, "path": bad, "file_text": bad},
        {"patch": f"--- {bad}\n+++ {bad}\n@@ {bad} @@\n+{bad}\n-{bad}"},
        {"todos": [{"content": bad, "status": bad}, {"content": bad, "status": "completed"}]},
        {"plan": bad, bad: bad},
        {
            "questions": [
                {"question": bad, "header": bad, "options": [{"label": bad, "description": bad}]},
                {"question": f"{bad}?", "options": [bad]},
            ]
        },
        {"file_path": f"{bad}.py"},
        {"operations": [{"mode": bad, "path": f"/{bad}.html"}]},
        {"prompt": bad, "subagent_type": bad},
    ]


def every_part(bad: str, number: str) -> list[Any]:
    return [
        Text(bad),
        Text(f"words before {bad} and after"),
        Text(f"\x1b[32m{bad}\x1b[0m"),
        Thinking(bad),
        Notice(bad, "error"),
        Unknown(bad, {bad: [bad, {"x": bad}]}),
        Unknown(bad, bad),
        Attachment("image/png", bad, bad, 10),
        Attachment(bad, bad, bad, 10),
        ToolResult(f"alone {number} {bad}", "ok", bad),
    ]


def everything(bad: str) -> Transcript:
    """A story with the payload in every field that takes free text."""
    messages: list[Message] = []
    facts: dict[str, Any] = {"label": bad, "model": bad, "at": bad, "parent": bad}
    for display, author in KINDS:
        id = f"{bad}{display}{author}"
        more: dict[str, Any] = {
            "usage": Usage(1, 2, 3, 4, True),
            "abandoned": author == "tool",
            "replaced_by": bad if author == "harness" else None,
            "upstream": "gone" if author == "agent" else "present",
        }
        parts = every_part(bad, id)
        messages.append(message(id, author, display=display, parts=parts, **facts, **more))
    for number, arguments in enumerate(shapes(bad)):
        calls = [
            ToolCall(f"{bad}{number}", name, arguments) for name in (bad, f"mcp__{bad}__{bad}")
        ]
        messages.append(message(f"call {number}", parts=calls, **facts))
        outputs = [bad, f"     1→{bad}\n     2→{bad}", f'"{bad}"="{bad}", "{bad}?"="{bad}".']
        results = [ToolResult(f"{bad}{number}", "ok", output) for output in outputs]
        results.append(ToolResult(f"{bad}{number}", "error", bad))
        picture = Attachment("image/png", bad, bad, 10)
        messages.append(
            message(f"result {number}", "tool", parts=[*results, picture], display="fold")
        )
    child = Transcript(conversation(id=f"child {bad}", title=bad), [message(bad, "agent", bad)])
    lone = Transcript(conversation(id=f"lone {bad}", title=bad), [])
    links = [
        Link("subagent", f"child {bad}", "child", f"{bad}0"),
        Link("fork", bad, "parent"),
        Link("continuation", bad, "child"),
    ]
    talk = conversation(
        id=bad,
        source=bad,
        project=bad,
        title=bad,
        links=links,
        troubles=[Trouble(bad, bad, bad)],
        models=[bad],
        upstream="changed",
        started_at=bad,
        updated_at=bad,
    )
    return Transcript(talk, messages, [child, lone])


def told(story: Transcript, look: RenderOptions) -> str:
    teller = TranscriptRenderer(story, look)
    blocks = [teller.render(index) for index in range(len(teller.units))]
    return about(story.conversation, look) + "\n".join(blocks) + teller.orphans()


@pytest.mark.parametrize("bad", PAYLOADS, ids=range(len(PAYLOADS)))
def test_a_payload_stays_text_in_every_field(bad: str) -> None:
    story = everything(bad)
    short = story._replace(messages=story.messages[: len(KINDS)])
    for html in (
        told(story, LINKED),
        "".join(export_html(short, RenderOptions("ja", attachment_bytes=lambda _: PICTURE))),
    ):
        assert problems(html) == []
        # Nothing that steers a terminal, turns text around or cannot be written as UTF-8.
        assert safe_for_browsers(html) == html


@pytest.mark.parametrize("bad", PAYLOADS, ids=range(len(PAYLOADS)))
def test_a_payload_is_shown_as_it_was_written(bad: str) -> None:
    call = message("1", parts=[ToolCall("A", "x", {"q": 1})])
    came = message("2", "tool", parts=[ToolResult("A", "ok", f"({bad})")], display="fold")
    page = parsed(
        TranscriptRenderer(Transcript(conversation(), [call, came]), RenderOptions()).render(0)
    )
    shown = page.one(kind="came").one("pre").text
    if "\x1b" not in bad and "\r" not in bad:
        assert shown == safe(f"({bad})")
    else:
        assert shown.endswith(")") and "\x1b" not in shown


def test_the_document_runs_nothing_and_loads_nothing() -> None:
    html = "".join(export_html(everything(f"<script>{MARKER}</script>"), RenderOptions()))
    head, _, body = html.partition("</head>")
    assert "<script" not in html
    assert "default-src 'none'" in parsed(head).find("meta")[1].attributes["content"]
    assert not [node for node in parsed(body).walk() if "src" in node.attributes]


def test_only_addresses_that_lead_somewhere_known_are_links() -> None:
    said = ["[mail](mailto:a@example.org)", "<https://example.org/a>"]
    messages = [message(str(n), text=text) for n, text in enumerate([*said, *PAYLOADS])]
    teller = TranscriptRenderer(Transcript(conversation(), messages), RenderOptions())
    page = parsed("".join(teller.render(index) for index in range(len(messages))))
    links = page.find("a")
    hrefs = {node.attributes["href"] for node in links}
    assert {"mailto:a@example.org", "https://example.org/a"} <= hrefs
    assert {href.partition(":")[0] for href in hrefs} == {"mailto", "https", "http"}
    assert {node.attributes["rel"] for node in links} == {"noopener noreferrer nofollow"}


@pytest.mark.parametrize(
    "html",
    [
        "<p onclick=x>a</p>",
        "<script>x</script>",
        '<p style="color:red">a</p>',
        '<a href="javascript:x">a</a>',
        '<a href="//evil.example">a</a>',
        '<img src="https://evil.example/x.png">',
        '<img src="data:image/svg+xml;base64,AAAA">',
        '<p id="a"></p><p id="a"></p>',
        "<p><b>x</b></p>",
        "<p>",
        "</p>",
        "<!-- x -->",
        '<p class="a<b">x</p>',
    ],
)
def test_the_check_sees_what_it_is_for(html: str) -> None:
    assert problems(html)
