"""A story as blocks of HTML: who said what, in the form the reader decided."""

from __future__ import annotations

from typing import Any

from rireki.model.conversation import Link
from rireki.model.message import Message, Usage
from rireki.model.parts import Attachment, Notice, Text, Thinking, ToolCall, ToolResult, Unknown
from rireki.show.html.page import RenderOptions
from rireki.show.html.render import TranscriptRenderer, Unit
from rireki.show.transcript import Transcript
from tests.show.made import call, conversation, message, result
from tests.support.payloads import Node, parsed, problems

AT = "2026-11-15T18:{:02d}:00.000Z"


def tell(messages: list[Message], look: RenderOptions | None = None, **facts: Any) -> list[Node]:
    """The articles of a story."""
    teller = TranscriptRenderer(
        Transcript(conversation(**facts), messages), look or RenderOptions()
    )
    html = [teller.render(index) for index in range(len(teller.units))]
    assert problems("".join(html)) == []
    return [first(block) for block in html]


def first(html: str) -> Node:
    node = parsed(html).children[0]
    assert isinstance(node, Node) and node.name == "article"
    return node


def alone(message: Message, look: RenderOptions | None = None, **facts: Any) -> Node:
    (article,) = tell([message], look, **facts)
    return article


def kinds(node: Node) -> list[str]:
    return node.attributes["class"].split()


# ── What is a block ──


def test_results_are_told_under_their_calls_and_are_no_blocks() -> None:
    messages = [
        message("p", "person", "run it"),
        call("a", "A", "ls"),
        result("r", "A", "out"),
        result("s", "nobody", "lost"),
    ]
    teller = TranscriptRenderer(Transcript(conversation(), messages), RenderOptions())
    assert teller.units == [Unit("p", ("p",)), Unit("a", ("a", "r")), Unit("s", ("s",))]
    assert [teller.place(id) for id in ("p", "a", "r", "s", "other")] == [0, 1, 1, 2, None]
    assert "out" in first(teller.render(1)).one(kind="inside").text
    assert "lost" in first(teller.render(2)).text


def test_one_message_may_bring_the_results_of_several_calls() -> None:
    both = message(
        "r",
        "tool",
        display="fold",
        parts=[ToolResult("A", "ok", "one"), ToolResult("B", "error", "two")],
    )
    teller = TranscriptRenderer(
        Transcript(conversation(), [call("a", "A", "x"), call("b", "B", "y"), both]),
        RenderOptions(),
    )
    assert teller.units == [Unit("a", ("a", "r")), Unit("b", ("b", "r"))]
    assert teller.place("r") == 0
    assert "one" in teller.render(0) and "two" not in teller.render(0)
    assert "two" in teller.render(1) and "one" not in teller.render(1)


def test_an_agents_empty_words_are_no_block_but_a_persons_are() -> None:
    messages = [message("a", parts=[Text(" "), Thinking("")]), message("p", "person", parts=[])]
    (article,) = tell(messages)
    assert article.attributes["data-message"] == "p" and "(empty)" in article.text


def test_blocks_have_names_of_their_own_even_where_the_source_repeats_one() -> None:
    names = [a.attributes["id"] for a in tell([message(id, text="x") for id in ("a b", "1", "1")])]
    assert names == ["m-a~20~b", "m-1", "m-1~~2"]


# ── How each kind looks ──


def test_a_bubble_tells_who_when_and_with_which_model(in_tokyo: None) -> None:
    said = message("1", "agent", "hello", at=AT.format(1), model="m-1", usage=Usage(5, 1234, 7, 0))
    article = alone(said)
    assert kinds(article) == ["message", "bubble", "agent"]
    assert article.attributes["aria-label"] == "Agent, 2026-11-16 03:01"
    assert article.one("h2").text == "Agent"
    assert article.one(kind="model").text == "m-1"
    time = article.one("time")
    assert time.attributes["datetime"] == AT.format(1) and time.text == "2026-11-16 03:01"
    assert article.one(kind="at").attributes["href"] == "#m-1"
    usage = article.one(kind="usage")
    assert usage.text == "1,234 tokens out"
    assert usage.attributes["title"] == "5 tokens in · 1,234 tokens out · 7 from cache"


def test_what_the_reader_knows_already_is_not_said_again() -> None:
    messages = [
        message("1", text="one", at=AT.format(1), model="m-1"),
        message("2", text="two", at=AT.format(2)),
        message("3", text="three", at=AT.format(3), model="m-2"),
        message("4", "person", "four"),
        message("5", "person", "five"),
    ]
    one, two, three, four, five = tell(messages)
    assert "again" in kinds(two) and not two.find("h2")
    assert len(two.one("time").text) == len("18:02") and len(one.one("time").text) > 5
    assert three.one(kind="model").text == "m-2"
    assert four.one("h2").text == five.one("h2").text == "You"


def test_a_chip_is_one_line_and_opens_where_there_is_more() -> None:
    plain = alone(message("1", "person", "/compact", display="chip", label="/compact"))
    assert plain.one(kind="label").text == "/compact" and not plain.find("details")
    hook = message("2", "harness", "what the hook said", display="chip", label="hook")
    assert alone(hook).one("details").one(kind="inside").text == "what the hook said"
    with_call = message("3", display="chip", label="asks", parts=[ToolCall("A", "Bash", {})])
    assert alone(with_call).one(kind="call")


def test_a_divider_has_its_summary_folded() -> None:
    article = alone(message("1", "harness", "# All of it", display="divider", label="compacted"))
    assert article.one(kind="rule").one(kind="label").text == "compacted"
    assert article.one("details").one("h3").text == "All of it"
    assert not alone(message("2", "harness", "cleared", display="divider")).find("details")


def test_a_fold_shows_its_words_as_they_are() -> None:
    article = alone(message("1", "harness", "# no *heading*", display="fold", label="file: a"))
    assert article.one(kind="plain").text == "# no *heading*"
    coloured = message("2", "harness", "\x1b[31mred\x1b[0m", display="fold", label="output")
    assert alone(coloured).one(kind="terminal").one(kind="a-f1").text == "red"
    assert not alone(message("3", "harness", display="fold", label="directory: x")).find("details")


def test_what_is_hidden_says_so_when_it_is_told() -> None:
    article = alone(message("1", "harness", "injected", display="hidden", label="reminder"))
    assert article.one(kind="note").text == "hidden" and article.one("details")


def test_parts_that_are_neither_words_nor_calls() -> None:
    parts = [
        Thinking("hm, *perhaps*"),
        Notice("careful", "warning"),
        Unknown("odd thing", {"a": [1]}),
        Attachment("application/pdf", "d1", "x.pdf", 12_000),
    ]
    article = alone(message("1", parts=parts))
    thinking = article.one("details", "thinking")
    assert "open" not in thinking.attributes and thinking.one("em").text == "perhaps"
    assert article.one(kind="notice").attributes["class"] == "notice warning"
    assert article.one(kind="unknown").one("summary").text == "odd thing"
    assert '"a"' in article.one(kind="unknown").one("pre").text
    assert article.one(kind="attachment").text == "x.pdf application/pdf · 12 KB"


def test_a_picture_is_shown_where_there_is_an_address_or_its_bytes() -> None:
    said = message("1", "person", parts=[Attachment("image/png", "d1", "a.png", 3)])
    linked = alone(said, RenderOptions(attachment_url=lambda part: f"/a/{part.digest}"))
    assert linked.one("img").attributes["src"] == "/a/d1"
    inside = alone(said, RenderOptions(attachment_bytes=lambda part: b"abc"))
    assert inside.one("img").attributes["src"] == "data:image/png;base64,YWJj"
    assert not alone(said).find("img") and "a.png" in alone(said).text
    drawing = message("1", "person", parts=[Attachment("image/svg+xml", "d1", "a.svg", 3)])
    assert not alone(drawing, RenderOptions(attachment_bytes=lambda part: b"<svg/>")).find("img")
    large = message("1", "person", parts=[Attachment("image/png", "d1", "a.png", 9_000_000)])
    assert not alone(large, RenderOptions(attachment_bytes=lambda part: b"abc")).find("img")


# ── What became of it ──


def test_what_became_of_a_message_is_marked() -> None:
    gone = message("1", text="x", upstream="gone")
    assert alone(gone).one(kind="mark").text == "no longer in the source"
    assert not alone(gone, upstream="gone").find(kind="mark")
    assert alone(message("1", text="x", replaced_by="2")).one(kind="mark").text == "earlier version"


def test_a_result_that_is_gone_is_marked_under_a_call_that_is_not() -> None:
    messages = [call("1", "A", "ls"), result("2", "A", "x", upstream="gone")]
    (article,) = tell(messages)
    assert article.one(kind="result").one(kind="mark").text == "no longer in the source"


def test_branches_that_were_left_are_kept_apart() -> None:
    messages = [
        message("root", text="x"),
        message("a1", "person", "first try", parent="root", abandoned=True),
        message("a2", text="answer", parent="a1", abandoned=True),
        message("b1", "person", "second try", parent="root", abandoned=True),
        message("c1", "person", "third try", parent="root"),
    ]
    articles = tell(messages)
    branches = [article.attributes.get("data-branch") for article in articles]
    assert branches == [None, "a1", "a1", "b1", None]
    assert articles[1].one(kind="mark").text == "on a branch you left"
    teller = TranscriptRenderer(Transcript(conversation(), messages), RenderOptions())
    assert teller.outline() == [("c1", "third try")]


def test_the_outline_is_what_the_person_typed() -> None:
    messages = [
        message("1", "person", "読んで\nください", turn=1),
        message("2", "person", display="chip", label="/model x"),
        message("3", "agent", "yes", turn=1),
        message("4", "person", display="chip", label="/review", turn=2),
        message("5", "person", display="chip", label="interrupted", turn=2),
        message("6", "person", "word " * 100, turn=3),
    ]
    outline = TranscriptRenderer(Transcript(conversation(), messages), RenderOptions()).outline()
    assert outline[:2] == [("1", "読んで ください"), ("4", "/review")]
    assert outline[2][0] == "6" and outline[2][1].endswith("…") and len(outline) == 3


# ── Sub-agents ──


def family(child_messages: list[Message], call_id: str | None = "A") -> Transcript:
    child = Transcript(conversation(id="toy/child", title="look", messages=4), child_messages)
    about = conversation(links=[Link("subagent", "toy/child", "child", call_id)])
    return Transcript(about, [call("1", "A", "x"), result("2", "A", "done")], [child])


def test_a_sub_agent_is_linked_from_the_call_that_started_it() -> None:
    look = RenderOptions(conversation_url=lambda id: f"/c/{id}")
    subagent = (
        first(TranscriptRenderer(family([]), look).render(0))
        .one(kind="started")
        .one(kind="subagent")
    )
    assert subagent.one("a").attributes["href"] == "/c/toy/child"
    assert subagent.text == "Sub-agent look 4 messages 0 tool calls"


def test_a_sub_agent_that_was_brought_along_is_told_folded_where_it_started() -> None:
    story = family([message("1", "harness", "task"), message("2", text="# report")])
    html = TranscriptRenderer(story, RenderOptions(message_url=lambda id: f"/m/{id}")).render(0)
    assert problems(html) == []
    subagent = first(html).one("details", "subagent")
    assert [a.attributes["data-message"] for a in subagent.find("article")] == ["1", "2"]
    assert subagent.one("h4").text == "report" and subagent.find("h3")[0].text == "Program"


def test_a_sub_agent_of_no_call_is_told_at_the_end() -> None:
    teller = TranscriptRenderer(family([], call_id=None), RenderOptions())
    assert "look" in teller.orphans() and "subagent" not in teller.render(0)
    assert TranscriptRenderer(family([]), RenderOptions()).orphans() == ""


# ── Addresses and words ──


def test_addresses_are_those_of_the_page() -> None:
    look = RenderOptions(
        message_url=lambda id: f"/c/x?at={id}", raw_url=lambda id: f"/raw?message={id}"
    )
    long = message("1", "harness", "x\n" * 500, display="fold", label="a", at=AT.format(1))
    article = alone(long, look)
    assert article.one(kind="at").attributes["href"] == "/c/x?at=1"
    assert article.one(kind="more").one("a").attributes["href"] == "/raw?message=1"
    assert article.one(kind="more").text == "… 300 more lines raw"


def test_the_interface_speaks_japanese_and_leaves_what_was_said() -> None:
    article = alone(message("1", "person", "hello", label="interrupted"), RenderOptions("ja"))
    assert article.one("h2").text == "あなた" and article.one(kind="label").text == "中断"
    assert article.one(kind="body").text == "hello"
    asked = message("1", "harness", "x", display="chip", label="refused: git push: now")
    assert alone(asked, RenderOptions("ja")).one(kind="label").text == "拒否: git push: now"
    quoted = message("1", "harness", "refused: as it was said", display="chip")
    assert alone(quoted, RenderOptions("ja")).one(kind="label").text == "refused: as it was said"
    unknown_label = message("1", "person", "x", label="{who} {0.__class__}")
    assert alone(unknown_label, RenderOptions("ja")).one(kind="label").text == "{who} {0.__class__}"


def test_copy_buttons_name_a_block_that_is_there() -> None:
    article = alone(message("1", text="```\na\n```\n\n```py\nb\n```"))
    blocks = [button.attributes["data-copy"] for button in article.find("button")]
    assert blocks == [pre.attributes["id"] for pre in article.find("pre")] and len(set(blocks)) == 2
    assert not alone(message("1", text="```\na\n```"), RenderOptions(copy=False)).find("button")
