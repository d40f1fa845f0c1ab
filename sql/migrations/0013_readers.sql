-- Who searched: the account that was logged in, set by the database and not by the program that asks.
-- lock: ACCESS EXCLUSIVE on memory_retrieval_logs for a moment; no row is read or written
-- safe: before or after the code upgrade

ALTER TABLE :"schema".memory_retrieval_logs ADD COLUMN reader text;
ALTER TABLE :"schema".memory_retrieval_logs ALTER COLUMN reader SET DEFAULT session_user;
COMMENT ON COLUMN :"schema".memory_retrieval_logs.reader IS 'account that was logged in; null: before this was recorded';
