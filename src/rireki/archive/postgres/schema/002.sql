-- A team's server lists the archives of many owners together, the newest first, and finds among all of
-- them by a name. Each node of a cluster has these of what lies there.

CREATE INDEX IF NOT EXISTS conversation_of_all_by_time ON conversation (updated_at DESC NULLS LAST, id, owner);
CREATE INDEX IF NOT EXISTS conversation_of_all_by_id ON conversation (id);
CREATE INDEX IF NOT EXISTS conversation_of_all_by_native_id ON conversation (native_id);
CREATE INDEX IF NOT EXISTS conversation_of_all_by_project ON conversation (project, updated_at DESC NULLS LAST);
CREATE INDEX IF NOT EXISTS tie_of_all_by_alias ON tie (token) WHERE kind = 'alias';
