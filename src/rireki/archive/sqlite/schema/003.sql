-- Titles of conversations that stand in files which are no conversation themselves.
-- Part of the projection: 'rireki rebuild' makes them anew.

CREATE TABLE naming (
    family   TEXT NOT NULL,
    grouping TEXT NOT NULL,
    -- What the conversation it belongs to wants, as ties do.
    token    TEXT NOT NULL,
    title    TEXT NOT NULL,
    PRIMARY KEY (family, grouping, token)
) STRICT, WITHOUT ROWID;
CREATE INDEX naming_by_token ON naming (token, family);

-- Readers tell more than they did: such titles, and the calls of each tool.
INSERT OR IGNORE INTO dirty (family, conversation, number)
SELECT DISTINCT s.family, s.conversation, (SELECT value FROM meta WHERE key = 'number')
  FROM strand s
 WHERE s.conversation IS NOT NULL;
