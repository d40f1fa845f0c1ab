-- Connections: what a database is, and the frame of a transaction.

-- name: facts
-- params: schema
-- returns: one row
SELECT
    current_setting('server_version_num')::integer AS server_version,
    split_part(current_setting('server_version'), ' ', 1) AS server_version_text,
    current_database()::text AS database,
    current_user::text AS role,
    pg_is_in_recovery() AS in_recovery,
    current_setting('transaction_read_only')::boolean AS read_only,
    vector.extversion AS vector_version,
    vector.nspname::text AS vector_schema,
    own.oid IS NOT NULL AS schema_exists,
    ledger.oid IS NOT NULL AS ledger_exists,
    COALESCE(has_schema_privilege(own.oid, 'USAGE'), false) AS schema_usable
FROM (VALUES (1)) AS one (row)
LEFT JOIN LATERAL (
    SELECT e.extversion, n.nspname
    FROM pg_extension AS e JOIN pg_namespace AS n ON n.oid = e.extnamespace
    WHERE e.extname = 'vector'
) AS vector ON true
LEFT JOIN pg_namespace AS own ON own.nspname = %(schema)s::name
LEFT JOIN pg_class AS ledger ON ledger.relnamespace = own.oid AND ledger.relname = 'schema_migrations';

-- name: begin
BEGIN; SET LOCAL lock_timeout = :lock_timeout_ms; SET LOCAL statement_timeout = :statement_timeout_ms;

-- name: begin_read_only
BEGIN READ ONLY; SET LOCAL lock_timeout = :lock_timeout_ms; SET LOCAL statement_timeout = :statement_timeout_ms;

-- name: commit
COMMIT;

-- name: rollback
ROLLBACK;

-- name: bodies_unchecked
-- Functions call one another: their bodies are checked when they first run, not in the order of creation.
SET LOCAL check_function_bodies = off;
