"""The report on which user messages a person really typed: its session, its tables, its differences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rireki.sources.claude_code import classify, notes
from rireki.sources.claude_code.reader import REASONS
from tests.seeds.conftest import Rireki

SESSION = "9d8edf3b-0000-4000-8000-000000000001"
SKILL = "Base directory for this skill: /Users/k9i-mini/Workspace/ccpocket/.claude/skills"
SUMMARY = "This session is being continued from a previous conversation that ran out of con"
COMMAND = "<command-message>shorebird-patch</command-message>\n<command-name>/shorebird-patch"
#: Line, flags and text of the 22 entries with text, as the report has them.
ENTRIES: list[tuple[int, str, str]] = [
    (2, "", "競合アプリ(公式含む)との差別化を考えた時モバイルに特化した新しいエージェント管理UIUX"),
    (8, "", "承認もyes noだけじゃない\n複数の選択肢やプランの承認など"),
    (14, "", "ダミーのデータを用意してサンプルの画面を作ることはできる？"),
    (120, "meta", SKILL),
    (334, "", f"{COMMAND}</command-name>"),
    (335, "meta", SKILL),
    (492, "", "パッチはきたけど、操作ができない"),
    (496, "meta", SKILL),
    (648, "compact", SUMMARY),
    (1062, "", "結構いいね\nサブエージェントに改善案を出させてブラッシュアップのループを回して"),
    (1457, "", "複数選択の時にスワイプ方向で選択可能にしたい"),
    (1495, "compact", SUMMARY),
    (1807, "", "選択肢複数の単一選択について"),
    (2064, "", "良くなった\n\n- 新しいカードになった時に、前スワイプの判定が残ってるかも。"),
    (2085, "compact", SUMMARY),
    (2372, "", "まだカードの初期位置が前回に引きずられてる"),
    (2565, "", "直ってそう\n\n複数領域の分割について"),
    (2680, "compact", SUMMARY),
    (2990, "", "オーバーレイがなぜかカード内に出てる"),
    (3201, "", "微調整したいところはあるけどだいぶできたのでコミットしたい"),
    (3221, "", "queueが空になった時の体験を考えたい"),
    (3303, "compact", SUMMARY),
]
FLAGS: dict[str, dict[str, Any]] = {
    "": {},
    "meta": {"isMeta": True, "sourceToolUseID": "toolu_1"},
    "compact": {"isCompactSummary": True, "isVisibleInTranscriptOnly": True},
}
LINES, USERS = 3516, 477


@pytest.fixture
def session(home: Path) -> str:
    """3,516 lines, 477 of them in the user's name, 22 of these with text."""
    told = {line: (flags, text) for line, flags, text in ENTRIES}
    results = USERS - len(ENTRIES)
    lines: list[dict[str, Any]] = []
    for number in range(1, LINES + 1):
        uuid = f"{number:08d}-0000-4000-8000-000000000000"
        line: dict[str, Any] = {
            "uuid": uuid,
            "parentUuid": lines[-1]["uuid"] if lines else None,
            "sessionId": SESSION,
            "cwd": "/w",
            "userType": "external",
            "isSidechain": False,
            "timestamp": f"2026-02-01T{number // 3600:02d}:{number // 60 % 60:02d}:{number % 60:02d}.000Z",
        }
        if number in told:
            flags, text = told[number]
            line |= {"type": "user", "message": {"role": "user", "content": text}, **FLAGS[flags]}
        elif number + 1 in told and told[number + 1][0] == "compact":
            # The program's line before a compaction's own.
            line |= {"type": "system", "subtype": "compact_boundary", "content": "Compacted"}
        elif results and number % 2:
            results -= 1
            block = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "ok"}
            line |= {"type": "user", "message": {"role": "user", "content": [block]}}
        else:
            use: dict[str, Any] = {
                "type": "tool_use",
                "id": f"t{number + 1}",
                "name": "Read",
                "input": {},
            }
            message = {"id": f"msg_{number}", "role": "assistant", "model": "m", "content": [use]}
            line |= {"type": "assistant", "message": message}
        lines.append(line)
    file = home / ".claude" / "projects" / "-w" / f"{SESSION}.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines))
    return SESSION


def test_only_entries_with_text_are_explained_unless_all_are_wanted(
    session: str, rireki: Rireki
) -> None:
    rireki("import")
    told = rireki("explain", session, "--json").json
    assert [one["position"] for one in told] == [line for line, _, _ in ENTRIES]
    every = rireki("explain", session, "--all", "--json").json
    assert sum(one["author"] == "tool" for one in every) == USERS - len(ENTRIES)
    assert f"{USERS - len(ENTRIES)} more with --all" in rireki("explain", session).out


def test_a_compaction_is_explained_by_the_entry_in_the_users_name(
    session: str, rireki: Rireki
) -> None:
    rireki("import")
    told = {one["position"]: one for one in rireki("explain", session, "--json").json}
    for line, flags, _ in ENTRIES:
        if flags == "compact":
            assert told[line]["role"] == "user"
            assert told[line]["flags"] == ["isCompactSummary", "isVisibleInTranscriptOnly"]
            assert (told[line]["author"], told[line]["display"]) == ("harness", "divider")


def test_the_tables_of_the_report(session: str, rireki: Rireki) -> None:
    rireki("import")
    (told,) = rireki("explain", session, "--compare", "--json").json
    assert [(one["count"], one["flags"]) for one in told["combinations"]] == [
        (14, []),
        (5, ["isCompactSummary", "isVisibleInTranscriptOnly"]),
        (3, ["isMeta", "sourceToolUseID"]),
    ]
    assert [one["position"] for one in told["rows"]] == [line for line, _, _ in ENTRIES]
    different = {one["position"]: one["ours"] for one in told["rows"] if one["differs"]}
    assert different == {
        334: "chip",
        **dict.fromkeys((648, 1495, 2085, 2680, 3303), "divider"),
    }
    assert {one["by_text"] for one in told["rows"] if one["differs"]} == {"your message"}
    assert {one["ours"] for one in told["rows"] if one["flags"][:1] == ["isMeta"]} == {"chip"}
    assert (told["entries"], told["different"]) == (22, 6)
    assert told["reasons"] == {"summary of a compacted context": 5, "command that was typed": 1}
    out = rireki("explain", session, "--compare").out
    assert "6 of 22 entries would be shown otherwise by the text alone" in out
    assert out.count("≠") == 6
    assert "5  summary of a compacted context: divider" in out


def test_rules_are_told_in_words(session: str, rireki: Rireki) -> None:
    rireki("import")
    out = rireki("explain", session).out
    assert "typed prompt" in out and "skill that the model loaded" in out
    assert "rule " not in out
    rules = {
        *classify.ALL,
        *(one for one in vars(classify).values() if type(one) is classify.AuthorRule),
    }
    assert {rule.row for rule in rules} | notes.LABELS.keys() == REASONS.keys()


def test_other_sources_have_words_for_their_rules(home: Path, rireki: Rireki) -> None:
    from tests.support.q_rows import Client, called, returned, talk

    Client(home).save(talk("one", called("m1", "look", "", "t1"), returned("m2", "t1", "x", "Ok.")))
    rireki("import")
    (told,) = rireki("explain", "one", "--json").json
    assert (told["why"], told["words"]) == ("typed prompt", "look")
    assert rireki("explain", "one", "--compare", "--json").json[0]["different"] == 0
