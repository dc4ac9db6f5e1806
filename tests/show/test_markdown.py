"""A conversation as Markdown stays inside its blocks."""

from __future__ import annotations

from rireki.model.parts import Thinking, Unknown
from rireki.show.markdown import markdown
from rireki.show.story import Story
from tests.show.made import call, conversation, message, result


def test_the_document() -> None:
    messages = [
        message("1", "person", "読んで", turn=1),
        call("2", "A", "ls", upstream="gone"),
        result("3", "A", "```\nnot the end\n```"),
        message("4", "harness", "", display="chip", label="/compact"),
        message("5", "harness", "the summary", display="divider", label="compacted"),
        message("6", parts=[Thinking("hm"), Unknown("odd", {"a": 1})]),
    ]
    text = "\n".join(markdown(Story(conversation(), messages)))
    assert text.startswith("# 設定ファイルを読む\n")
    assert "## You\n\n読んで" in text
    assert "## Agent *(no longer in the source)*" in text
    assert "````\n```\nnot the end\n```\n````" in text
    assert "*Program: /compact*" in text
    assert "<details><summary>summary</summary>" in text and "the summary" in text
    assert "<details><summary>odd</summary>" in text


def test_long_results_are_shortened_unless_all_is_wanted() -> None:
    output = "\n".join(str(number) for number in range(100))
    story = Story(conversation(), [call("1", "A", "seq"), result("2", "A", output)])
    assert "… 80 more lines" in markdown(story)
    assert "99" in markdown(story, full=True)
