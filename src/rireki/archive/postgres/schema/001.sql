-- The tables of archive/sqlite/schema, of many owners: `owner` is first in every key, so that each
-- owner's rows may lie on one node of a cluster. docs/archive-format.md explains the columns.
--
-- Files in this folder are numbered and never edited: a later change is a new file. Every statement
-- is a transaction of its own and may be repeated: who ran them may have died in the middle.
-- No sequences, triggers, enums or foreign keys: not every database that speaks this has them all.
-- Long texts (places, keys) stand in no index, which would refuse them.

-- The last number and the last id that were given out. Whoever writes for an owner locks the row.
CREATE TABLE IF NOT EXISTS counter (
    owner  bigint PRIMARY KEY,
    number bigint NOT NULL,
    id     bigint NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE IF NOT EXISTS meta (
    owner bigint NOT NULL,
    key   text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    PRIMARY KEY (owner, key)
);

CREATE TABLE IF NOT EXISTS stream (
    owner   bigint NOT NULL,
    id      bigint NOT NULL,
    archive text COLLATE "C" NOT NULL,
    epoch   bigint NOT NULL,
    machine text COLLATE "C" NOT NULL,
    reached bigint NOT NULL,
    PRIMARY KEY (owner, id),
    UNIQUE (owner, archive, epoch)
) WITH (fillfactor = 50);

CREATE TABLE IF NOT EXISTS origin (
    owner       bigint NOT NULL,
    id          bigint NOT NULL,
    stream      bigint NOT NULL DEFAULT 0,
    remote      bigint NOT NULL DEFAULT 0,
    source      text COLLATE "C" NOT NULL,
    place       text COLLATE "C" NOT NULL,
    root        text COLLATE "C" NOT NULL,
    form        text COLLATE "C" NOT NULL,
    role        text COLLATE "C" NOT NULL,
    stamp       text COLLATE "C" NOT NULL DEFAULT '',
    first_seen  text COLLATE "C" NOT NULL,
    vanished_at text COLLATE "C",
    PRIMARY KEY (owner, id)
);
CREATE INDEX IF NOT EXISTS origin_of_remote ON origin (owner, stream, remote);

CREATE TABLE IF NOT EXISTS strand (
    owner        bigint NOT NULL,
    id           bigint NOT NULL,
    remote       bigint NOT NULL DEFAULT 0,
    origin       bigint NOT NULL,
    number       bigint NOT NULL DEFAULT 0,
    key          text COLLATE "C" NOT NULL,
    family       text COLLATE "C" NOT NULL,
    conversation text COLLATE "C",
    role         text COLLATE "C" NOT NULL,
    project      text COLLATE "C",
    cursor       text COLLATE "C" NOT NULL,
    first_seen   text COLLATE "C" NOT NULL,
    last_seen    text COLLATE "C" NOT NULL,
    vanished_at  text COLLATE "C",
    PRIMARY KEY (owner, id)
) WITH (fillfactor = 80);
CREATE INDEX IF NOT EXISTS strand_of_origin ON strand (owner, origin);
CREATE INDEX IF NOT EXISTS strand_of_remote ON strand (owner, remote);
CREATE INDEX IF NOT EXISTS strand_of_conversation ON strand (owner, family, conversation);

CREATE TABLE IF NOT EXISTS chunk (
    owner   bigint NOT NULL,
    strand  bigint NOT NULL,
    first   bigint NOT NULL,
    count   bigint NOT NULL,
    size    bigint NOT NULL,
    lane    text COLLATE "C" NOT NULL,
    lengths text COLLATE "C" NOT NULL,
    digests bytea NOT NULL,
    data    bytea NOT NULL,
    PRIMARY KEY (owner, strand, lane, first)
);

CREATE TABLE IF NOT EXISTS state (
    owner  bigint NOT NULL,
    strand bigint NOT NULL,
    number bigint NOT NULL,
    at     text COLLATE "C" NOT NULL,
    runs   text COLLATE "C" NOT NULL,
    tail   bytea NOT NULL,
    PRIMARY KEY (owner, strand, number)
);

CREATE TABLE IF NOT EXISTS succession (
    owner  bigint NOT NULL,
    family text COLLATE "C" NOT NULL,
    child  text COLLATE "C" NOT NULL,
    parent text COLLATE "C" NOT NULL,
    at     text COLLATE "C" NOT NULL,
    number bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (owner, family, child, parent)
);

CREATE TABLE IF NOT EXISTS forgotten (
    owner        bigint NOT NULL,
    family       text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    together     text COLLATE "C" NOT NULL,
    at           text COLLATE "C" NOT NULL,
    number       bigint NOT NULL DEFAULT 0,
    remembered   bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (owner, family, conversation)
);

CREATE TABLE IF NOT EXISTS removed (
    owner  bigint NOT NULL,
    stream bigint NOT NULL,
    strand bigint NOT NULL,
    number bigint NOT NULL,
    PRIMARY KEY (owner, stream, strand)
);

CREATE TABLE IF NOT EXISTS trouble (
    owner   bigint NOT NULL,
    origin  bigint NOT NULL,
    key     text COLLATE "C" NOT NULL,
    place   text COLLATE "C" NOT NULL,
    message text COLLATE "C" NOT NULL,
    hint    text COLLATE "C" NOT NULL,
    at      text COLLATE "C" NOT NULL,
    PRIMARY KEY (owner, origin, key, place)
);

CREATE TABLE IF NOT EXISTS change (
    owner        bigint NOT NULL,
    number       bigint NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    reached      bigint NOT NULL,
    PRIMARY KEY (owner, number, conversation)
);
CREATE INDEX IF NOT EXISTS change_of_conversation ON change (owner, conversation, number);

CREATE TABLE IF NOT EXISTS fact (
    owner        bigint NOT NULL,
    family       text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    message      text COLLATE "C" NOT NULL,
    kind         text COLLATE "C" NOT NULL,
    name         text COLLATE "C" NOT NULL,
    value        text COLLATE "C",
    author       text COLLATE "C" NOT NULL,
    at           text COLLATE "C" NOT NULL,
    machine      text COLLATE "C" NOT NULL,
    number       bigint NOT NULL,
    PRIMARY KEY (owner, family, conversation, message, kind, name)
);

CREATE TABLE IF NOT EXISTS dirty (
    owner        bigint NOT NULL,
    family       text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    number       bigint NOT NULL,
    PRIMARY KEY (owner, family, conversation)
) WITH (fillfactor = 50);

CREATE TABLE IF NOT EXISTS conversation (
    owner      bigint NOT NULL,
    number     bigint NOT NULL,
    id         text COLLATE "C" NOT NULL,
    native_id  text COLLATE "C" NOT NULL,
    family     text COLLATE "C" NOT NULL,
    grouping   text COLLATE "C" NOT NULL,
    source     text COLLATE "C" NOT NULL,
    nature     text COLLATE "C" NOT NULL,
    project    text COLLATE "C",
    title      text COLLATE "C" NOT NULL,
    started_at text COLLATE "C",
    updated_at text COLLATE "C",
    upstream   text COLLATE "C" NOT NULL,
    changed    bigint NOT NULL,
    data       text COLLATE "C" NOT NULL,
    PRIMARY KEY (owner, number),
    UNIQUE (owner, id)
);
CREATE INDEX IF NOT EXISTS conversation_by_native_id ON conversation (owner, native_id);
CREATE INDEX IF NOT EXISTS conversation_by_grouping ON conversation (owner, family, grouping);
CREATE INDEX IF NOT EXISTS conversation_by_time ON conversation (owner, updated_at DESC NULLS LAST, id);

CREATE TABLE IF NOT EXISTS curation (
    owner        bigint NOT NULL,
    conversation bigint NOT NULL,
    title        text COLLATE "C",
    tags         text COLLATE "C" NOT NULL,
    starred      bigint NOT NULL,
    hidden       bigint NOT NULL,
    notes        bigint NOT NULL,
    PRIMARY KEY (owner, conversation)
);

CREATE TABLE IF NOT EXISTS answers (
    owner        bigint NOT NULL,
    conversation bigint NOT NULL,
    data         bytea NOT NULL,
    PRIMARY KEY (owner, conversation)
);

-- `place` tells in which order they were put.
CREATE TABLE IF NOT EXISTS tie (
    owner        bigint NOT NULL,
    conversation bigint NOT NULL,
    place        bigint NOT NULL,
    token        text COLLATE "C" NOT NULL,
    kind         text COLLATE "C" NOT NULL,
    role         text COLLATE "C" NOT NULL,
    family       text COLLATE "C" NOT NULL,
    detail       text COLLATE "C",
    PRIMARY KEY (owner, conversation, place)
);
CREATE INDEX IF NOT EXISTS tie_by_token ON tie (owner, token, family);

CREATE TABLE IF NOT EXISTS link (
    owner   bigint NOT NULL,
    child   bigint NOT NULL,
    parent  bigint NOT NULL,
    kind    text COLLATE "C" NOT NULL,
    call_id text COLLATE "C",
    PRIMARY KEY (owner, child, parent, kind)
);
CREATE INDEX IF NOT EXISTS link_by_parent ON link (owner, parent);

CREATE TABLE IF NOT EXISTS naming (
    owner    bigint NOT NULL,
    family   text COLLATE "C" NOT NULL,
    grouping text COLLATE "C" NOT NULL,
    token    text COLLATE "C" NOT NULL,
    title    text COLLATE "C" NOT NULL,
    PRIMARY KEY (owner, family, grouping, token)
);
CREATE INDEX IF NOT EXISTS naming_by_token ON naming (owner, token, family);
