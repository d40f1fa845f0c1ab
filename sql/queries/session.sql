-- Connections: what a database is, and the frame of a transaction.

-- name: facts
-- params: schema
-- returns: one row
SELECT
    current_setting('server_version_num')::integer AS server_version,
    split_part(current_setting('server_version'), ' ', 1) AS server_version_text,
    current_database()::text AS database,
    current_setting('server_encoding') AS encoding,
    current_user::text AS role,
    pg_is_in_recovery() AS in_recovery,
    current_setting('transaction_read_only')::boolean AS read_only,
    vector.extversion AS vector_version,
    vector.nspname::text AS vector_schema,
    own.oid IS NOT NULL AS schema_exists,
    ledger.oid IS NOT NULL AS ledger_exists,
    COALESCE(has_schema_privilege(own.oid, 'USAGE'), false) AS schema_usable,
    COALESCE(bound.is_bound, false) AS row_security_binds,
    COALESCE(bound.is_bound AND NOT bound.reads_all, false) AS sees_one_user,
    COALESCE(bound.is_bound AND NOT bound.reads_any, false) AS sees_no_rows
FROM (VALUES (1)) AS one (row)
LEFT JOIN LATERAL (
    SELECT e.extversion, n.nspname
    FROM pg_extension AS e JOIN pg_namespace AS n ON n.oid = e.extnamespace
    WHERE e.extname = 'vector'
) AS vector ON true
LEFT JOIN pg_namespace AS own ON own.nspname = %(schema)s::name
LEFT JOIN LATERAL (
    WITH readable AS (
        SELECT p.polqual FROM pg_policy AS p JOIN pg_class AS m ON m.oid = p.polrelid
        WHERE m.relnamespace = own.oid AND m.relname = 'memories' AND p.polpermissive AND p.polcmd IN ('r', '*')
            AND (0 = ANY (p.polroles) OR EXISTS (
                SELECT 1 FROM unnest(p.polroles) AS r (oid) WHERE pg_has_role(r.oid, 'USAGE')))
    )
    SELECT row_security_active(c.oid) AS is_bound,
        EXISTS (SELECT 1 FROM readable) AS reads_any,
        -- Asked of those alone whom row-level security binds: pg_get_expr() waits for a lock on the table.
        CASE WHEN row_security_active(c.oid) THEN EXISTS (
            SELECT 1 FROM readable AS r WHERE pg_get_expr(r.polqual, c.oid) = 'true'
        ) END AS reads_all
    FROM pg_class AS c
    WHERE c.relnamespace = own.oid AND c.relname = 'memories'
) AS bound ON true
LEFT JOIN pg_class AS ledger ON ledger.relnamespace = own.oid AND ledger.relname = 'schema_migrations';

-- name: begin
BEGIN; SET LOCAL lock_timeout = :lock_timeout_ms; SET LOCAL statement_timeout = :statement_timeout_ms;

-- name: begin_read_only
BEGIN READ ONLY; SET LOCAL lock_timeout = :lock_timeout_ms; SET LOCAL statement_timeout = :statement_timeout_ms;

-- name: lock_timeout
-- params: lock_timeout_ms
-- For the transaction alone, which is that of the one statement that follows in the pipeline.
SELECT set_config('lock_timeout', %(lock_timeout_ms)s::integer::text, true);

-- name: commit
COMMIT;

-- name: rollback
ROLLBACK;

-- name: bodies_unchecked
-- Functions call one another: their bodies are checked when they first run, not in the order of creation.
SET LOCAL check_function_bodies = off;

-- name: lacking
-- params: schema, words
-- returns: the objects among the words of a refusal, with the privileges that the role lacks on each
SELECT quote_ident(current_user) AS role, c.oid::bigint AS oid, 'TABLE' AS kind, format('%%I.%%I', n.nspname, c.relname) AS name, c.relname::text AS bare,
    quote_ident(pg_get_userbyid(c.relowner)) AS owner,
    ARRAY(SELECT p.name FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS p (name)
          WHERE NOT has_table_privilege(c.oid, p.name)) AS privileges
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = %(schema)s::name AND c.relname = ANY (%(words)s::name[]) AND c.relkind IN ('r', 'p', 'v', 'm')
UNION ALL
SELECT quote_ident(current_user), c.oid::bigint, 'SEQUENCE', format('%%I.%%I', n.nspname, c.relname), c.relname::text,
    quote_ident(pg_get_userbyid(c.relowner)),
    CASE WHEN has_sequence_privilege(c.oid, 'USAGE') THEN '{}' ELSE ARRAY['USAGE'] END
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = %(schema)s::name AND c.relname = ANY (%(words)s::name[]) AND c.relkind = 'S'
UNION ALL
SELECT quote_ident(current_user), p.oid::bigint, 'FUNCTION', format('%%I.%%I(%%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)),
    p.proname::text, quote_ident(pg_get_userbyid(p.proowner)),
    CASE WHEN has_function_privilege(p.oid, 'EXECUTE') THEN '{}' ELSE ARRAY['EXECUTE'] END
FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
WHERE n.nspname = %(schema)s::name AND p.proname = ANY (%(words)s::name[])
UNION ALL
SELECT quote_ident(current_user), n.oid::bigint, 'SCHEMA', quote_ident(n.nspname), n.nspname::text, quote_ident(pg_get_userbyid(n.nspowner)),
    CASE WHEN has_schema_privilege(n.oid, 'USAGE') THEN ARRAY['CREATE'] ELSE ARRAY['USAGE'] END
FROM pg_namespace AS n
WHERE n.nspname = ANY (%(words)s::name[])
    AND NOT (has_schema_privilege(n.oid, 'USAGE') AND has_schema_privilege(n.oid, 'CREATE'))
UNION ALL
SELECT quote_ident(current_user), d.oid::bigint, 'DATABASE', quote_ident(d.datname), d.datname::text, quote_ident(pg_get_userbyid(d.datdba)),
    ARRAY['CREATE']
FROM pg_database AS d
WHERE d.datname = current_database() AND d.datname = ANY (%(words)s::name[]) AND NOT has_database_privilege(d.oid, 'CREATE');

-- name: lock_holders
-- params: schema, words
-- returns: other sessions that hold locks on tables of the schema, the strongest lock first, of the tables that the
--   statement names where it names any; with the strength of the lock as its place among the modes
SELECT l.pid, COALESCE(NULLIF(a.application_name, ''), a.backend_type, 'unnamed') AS application,
    c.relname::text AS relation, l.mode, to_char(a.xact_start AT TIME ZONE 'UTC', 'HH24:MI:SS') AS since
FROM pg_locks AS l
JOIN pg_class AS c ON c.oid = l.relation
JOIN pg_namespace AS n ON n.oid = c.relnamespace
LEFT JOIN pg_stat_activity AS a ON a.pid = l.pid
WHERE l.locktype = 'relation' AND l.granted AND l.pid <> pg_backend_pid() AND c.relkind IN ('r', 'p')
    AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
    AND n.nspname = %(schema)s::name
ORDER BY c.relname = ANY (%(words)s::name[]) DESC,
    array_position(ARRAY['AccessExclusiveLock', 'ExclusiveLock', 'ShareRowExclusiveLock', 'ShareLock',
        'ShareUpdateExclusiveLock', 'RowExclusiveLock', 'RowShareLock', 'AccessShareLock'], l.mode),
    a.xact_start
LIMIT 1;

-- name: groups_holding
-- params: schema, kind, oid, privileges
-- returns: the roles that init --roles made for this schema and that hold all of these privileges, with what
--   each is for; known by the comment that init wrote, which everybody may read
SELECT quote_ident(r.rolname) AS role, split_part(c.comment, ': ', 2) AS purpose
FROM pg_roles AS r
CROSS JOIN LATERAL (SELECT shobj_description(r.oid, 'pg_authid') AS comment) AS c
WHERE starts_with(c.comment, 'negmem, ' || %(schema)s::text || ': ')
    AND (SELECT bool_and(CASE %(kind)s::text
            WHEN 'TABLE' THEN has_table_privilege(r.oid, %(oid)s::oid, p.name)
            WHEN 'SEQUENCE' THEN has_sequence_privilege(r.oid, %(oid)s::oid, p.name)
            WHEN 'FUNCTION' THEN has_function_privilege(r.oid, %(oid)s::oid, p.name)
            WHEN 'DATABASE' THEN has_database_privilege(r.oid, %(oid)s::oid, p.name)
            ELSE has_schema_privilege(r.oid, %(oid)s::oid, p.name) END)
         FROM unnest(%(privileges)s::text[]) AS p (name))
ORDER BY r.rolname;
