-- What `diff` compares besides functions, and how `sync` puts it right.

-- name: catalog_path
-- Types and functions print with their schema, whatever the session's own path is.
SET LOCAL search_path = pg_catalog, pg_temp;

-- name: own_path
SET LOCAL search_path TO DEFAULT;

-- name: observed
-- params: schema, app_name
-- returns: one row: what negmem recorded as its own, the indexes, pgvector, the app's embedding model
SELECT
    COALESCE((SELECT jsonb_agg(jsonb_build_object(
            'kind', m.kind, 'name', m.name, 'app_name', m.app_name, 'database_name', m.database_name,
            'owner_name', m.owner_name, 'job_id', m.job_id, 'fingerprint', m.fingerprint,
            'definition', m.definition) ORDER BY m.kind, m.name, m.app_name)
        FROM :"schema".managed_objects AS m
        WHERE m.kind <> 'function'), '[]') AS records,
    COALESCE((SELECT jsonb_agg(jsonb_build_object(
            'name', c.relname, 'table', t.relname, 'definition', pg_get_indexdef(i.indexrelid),
            'is_valid', i.indisvalid AND i.indisready,
            'is_constraint', k.oid IS NOT NULL) ORDER BY c.relname)
        FROM pg_index AS i
        JOIN pg_class AS c ON c.oid = i.indexrelid
        JOIN pg_class AS t ON t.oid = i.indrelid
        JOIN pg_namespace AS n ON n.oid = c.relnamespace
        LEFT JOIN pg_constraint AS k ON k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x')
        WHERE n.nspname = %(schema)s::name), '[]') AS indexes,
    (SELECT jsonb_build_object(
            'installed', e.extversion, 'available', a.default_version, 'schema', n.nspname,
            'is_ours', COALESCE(pg_has_role(e.extowner, 'USAGE'), false))
        FROM (VALUES (1)) AS one (row)
        LEFT JOIN pg_extension AS e ON e.extname = 'vector'
        LEFT JOIN pg_namespace AS n ON n.oid = e.extnamespace
        LEFT JOIN pg_available_extensions AS a ON a.name = 'vector') AS vector,
    (SELECT jsonb_build_object(
            'provider', m.provider, 'model', m.model, 'version', m.version, 'dims', m.dims)
        FROM :"schema".embedding_models AS m
        WHERE m.app_name = %(app_name)s::varchar AND m.status = 'active') AS model,
    COALESCE((SELECT i.roles_requested FROM :"schema".installation AS i), false) AS roles_requested,
    COALESCE((SELECT i.row_security_requested FROM :"schema".installation AS i), false) AS row_security_requested;

-- name: expected_indexes
-- params: none
-- returns: the indexes of the session's temporary tables, as the server prints them
SELECT c.relname::text AS name, pg_get_indexdef(i.indexrelid) AS definition,
    n.nspname::text AS temp_schema
FROM pg_index AS i
JOIN pg_class AS c ON c.oid = i.indexrelid
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.oid = pg_my_temp_schema();

-- name: model_table
CREATE TEMPORARY TABLE :"name" (LIKE :"schema".:"name" INCLUDING GENERATED) ON COMMIT DROP;

-- name: drop_index
DROP INDEX CONCURRENTLY IF EXISTS :"schema".:"name";

-- name: lock_table
-- The lock that what is done to an index CONCURRENTLY takes: held with those who read and write, not with its like.
LOCK TABLE :"schema".:"name" IN SHARE UPDATE EXCLUSIVE MODE;

-- name: table_of
-- params: schema, name
-- returns: the table of an index; no row where there is no such index
SELECT t.relname::text AS table
FROM pg_class AS c
JOIN pg_index AS i ON i.indexrelid = c.oid
JOIN pg_class AS t ON t.oid = i.indrelid
WHERE c.relnamespace = (SELECT n.oid FROM pg_namespace AS n WHERE n.nspname = %(schema)s::name) AND c.relname = %(name)s::name;

-- name: rename_index
ALTER INDEX :"schema".:"name" RENAME TO :"new_name";

-- name: try_index_lock
-- params: schema
-- One builder of indexes at a time; asked for, never waited for, since a build waits for who waits here.
SELECT pg_try_advisory_xact_lock(hashtextextended('negmem:indexes:' || %(schema)s::text, 0)) AS is_had;

-- name: update_vector
ALTER EXTENSION vector UPDATE;

-- name: create_vector
CREATE EXTENSION IF NOT EXISTS vector;

-- name: record
-- params: objects, negmem_version
-- What stands now is what later runs compare with. Rows that say so already are not touched.
INSERT INTO :"schema".managed_objects AS m (kind, name, fingerprint, definition, negmem_version)
SELECT o.kind, o.name, o.fingerprint, o.definition, %(negmem_version)s::text
FROM jsonb_to_recordset(%(objects)s::jsonb) AS o (kind text, name text, fingerprint text, definition text)
ON CONFLICT ON CONSTRAINT managed_objects_unique DO UPDATE
    SET fingerprint = excluded.fingerprint,
        definition = excluded.definition,
        negmem_version = excluded.negmem_version,
        owner_name = excluded.owner_name,
        installed_by = excluded.installed_by,
        installed_at = now()
    WHERE (m.fingerprint, m.definition) IS DISTINCT FROM (excluded.fingerprint, excluded.definition);

-- name: forget
-- params: kind, names
DELETE FROM :"schema".managed_objects AS m
WHERE m.kind = %(kind)s::text AND m.name = ANY (%(names)s::text[]);

-- name: keep_replaced
-- params: kind, name, definition, reason
INSERT INTO :"schema".replaced_definitions (kind, name, definition, reason)
VALUES (%(kind)s::text, %(name)s::text, %(definition)s::text, %(reason)s::text);

-- name: installation
-- returns: which installation this is
SELECT i.id FROM :"schema".installation AS i;
