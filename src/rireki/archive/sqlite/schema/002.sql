-- The feed: at which number a conversation was read anew, and up to which number of its records.
-- With the states this tells what anybody who knows the archive up to some number has missed.

CREATE TABLE change (
    number       INTEGER NOT NULL,
    conversation TEXT NOT NULL,
    -- 0: the conversation is no longer there.
    reached      INTEGER NOT NULL,
    PRIMARY KEY (number, conversation)
) STRICT, WITHOUT ROWID;
CREATE INDEX change_of_conversation ON change (conversation, number);

INSERT INTO change (number, conversation, reached) SELECT changed, id, changed FROM conversation;
