-- Histories that programs keep with MessageHistory. Files in this folder are numbered and never
-- edited: a later change is a new file. Every statement asks for one conversation.

-- `entries` is how many it has: whoever adds some says how many there were, and so learns when
-- others came first. Who decides by what is there holds this row until it is done.
CREATE TABLE history (
    conversation text COLLATE "C" PRIMARY KEY,
    entries      integer NOT NULL,
    changed_at   timestamptz NOT NULL DEFAULT now()
);

-- `line` is the entry as the file of a history on disk would have it: a line of JSON with its end.
CREATE TABLE entry (
    conversation text COLLATE "C" NOT NULL,
    place        integer NOT NULL,
    line         bytea NOT NULL,
    PRIMARY KEY (conversation, place)
);
