-- What doctor looks at inside negmem's schema. Every query is bounded: by a limit, by a sample, or by the
-- statistics that the server keeps anyway.

-- name: stored_config
-- params: app_name
-- returns: the config that rules the app: its own, else the main app's
SELECT c.app_name, c.config, c.is_main, c.revision
FROM :"schema".memory_automation_configs AS c
WHERE c.app_name = %(app_name)s::varchar OR c.is_main
ORDER BY (c.app_name = %(app_name)s::varchar) DESC
LIMIT 1;

-- name: scheduler_beat
-- returns: the built-in scheduler's last sign of life
SELECT l.host, l.process_id, l.lease_until >= clock_timestamp() AS is_alive,
    extract(epoch FROM clock_timestamp() - l.beat_at)::double precision AS age_s
FROM :"schema".scheduler_leader AS l;

-- name: tables
-- params: schema
-- returns: what stands in the schema: tables with their columns and what this role may do with each
SELECT c.relname::text AS name,
    has_table_privilege(c.oid, 'SELECT') AS can_read,
    has_table_privilege(c.oid, 'INSERT') AND has_table_privilege(c.oid, 'UPDATE') AS can_write,
    greatest(c.reltuples, 0)::bigint AS estimated_rows,
    c.reltuples < 0 AS is_unmeasured,
    c.relpages AS pages,
    c.relallvisible AS visible_pages,
    columns.names AS columns,
    columns.zoneless
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
CROSS JOIN LATERAL (
    SELECT array_agg(a.attname::text) AS names,
        array_agg(a.attname::text) FILTER (WHERE a.atttypid = 'timestamp'::regtype) AS zoneless
    FROM pg_attribute AS a
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
) AS columns
WHERE n.nspname = %(schema)s::name AND c.relkind IN ('r', 'p')
ORDER BY 1;

-- name: functions
-- params: schema
-- returns: the functions of the schema, one row a signature
SELECT p.proname::text AS name, pg_get_function_identity_arguments(p.oid) AS arguments,
    has_function_privilege(p.oid, 'EXECUTE') AS can_execute,
    pg_get_userbyid(p.proowner)::text AS owner,
    pg_has_role(p.proowner, 'USAGE') AS can_replace
FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
WHERE n.nspname = %(schema)s::name
ORDER BY 1, 2;
