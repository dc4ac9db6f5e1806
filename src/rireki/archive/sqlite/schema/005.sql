-- Facts of several machines in one archive, and what tells exactly what changed after a number.

-- The archives that others push here: of an own laptop, of a colleague's. What was read on this
-- machine is of stream 0, which has no row.
CREATE TABLE stream (
    id      INTEGER PRIMARY KEY,
    -- The identity of the other archive, and which of its lives: it begins another when it was put back.
    archive TEXT NOT NULL,
    epoch   INTEGER NOT NULL,
    machine TEXT NOT NULL,
    -- Up to which of its numbers all is here.
    reached INTEGER NOT NULL,
    sum     INTEGER,
    UNIQUE (archive, epoch)
) STRICT;

-- Strands that are not here because they were forgotten: ours (stream 0), whoever got them is to be
-- told; another machine's, not to be taken again.
CREATE TABLE removed (
    stream INTEGER NOT NULL,
    strand INTEGER NOT NULL,
    number INTEGER NOT NULL,
    sum    INTEGER,
    PRIMARY KEY (stream, strand)
) STRICT, WITHOUT ROWID;

-- Made anew: a place is unique within a stream, no longer in all.
CREATE TABLE origin_of_streams (
    id          INTEGER PRIMARY KEY,
    source      TEXT NOT NULL,
    place       TEXT NOT NULL,
    root        TEXT NOT NULL,
    form        TEXT NOT NULL,
    role        TEXT NOT NULL,
    stamp       TEXT NOT NULL DEFAULT '',
    first_seen  TEXT NOT NULL,
    vanished_at TEXT,
    sum         INTEGER,
    stream      INTEGER NOT NULL DEFAULT 0,
    -- Its id where it was read; 0: here.
    remote      INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO origin_of_streams
       (id, source, place, root, form, role, stamp, first_seen, vanished_at, sum)
SELECT id, source, place, root, form, role, stamp, first_seen, vanished_at, sum FROM origin;
DROP TABLE origin;
ALTER TABLE origin_of_streams RENAME TO origin;
-- Another machine tells of its files one by one: one may be told to lie where another one lay.
CREATE UNIQUE INDEX origin_of_place ON origin (stream, source, place, remote);
CREATE UNIQUE INDEX origin_of_remote ON origin (remote, stream) WHERE remote <> 0;

ALTER TABLE strand ADD COLUMN remote INTEGER NOT NULL DEFAULT 0;
-- The last change of anything that it holds, by the numbers of its stream.
ALTER TABLE strand ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
UPDATE strand SET number = coalesce((SELECT max(s.number) FROM state s WHERE s.strand = id), 1);
CREATE INDEX strand_by_number ON strand (number) WHERE remote = 0;
CREATE INDEX strand_of_remote ON strand (remote) WHERE remote <> 0;

-- The change that brought the row; 0: another machine told it.
ALTER TABLE succession ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
UPDATE succession SET number = 1;
ALTER TABLE forgotten ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
UPDATE forgotten SET number = 1;
-- 1: that was taken back.
ALTER TABLE forgotten ADD COLUMN remembered INTEGER NOT NULL DEFAULT 0;
