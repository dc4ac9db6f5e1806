"""What a dump of the database and the indexes have of what was not to be there."""

from __future__ import annotations

import subprocess
from pathlib import Path

import msgspec

from rireki.archive.open import open_archive
from rireki.intake.sweep import import_history
from rireki.sources.kit.places import Places
from tests.support.postgres import engines
from tests.support.secrets import secrets
from tests.support.two_people import IDS, write_session
from tests.team.conftest import Office, rule


def dump(office: Office) -> bytes:
    """Everything the database has, chunks unpacked: what `pg_dump` writes, and what that hides."""
    programs = next(iter(engines().values()))
    text = subprocess.run(
        [programs / "pg_dump", office.address, "--inserts"], check=True, capture_output=True
    ).stdout
    found = [text]
    for owner in office.team.people.names():
        with office.team.archive(owner) as archive:
            for group in archive.groups():
                for strand in archive.strands(group.family, group.conversation):
                    lanes = dict.fromkeys(r.lane for s in strand.states for r in s.runs)
                    found += [o.data for lane in lanes for o in strand.story(lane)]
                    found.append(msgspec.json.encode(archive.rows.get("strand", "key, cursor")))
    files = (office.folder / "server").rglob("*")
    return b"\n".join([*found, *(file.read_bytes() for file in files if file.is_file())])


def test_no_planted_secret_is_in_the_dump_where_they_are_masked(
    office: Office, tmp_path: Path
) -> None:
    planted = secrets(100)
    home = tmp_path / "home"
    for place, secret in enumerate(planted):
        id = f"{place:08d}-0000-4000-8000-000000000001"
        file = write_session(home, id, f"/home/ann/p{place}", "quokkaflux")
        text = msgspec.json.encode(secret.text)[1:-1]
        file.write_bytes(file.read_bytes().replace(b"quokkaflux is rare", text))
    archive = open_archive(tmp_path / "archive.sqlite3", create=True)
    import_history(archive, places=Places.at(home))
    office.push(archive, [rule("/", "masked")])
    archive.close()
    assert len(office.ids("bob")) == len(planted)
    said = dump(office)
    assert said.count(b"[masked: ") >= len(planted)
    assert [each.kind for each in planted if each.value.encode() in said] == []


def test_figures_alone_leave_no_text(office: Office, tmp_path: Path) -> None:
    home = tmp_path / "home"
    write_session(home, IDS["ann"], "/home/ann/privateproject", "privatissimum")
    archive = open_archive(tmp_path / "archive.sqlite3", create=True)
    import_history(archive, places=Places.at(home))
    office.push(archive, [rule("/", "counts")])
    archive.close()
    assert office.get("ann", "/api/team/v1/figures").json()["teams"][0]["conversations"] == 1
    said = dump(office)
    for word in (b"privatissimum", b"privateproject", b"tell me of", IDS["ann"].encode()):
        assert word not in said
