-- Benchmarks.

-- name: left_over
-- params: prefix
-- returns: schemas of benchmarks, also of those that run now
SELECT n.nspname::text AS schema_name FROM pg_namespace AS n
WHERE starts_with(n.nspname::text, %(prefix)s::text)
ORDER BY 1;

-- name: settle
-- After a bulk load: statistics for the planner, and the visibility map that index-only scans need.
VACUUM (ANALYZE) :"schema".memories, :"schema".memory_terms, :"schema".memory_vectors, :"schema".memory_term_stats,
    :"schema".threads, :"schema".users;

-- name: versions
SELECT split_part(current_setting('server_version'), ' ', 1) AS postgresql,
    (SELECT e.extversion FROM pg_extension AS e WHERE e.extname = 'vector') AS pgvector;

-- name: record
-- params: kind, dataset, data_hash, config, versions, metrics, seed, started_at
INSERT INTO :"schema".benchmark_runs
    (kind, dataset, data_hash, config, versions, metrics, seed, started_at, finished_at)
VALUES (%(kind)s::varchar, %(dataset)s::varchar, %(data_hash)s::text, %(config)s::jsonb, %(versions)s::jsonb,
    %(metrics)s::jsonb, %(seed)s::bigint, %(started_at)s::timestamptz, now())
RETURNING id;

-- name: history
-- params: kind, dataset, row_limit
-- returns: runs, newest first, each with the figures of the run before it of the same kind, set, data and name
SELECT r.id, r.kind, r.dataset, r.data_hash, r.config, r.versions, r.metrics, r.seed, r.started_at, r.finished_at,
    b.metrics AS metrics_before
FROM :"schema".benchmark_runs AS r
LEFT JOIN LATERAL (
    SELECT o.metrics
    FROM :"schema".benchmark_runs AS o
    WHERE o.kind = r.kind AND o.dataset IS NOT DISTINCT FROM r.dataset
        AND o.data_hash IS NOT DISTINCT FROM r.data_hash
        AND o.config ->> 'name' IS NOT DISTINCT FROM r.config ->> 'name'
        AND (o.started_at, o.id) < (r.started_at, r.id)
    ORDER BY o.started_at DESC, o.id DESC
    LIMIT 1
) AS b ON true
WHERE (%(kind)s::text IS NULL OR r.kind = %(kind)s::text)
    AND (%(dataset)s::text IS NULL OR %(dataset)s::text IN (r.dataset, split_part(r.dataset, ' ', 1)))
ORDER BY r.started_at DESC, r.id DESC
LIMIT %(row_limit)s::integer;

-- name: apply_accesses
-- params: app_name
SELECT :"schema".apply_recorded_accesses(%(app_name)s::text) AS applied;

-- name: accesses
-- params: app_name
SELECT COALESCE(sum(m.access_count), 0)::bigint AS accesses
FROM :"schema".memories AS m
WHERE m.app_name = %(app_name)s::varchar;

-- name: logs
-- params: app_name
SELECT count(*)::bigint AS logs
FROM :"schema".memory_retrieval_logs AS l
WHERE l.app_name = %(app_name)s::varchar;
