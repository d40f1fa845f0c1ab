-- What the memory is worth: figures over windows of the logs, and of what stands.

-- name: clock
SELECT now() AS now;

-- name: config
-- params: app_name
-- returns: the automation document that runs for the app: its own, else the main app's
SELECT c.config
FROM :"schema".memory_automation_configs AS c
WHERE c.app_name = %(app_name)s::varchar OR c.is_main
ORDER BY c.app_name = %(app_name)s::varchar DESC
LIMIT 1;

-- name: searches
-- params: app_name, user_id, since, until
-- returns: one row on what was asked within [since, until); a repeat or a page of a query is no question of its own
WITH asked AS (
    -- The items hold also what is neither memory nor fact, and what a context found but had no room for.
    SELECT l.*, GREATEST(cardinality(l.retrieved_memory_ids) + cardinality(COALESCE(l.retrieved_fact_ids, '{}')),
            jsonb_array_length(l.items)) AS hits,
        row_number() OVER (PARTITION BY l.user_id, lower(btrim(l.query)) ORDER BY l.created_at) > 1 AS is_repeat
    FROM :"schema".memory_retrieval_logs AS l
    WHERE l.app_name = %(app_name)s::varchar AND (%(user_id)s::text IS NULL OR l.user_id = %(user_id)s::text)
        AND l.created_at >= %(since)s::timestamptz AND l.created_at < %(until)s::timestamptz
        AND l.search_level IS DISTINCT FROM 'recall' AND l.counted
)
SELECT count(*)::integer AS searches,
    count(*) FILTER (WHERE a.budget_tokens IS NOT NULL)::integer AS contexts,
    count(*) FILTER (WHERE a.hits = 0)::integer AS zero_hits,
    -- Embedding that is switched off is a choice, no fall.
    count(*) FILTER (WHERE EXISTS (
        SELECT 1 FROM jsonb_array_elements(a.fallbacks) AS step (value)
        WHERE step.value ->> 'code' IS DISTINCT FROM 'embedder_disabled'))::integer AS fell,
    count(*) FILTER (WHERE a.is_repeat)::integer AS repeats,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY a.latency_ms) AS p50,
    percentile_cont(0.95) WITHIN GROUP (ORDER BY a.latency_ms) AS p95,
    avg(a.used_tokens::float8 / NULLIF(a.budget_tokens, 0)) AS utilization
FROM asked AS a;

-- name: fallbacks
-- params: app_name, user_id, since, until
-- returns: how often each reason led to a lower level
SELECT step.value ->> 'code' AS code, count(*)::integer AS times
FROM :"schema".memory_retrieval_logs AS l
CROSS JOIN LATERAL jsonb_array_elements(l.fallbacks) AS step (value)
WHERE l.app_name = %(app_name)s::varchar AND (%(user_id)s::text IS NULL OR l.user_id = %(user_id)s::text)
    AND l.created_at >= %(since)s::timestamptz AND l.created_at < %(until)s::timestamptz
    AND l.search_level IS DISTINCT FROM 'recall' AND l.counted
GROUP BY 1
ORDER BY 2 DESC, 1;

-- name: feedback
-- params: app_name, user_id, since, until
-- returns: one row on the feedback given within [since, until); items count on the retrievals that it is about
WITH given AS (
    SELECT f.*
    FROM :"schema".retrieval_feedback AS f
    WHERE f.app_name = %(app_name)s::varchar AND (%(user_id)s::text IS NULL OR f.user_id = %(user_id)s::text)
        AND f.created_at >= %(since)s::timestamptz AND f.created_at < %(until)s::timestamptz
),
judged AS (
    SELECT l.reference_count AS used,
        cardinality(l.retrieved_memory_ids) + cardinality(COALESCE(l.retrieved_fact_ids, '{}')) AS returned
    FROM (SELECT DISTINCT g.user_id, g.app_name, g.retrieval_id FROM given AS g) AS r
    JOIN :"schema".memory_retrieval_logs AS l
        ON l.user_id = r.user_id AND l.app_name = r.app_name AND l.id = r.retrieval_id
)
SELECT count(*)::integer AS given,
    count(*) FILTER (WHERE g.outcome = 'helpful')::integer AS helpful,
    count(*) FILTER (WHERE g.outcome = 'irrelevant')::integer AS irrelevant,
    count(*) FILTER (WHERE g.outcome = 'harmful')::integer AS harmful,
    count(g.rating)::integer AS ratings,
    count(*) FILTER (WHERE g.rating >= 4)::integer AS good_ratings,
    avg(g.rating)::float8 AS rating,
    (avg(g.rating) FILTER (WHERE cardinality(g.used_ids) > 0))::float8 AS rating_with_memory,
    (avg(g.rating) FILTER (WHERE cardinality(g.used_ids) = 0))::float8 AS rating_without,
    COALESCE((SELECT sum(j.used) FROM judged AS j), 0)::integer AS items_used,
    COALESCE((SELECT sum(j.returned) FROM judged AS j), 0)::integer AS items_returned
FROM given AS g;

-- name: runs
-- params: app_name, since, until
-- returns: how the jobs of the app ended; those of the main app carry no name
SELECT count(*) FILTER (WHERE r.status = 'succeeded')::integer AS succeeded,
    count(*) FILTER (WHERE r.status = 'failed')::integer AS failed
FROM :"schema".automation_runs AS r
WHERE (r.app_name IS NULL OR r.app_name = %(app_name)s::text)
    AND r.started_at >= %(since)s::timestamptz AND r.started_at < %(until)s::timestamptz;

-- name: size
-- returns: about how many memories there are in all apps, by the planner's statistics
SELECT GREATEST(0, c.reltuples)::bigint AS memories
FROM pg_class AS c
WHERE c.oid = to_regclass(format('%%I.memories', :'schema'));

-- name: stock
-- params: app_name, user_id, now
-- returns: one row on what stands
SELECT
    (SELECT count(*)::integer FROM :"schema".users AS u
     WHERE u.app_name = %(app_name)s::varchar AND (%(user_id)s::text IS NULL OR u.user_id = %(user_id)s::text)) AS users,
    (SELECT count(*)::integer FROM :"schema".users AS u
     WHERE u.app_name = %(app_name)s::varchar AND (%(user_id)s::text IS NULL OR u.user_id = %(user_id)s::text)
        AND EXISTS (
            SELECT 1 FROM :"schema".memories AS m
            WHERE m.user_id = u.user_id AND m.app_name = u.app_name AND m.deleted_at IS NULL)) AS users_with_memory,
    f.facts, f.valid_facts, m.memories, m.embedded, m.added_7, m.added_30
FROM (
    SELECT count(*)::integer AS facts,
        count(*) FILTER (WHERE x.status = 'active' AND (x.valid_until IS NULL OR x.valid_until > %(now)s::timestamptz)
            )::integer AS valid_facts
    FROM :"schema".facts AS x
    WHERE x.app_name = %(app_name)s::varchar AND (%(user_id)s::text IS NULL OR x.user_id = %(user_id)s::text)
        AND x.deleted_at IS NULL
) AS f
CROSS JOIN (
    SELECT count(*)::integer AS memories, count(v.memory_id)::integer AS embedded,
        count(*) FILTER (WHERE x.created_at > %(now)s::timestamptz - interval '168 hours')::integer AS added_7,
        count(*) FILTER (WHERE x.created_at > %(now)s::timestamptz - interval '720 hours')::integer AS added_30
    FROM :"schema".memories AS x
    LEFT JOIN :"schema".embedding_models AS e ON e.app_name = x.app_name AND e.status = 'active'
    LEFT JOIN :"schema".memory_vectors AS v
        ON v.user_id = x.user_id AND v.app_name = x.app_name AND v.memory_id = x.id AND v.model_id = e.id
    WHERE x.app_name = %(app_name)s::varchar AND (%(user_id)s::text IS NULL OR x.user_id = %(user_id)s::text)
        AND x.deleted_at IS NULL
) AS m;

-- name: has_model
-- params: app_name
SELECT 1 AS found FROM :"schema".embedding_models AS e
WHERE e.app_name = %(app_name)s::varchar AND e.status = 'active';

-- name: retention
-- params: app_name, user_id, percent
-- returns: the mean score now of live memories, over a sample of the table's pages
SELECT count(*)::integer AS memories, avg(:"schema".calculate_retention_score(m.access_count, m.last_accessed_at,
        m.created_at, m.memory_type::text,
        :"schema".related_count(m.user_id::text, m.app_name::text, m.thread_id, m.id),
        :"schema".retention_decay_override(m.metadata))) AS retention
FROM :"schema".memories AS m TABLESAMPLE SYSTEM (%(percent)s::float8) REPEATABLE (1)
WHERE m.app_name = %(app_name)s::varchar AND (%(user_id)s::text IS NULL OR m.user_id = %(user_id)s::text)
    AND m.deleted_at IS NULL;
