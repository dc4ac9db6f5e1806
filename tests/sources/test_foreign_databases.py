"""Files that somebody made to harm whoever reads them: nothing in them is run, nor unpacked without end."""

from __future__ import annotations

import io
import tracemalloc
import zipfile
from pathlib import Path

import apsw
import pytest

from rireki.errors import SourceTrouble
from rireki.sources.amazon_q.files import open_export, recognise_saved
from rireki.sources.amazon_q.tables import tables_of
from rireki.sources.kit.decode import NotReadable
from rireki.sources.kit.sqlite import open_database

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
SCHEMAS = {
    "a view": f"CREATE VIEW conversations AS {ENDLESS} SELECT x AS key, x AS value FROM n",
    "a module's table": "CREATE VIRTUAL TABLE conversations USING fts5(key, value)",
    "a column that is worked out": (
        "CREATE TABLE conversations (key TEXT, value TEXT AS (hex(zeroblob(400000000))))"
    ),
}


def made(path: Path, schema: str) -> str:
    connection = apsw.Connection(str(path))
    connection.execute(schema)
    connection.close()
    return str(path)


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_what_is_no_plain_table_is_none(tmp_path: Path, schema: str) -> None:
    with open_database(made(tmp_path / "data.sqlite3", schema)) as database:
        assert tables_of(database) == []


def test_a_view_is_not_read_even_when_asked_for(tmp_path: Path) -> None:
    place = made(tmp_path / "data.sqlite3", SCHEMAS["a view"])
    with open_database(place) as database, pytest.raises(SourceTrouble, match="view"):
        database.rows("SELECT value FROM conversations LIMIT 1")


def test_a_plain_table_is_found_however_its_name_is_spelled(tmp_path: Path) -> None:
    place = made(tmp_path / "data.sqlite3", "CREATE TABLE Conversations (key TEXT, value TEXT)")
    with open_database(place) as database:
        assert database.columns("conversations") == {"key", "value"}
        assert database.columns("nothing") == set()


def test_a_packed_export_that_unpacks_to_a_gigabyte_takes_no_memory() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("session_metadata.json", b'{"session_id": "x"}')
        with archive.open("conversation_log.jsonl", "w") as log:
            for _ in range(300):
                log.write(bytes(1 << 20))
    data = packed.getvalue()
    assert len(data) < 1 << 20
    tracemalloc.start()
    try:
        with pytest.raises(NotReadable, match="unpacks to 314572800 bytes"):
            open_export(data)
        assert recognise_saved(data) is None
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()
