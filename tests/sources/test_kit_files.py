"""Files of a source, declared once: found, located, watched, recognised and read by the same declaration."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from rireki.archive.base import Archive
from rireki.intake.take import take_origin
from rireki.model.conversation import Reading
from rireki.model.strand import Run, State, Strand
from rireki.sources.kit.files import (
    ANYTHING,
    FileKind,
    FileReader,
    FilesBelow,
    belonging,
    no_conversation,
)
from rireki.sources.kit.pieces import Cuts, split
from rireki.sources.kit.places import Places
from rireki.sources.reader import Known, Origin, Update, Watched

CUTS = {"note": Cuts({"messages": "messages"})}


class Agent(FileReader):
    """An agent with a log per day, a folder of anything per session, and a database."""

    name = family = "agent"
    cuts = CUTS

    def below(self, places: Places) -> list[FilesBelow]:
        root = places.variable("AGENT_HOME") or places.home / ".agent"
        kinds = (
            FileKind("days/*/*/log-*.jsonl", role="log"),
            FileKind("notes/*.json", "document", "note"),
            FileKind(f"notes/*/{ANYTHING}", "document", "side"),
        )
        database = FileKind("state.db", "database", "rows", no_conversation)
        return [FilesBelow(root, kinds, "{n} files"), FilesBelow(root, (database,))]

    def interpret(self, conversation: str, strands: Sequence[Strand]) -> list[Reading]:
        return []


READER = Agent()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("days/1/2/log-a.jsonl", "days/1/2/other.jsonl", "notes/b.json", "notes/c/d/e"):
        file = tmp_path / ".agent" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{}\n")
    (tmp_path / ".agent" / "state.db").write_text("")
    return tmp_path


def names(origins: list[Origin]) -> list[str]:
    return [Path(origin.place).name for origin in origins]


def test_what_the_patterns_say_is_found_and_nothing_else(tree: Path) -> None:
    found = READER.discover(Places.at(tree))
    assert names(found.origins) == ["log-a.jsonl", "b.json", "e", "state.db"]
    assert [one.role for one in found.origins] == ["log", "note", "side", "rows"]
    assert [one.conversation for one in found.origins] == ["log-a", "b", "e", None]
    assert [(look.place, look.note) for look in found.looked] == [
        (str(tree / ".agent"), "3 files"),
        (str(tree / ".agent" / "state.db"), ""),
    ]


def test_a_variable_leads_elsewhere_and_an_empty_home_is_no_trouble(tree: Path) -> None:
    elsewhere = Places(tree / "none", {"AGENT_HOME": str(tree / ".agent")})
    assert len(READER.discover(elsewhere).origins) == 4
    nothing = READER.discover(Places.at(tree / "none"))
    assert not nothing.origins and not nothing.troubles
    assert {look.note for look in nothing.looked} == {"nothing there"}


def test_a_change_leads_to_its_file_as_discover_finds_it(tree: Path) -> None:
    places, root = Places.at(tree), tree / ".agent"
    every = {origin.place: origin for origin in READER.discover(places).origins}
    for place, origin in every.items():
        assert READER.locate(places, place) == [origin]
    assert names(READER.locate(places, f"{root}/state.db-wal")) == ["state.db"]
    assert names(READER.locate(places, f"{root}/days")) == ["log-a.jsonl"]
    assert len(READER.locate(places, str(root))) == 4
    for other in ("days/1/2/other.jsonl", "days/1/2/log-z.jsonl", "notes/b.json-wal", "x", "../y"):
        assert READER.locate(places, f"{root}/{other}") == []


def test_only_folders_where_such_files_appear_are_watched(tree: Path) -> None:
    root = tree / ".agent"
    assert READER.watched(Places.at(tree)) == [
        Watched(str(root / "days"), True),
        Watched(str(root / "notes"), True),
        Watched(str(root)),
    ]


@pytest.mark.parametrize("named", ["", ".agent", ".agent/days", ".agent/days/1"])
def test_a_folder_named_by_hand_is_recognised_from_home_down(tree: Path, named: str) -> None:
    assert "log-a.jsonl" in names(READER.recognise(tree / named))


def test_a_file_named_by_hand_is_recognised_wherever_its_tree_lies(tree: Path) -> None:
    (tree / ".agent").rename(tree / "backup")
    assert names(READER.recognise(tree / "backup/days/1/2/log-a.jsonl")) == ["log-a.jsonl"]
    assert READER.recognise(tree / "backup/days/1/2/other.jsonl") == []


def test_a_circle_of_links_is_walked_once(tree: Path) -> None:
    (tree / ".agent/notes/c/round").symlink_to(tree / ".agent/notes/c")
    (tree / ".agent/notes/pipe.json").symlink_to("/dev/null")
    assert names(READER.discover(Places.at(tree)).origins).count("e") == 1


def test_a_document_is_kept_in_pieces_which_joined_are_the_document(tree: Path) -> None:
    file = tree / ".agent" / "notes" / "b.json"
    file.write_bytes(b'{"id": 1, "messages": [ {"n": 1},  {"n":2}, 3 ], "more": null}\n')
    (origin,) = READER.locate(Places.at(tree), str(file))
    (update,) = READER.read(origin, Known())
    assert isinstance(update, Update)
    lanes = {content.lane for content in update.contents}
    assert lanes == {"head", "messages"}
    assert joined(update) == file.read_bytes()


def joined(update: Update) -> bytes:
    records = {
        (place, number): piece.data
        for place, content in enumerate(update.contents)
        for number, piece in enumerate(content.pieces)
    }
    runs = tuple(
        Run(str(place), f"0-{len(content.pieces) - 1}" if content.pieces else "", content.separator)
        for place, content in enumerate(update.contents)
    )
    strand = Strand(
        id=1,
        source="agent",
        role="note",
        place="b.json",
        states=[State(1, "", runs)],
        fetch=lambda lane, ordinals: [records[int(lane), n] for n in ordinals],
    )
    return strand.document()


def test_a_list_at_the_top_is_cut_as_well() -> None:
    contents = split(b'[{"a": 1}, {"b": 2}]', Cuts({"": "entries"}))
    (entries,) = [content for content in contents if content.lane == "entries"]
    assert [piece.data for piece in entries.pieces] == [b'{"a": 1}', b'{"b": 2}']


@pytest.mark.parametrize("data", [b"", b"no JSON", b"[1]", b'{"messages": [1,', b"\xff"])
def test_what_cannot_be_cut_is_kept_as_it_is(data: bytes) -> None:
    (content,) = split(data, Cuts({"messages": "messages"}))
    assert (content.lane, content.pieces[0].data) == ("whole", data)


def test_a_directory_that_becomes_known_later_is_kept_with_what_was_read(
    tree: Path, archive: Archive
) -> None:
    found = READER.discover(Places.at(tree)).origins[:2]
    for origin in found:
        take_origin(archive, READER, origin)
    known = Places.at(tree).knowing(lambda: ["/home/dev/proj"]).projects[0]
    later = [belonging(origin, known) for origin in found]
    assert [one.stamp == two.stamp for one, two in zip(found, later, strict=True)] == [False, False]
    for project, origins in (("/home/dev/proj", later), ("/home/dev/proj", found)):
        for origin in origins:
            take_origin(archive, READER, origin)
            (strand,) = archive.strands("agent", str(origin.conversation))
            assert strand.project == project
            assert len(strand.states) == 1
