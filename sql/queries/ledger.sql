-- The ledger of migrations.

-- name: create_schema
CREATE SCHEMA IF NOT EXISTS :"schema";

-- name: create_vector
-- The extension goes where the server puts it by default; one that exists is left where it stands.
CREATE EXTENSION IF NOT EXISTS vector;

-- name: create_ledger
CREATE TABLE IF NOT EXISTS :"schema".schema_migrations (
    version integer NOT NULL PRIMARY KEY,
    name text NOT NULL,
    checksum text NOT NULL,
    negmem_version text NOT NULL,
    applied_by text NOT NULL DEFAULT session_user,
    applied_from text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now(),
    took_ms double precision NOT NULL
);

-- name: lock
-- params: schema
-- One writer of the schema at a time; the lock ends with the transaction.
SELECT pg_advisory_xact_lock(hashtextextended('negmem:schema:' || %(schema)s::text, 0));

-- name: lock_vector
-- Installs of two schemas of one database meet at the extension.
SELECT pg_advisory_xact_lock(hashtextextended('negmem:vector', 0));

-- name: holder
-- params: schema
-- returns: pid and application of the session that holds the lock, if it can be seen
SELECT a.pid, a.usename::text AS role, a.application_name, now() - a.xact_start AS since
FROM pg_locks AS l
LEFT JOIN pg_stat_activity AS a ON a.pid = l.pid
WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
    AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
    AND (l.classid::bigint << 32 | l.objid::bigint)
        = hashtextextended('negmem:schema:' || %(schema)s::text, 0)
LIMIT 1;

-- name: applied
SELECT version, name, checksum, negmem_version, applied_by, applied_from, applied_at, took_ms
FROM :"schema".schema_migrations
ORDER BY version;

-- name: record
-- params: version, name, checksum, negmem_version, applied_from, took_ms
INSERT INTO :"schema".schema_migrations (version, name, checksum, negmem_version, applied_from, took_ms)
VALUES (%(version)s::integer, %(name)s::text, %(checksum)s::text, %(negmem_version)s::text,
    %(applied_from)s::text, %(took_ms)s::double precision);

-- name: foreign_tables
-- params: schema
-- returns: tables that stand in the schema already
SELECT c.relname::text AS name
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = %(schema)s::name AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
ORDER BY c.relname;

-- name: vector_available
SELECT v.version, e.installed_version
FROM pg_available_extensions AS e
LEFT JOIN pg_available_extension_versions AS v
    ON v.name = e.name AND v.version = e.default_version
WHERE e.name = 'vector';

-- name: vector_features
-- returns: which types and operators of pgvector this database has
SELECT
    EXISTS (SELECT 1 FROM pg_type AS t JOIN pg_namespace AS n ON n.oid = t.typnamespace
            WHERE n.nspname = %(vector_schema)s::name AND t.typname = 'halfvec') AS has_halfvec,
    EXISTS (SELECT 1 FROM pg_operator AS o JOIN pg_namespace AS n ON n.oid = o.oprnamespace
            WHERE n.nspname = %(vector_schema)s::name AND o.oprname = '<~>'
                AND o.oprleft = 'bit'::regtype) AS has_bit_distance;

-- name: update_vector
ALTER EXTENSION vector UPDATE;
