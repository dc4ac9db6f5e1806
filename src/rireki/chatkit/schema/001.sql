-- What a ChatKit app keeps. Files in this folder are numbered and never edited: a later change is
-- a new file. The three tables have the shape that rireki's reader of ChatKit databases knows:
-- id, thread_id, user_id, created_at, data. docs/chatkit.md explains every column.

-- `ordinal` is given when a row first comes and stays: it is the order of everything.
-- `created_at` is a moment in UTC that never goes back within a thread, for those who sort by it;
-- what the app said stands in `data`. A row with `deleted_at` is gone for the app.
CREATE TABLE threads (
    ordinal    INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    created_at TEXT NOT NULL,
    data       TEXT NOT NULL,
    deleted_at TEXT
) STRICT;
CREATE UNIQUE INDEX threads_by_id ON threads (user_id, id) WHERE deleted_at IS NULL;
CREATE INDEX threads_in_order ON threads (user_id) WHERE deleted_at IS NULL;
CREATE INDEX threads_deleted ON threads (deleted_at) WHERE deleted_at IS NOT NULL;

-- `given_id` is the placeholder under which a reply came, when it came under one.
CREATE TABLE items (
    ordinal    INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL,
    thread_id  TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    created_at TEXT NOT NULL,
    data       TEXT NOT NULL,
    given_id   TEXT,
    deleted_at TEXT
) STRICT;
CREATE UNIQUE INDEX items_by_id ON items (user_id, thread_id, id) WHERE deleted_at IS NULL;
-- The ordinal, being the row's number, ends every index: this one has a thread's items in order.
CREATE INDEX items_in_order ON items (user_id, thread_id) WHERE deleted_at IS NULL;
CREATE INDEX items_deleted ON items (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE attachments (
    ordinal    INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    thread_id  TEXT,
    created_at TEXT NOT NULL,
    data       TEXT NOT NULL,
    deleted_at TEXT
) STRICT;
CREATE UNIQUE INDEX attachments_by_id ON attachments (user_id, id) WHERE deleted_at IS NULL;
CREATE INDEX attachments_of_thread ON attachments (user_id, thread_id) WHERE deleted_at IS NULL;
CREATE INDEX attachments_deleted ON attachments (deleted_at) WHERE deleted_at IS NOT NULL;

-- The bytes of an attachment: announced, then (with a digest) there. Apart from the table above,
-- because `key` opens the preview to whoever has it and is nobody else's business.
CREATE TABLE uploads (
    attachment INTEGER PRIMARY KEY REFERENCES attachments (ordinal) ON DELETE CASCADE,
    size       INTEGER NOT NULL,
    key        TEXT NOT NULL,
    digest     TEXT
) STRICT;
CREATE INDEX uploads_by_digest ON uploads (digest) WHERE digest IS NOT NULL;
