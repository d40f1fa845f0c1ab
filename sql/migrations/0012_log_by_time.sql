-- The log of searches by time, for what looks at the last minutes or days of all users: one summary for each 32
-- pages, a few kilobytes for a million rows, next to nothing to keep.
-- lock: SHARE on memory_retrieval_logs while the log is read once (searches go on and wait with their record)
-- safe: before or after the code upgrade

CREATE INDEX ix_memory_retrieval_logs_time ON :"schema".memory_retrieval_logs USING brin (created_at)
    WITH (pages_per_range = 32, autosummarize = on);
