-- What `negmem top` reads at each look. Every statement is short: by an index that holds what is open or recent,
-- or through a sample of pages whose share is given in percent.

-- name: clock
-- returns: the server's clock; waits for no lock
SELECT clock_timestamp() AS at;

-- name: pages
-- returns: how many pages the table of memories has
SELECT pg_relation_size(c.oid) / current_setting('block_size')::bigint AS pages
FROM pg_class AS c
WHERE c.oid = to_regclass(format('%%I.memories', :'schema'));

-- name: queue
-- params: app_name
-- returns: open jobs of the app; those of users who may not be worked on are held back
SELECT count(*) FILTER (WHERE q.status = 'running') AS running,
    count(*) FILTER (WHERE q.status = 'pending' AND NOT q.is_held AND q.next_attempt_at <= clock_timestamp()) AS due,
    count(*) FILTER (WHERE q.status = 'pending' AND NOT q.is_held AND q.next_attempt_at > clock_timestamp()) AS waiting,
    count(*) FILTER (WHERE q.status = 'pending' AND q.is_held) AS held_back,
    extract(epoch FROM clock_timestamp() - min(q.next_attempt_at) FILTER (
        WHERE q.status = 'pending' AND NOT q.is_held AND q.next_attempt_at <= clock_timestamp()))::float8 AS oldest_due_s
FROM (
    SELECT j.status, j.next_attempt_at,
        u.paused_at IS NOT NULL OR u.held_at IS NOT NULL OR u.erasing_since IS NOT NULL AS is_held
    FROM :"schema".consolidation_jobs AS j
    LEFT JOIN :"schema".users AS u ON u.user_id = j.user_id AND u.app_name = j.app_name
    WHERE j.app_name = %(app_name)s::varchar AND j.status IN ('pending', 'running')
) AS q;

-- name: running
-- params: app_name, row_limit
SELECT j.job_type::text AS job, j.attempts, j.max_attempts, j.locked_by AS worker,
    extract(epoch FROM clock_timestamp() - j.started_at)::float8 AS since_s,
    extract(epoch FROM j.lease_until - clock_timestamp())::float8 AS lease_s
FROM :"schema".consolidation_jobs AS j
WHERE j.app_name = %(app_name)s::varchar AND j.status = 'running'
ORDER BY j.started_at, j.id
LIMIT %(row_limit)s::integer;

-- name: searches
-- params: app_name
-- returns: searches of the last five minutes; repeats and recalls count here, for they are work too
-- now(), not the clock: an index takes no moment that may change within the statement.
SELECT count(*) AS in_5_minutes,
    count(*) FILTER (WHERE l.created_at > now() - interval '1 minute') AS in_1_minute,
    count(*) FILTER (WHERE cardinality(l.retrieved_memory_ids)
        + cardinality(COALESCE(l.retrieved_fact_ids, '{}')) = 0) AS empty,
    count(*) FILTER (WHERE EXISTS (
        SELECT 1 FROM jsonb_array_elements(l.fallbacks) AS step (value)
        WHERE step.value ->> 'code' IS DISTINCT FROM 'embedder_disabled')) AS fell,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY l.latency_ms) AS p50_ms,
    percentile_cont(0.95) WITHIN GROUP (ORDER BY l.latency_ms) AS p95_ms
FROM :"schema".memory_retrieval_logs AS l
WHERE l.created_at > now() - interval '5 minutes' AND l.app_name = %(app_name)s::varchar;

-- name: accesses
-- params: app_name, most
-- returns: recorded searches whose accesses are not added to the memories yet, counted up to a limit
SELECT count(*) AS waiting
FROM (
    SELECT 1 FROM :"schema".memory_retrieval_logs AS l
    WHERE l.applied_at IS NULL AND l.app_name = %(app_name)s::varchar
    LIMIT %(most)s::integer
) AS q;

-- name: runs
-- params: app_name
-- returns: the last run of each job of the app; those of the main app carry no name
WITH RECURSIVE jobs AS (
    (SELECT x.job FROM :"schema".automation_runs AS x ORDER BY x.job LIMIT 1)
    UNION ALL
    SELECT (SELECT x.job FROM :"schema".automation_runs AS x WHERE x.job > j.job ORDER BY x.job LIMIT 1)
    FROM jobs AS j
    WHERE j.job IS NOT NULL
)
SELECT j.job::text AS job, r.status::text AS status, r.source::text AS source, r.rows_touched,
    left(r.message, 200) AS message,
    extract(epoch FROM clock_timestamp() - r.started_at)::float8 AS ago_s,
    extract(epoch FROM COALESCE(r.finished_at, CASE WHEN r.status = 'running' THEN clock_timestamp() END)
        - r.started_at)::float8 AS took_s
FROM jobs AS j
CROSS JOIN LATERAL (
    SELECT x.status, x.source, x.rows_touched, x.message, x.started_at, x.finished_at
    FROM :"schema".automation_runs AS x
    WHERE x.job = j.job AND (x.app_name IS NULL OR x.app_name = %(app_name)s::varchar)
    ORDER BY x.started_at DESC
    LIMIT 1
) AS r
WHERE j.job IS NOT NULL
ORDER BY j.job;

-- name: rows
-- params: app_name, percent
-- returns: memories by state
SELECT count(*) FILTER (WHERE m.deleted_at IS NULL) AS live,
    count(*) FILTER (WHERE m.deleted_at IS NULL AND m.pinned_at IS NOT NULL) AS pinned,
    count(*) FILTER (WHERE m.deleted_at IS NOT NULL) AS removed,
    count(*) FILTER (WHERE m.created_at > clock_timestamp() - interval '24 hours') AS added_today
FROM :"schema".memories AS m TABLESAMPLE SYSTEM (%(percent)s::float8) REPEATABLE (1)
WHERE m.app_name = %(app_name)s::varchar;

-- name: parked
-- params: app_name, most
-- returns: jobs that nobody tries again by himself, counted up to a limit
SELECT count(*) AS parked
FROM (
    SELECT 1 FROM :"schema".consolidation_jobs AS j
    WHERE j.app_name = %(app_name)s::varchar AND j.status = 'failed' AND j.parked_at IS NOT NULL
    LIMIT %(most)s::integer
) AS q;

-- name: connections
-- returns: connections to this database; of other roles' sessions the state may be hidden
SELECT count(*) AS total, count(*) FILTER (WHERE a.state = 'active') AS active,
    count(*) FILTER (WHERE a.state LIKE 'idle in transaction%%') AS idle_in_transaction,
    count(*) FILTER (WHERE a.application_name LIKE 'negmem%%') AS of_negmem,
    count(*) FILTER (WHERE a.state IS NULL) AS hidden,
    current_setting('max_connections')::integer AS most
FROM pg_stat_activity AS a
WHERE a.datname = current_database() AND a.backend_type = 'client backend';

-- name: blocked
-- params: row_limit
-- returns: sessions of this database that wait for a lock, the longest first
SELECT w.pid, COALESCE(a.application_name, '') AS application, w.mode,
    COALESCE(w.relation::regclass::text, w.locktype) AS wants, pg_blocking_pids(w.pid) AS blocked_by,
    extract(epoch FROM clock_timestamp() - w.waitstart)::float8 AS waits_s
FROM pg_locks AS w
JOIN pg_stat_activity AS a ON a.pid = w.pid AND a.datname = current_database()
WHERE NOT w.granted
ORDER BY w.waitstart NULLS LAST, w.pid
LIMIT %(row_limit)s::integer;

-- name: scheduler
-- returns: the built-in scheduler's last sign of life
SELECT l.host, l.process_id, l.lease_until >= clock_timestamp() AS is_alive,
    extract(epoch FROM clock_timestamp() - l.beat_at)::float8 AS beat_s
FROM :"schema".scheduler_leader AS l;
