-- What `negmem report` reads beside doctor, diff and metrics. Every statement is bounded: tables that may be
-- large are read through a sample of their pages, whose share is given in percent (100: all of them).

-- name: about
-- params: app_name
-- returns: the clock, when negmem was installed here, and the apps that have a config of their own
SELECT now() AS now, (SELECT i.created_at FROM :"schema".installation AS i) AS installed_at,
    ARRAY(SELECT c.app_name::text FROM :"schema".memory_automation_configs AS c
        WHERE c.app_name <> %(app_name)s::varchar ORDER BY c.app_name LIMIT 100) AS other_apps;

-- name: tables
-- params: schema
-- returns: the tables of the schema by size; `pages` are those of the table itself
SELECT c.relname::text AS name, pg_relation_size(c.oid) AS table_bytes, pg_indexes_size(c.oid) AS index_bytes,
    pg_total_relation_size(c.oid) AS total_bytes,
    CASE WHEN c.reltuples >= 0 THEN c.reltuples::bigint END AS estimated_rows,
    pg_relation_size(c.oid) / current_setting('block_size')::bigint AS pages
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = %(schema)s::name AND c.relkind = 'r'
ORDER BY 4 DESC, 1;

-- name: growth
-- params: app_name, since, memories_percent, events_percent, facts_percent
-- returns: a row a day (UTC) on which something was stored or removed
SELECT d.day, sum(d.turns)::bigint AS turns, sum(d.memories)::bigint AS memories, sum(d.facts)::bigint AS facts,
    sum(d.removed)::bigint AS removed
FROM (
    SELECT (e.created_at AT TIME ZONE 'UTC')::date AS day, count(*) AS turns, 0 AS memories, 0 AS facts,
        0 AS removed
    FROM :"schema".events AS e TABLESAMPLE SYSTEM (%(events_percent)s::float8) REPEATABLE (1)
    WHERE e.app_name = %(app_name)s::varchar AND e.created_at >= %(since)s::timestamptz
        AND e.created_at <= now()
    GROUP BY 1
    UNION ALL
    SELECT (m.created_at AT TIME ZONE 'UTC')::date, 0, count(*), 0, 0
    FROM :"schema".memories AS m TABLESAMPLE SYSTEM (%(memories_percent)s::float8) REPEATABLE (1)
    WHERE m.app_name = %(app_name)s::varchar AND m.created_at >= %(since)s::timestamptz
        AND m.created_at <= now()
    GROUP BY 1
    UNION ALL
    SELECT (f.created_at AT TIME ZONE 'UTC')::date, 0, 0, count(*), 0
    FROM :"schema".facts AS f TABLESAMPLE SYSTEM (%(facts_percent)s::float8) REPEATABLE (1)
    WHERE f.app_name = %(app_name)s::varchar AND f.created_at >= %(since)s::timestamptz
        AND f.created_at <= now()
    GROUP BY 1
    UNION ALL
    SELECT (m.deleted_at AT TIME ZONE 'UTC')::date, 0, 0, 0, count(*)
    FROM :"schema".memories AS m TABLESAMPLE SYSTEM (%(memories_percent)s::float8) REPEATABLE (1)
    WHERE m.app_name = %(app_name)s::varchar AND m.deleted_at >= %(since)s::timestamptz
        AND m.deleted_at <= now()
    GROUP BY 1
) AS d
GROUP BY d.day
ORDER BY d.day;

-- name: stock
-- params: app_name, percent
-- returns: a row a type of memory, the most frequent first
SELECT m.memory_type::text AS type,
    count(*) FILTER (WHERE m.deleted_at IS NULL) AS live,
    count(*) FILTER (WHERE m.deleted_at IS NULL AND m.pinned_at IS NOT NULL) AS pinned,
    count(*) FILTER (WHERE m.deleted_at IS NOT NULL) AS removed
FROM :"schema".memories AS m TABLESAMPLE SYSTEM (%(percent)s::float8) REPEATABLE (1)
WHERE m.app_name = %(app_name)s::varchar
GROUP BY 1
ORDER BY 2 DESC, 1;

-- name: owners
-- params: app_name, percent
-- returns: how many indexed memories users have: how many such users, the middle one, the largest
SELECT count(*) AS users, percentile_disc(0.5) WITHIN GROUP (ORDER BY s.documents) AS median,
    percentile_disc(0.95) WITHIN GROUP (ORDER BY s.documents) AS p95, max(s.documents) AS most
FROM :"schema".memory_term_stats AS s TABLESAMPLE SYSTEM (%(percent)s::float8) REPEATABLE (1)
WHERE s.app_name = %(app_name)s::varchar AND s.documents > 0;

-- name: largest_owners
-- params: app_name, percent, row_limit
SELECT s.user_id::text AS user, s.documents AS memories
FROM :"schema".memory_term_stats AS s TABLESAMPLE SYSTEM (%(percent)s::float8) REPEATABLE (1)
WHERE s.app_name = %(app_name)s::varchar AND s.documents > 0
ORDER BY s.documents DESC, s.user_id
LIMIT %(row_limit)s::integer;

-- name: retention
-- params: app_name, percent, threshold, min_age_days, decay_lambda, keep_importance, days, bins
-- returns: live memories by type and score now (`bin` 1..bins, `day` null), and by type and the day from now on
--   which they may be forgotten (`bin` null, `day` null: not within the days, or never)
WITH live AS (
    SELECT m.memory_type::text AS type, m.content, m.access_count, m.last_accessed_at, m.created_at,
        m.importance_score, :"schema".retention_decay_override(m.metadata) AS decay_override,
        :"schema".related_count(m.user_id::text, m.app_name::text, m.thread_id, m.id) AS related,
        m.pinned_at IS NOT NULL OR m.memory_type = 'core' OR u.held_at IS NOT NULL
            OR u.erasing_since IS NOT NULL AS is_kept
    FROM :"schema".memories AS m TABLESAMPLE SYSTEM (%(percent)s::float8) REPEATABLE (1)
    LEFT JOIN :"schema".users AS u ON u.user_id = m.user_id AND u.app_name = m.app_name
    WHERE m.app_name = %(app_name)s::varchar AND m.deleted_at IS NULL
),
scored AS MATERIALIZED (
    SELECT l.type, l.content,
        :"schema".calculate_retention_score(l.access_count, l.last_accessed_at, l.created_at, l.type,
            l.related, l.decay_override, now(), %(decay_lambda)s::float8) AS score,
        CASE WHEN NOT l.is_kept THEN
            :"schema".retention_fades_at(l.access_count, l.last_accessed_at, l.created_at, l.type, l.related,
                l.decay_override, l.importance_score, %(threshold)s::float8, %(decay_lambda)s::float8,
                %(min_age_days)s::integer, %(keep_importance)s::float8) END AS goes_at
    FROM live AS l
),
placed AS (
    SELECT s.type, s.score, width_bucket(LEAST(s.score, 0.999999), 0, 1, %(bins)s::integer) AS bin,
        CASE WHEN s.goes_at <= now() + %(days)s::integer * interval '24 hours' THEN
            ceil(extract(epoch FROM GREATEST(s.goes_at, now()) - now()) / 86400)::integer END AS day,
        CASE WHEN s.goes_at <= now() + %(days)s::integer * interval '24 hours' THEN
            :"schema".estimate_tokens(s.content) END AS tokens
    FROM scored AS s
)
SELECT p.type, p.bin, p.day, grouping(p.bin) = 0 AS is_score, count(*) AS memories,
    COALESCE(sum(p.score), 0)::float8 AS score_sum,
    count(*) FILTER (WHERE p.score < %(threshold)s::float8) AS under, COALESCE(sum(p.tokens), 0)::bigint AS tokens
FROM placed AS p
GROUP BY GROUPING SETS ((p.type, p.bin), (p.type, p.day))
ORDER BY is_score DESC, p.type, p.bin, p.day;

-- name: searches
-- params: app_name, since, percent
-- returns: a row a day (UTC) with searches; repeats and further pages of a query are left out, recalls too
SELECT (l.created_at AT TIME ZONE 'UTC')::date AS day, count(*) AS searches,
    count(*) FILTER (WHERE cardinality(l.retrieved_memory_ids)
        + cardinality(COALESCE(l.retrieved_fact_ids, '{}')) = 0) AS empty,
    count(*) FILTER (WHERE EXISTS (
        SELECT 1 FROM jsonb_array_elements(l.fallbacks) AS step (value)
        WHERE step.value ->> 'code' IS DISTINCT FROM 'embedder_disabled')) AS fell,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY l.latency_ms) AS p50_ms,
    percentile_cont(0.95) WITHIN GROUP (ORDER BY l.latency_ms) AS p95_ms,
    count(*) FILTER (WHERE l.budget_tokens IS NOT NULL) AS contexts,
    COALESCE(sum(l.used_tokens) FILTER (WHERE l.budget_tokens IS NOT NULL), 0)::bigint AS context_tokens
FROM :"schema".memory_retrieval_logs AS l TABLESAMPLE SYSTEM (%(percent)s::float8) REPEATABLE (1)
WHERE l.app_name = %(app_name)s::varchar AND l.created_at >= %(since)s::timestamptz AND l.created_at <= now()
    AND l.search_level IS DISTINCT FROM 'recall' AND l.counted
GROUP BY 1
ORDER BY 1;

-- name: jobs
-- params: app_name, since, percent
-- returns: a row a day (UTC) with jobs that ended, and what they took of the language model
SELECT (COALESCE(j.completed_at, j.parked_at, j.created_at) AT TIME ZONE 'UTC')::date AS day,
    count(*) FILTER (WHERE j.status = 'completed') AS done, count(*) FILTER (WHERE j.status = 'failed') AS failed,
    COALESCE(sum((used.llm ->> 'calls')::bigint), 0)::bigint AS calls,
    COALESCE(sum((used.llm ->> 'prompt_tokens')::bigint), 0)::bigint AS prompt_tokens,
    COALESCE(sum((used.llm ->> 'completion_tokens')::bigint), 0)::bigint AS completion_tokens,
    COALESCE(sum((used.llm ->> 'fallbacks')::bigint), 0)::bigint AS fallbacks,
    sum((used.llm ->> 'cost_usd')::float8) AS cost_usd,
    COALESCE(sum((used.llm ->> 'calls')::bigint) FILTER (WHERE used.llm ->> 'cost_usd' IS NULL), 0)::bigint
        AS unpriced_calls
FROM :"schema".consolidation_jobs AS j TABLESAMPLE SYSTEM (%(percent)s::float8) REPEATABLE (1)
CROSS JOIN LATERAL (SELECT j.result -> 'llm' AS llm) AS used
WHERE j.app_name = %(app_name)s::varchar AND j.status IN ('completed', 'failed')
    AND COALESCE(j.completed_at, j.parked_at, j.created_at) >= %(since)s::timestamptz
GROUP BY 1
ORDER BY 1;

-- name: topic_totals
-- params: app_name, percent
SELECT count(*) AS topics, count(DISTINCT t.user_id) AS users, COALESCE(sum(t.member_count), 0)::bigint AS memories,
    COALESCE(max(t.member_count), 0) AS largest
FROM :"schema".memory_topics AS t TABLESAMPLE SYSTEM (%(percent)s::float8) REPEATABLE (1)
WHERE t.app_name = %(app_name)s::varchar AND t.member_count >= 2;

-- name: topic_words
-- params: app_name, percent, min_users, row_limit
-- returns: words in the labels of so many users' topics that they tell of none of them
SELECT w.word, count(DISTINCT t.user_id) AS users, sum(t.member_count)::bigint AS memories
FROM :"schema".memory_topics AS t TABLESAMPLE SYSTEM (%(percent)s::float8) REPEATABLE (1)
CROSS JOIN LATERAL (SELECT DISTINCT unnest(string_to_array(t.label, '_')) AS word) AS w
WHERE t.app_name = %(app_name)s::varchar AND t.member_count >= 2 AND w.word NOT IN ('', 'topic')
GROUP BY w.word
HAVING count(DISTINCT t.user_id) >= %(min_users)s::integer
ORDER BY 3 DESC, 2 DESC, 1
LIMIT %(row_limit)s::integer;

-- name: topics
-- params: app_name, percent, row_limit
-- returns: the largest topics, with the users whose they are
SELECT t.user_id::text AS user, t.label::text AS label, t.member_count AS memories, t.created_at, t.updated_at
FROM :"schema".memory_topics AS t TABLESAMPLE SYSTEM (%(percent)s::float8) REPEATABLE (1)
WHERE t.app_name = %(app_name)s::varchar AND t.member_count >= 2
ORDER BY t.member_count DESC, t.updated_at DESC, t.id
LIMIT %(row_limit)s::integer;
