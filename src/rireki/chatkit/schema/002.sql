-- Whoever reads along (rireki itself) asks what changed since, and looks at those threads alone,
-- however many there are: a thread has a new number, the highest so far, whenever a row of it changes.
CREATE TABLE touched (
    number    INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id   TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    UNIQUE (user_id, thread_id)
) STRICT;
INSERT INTO touched (user_id, thread_id)
SELECT user_id, id FROM threads UNION SELECT user_id, thread_id FROM items;

-- With what was deleted, which the indexes of the first step leave out.
CREATE INDEX threads_with_deleted ON threads (user_id, id);
CREATE INDEX items_with_deleted ON items (user_id, thread_id);

CREATE TRIGGER threads_new AFTER INSERT ON threads BEGIN
    REPLACE INTO touched (user_id, thread_id) VALUES (new.user_id, new.id);
END;
CREATE TRIGGER threads_changed AFTER UPDATE ON threads BEGIN
    REPLACE INTO touched (user_id, thread_id) VALUES (new.user_id, new.id);
END;
CREATE TRIGGER threads_gone AFTER DELETE ON threads BEGIN
    REPLACE INTO touched (user_id, thread_id) VALUES (old.user_id, old.id);
END;
CREATE TRIGGER items_new AFTER INSERT ON items BEGIN
    REPLACE INTO touched (user_id, thread_id) VALUES (new.user_id, new.thread_id);
END;
CREATE TRIGGER items_changed AFTER UPDATE ON items BEGIN
    REPLACE INTO touched (user_id, thread_id) VALUES (new.user_id, new.thread_id);
END;
CREATE TRIGGER items_gone AFTER DELETE ON items BEGIN
    REPLACE INTO touched (user_id, thread_id) VALUES (old.user_id, old.thread_id);
END;
-- A file is told with the thread that it was sent in; until then it is of none.
CREATE TRIGGER attachments_changed AFTER UPDATE ON attachments WHEN new.thread_id IS NOT NULL BEGIN
    REPLACE INTO touched (user_id, thread_id)
    SELECT user_id, thread_id FROM touched
     WHERE user_id = new.user_id AND thread_id = new.thread_id;
END;
CREATE TRIGGER attachments_gone AFTER DELETE ON attachments WHEN old.thread_id IS NOT NULL BEGIN
    REPLACE INTO touched (user_id, thread_id)
    SELECT user_id, thread_id FROM touched
     WHERE user_id = old.user_id AND thread_id = old.thread_id;
END;
