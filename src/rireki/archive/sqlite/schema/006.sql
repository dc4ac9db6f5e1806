-- What people add to conversations, and what it comes to.

-- One row per thing said: a tag (`name` is the tag), a title, a star, a note, hiding; a saved search
-- belongs to no conversation. Of two machines' words the later one counts.
CREATE TABLE fact (
    family       TEXT NOT NULL,
    conversation TEXT NOT NULL,
    -- A message of it; empty: the whole conversation.
    message      TEXT NOT NULL,
    kind         TEXT NOT NULL,
    name         TEXT NOT NULL,
    -- NULL: taken back.
    value        TEXT,
    author       TEXT NOT NULL,
    at           TEXT NOT NULL,
    -- The identity of the archive that it was said in.
    machine      TEXT NOT NULL,
    -- The change that brought the row; 0: another machine told it.
    number       INTEGER NOT NULL,
    sum          INTEGER,
    PRIMARY KEY (family, conversation, message, kind, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX fact_by_number ON fact (number) WHERE number > 0;

-- Projection: what the facts of a conversation come to. It has a row only where there are any.
CREATE TABLE curation (
    conversation INTEGER PRIMARY KEY REFERENCES conversation (number) ON DELETE CASCADE,
    title        TEXT,
    -- A JSON list, sorted.
    tags         TEXT NOT NULL,
    starred      INTEGER NOT NULL,
    hidden       INTEGER NOT NULL,
    -- How many notes there are, on the conversation and on its messages.
    notes        INTEGER NOT NULL
) STRICT;
