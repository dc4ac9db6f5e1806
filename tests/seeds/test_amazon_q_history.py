"""The study of Amazon Q's `history`: its JSON as it stands, its statistics, rows without any time."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from rireki.archive.open import open_archive
from tests.seeds.conftest import Rireki
from tests.support.q_rows import Client, Value, called, returned, said, shown, talk

#: The second example of the study, word for word: nothing but a history.
HISTORY: Value = {
    "history": [
        [
            {
                "content": {"Prompt": {"prompt": "Angularのベストプラクティスを教えて"}},
                "env_context": {"env_state": {"operating_system": "macos"}},
                "additional_context": "...",
                "images": None,
            },
            {
                "ToolUse": {
                    "message_id": "333c4323-472a-4f53-9d95-ed0deddc1b37",
                    "content": "まず関連ドキュメントを確認します...",
                    "tool_uses": [
                        {
                            "id": "tooluse_u_fSIRkfTwKYDTElnL2E-A",
                            "name": "fs_read",
                            "orig_name": "fs_read",
                            "args": {"mode": "Line", "path": "./CLAUDE.md"},
                        }
                    ],
                }
            },
        ],
        [
            {
                "content": {
                    "ToolUseResults": {
                        "tool_use_results": [
                            {
                                "tool_use_id": "tooluse_u_fSIRkfTwKYDTElnL2E-A",
                                "status": "Success",
                                "content": [{"Text": "ファイル内容..."}],
                            }
                        ]
                    }
                },
                "env_context": {"env_state": {"operating_system": "macos"}},
                "additional_context": "N/A",
                "images": None,
            },
            {
                "Response": {
                    "message_id": "db7f9c4b-590c-417b-b892-f4488d2c50dc",
                    "content": "Angularのベストプラクティス:\n1. スタンドアロンコンポーネント...",
                }
            },
        ],
    ]
}


@pytest.fixture
def q(home: Path) -> Client:
    return Client(home)


# ── A value with a history alone ──


def check(about: dict[str, Any], name: str) -> None:
    assert (about["id"], about["native_id"]) == (f"amazon-q/{name}", name)
    assert about["title"] == "Angularのベストプラクティスを教えて"
    assert (about["pattern"], about["finished"], about["turns"]) == ("single tool", True, 1)
    assert about["troubles"] == []


def test_a_row_that_is_a_history_alone_is_named_by_its_key(q: Client, rireki: Rireki) -> None:
    q.save(HISTORY, "/Users/username/dev/quincy")
    assert rireki("import").code == 0
    (about,) = rireki("list", "--json").json
    check(about, "/Users/username/dev/quincy")
    assert about["project"] == "/Users/username/dev/quincy"
    for name in ("/Users/username/dev/quincy", about["id"], "amazon-q//Users/username/dev"):
        assert "スタンドアロンコンポーネント" in rireki("show", name, "--no-pager").out
    assert rireki("search", "スタンドアロン", "--json").json[0]["talks"]
    # The next chat there has a name, and takes its place.
    q.save(talk("named", said("m1", "hello", "Hi.")), "/Users/username/dev/quincy")
    rireki("import")
    told = {one["id"]: one for one in rireki("list", "--json").json}
    assert told[about["id"]]["upstream"] == "gone"
    assert told["amazon-q/named"]["links"][0] == {
        "kind": "supersedes",
        "id": about["id"],
        "is": "parent",
        "call_id": None,
    }


def test_it_can_be_restored_and_forgotten(q: Client, rireki: Rireki, tmp_path: Path) -> None:
    q.save(HISTORY, "/w/app")
    rireki("import")
    assert rireki("restore", "/w/app", "--to", str(tmp_path / "back")).code == 0
    (file,) = (tmp_path / "back").iterdir()
    assert json.loads(file.read_text(encoding="utf-8")) == HISTORY
    assert rireki("forget", "/w/app", "--yes").code == 0
    rireki("import")
    assert rireki("list", "--json").json == []


def test_a_file_that_is_a_history_alone_is_named_by_where_it_lies(
    rireki: Rireki, tmp_path: Path
) -> None:
    file = tmp_path / "saved" / "history.json"
    file.parent.mkdir()
    file.write_text(json.dumps(HISTORY, ensure_ascii=False, indent=2), encoding="utf-8")
    assert rireki("import", str(file)).code == 0
    (about,) = rireki("list", "--json").json
    check(about, str(file))
    assert rireki("show", str(file), "--no-pager").code == 0
    assert rireki("verify").code == 0


@pytest.mark.parametrize(
    "value",
    [
        {"history": []},
        {"history": ["ls", "cd"]},
        {"history": [{"message": {"role": "user", "content": "hi"}}]},
        {"history": {"a": 1}},
        {"history": [[1, 2]]},
    ],
)
def test_another_programs_file_with_a_history_is_not_taken_for_one(
    rireki: Rireki, tmp_path: Path, value: Any
) -> None:
    file = tmp_path / "other.json"
    file.write_text(json.dumps(value), encoding="utf-8")
    rireki("import", str(file))
    assert rireki("list", "--json").json == []


def test_a_row_that_an_earlier_version_could_not_read_is_looked_at_again(
    q: Client, rireki: Rireki, as_before: Callable[[str], None]
) -> None:
    q.save(HISTORY, "/w/app")
    q.save(talk("one", said("m1", "hello", "Hi.")), "/w/other")
    rireki("import")
    rireki("forget", "/w/app", "--yes")
    as_before("DELETE FROM forgotten")
    broken = json.dumps(["conversations", "/w/app", None, None])
    as_before(
        "INSERT INTO strand (origin, key, family, role, cursor, first_seen, last_seen)"
        f" SELECT origin, '{broken}', family, 'broken', cursor, first_seen, last_seen"
        " FROM strand LIMIT 1"
    )
    q.save(talk("one", said("m1", "hello", "Hi."), said("m2", "more", "Yes.")), "/w/other")
    rireki("import")
    assert {one["native_id"] for one in rireki("list", "--json").json} == {"one", "/w/app"}


# ── The transcript beside it ──


def test_a_transcript_line_without_its_tools_is_not_told_twice(q: Client, rireki: Rireki) -> None:
    entries = [said("m1", "hello", "Hi."), said("m2", "and now?", "Now we go on.")]
    plain = [line.partition("\n[Tool uses:")[0] for line in shown(*entries)]
    q.save(talk("one", *entries, transcript=[*plain, "An error occurred"]))
    rireki("import")
    messages = rireki("show", "one", "--json").json[0]["messages"]
    assert [part["text"] for one in messages for part in one["parts"]] == [
        *("hello", "Hi.", "and now?", "Now we go on.", "An error occurred"),
    ]


# ── Statistics ──


def tools(name: str, calls: int) -> list[Value]:
    """A conversation that used so many tools, one after another."""
    first = called(f"{name}-0", "do it", "Looking.", f"{name}-t0")
    rest = []
    for number in range(1, calls):
        entry = called(f"{name}-{number}", "", "More.", f"{name}-t{number}")
        result = {"tool_use_id": f"{name}-t{number - 1}", "content": [], "status": "Success"}
        entry["user"]["content"] = {"ToolUseResults": {"tool_use_results": [result]}}
        rest.append(entry)
    return [first, *rest, returned(f"{name}-end", f"{name}-t{calls - 1}", "ok", "Done.")]


def test_unfinished_stands_beside_the_patterns_as_the_study_counted(
    q: Client, rireki: Rireki
) -> None:
    """4 simple, 2 with one tool, 15 with several: 21 conversations, one of them unfinished."""
    for number in range(4):
        q.save(talk(f"s{number}", said(f"s{number}", "hello", "Hi.")), f"/s{number}")
    for number in range(2):
        q.save(talk(f"o{number}", *tools(f"o{number}", 1)), f"/o{number}")
    for number in range(15):
        entries = tools(f"m{number}", 2 + number)
        q.save(talk(f"m{number}", *(entries[:-1] if number == 7 else entries)), f"/m{number}")
    rireki("import")
    (told,) = rireki("stats", "--json").json
    assert told["conversations"] == 21
    assert {name: one["count"] for name, one in told["patterns"].items()} == {
        "simple": 4,
        "single tool": 2,
        "several tools": 15,
    }
    assert [one["percent"] for one in told["patterns"].values()] == [19.0, 9.5, 71.4]
    assert told["unfinished"] == {"count": 1, "percent": 4.8}
    listed = rireki("list", "--json").json
    assert [one["id"] for one in listed if not one["finished"]] == ["amazon-q/m7"]
    found = rireki("search", "is:unfinished", "--json").json[0]["talks"]
    assert [one["conversation"]["id"] for one in found] == ["amazon-q/m7"]
    assert "1 of them unfinished" in rireki("stats").out
    assert rireki("list", "--no-pager").out.count("…") == 1


def test_a_session_of_only_a_command_is_not_unfinished(
    q: Client, home: Path, rireki: Rireki
) -> None:
    q.save(talk("one", transcript=["> /usage"]), "/w")
    session = "5b1f0000-0000-4000-8000-000000000001"
    folder = home / ".claude" / "projects" / "-w"
    folder.mkdir(parents=True)
    lines: list[dict[str, Any]] = [
        {"type": "user", "message": {"role": "user", "content": command}}
        for command in (
            "<command-name>/usage</command-name>\n            <command-args></command-args>",
            "<local-command-stdout>42 % used</local-command-stdout>",
        )
    ]
    for number, line in enumerate(lines):
        line |= {"uuid": f"u{number}", "sessionId": session, "cwd": "/w", "parentUuid": None}
        line |= {"timestamp": f"2026-11-01T10:00:0{number}.000Z"}
    (folder / f"{session}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    rireki("import")
    assert [one["finished"] for one in rireki("list", "--json").json] == [True, True]
    assert rireki("stats", "--json").json[0]["unfinished"]["count"] == 0
    assert "unfinished" not in rireki("show", session, "--no-pager").out


def test_what_an_earlier_version_stored_as_a_pattern_is_still_listed(
    q: Client, rireki: Rireki, as_before: Callable[[str], None]
) -> None:
    q.save(talk("one", *tools("one", 2)[:-1]))
    rireki("import")
    as_before("UPDATE conversation SET data = json_set(data, '$.pattern', 'unfinished')")
    (about,) = rireki("list", "--json").json
    assert (about["pattern"], about["finished"]) == ("several tools", False)
    assert rireki("verify").code == 0
    rireki("import")
    assert rireki("list", "--json").json == [about]


# ── Rows without any time ──


def test_rows_without_times_have_those_they_were_first_seen_at_in_the_order_of_their_rows(
    q: Client, rireki: Rireki
) -> None:
    names = ["zz", "mm", "aa", "kk"]
    for name in names:
        q.save(talk(name, said(name, f"prompt {name}", "done")), f"/w/{name}")
    rireki("import")
    listed = rireki("list", "--json").json
    # The last that was saved stands first.
    assert [one["native_id"] for one in listed] == names[::-1]
    assert {one["times_from"] for one in listed} == {"rireki"}
    times = [one["updated_at"] for one in listed]
    assert times == sorted(set(times), reverse=True)
    assert [one["started_at"] for one in listed] == times
    told = rireki("list", "--no-pager").out
    assert told.count("seen just now") == 4
    assert "noted no times for it" in rireki("show", "zz", "--no-pager").out


def test_what_is_asked_by_time_includes_them(q: Client, rireki: Rireki) -> None:
    q.save(talk("one", said("m1", "something peculiar", "Hi.")))
    rireki("import")

    def found(*query: str) -> int:
        return len(rireki("search", *query, "--json").json[0]["talks"])

    for given, count in ((("--since", "1h"), 1), (("--before", "1h"), 0), (("--before", "now"), 1)):
        assert len(rireki("list", "--json", *given).json) == count, given
    assert found("peculiar since:1h") == 1
    assert found("peculiar before:1h") == 0
    assert found("peculiar before:now") == 1


def test_an_archive_of_an_earlier_version_gets_the_times_by_itself(
    q: Client, rireki: Rireki, as_before: Callable[[str], None], archive_file: Path
) -> None:
    for name in ("zz", "aa"):
        q.save(talk(name, said(name, f"peculiar {name}", "done")), f"/w/{name}")
    rireki("import")
    first = [one["updated_at"] for one in rireki("list", "--json").json]
    as_before(
        "UPDATE strand SET cursor = json_remove(cursor, '$.later');"
        "UPDATE conversation SET started_at = NULL, updated_at = NULL,"
        " data = json_remove(json_set(data, '$.started_at', NULL, '$.updated_at', NULL),"
        " '$.times_from')"
    )
    assert {one["updated_at"] for one in rireki("list", "--json").json} == {None}
    rireki("import")
    listed = rireki("list", "--json", "--since", "1h").json
    assert [one["native_id"] for one in listed] == ["aa", "zz"]
    assert all(one["updated_at"] <= time for one, time in zip(listed, first, strict=True))
    talks = rireki("search", "peculiar since:1h", "--json").json[0]["talks"]
    assert len(talks) == 2
    # And only once.
    with closing(open_archive(archive_file)) as archive:
        number = archive.number()
        rireki("import")
        assert archive.number() == number
