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

-- name: sizes
-- params: schema, names
-- returns: bytes of tables; waits for whoever holds one exclusively
SELECT c.relname::text AS name, pg_relation_size(c.oid) AS bytes
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = %(schema)s::name AND c.relname::text = ANY (%(names)s::text[])
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

-- name: vector_may_be_created
-- returns: whether this role could create pgvector here by itself
SELECT COALESCE(bool_or(
        r.rolsuper
        OR (NOT v.superuser OR v.trusted) AND has_database_privilege(current_database(), 'CREATE')),
    false) AS allowed
FROM pg_available_extension_versions AS v
CROSS JOIN pg_roles AS r
WHERE v.name = 'vector' AND r.rolname = current_user
    AND v.version = (SELECT a.default_version FROM pg_available_extensions AS a WHERE a.name = 'vector');

-- name: indexes
-- params: schema
SELECT c.relname::text AS name, t.relname::text AS "table", i.indisvalid AND i.indisready AS is_valid,
    i.indisunique AS is_unique,
    ARRAY(
        SELECT a.attname::text FROM pg_attribute AS a
        WHERE a.attrelid = i.indexrelid AND a.attnum > 0
        ORDER BY a.attnum
    ) AS columns
FROM pg_index AS i
JOIN pg_class AS c ON c.oid = i.indexrelid
JOIN pg_class AS t ON t.oid = i.indrelid
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = %(schema)s::name
ORDER BY 1;

-- name: largest_owner
-- returns: a user to make plans for; plans differ by table size, not by user, for owner-scoped searches
SELECT s.user_id, s.app_name, COALESCE(m.id, 1) AS model_id
FROM :"schema".memory_term_stats AS s
LEFT JOIN :"schema".embedding_models AS m ON m.app_name = s.app_name AND m.status = 'active'
LIMIT 1;

-- name: explain_vector_arm
-- params: user_id, app_name, model_id
EXPLAIN (FORMAT JSON)
SELECT v.memory_id, v.bits
FROM :"schema".memory_vectors AS v
WHERE v.user_id = %(user_id)s::varchar AND v.app_name = %(app_name)s::varchar
    AND v.model_id = %(model_id)s::smallint AND v.live;

-- name: explain_word_arm
-- params: user_id, app_name
EXPLAIN (FORMAT JSON)
SELECT t.memory_id, t.tf, t.len
FROM :"schema".memory_terms AS t
WHERE t.user_id = %(user_id)s::varchar AND t.app_name = %(app_name)s::varchar
    AND t.term = ANY (ARRAY['doctor', '记忆']);

-- name: explain_sweep
-- params: user_id, app_name
EXPLAIN (FORMAT JSON)
SELECT m.id
FROM :"schema".memories AS m
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar
    AND m.due_at <= now() AND m.deleted_at IS NULL AND m.pinned_at IS NULL;

-- name: memory_count
-- params: most
-- returns: live memories, counted up to a limit
SELECT count(*)::integer AS counted
FROM (SELECT 1 FROM :"schema".memories AS m WHERE m.deleted_at IS NULL LIMIT %(most)s::integer) AS m;

-- name: embedding_missing
-- params: percent, most
-- returns: of a sample of live memories, how many lack a vector of their app's active model
SELECT count(*)::integer AS seen,
    (count(*) FILTER (WHERE v.memory_id IS NULL))::integer AS missing,
    min(s.created_at) FILTER (WHERE v.memory_id IS NULL) AS oldest,
    array_agg(DISTINCT s.app_name::text) FILTER (WHERE v.memory_id IS NULL) AS apps
FROM (
    SELECT m.user_id, m.app_name, m.id, m.created_at
    FROM :"schema".memories AS m TABLESAMPLE SYSTEM (%(percent)s::double precision)
    WHERE m.deleted_at IS NULL
    LIMIT %(most)s::integer
) AS s
JOIN :"schema".embedding_models AS e ON e.app_name = s.app_name AND e.status = 'active'
LEFT JOIN :"schema".memory_vectors AS v ON v.user_id = s.user_id AND v.app_name = s.app_name
    AND v.memory_id = s.id AND v.model_id = e.id;

-- name: vector_dims
-- params: percent, most
-- returns: of a sample of vectors, how many have other dimensions than their model says
SELECT count(*)::integer AS seen,
    (count(*) FILTER (WHERE :"vector_schema".vector_dims(s.embedding) <> e.dims
        OR length(s.bits) <> e.dims))::integer AS wrong,
    (count(*) FILTER (WHERE e.id IS NULL))::integer AS unknown
FROM (
    SELECT v.app_name, v.model_id, v.embedding, v.bits
    FROM :"schema".memory_vectors AS v TABLESAMPLE SYSTEM (%(percent)s::double precision)
    LIMIT %(most)s::integer
) AS s
LEFT JOIN :"schema".embedding_models AS e ON e.app_name = s.app_name AND e.id = s.model_id;

-- name: orphan_terms
-- params: percent, most
-- returns: of a sample of postings, the memories that are not live any more
SELECT s.user_id, s.app_name, s.memory_id
FROM (
    SELECT DISTINCT p.user_id, p.app_name, p.memory_id
    FROM (
        SELECT t.user_id, t.app_name, t.memory_id
        FROM :"schema".memory_terms AS t TABLESAMPLE SYSTEM (%(percent)s::double precision)
        LIMIT %(most)s::integer
    ) AS p
) AS s
LEFT JOIN :"schema".memories AS m ON m.user_id = s.user_id AND m.app_name = s.app_name
    AND m.id = s.memory_id AND m.deleted_at IS NULL
WHERE m.id IS NULL;

-- name: term_statistics
-- params: percent, users, most
-- returns: of some users with few memories, those whose statistics differ from their postings
SELECT s.user_id, s.app_name, s.documents, s.total_len, p.documents AS real_documents,
    p.total_len AS real_total_len
FROM (
    SELECT x.user_id, x.app_name, x.documents, x.total_len
    FROM :"schema".memory_term_stats AS x TABLESAMPLE SYSTEM (%(percent)s::double precision)
    WHERE x.documents <= %(most)s::integer
    LIMIT %(users)s::integer
) AS s
CROSS JOIN LATERAL (
    SELECT count(*) AS documents, COALESCE(sum(d.len), 0)::bigint AS total_len
    FROM (
        SELECT DISTINCT t.memory_id, t.len FROM :"schema".memory_terms AS t
        WHERE t.user_id = s.user_id AND t.app_name = s.app_name
    ) AS d
) AS p
WHERE (s.documents, s.total_len) IS DISTINCT FROM (p.documents, p.total_len);

-- name: unsearchable_words
-- params: percent, users, most
-- returns: of some users, those for whom clearly fewer memories are indexed by word than there are
SELECT s.user_id, s.app_name, s.documents, c.memories
FROM (
    SELECT x.user_id, x.app_name, x.documents
    FROM :"schema".memory_term_stats AS x TABLESAMPLE SYSTEM (%(percent)s::double precision)
    WHERE x.documents <= %(most)s::integer
    LIMIT %(users)s::integer
) AS s
CROSS JOIN LATERAL (
    SELECT count(*) AS memories
    FROM :"schema".memories AS m
    WHERE m.user_id = s.user_id AND m.app_name = s.app_name AND m.deleted_at IS NULL
) AS c
WHERE c.memories > s.documents + 5 AND s.documents < c.memories * 0.95;

-- name: waiting_accesses
-- params: most
-- returns: searches whose accesses are not added yet
SELECT count(*)::integer AS waiting, min(q.created_at) AS oldest,
    COALESCE(extract(epoch FROM now() - min(q.created_at)), 0)::double precision AS oldest_s
FROM (
    SELECT l.created_at FROM :"schema".memory_retrieval_logs AS l
    WHERE l.applied_at IS NULL
    LIMIT %(most)s::integer
) AS q;

-- name: last_sweep
-- returns: what the last sweep that ended well said; "… wait" where max_share held rows back
SELECT r.message, r.rows_touched, r.finished_at
FROM :"schema".automation_runs AS r
WHERE r.job = 'cleanup_memories' AND r.status = 'succeeded'
ORDER BY r.started_at DESC
LIMIT 1;

-- name: purge_overdue
-- params: app_name, window_days, log_days, grace_days, most
-- returns: a removed memory and a search that should have been purged for days; one row, by index
SELECT (
        SELECT m.deleted_at
        FROM (
            SELECT u.user_id FROM :"schema".users AS u
            WHERE u.app_name = %(app_name)s::varchar AND u.held_at IS NULL AND u.erasing_since IS NULL
            LIMIT %(most)s::integer
        ) AS p
        CROSS JOIN LATERAL (
            SELECT one.deleted_at FROM :"schema".memories AS one
            WHERE one.user_id = p.user_id AND one.app_name = %(app_name)s::varchar AND one.deleted_at IS NOT NULL
                AND one.pinned_at IS NULL
                AND one.deleted_at < now() - LEAST(%(window_days)s::integer + %(grace_days)s::integer, 365000) * interval '24 hours'
            ORDER BY one.deleted_at
            LIMIT 1
        ) AS m
        LIMIT 1
    ) AS removed_at,
    (
        SELECT l.created_at FROM :"schema".memory_retrieval_logs AS l
        LEFT JOIN :"schema".users AS u ON u.user_id = l.user_id AND u.app_name = l.app_name
        WHERE l.created_at < now() - LEAST(%(log_days)s::integer + %(grace_days)s::integer, 365000) * interval '24 hours'
            AND l.app_name = %(app_name)s::varchar AND l.applied_at IS NOT NULL
            AND u.held_at IS NULL AND u.erasing_since IS NULL
        LIMIT 1
    ) AS searched_at;

-- name: parked_jobs
-- params: most
SELECT count(*)::integer AS parked, min(q.parked_at) AS oldest, min(q.error) AS error, min(q.app) AS app
FROM (
    SELECT j.parked_at, left(j.error, 200) AS error, j.app_name::text AS app
    FROM :"schema".consolidation_jobs AS j
    WHERE j.parked_at IS NOT NULL AND j.status = 'failed'
    LIMIT %(most)s::integer
) AS q;

-- name: waiting_jobs
-- params: most
-- returns: how many jobs are due and nobody works on, the oldest first; those of users who may not be worked
--   on do not count
SELECT count(*)::integer AS waiting, min(q.next_attempt_at) AS oldest, min(q.app) AS app,
    COALESCE(extract(epoch FROM clock_timestamp() - min(q.next_attempt_at)), 0)::double precision AS oldest_s
FROM (
    SELECT j.next_attempt_at, j.app_name::text AS app
    FROM :"schema".consolidation_jobs AS j
    LEFT JOIN :"schema".users AS u ON u.user_id = j.user_id AND u.app_name = j.app_name
    WHERE j.status = 'pending' AND j.next_attempt_at <= clock_timestamp()
        AND u.paused_at IS NULL AND u.held_at IS NULL AND u.erasing_since IS NULL
    ORDER BY j.next_attempt_at
    LIMIT %(most)s::integer
) AS q;

-- name: active_model
-- params: app_name
SELECT m.id, m.provider, m.model, m.version, m.dims
FROM :"schema".embedding_models AS m
WHERE m.app_name = %(app_name)s::varchar AND m.status = 'active';

-- name: has_vectors
-- params: app_name
SELECT EXISTS (
    SELECT 1 FROM :"schema".memory_vectors AS v WHERE v.app_name = %(app_name)s::varchar
) AS has_vectors;

-- name: answers
-- params: age_days, accesses
-- returns: what some managed functions say to questions whose answers are known
SELECT
    (SELECT array_agg(w.term ORDER BY w.term COLLATE "C")
     FROM :"schema".search_terms('the doctors checked 记忆') AS w) AS terms,
    :"schema".calculate_retention_score(
        p_access_count => %(accesses)s::integer,
        p_last_accessed_at => now() - %(age_days)s::double precision * interval '24 hours',
        p_created_at => now() - %(age_days)s::double precision * interval '24 hours',
        p_memory_type => 'episodic',
        p_decay_lambda => 0.1::double precision) AS retention,
    :"schema".rrf_score(1, 60) AS fused;

-- name: managed_jobs
-- returns: the jobs that negmem recorded as its own
SELECT o.name, o.app_name, o.job_id, o.database_name, o.owner_name, o.installed_at,
    extract(epoch FROM now() - o.installed_at)::double precision AS age_s
FROM :"schema".managed_objects AS o
WHERE o.kind = 'job'
ORDER BY o.name;

-- name: last_runs
-- returns: of each job, the last run that has ended; the index by job is skipped through
WITH RECURSIVE jobs AS (
    (SELECT x.job FROM :"schema".automation_runs AS x ORDER BY x.job LIMIT 1)
    UNION ALL
    SELECT (SELECT x.job FROM :"schema".automation_runs AS x WHERE x.job > j.job ORDER BY x.job LIMIT 1)
    FROM jobs AS j
    WHERE j.job IS NOT NULL
)
SELECT r.job, r.app_name::text AS app, r.status, r.message, r.source, r.finished_at
FROM jobs AS j
CROSS JOIN LATERAL (
    SELECT x.job, x.app_name, x.status, x.message, x.source, x.finished_at
    FROM :"schema".automation_runs AS x
    WHERE x.job = j.job AND x.status IN ('succeeded', 'failed', 'cancelled')
    ORDER BY x.started_at DESC
    LIMIT 1
) AS r
ORDER BY 1;

-- name: cron_jobs
-- params: names
-- returns: the jobs of these names that this role may see, in the database of pg_cron
SELECT j.jobid AS job_id, j.jobname::text AS name, j.schedule::text AS schedule,
    j.command::text AS command, j.database::text AS database, j.username::text AS owner, j.active
FROM cron.job AS j
WHERE j.jobname = ANY (%(names)s::text[])
ORDER BY j.jobname, j.jobid;

-- name: cron_last_runs
-- params: job_ids, most
-- returns: of each job the latest run among the latest runs of all (the log has no index by job)
SELECT DISTINCT ON (r.jobid) r.jobid AS job_id, r.status::text AS status,
    left(r.return_message::text, 300) AS message, r.start_time, r.end_time,
    extract(epoch FROM now() - r.start_time)::double precision AS age_s
FROM (
    SELECT d.jobid, d.runid, d.status, d.return_message, d.start_time, d.end_time
    FROM cron.job_run_details AS d
    ORDER BY d.runid DESC
    LIMIT %(most)s::integer
) AS r
WHERE r.jobid = ANY (%(job_ids)s::bigint[]) AND r.start_time IS NOT NULL
ORDER BY r.jobid, r.runid DESC;

-- name: cron_history
-- returns: size and age of pg_cron's run log, from the catalog and its first row
SELECT pg_total_relation_size(c.oid) AS bytes, greatest(c.reltuples, 0)::bigint AS estimated_rows,
    (SELECT d.start_time FROM cron.job_run_details AS d ORDER BY d.runid LIMIT 1) AS oldest
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = 'cron' AND c.relname = 'job_run_details';

-- name: search_once
-- params: user_id, app_name, dims
-- returns: at most one row; that it returns at all is what is looked at. Without a model by words alone
SELECT s.kind, s.search_level
FROM :"schema".search_items(
    p_user_id => %(user_id)s::text,
    p_app_name => %(app_name)s::text,
    p_query => 'doctor 记忆',
    p_embedding => (
        SELECT array_agg(0.05::real) FROM generate_series(1, %(dims)s::integer)
    ):::"vector_schema".vector,
    p_limit => 1) AS s;

-- name: compiles
-- returns: whether this server compiles costly queries
SELECT pg_jit_available() AND current_setting('jit')::boolean AS compiles;
