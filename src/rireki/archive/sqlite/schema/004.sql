-- Checksums of what stands outside chunks: the CRC-32 of a row's values, written with every change
-- of the row. docs/archive-format.md tells how to work them out.

ALTER TABLE meta ADD COLUMN sum INTEGER;
ALTER TABLE origin ADD COLUMN sum INTEGER;
ALTER TABLE strand ADD COLUMN sum INTEGER;
ALTER TABLE state ADD COLUMN sum INTEGER;
ALTER TABLE succession ADD COLUMN sum INTEGER;
ALTER TABLE forgotten ADD COLUMN sum INTEGER;
ALTER TABLE trouble ADD COLUMN sum INTEGER;
ALTER TABLE change ADD COLUMN sum INTEGER;
ALTER TABLE link ADD COLUMN sum INTEGER;

-- Of everything in a chunk but its data, which has a checksum of its own. A table by itself: to
-- change a chunk is to write all of its data again.
CREATE TABLE chunk_sum (
    chunk INTEGER PRIMARY KEY REFERENCES chunk (id) ON DELETE CASCADE,
    sum   INTEGER NOT NULL
) STRICT;
