"""What rules let out of an archive, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from msgspec import structs

from rireki.archive.base import Archive, Filter
from rireki.archive.delta import (
    Delta,
    OriginFacts,
    Part,
    StateFacts,
    StrandFacts,
)
from rireki.archive.forgetting import forget
from rireki.archive.open import open_archive
from rireki.archive.pack import Chunk, unpack
from rireki.errors import RirekiError
from rireki.intake.curate import set_note, set_starred, set_tags, set_title
from rireki.intake.interpret import read_conversation
from rireki.intake.sweep import import_history
from rireki.shares.counts import _models
from rireki.shares.plan import plan_for
from rireki.shares.pushing import ShareChange, TeamPush
from rireki.shares.rules import Level, ShareRule, read_rules, rule_for, write_rules
from rireki.sources.kit.places import Places
from tests.support.homes import lay_out
from tests.support.pushing import understand
from tests.support.secrets import secrets
from tests.support.two_people import write_session

WORK = "/home/ann/work"
IDS = {
    "shop": "11111111-0000-4000-8000-000000000001",
    "bank": "22222222-0000-4000-8000-000000000002",
    "home": "33333333-0000-4000-8000-000000000003",
}


class Server:
    """Remembers what it was told; `target` takes the records."""

    def __init__(self, target: Archive) -> None:
        self.target = target
        self.changes: list[ShareChange] = []

    def change_shares(self, change: ShareChange) -> None:
        self.changes.append(change)

    @property
    def counted(self) -> list[bytes]:
        return [msgspec.json.encode(each) for c in self.changes for each in c.counted]


@pytest.fixture
def ann(tmp_path: Path) -> Archive:
    """Conversations at work and at home, and what was typed anywhere."""
    home = tmp_path / "home"
    write_session(home, IDS["shop"], f"{WORK}/shop", "quokkaflux")
    write_session(home, IDS["bank"], f"{WORK}/bank", "zebrafinchery")
    write_session(home, IDS["home"], "/home/ann/diary", "privatissimum")
    typed = {"display": "privatissimum of all", "project": f"{WORK}/shop", "timestamp": 1}
    (home / ".claude" / "history.jsonl").write_bytes(msgspec.json.encode(typed) + b"\n")
    archive = open_archive(tmp_path / "archive.sqlite3", create=True)
    import_history(archive, places=Places.at(home))
    return archive


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server(open_archive(tmp_path / "server.sqlite3", create=True))


def rule(what: str, level: Level = "full", team: str = "acme") -> ShareRule:
    kind = "directory" if what.startswith("/") else "conversation"
    return ShareRule(what=what, kind=kind, team=team, remote="acme", level=level)  # type: ignore[arg-type]


def pushed(archive: Archive, server: Server, rules: Sequence[ShareRule]) -> list[Delta]:
    """Everything that is new to the server, as it left."""
    outgoing = TeamPush(archive, "acme", rules).prepare(server)
    stream, _ = server.target.stream(archive.identity(), "laptop")
    told: list[Delta] = []
    while True:
        _, reached = server.target.stream(archive.identity(), "laptop")
        delta = archive.delta(reached, 20_000, lambda ids: server.target.held(stream, ids))
        if delta.is_empty:
            understand(server.target)
            return told
        told.append(outgoing(delta))
        server.target.take(stream, told[-1])


def bytes_of(deltas: Sequence[Delta]) -> bytes:
    """All that left, unpacked."""
    said = [msgspec.json.encode(delta) for delta in deltas]
    for chunk in (chunk for delta in deltas for part in delta.parts for chunk in part.chunks):
        said += unpack(chunk.data, chunk.size, chunk.lengths, "here")
    return b"\n".join(said)


def ids_of(archive: Archive) -> set[str]:
    found = archive.conversations(Filter(subagents=True))
    return {each.native_id for each in found}


# ── rules ──


def test_without_a_rule_nothing_leaves(ann: Archive, server: Server) -> None:
    told = pushed(ann, server, [])
    assert not any(d.parts or d.origins or d.forgotten or d.successions or d.facts for d in told)
    assert not server.changes


def test_a_path_that_leads_out_again_is_not_below(ann: Archive) -> None:
    assert not rule(WORK).covers("x", f"{WORK}/../diary")
    assert rule(WORK).covers("x", f"{WORK}/a..b")


def test_the_nearer_rule_counts() -> None:
    wide, near, own = rule("/", "counts"), rule(WORK, "masked"), rule("claude-code/a", "full")
    rules = [own, wide, near]
    assert rule_for(rules, "acme", "claude-code/b", "/elsewhere") == wide
    assert rule_for(rules, "acme", "claude-code/b", f"{WORK}/shop") == near
    assert rule_for(rules, "acme", "claude-code/a", f"{WORK}/shop") == own
    assert rule_for(rules, "acme", "claude-code/b", f"{WORK}place") == wide
    assert rule_for([near], "acme", "claude-code/b", None) is None
    assert rule_for(rules, "other", "claude-code/a", WORK) is None


def test_rules_are_kept_in_the_users_own_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rireki.shares.rules.data_directory", lambda: tmp_path)
    assert read_rules() == []
    rules = [rule("/b"), rule("/a", "counts")]
    write_rules(rules)
    assert read_rules() == sorted(rules, key=lambda each: each.what)
    (tmp_path / "shares.json").write_text('[{"what": "/"}]')
    with pytest.raises(RirekiError, match="cannot be read"):
        read_rules()


def test_of_contradicting_teams_the_one_that_gets_least_decides(ann: Archive) -> None:
    plan = plan_for(ann, [rule(WORK), rule(f"{WORK}/shop", "masked", "audit")], "acme")
    levels = {each.ids[0][-36:]: (each.level, each.teams) for each in plan.groups.values()}
    assert levels == {
        IDS["shop"]: ("masked", ("acme", "audit")),
        IDS["bank"]: ("full", ("acme",)),
    }


def test_another_servers_rules_are_no_concern_of_this_one(ann: Archive) -> None:
    assert plan_for(ann, [rule("/")], "elsewhere").groups == {}


# ── what leaves ──


def test_a_directory_goes_and_what_lies_beside_it_does_not(ann: Archive, server: Server) -> None:
    said = bytes_of(pushed(ann, server, [rule(WORK)]))
    assert ids_of(server.target) == {IDS["shop"], IDS["bank"]}
    assert b"quokkaflux" in said and b"privatissimum" not in said and b"diary" not in said
    (told,) = [
        each for change in server.changes for each in change.shared if "1111" in each.grouping
    ]
    assert told.teams == ("acme",)


def test_everything_is_without_what_was_typed_in_all_projects(ann: Archive, server: Server) -> None:
    assert b"privatissimum of all" not in bytes_of(pushed(ann, server, [rule("/")]))
    assert ids_of(server.target) == set(IDS.values())


def test_what_is_shared_whole_is_equal_there(ann: Archive, server: Server) -> None:
    pushed(ann, server, [rule("/")])
    id = f"claude-code/{IDS['shop']}"
    here = read_conversation(ann, ann.find(id)).messages()
    assert read_conversation(server.target, server.target.find(id)).messages() == here


def test_what_is_shared_later_is_told_later(ann: Archive, server: Server) -> None:
    pushed(ann, server, [rule(f"{WORK}/shop")])
    assert ids_of(server.target) == {IDS["shop"]}
    pushed(ann, server, [rule(WORK)])
    assert ids_of(server.target) == {IDS["shop"], IDS["bank"]}
    assert pushed(ann, server, [rule(WORK)]) == []


def test_what_is_no_longer_shared_is_taken_back(ann: Archive, server: Server) -> None:
    pushed(ann, server, [rule(WORK)])
    pushed(ann, server, [rule(f"{WORK}/bank")])
    gone = [each.grouping for change in server.changes for each in change.withdrawn]
    assert gone == [IDS["shop"]]


def test_what_is_forgotten_is_taken_back_and_not_named_otherwise(
    ann: Archive, server: Server
) -> None:
    pushed(ann, server, [rule(WORK)])
    forget(ann, [ann.find(IDS["home"])])
    forget(ann, [ann.find(IDS["bank"])])
    said = bytes_of(pushed(ann, server, [rule(WORK)]))
    assert IDS["home"].encode() not in said
    assert ids_of(server.target) == {IDS["shop"]}
    assert [e.grouping for c in server.changes for e in c.withdrawn] == [IDS["bank"]]


def test_what_is_being_read_again_is_taken_back_too(ann: Archive, server: Server) -> None:
    pushed(ann, server, [rule(WORK)])
    ann.mark_stale(drop=True)
    # As long as something is shared nobody knows yet whether it is among that.
    TeamPush(ann, "acme", [rule(WORK)]).prepare(server)
    assert [change.withdrawn for change in server.changes if change.withdrawn] == []
    TeamPush(ann, "acme", [rule("claude-code/x", "none")]).prepare(server)
    gone = {each.grouping for change in server.changes for each in change.withdrawn}
    assert gone == {IDS["shop"], IDS["bank"]}


def test_another_level_takes_back_and_tells_again(ann: Archive, server: Server) -> None:
    pushed(ann, server, [rule(WORK)])
    server.changes.clear()
    TeamPush(ann, "acme", [rule(WORK, "masked")]).prepare(server)
    gone = {each.grouping for change in server.changes for each in change.withdrawn}
    assert gone == {IDS["shop"], IDS["bank"]}


def test_titles_and_tags_go_along_and_nothing_else_that_was_added(
    ann: Archive, server: Server
) -> None:
    shop, diary = ann.find(IDS["shop"]), ann.find(IDS["home"])
    set_tags(ann, shop, ["till"])
    set_note(ann, shop, "privatissimum of the note")
    set_starred(ann, shop, True)
    set_tags(ann, diary, ["privatissimum"])
    # What was added before it was shared goes as well.
    said = bytes_of(pushed(ann, server, [rule(WORK)]))
    set_title(ann, shop, "The till")
    said += bytes_of(pushed(ann, server, [rule(WORK)]))
    added = server.target.find(IDS["shop"]).conversation.curation
    assert added and (added.title, list(added.tags)) == ("The till", ["till"])
    assert not added.starred and b"privatissimum" not in said
    set_tags(ann, shop, [], ["till"])
    pushed(ann, server, [rule(WORK)])
    assert not server.target.find(IDS["shop"]).conversation.curation.tags  # type: ignore[union-attr]


def test_a_title_is_masked_and_does_not_say_who_gave_it(
    ann: Archive, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "ann-at-home")
    secret = secrets(1)[0]
    set_title(ann, ann.find(IDS["shop"]), f"zebrafinch {secret.text}")
    assert b"zebrafinch " not in bytes_of(pushed(ann, server, [rule(WORK, "counts")]))
    said = bytes_of(pushed(ann, server, [rule(WORK, "masked")]))
    assert b"zebrafinch " in said and b"[masked: " in said
    assert secret.value.encode() not in said and b"ann-at-home" not in said


def test_one_conversation_by_its_id(ann: Archive, server: Server) -> None:
    pushed(ann, server, [rule(f"claude-code/{IDS['home']}")])
    assert ids_of(server.target) == {IDS["home"]}


def test_a_conversation_that_is_not_there_shares_nothing(ann: Archive) -> None:
    assert plan_for(ann, [rule("claude-code/nobody")], "acme").groups == {}
    # Nor one whose name is the beginning of another's.
    assert plan_for(ann, [rule(f"claude-code/{IDS['shop'][:8]}")], "acme").groups == {}


def test_a_subagent_goes_along_unless_it_is_taken_out(tmp_path: Path) -> None:
    lay_out("claude-code-2.1.197", tmp_path / "home")
    archive = open_archive(tmp_path / "archive.sqlite3", create=True)
    import_history(archive, places=Places.at(tmp_path / "home"))
    every = list(archive.conversations(Filter(subagents=True)))
    child = next(each for each in every if each.nature == "subagent")
    parent = next(link.id for link in child.links if link.side == "parent")
    shared = plan_for(archive, [rule(parent)], "acme").groups.values()
    assert child.id in {id for group in shared for id in group.ids}
    for rules in ([rule(parent), rule(child.id, "none")], [rule(child.id, "none"), rule(parent)]):
        shared = plan_for(archive, rules, "acme").groups.values()
        assert child.id not in {id for group in shared for id in group.ids}


# ── levels ──


def test_figures_are_without_words_places_and_names(ann: Archive, server: Server) -> None:
    told = pushed(ann, server, [rule("/", "counts")])
    assert not any(delta.parts or delta.origins for delta in told)
    assert len(server.counted) >= len(IDS)
    said = b"".join(server.counted)
    for word in (b"quokka", b"zebra", b"privat", b"shop", b"diary", b"/home", b"ann", b"tell me"):
        assert word not in said
    assert not any(id.encode() in said for id in IDS.values())
    assert b'"model":"other"' in said and b'"output_tokens":10' in said


def test_models_that_somebody_named_are_counted_as_others(ann: Archive, server: Server) -> None:
    called = {
        "claude-opus-4-5-20250929": "claude-opus-4-5",
        "acmesecret.claude-opus-4-5": "claude-opus-4-5",
        "acme-secret-project-model": "other",
        "<synthetic>": "other",
    }
    stored = next(iter(ann.kept_as("claude-code", IDS["shop"]).values()))
    answers = [structs.replace(stored.answers[0], model=name) for name in called]
    told = _models(stored._replace(answers=answers))
    assert [(each.model, each.answers) for each in told] == [("claude-opus-4-5", 2), ("other", 2)]


def test_figures_go_again_only_when_they_changed(ann: Archive, server: Server) -> None:
    pushed(ann, server, [rule("/", "counts")])
    server.changes.clear()
    pushed(ann, server, [rule("/", "counts")])
    assert server.changes == []
    pushed(ann, server, [])
    assert sum(len(change.uncounted) for change in server.changes) >= len(IDS)


def test_no_planted_secret_leaves_masked(tmp_path: Path, server: Server) -> None:
    planted = secrets(100)
    home = tmp_path / "secret"
    for place, secret in enumerate(planted):
        id = f"{place:08d}-0000-4000-8000-000000000001"
        file = write_session(home, id, f"{WORK}/p{place}", "quokkaflux")
        text = msgspec.json.encode(secret.text)[1:-1]
        file.write_bytes(file.read_bytes().replace(b"quokkaflux is rare", text))
    archive = open_archive(tmp_path / "secret.sqlite3", create=True)
    import_history(archive, places=Places.at(home))
    said = bytes_of(pushed(archive, server, [rule("/", "masked")]))
    assert said.count(b"[masked: ") >= 100
    assert [secret.kind for secret in planted if secret.value.encode() in said] == []
    assert len(ids_of(server.target)) == len(planted)
    # Full is what the word says.
    assert len([s for s in planted if s.value.encode() in archive_bytes(archive)]) > 50


def archive_bytes(archive: Archive) -> bytes:
    return bytes_of([archive.delta(0, 1 << 30, lambda ids: {})])


def test_a_key_over_several_lines_is_masked_in_a_file_of_lines(
    tmp_path: Path, server: Server
) -> None:
    (key,) = [s for s in secrets(120) if s.kind == "private-key" and "RSA" in s.text][:1]
    home = lay_out("aider-0.86.2", tmp_path / "home")
    for file in home.rglob(".aider.chat.history.md"):
        file.write_text(file.read_text(encoding="utf-8") + f"\n\n#### see\n\n{key.text}\n")
    archive = open_archive(tmp_path / "aider.sqlite3", create=True)
    import_history(archive, places=Places.at(home))
    said = bytes_of(pushed(archive, server, [rule("/", "masked")]))
    assert b"[masked: private-key" in said
    assert not [line for line in key.text.split("\n")[1:-1] if line.encode() in said]


def test_whoever_adds_a_field_says_whether_it_may_leave() -> None:
    """At the masked level these are taken apart by hand: what is new has to be looked at in
    `rireki.shares.outgoing` before it is named here."""
    assert {kind.__name__: kind.__struct_fields__ for kind in (Delta, Part, OriginFacts)} == {
        "Delta": (
            *("after", "upto", "origins", "parts", "removed"),
            *("forgotten", "successions", "facts"),
        ),
        "Part": ("strand", "held", "chunks", "kept", "states", "number"),
        "OriginFacts": (
            *("id", "source", "place", "root", "form", "role", "first_seen", "vanished_at"),
        ),
    }
    assert StrandFacts.__struct_fields__ == (
        *("id", "origin", "key", "family", "conversation", "role", "project", "cursor"),
        *("first_seen", "last_seen", "vanished_at", "number"),
    )
    assert StateFacts.__struct_fields__ == ("number", "at", "runs", "tail")
    assert Chunk.__struct_fields__ == (
        *("lane", "first", "count", "size", "lengths", "digests", "data"),
    )
