-- What a database can carry. Each block is asked in a read-only transaction of its own, so that one
-- refused read costs no other; none of them writes.

-- name: server
-- returns: one row; the facts that every role may read
SELECT
    current_setting('server_version_num')::integer AS version_number,
    split_part(current_setting('server_version'), ' ', 1) AS version,
    current_database()::text AS database,
    current_user::text AS role,
    session_user::text AS login_role,
    r.rolsuper AS is_superuser,
    r.rolsuper OR r.rolbypassrls AS bypasses_row_security,
    COALESCE(login.rolconnlimit, -1) AS role_connection_limit,
    (SELECT count(*)::integer FROM pg_stat_activity AS a WHERE a.usename = session_user)
        AS role_connections,
    CASE WHEN isfinite(login.rolvaliduntil) THEN login.rolvaliduntil END AS password_valid_until,
    pg_encoding_to_char(d.encoding)::text AS encoding,
    d.datcollate::text AS collate_name,
    d.datctype::text AS ctype_name,
    to_jsonb(d) ->> 'datlocprovider' AS locale_provider,
    current_setting('TimeZone') AS time_zone,
    clock_timestamp() AS clock,
    pg_backend_pid() AS backend_pid,
    pg_is_in_recovery() AS is_standby,
    current_setting('default_transaction_read_only')::boolean AS read_only_by_default,
    current_setting('max_connections')::integer AS max_connections,
    current_setting('superuser_reserved_connections')::integer AS reserved_connections,
    (SELECT sum(s.numbackends)::integer FROM pg_stat_database AS s) AS used_connections
FROM pg_database AS d
JOIN pg_roles AS r ON r.rolname = current_user
LEFT JOIN pg_roles AS login ON login.rolname = session_user
WHERE d.datname = current_database();

-- name: letters
-- returns: whether letters of several scripts are stored as letters; fails where one can't be stored
SELECT length('é记忆'::text) = 3 AS are_letters;

-- name: backend
-- returns: which server process answers; two answers that differ prove a pooler in between
SELECT pg_backend_pid() AS backend_pid;

-- name: collation_version
-- returns: the version that the indexes were built with and that of the library now (PostgreSQL 15 on)
SELECT d.datcollversion AS recorded, pg_database_collation_actual_version(d.oid) AS actual
FROM pg_database AS d WHERE d.datname = current_database();

-- name: extensions
-- params: names
-- returns: one row for each name that the server knows or this database has
SELECT
    COALESCE(e.extname::text, a.name::text) AS name,
    e.extversion AS installed_version,
    n.nspname::text AS schema,
    pg_get_userbyid(e.extowner)::text AS owner,
    a.name IS NOT NULL AS is_available,
    a.default_version AS available_version
FROM (SELECT x.name, x.default_version FROM pg_available_extensions AS x
      WHERE x.name::text = ANY (%(names)s::text[])) AS a
FULL JOIN (SELECT x.* FROM pg_extension AS x WHERE x.extname::text = ANY (%(names)s::text[])) AS e
    ON e.extname = a.name
LEFT JOIN pg_namespace AS n ON n.oid = e.extnamespace
ORDER BY 1;

-- name: vector_usable
-- returns: one row when type, cast and distance can be used by this role
SELECT '[1,0]':::"vector_schema".vector OPERATOR(:"vector_schema".<=>) '[0,1]':::"vector_schema".vector
    AS distance;

-- name: vector_halfvec
SELECT '[1,0]':::"vector_schema".halfvec OPERATOR(:"vector_schema".<=>) '[0,1]':::"vector_schema".halfvec
    AS distance;

-- name: vector_bit_distance
SELECT B'10' OPERATOR(:"vector_schema".<~>) B'01' AS distance;

-- name: vector_iterative_scan
-- The setting exists once the library is loaded, which the first column sees to.
WITH loaded AS MATERIALIZED (
    SELECT :"vector_schema".vector_dims('[1,2]':::"vector_schema".vector) AS dims
)
SELECT l.dims, current_setting('hnsw.iterative_scan', true) IS NOT NULL AS is_known
FROM loaded AS l;

-- name: preloaded
-- returns: the libraries that the server loads at start; refused without pg_read_all_settings
SELECT current_setting('shared_preload_libraries', true) AS libraries;

-- name: cron_database
-- returns: null where the library is not loaded; refused without pg_read_all_settings where it is
SELECT current_setting('cron.database_name', true) AS database;

-- name: cron_time_zone
-- returns: null before pg_cron 1.5
SELECT current_setting('cron.timezone', true) AS time_zone;

-- name: cron_extension
-- returns: one row in the database that pg_cron lives in
SELECT e.extversion AS version, pg_get_userbyid(e.extowner)::text AS owner,
    has_schema_privilege(e.extnamespace, 'USAGE') AS can_use_extension_schema,
    COALESCE(has_schema_privilege(n.oid, 'USAGE'), false) AS can_use_schema,
    COALESCE(has_table_privilege(job.oid, 'SELECT'), false) AS can_read_jobs,
    COALESCE(has_table_privilege(run.oid, 'SELECT'), false) AS can_read_runs,
    job.relowner = (SELECT r.oid FROM pg_roles AS r WHERE r.rolname = current_user)
        OR (SELECT r.rolsuper OR r.rolbypassrls FROM pg_roles AS r WHERE r.rolname = current_user)
        OR NOT COALESCE(job.relrowsecurity, false) AS sees_all_jobs
FROM pg_extension AS e
LEFT JOIN pg_namespace AS n ON n.nspname = 'cron'
LEFT JOIN pg_class AS job ON job.relnamespace = n.oid AND job.relname = 'job'
LEFT JOIN pg_class AS run ON run.relnamespace = n.oid AND run.relname = 'job_run_details'
WHERE e.extname = 'pg_cron';

-- name: cron_functions
-- returns: the scheduling functions, and whether this role may call them
SELECT p.proname::text AS name, p.oid::regprocedure::text AS signature,
    has_function_privilege(p.oid, 'EXECUTE') AS can_execute
FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
WHERE n.nspname = 'cron' AND p.proname IN ('schedule', 'schedule_in_database', 'unschedule', 'alter_job')
ORDER BY 1, 2;

-- name: cron_jobs_readable
SELECT 1 AS seen FROM cron.job LIMIT 1;

-- name: cron_runs_readable
SELECT 1 AS seen FROM cron.job_run_details LIMIT 1;
