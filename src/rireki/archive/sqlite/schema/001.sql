-- The archive's first format. Files in this folder are numbered and never edited:
-- a later change is a new file. docs/archive-format.md explains every column.

-- ── Facts: what was read, when, and what the source held. These are never rebuilt. ──

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value ANY
) STRICT, WITHOUT ROWID;

-- One file or database of an agent.
CREATE TABLE origin (
    id          INTEGER PRIMARY KEY,
    source      TEXT NOT NULL,
    place       TEXT NOT NULL,
    root        TEXT NOT NULL,
    form        TEXT NOT NULL,
    role        TEXT NOT NULL,
    stamp       TEXT NOT NULL DEFAULT '',
    first_seen  TEXT NOT NULL,
    vanished_at TEXT,
    UNIQUE (source, place)
) STRICT;

-- What a source grows or rewrites as one: a file, or one row of a database.
CREATE TABLE strand (
    id           INTEGER PRIMARY KEY,
    origin       INTEGER NOT NULL REFERENCES origin (id),
    key          TEXT NOT NULL,
    family       TEXT NOT NULL,
    conversation TEXT,
    role         TEXT NOT NULL,
    project      TEXT,
    cursor       TEXT NOT NULL,
    first_seen   TEXT NOT NULL,
    last_seen    TEXT NOT NULL,
    vanished_at  TEXT,
    UNIQUE (origin, key)
) STRICT;
CREATE INDEX strand_of_conversation ON strand (family, conversation);
CREATE INDEX strand_of_project ON strand (project) WHERE project IS NOT NULL;

-- The records themselves, many to a chunk.
CREATE TABLE chunk (
    id       INTEGER PRIMARY KEY,
    strand   INTEGER NOT NULL REFERENCES strand (id),
    lane     TEXT NOT NULL,
    first    INTEGER NOT NULL,
    count    INTEGER NOT NULL,
    size     INTEGER NOT NULL,
    lengths  TEXT NOT NULL,
    digests  BLOB NOT NULL,
    data     BLOB NOT NULL,
    UNIQUE (strand, lane, first)
) STRICT;

-- What a strand held at one moment. Empty runs: it was not there.
CREATE TABLE state (
    strand INTEGER NOT NULL REFERENCES strand (id),
    number INTEGER NOT NULL,
    at     TEXT NOT NULL,
    runs   TEXT NOT NULL,
    tail   BLOB NOT NULL,
    PRIMARY KEY (strand, number)
) STRICT, WITHOUT ROWID;

-- A conversation that took the place of another, as seen when it happened.
CREATE TABLE succession (
    family TEXT NOT NULL,
    child  TEXT NOT NULL,
    parent TEXT NOT NULL,
    at     TEXT NOT NULL,
    PRIMARY KEY (family, child, parent)
) STRICT, WITHOUT ROWID;

-- What the user said to forget: its bytes are gone, and it is not taken in again. Sub-agents are
-- forgotten together with the conversation they worked for.
CREATE TABLE forgotten (
    family       TEXT NOT NULL,
    conversation TEXT NOT NULL,
    together     TEXT NOT NULL,
    at           TEXT NOT NULL,
    PRIMARY KEY (family, conversation)
) STRICT, WITHOUT ROWID;

-- What could not be read and belongs to no conversation.
CREATE TABLE trouble (
    origin  INTEGER NOT NULL REFERENCES origin (id),
    key     TEXT NOT NULL,
    place   TEXT NOT NULL,
    message TEXT NOT NULL,
    hint    TEXT NOT NULL,
    at      TEXT NOT NULL,
    PRIMARY KEY (origin, key, place)
) STRICT, WITHOUT ROWID;

-- ── Projection: what it means. 'rireki rebuild' makes all of it anew. ──

-- Conversations whose records changed since they were last interpreted.
CREATE TABLE dirty (
    family       TEXT NOT NULL,
    conversation TEXT NOT NULL,
    number       INTEGER NOT NULL,
    PRIMARY KEY (family, conversation)
) STRICT, WITHOUT ROWID;

CREATE TABLE conversation (
    number     INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    native_id  TEXT NOT NULL,
    family     TEXT NOT NULL,
    grouping   TEXT NOT NULL,
    source     TEXT NOT NULL,
    nature     TEXT NOT NULL,
    project    TEXT,
    title      TEXT NOT NULL,
    started_at TEXT,
    updated_at TEXT,
    upstream   TEXT NOT NULL,
    changed    INTEGER NOT NULL,
    data       TEXT NOT NULL
) STRICT;
CREATE INDEX conversation_by_native_id ON conversation (native_id);
CREATE INDEX conversation_by_grouping ON conversation (family, grouping);
CREATE INDEX conversation_by_project ON conversation (project);
CREATE INDEX conversation_by_time ON conversation (updated_at DESC, id);

CREATE TABLE answers (
    conversation INTEGER PRIMARY KEY REFERENCES conversation (number) ON DELETE CASCADE,
    data         BLOB NOT NULL
) STRICT;

CREATE TABLE tie (
    token        TEXT NOT NULL,
    kind         TEXT NOT NULL,
    role         TEXT NOT NULL,
    family       TEXT NOT NULL,
    conversation INTEGER NOT NULL REFERENCES conversation (number) ON DELETE CASCADE,
    detail       TEXT
) STRICT;
CREATE INDEX tie_by_token ON tie (token, family);
CREATE INDEX tie_by_conversation ON tie (conversation);

CREATE TABLE link (
    child   INTEGER NOT NULL REFERENCES conversation (number) ON DELETE CASCADE,
    parent  INTEGER NOT NULL REFERENCES conversation (number) ON DELETE CASCADE,
    kind    TEXT NOT NULL,
    call_id TEXT,
    PRIMARY KEY (child, parent, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX link_by_parent ON link (parent);
