-- Forgetting: what is due and when, one memory's curve, and the final removal.

-- name: settings
-- params: app_name
-- returns: the app's stored config, and whether it is the main app's; no row for an app without one
SELECT c.config, c.is_main
FROM :"schema".memory_automation_configs AS c
WHERE c.app_name = %(app_name)s::varchar;

-- name: user_known
-- params: app_name, user_id
SELECT u.held_at IS NOT NULL AS is_held, u.erasing_since IS NOT NULL AS is_erasing
FROM :"schema".users AS u
WHERE u.user_id = %(user_id)s::varchar AND u.app_name = %(app_name)s::varchar
UNION ALL
(SELECT false, false FROM :"schema".memories AS m
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar
LIMIT 1)
LIMIT 1;

-- name: sweep
-- params: threshold, min_age_days, decay_lambda, app_argument, max_share, max_rows, user_id
-- returns: how many memories one call forgot
SELECT :"schema".cleanup_low_value_memories(%(threshold)s::float8, %(min_age_days)s::integer,
    %(decay_lambda)s::float8, %(app_argument)s::text, %(max_share)s::float8, %(max_rows)s::integer,
    %(user_id)s::text) AS forgotten;

-- name: forecast
-- params: threshold, min_age_days, decay_lambda, keep_importance, app_argument, user_id, days, max_share
-- returns: a row a user: how many may go within the days, their tokens, how many of them may go today
-- What a queued search has found counts as read. The log is named here too: who may not read it is refused whoever waits.
WITH owners AS MATERIALIZED (
    SELECT o.user_id, o.app_name, o.keep_importance, o.is_current
    FROM :"schema".retention_owners(%(app_argument)s::text, %(user_id)s::text, %(threshold)s::float8,
        %(min_age_days)s::integer, %(decay_lambda)s::float8,
        now() + %(days)s::integer * interval '24 hours', %(keep_importance)s::float8) AS o
),
read AS MATERIALIZED (
    SELECT o.user_id, o.app_name, o.keep_importance, r.id, r.access_count, r.last_accessed_at, r.importance_score,
        r.memory_type, r.created_at, r.metadata, r.thread_id
    FROM owners AS o
    CROSS JOIN LATERAL :"schema".retention_reads(o.user_id, o.app_name) AS r
    WHERE EXISTS (
        SELECT 1 FROM :"schema".memory_retrieval_logs AS l
        WHERE l.user_id = o.user_id AND l.app_name = o.app_name AND l.applied_at IS NULL AND l.counted)
),
due AS (
    SELECT o.user_id, o.app_name, d.id
    FROM owners AS o
    CROSS JOIN LATERAL :"schema".retention_due(o.user_id, o.app_name, %(threshold)s::float8,
        %(min_age_days)s::integer, %(decay_lambda)s::float8, o.keep_importance,
        now() + %(days)s::integer * interval '24 hours', o.is_current) AS d
    WHERE NOT EXISTS (
        SELECT 1 FROM read AS r
        WHERE r.user_id = o.user_id AND r.app_name = o.app_name AND r.id = d.id)
    UNION ALL
    SELECT r.user_id, r.app_name, r.id
    FROM read AS r
    WHERE :"schema".retention_fades_at(r.access_count, r.last_accessed_at, r.created_at, r.memory_type,
        :"schema".related_count(r.user_id, r.app_name, r.thread_id, r.id),
        :"schema".retention_decay_override(r.metadata), r.importance_score, %(threshold)s::float8,
        %(decay_lambda)s::float8, %(min_age_days)s::integer, r.keep_importance)
            <= now() + %(days)s::integer * interval '24 hours'
),
counted AS (
    SELECT d.user_id, d.app_name, count(*) AS due, sum(:"schema".estimate_tokens(m.content)) AS tokens
    FROM due AS d
    JOIN :"schema".memories AS m ON m.user_id = d.user_id AND m.app_name = d.app_name AND m.id = d.id
    GROUP BY d.user_id, d.app_name
)
SELECT c.user_id::text AS user, c.app_name::text AS app, c.due, c.tokens::bigint AS tokens,
    LEAST(c.due, COALESCE(:"schema".retention_allowance(c.user_id::text, c.app_name::text,
        %(max_share)s::float8, c.due), c.due)) AS today
FROM counted AS c
ORDER BY c.due DESC, c.user_id, c.app_name;

-- name: forecast_items
-- params: threshold, min_age_days, decay_lambda, keep_importance, app_argument, user_id, days, row_limit
-- returns: the memories that may go within the days, what goes first first
WITH owners AS MATERIALIZED (
    SELECT o.user_id, o.app_name, o.keep_importance, o.is_current
    FROM :"schema".retention_owners(%(app_argument)s::text, %(user_id)s::text, %(threshold)s::float8,
        %(min_age_days)s::integer, %(decay_lambda)s::float8,
        now() + %(days)s::integer * interval '24 hours', %(keep_importance)s::float8) AS o
),
read AS MATERIALIZED (
    SELECT o.user_id, o.app_name, o.keep_importance, r.id, r.access_count, r.last_accessed_at, r.importance_score,
        r.memory_type, r.created_at, r.metadata, r.thread_id
    FROM owners AS o
    CROSS JOIN LATERAL :"schema".retention_reads(o.user_id, o.app_name) AS r
    WHERE EXISTS (
        SELECT 1 FROM :"schema".memory_retrieval_logs AS l
        WHERE l.user_id = o.user_id AND l.app_name = o.app_name AND l.applied_at IS NULL AND l.counted)
),
chosen AS (
    SELECT o.user_id, o.app_name, d.id
    FROM owners AS o
    CROSS JOIN LATERAL :"schema".retention_due(o.user_id, o.app_name, %(threshold)s::float8,
        %(min_age_days)s::integer, %(decay_lambda)s::float8, o.keep_importance,
        now() + %(days)s::integer * interval '24 hours', o.is_current) AS d
    WHERE NOT EXISTS (
        SELECT 1 FROM read AS r
        WHERE r.user_id = o.user_id AND r.app_name = o.app_name AND r.id = d.id)
    UNION ALL
    SELECT r.user_id, r.app_name, r.id
    FROM read AS r
    WHERE :"schema".retention_fades_at(r.access_count, r.last_accessed_at, r.created_at, r.memory_type,
        :"schema".related_count(r.user_id, r.app_name, r.thread_id, r.id),
        :"schema".retention_decay_override(r.metadata), r.importance_score, %(threshold)s::float8,
        %(decay_lambda)s::float8, %(min_age_days)s::integer, r.keep_importance)
            <= now() + %(days)s::integer * interval '24 hours'
),
due AS (
    SELECT m.id, m.user_id, m.app_name, m.memory_type, m.content, m.created_at,
        COALESCE(r.last_accessed_at, m.last_accessed_at) AS last_accessed_at,
        COALESCE(r.access_count, m.access_count) AS access_count, m.metadata,
        COALESCE(r.importance_score, m.importance_score) AS importance_score,
        :"schema".related_count(m.user_id, m.app_name, m.thread_id, m.id) AS related
    FROM chosen AS c
    JOIN :"schema".memories AS m ON m.user_id = c.user_id AND m.app_name = c.app_name AND m.id = c.id
    LEFT JOIN read AS r ON r.user_id = c.user_id AND r.app_name = c.app_name AND r.id = c.id
)
SELECT d.id, d.user_id::text AS user, d.app_name::text AS app, d.memory_type::text AS type, d.content,
    LEAST(GREATEST(d.created_at, '0001-01-03 00:00+00'), '9999-12-29 00:00+00') AS created_at,
    LEAST(GREATEST(d.last_accessed_at, '0001-01-03 00:00+00'), '9999-12-29 00:00+00') AS last_accessed_at,
    d.access_count, d.related, d.importance_score AS importance,
    :"schema".estimate_tokens(d.content) AS tokens,
    :"schema".calculate_retention_score(d.access_count, d.last_accessed_at, d.created_at, d.memory_type,
        d.related, :"schema".retention_decay_override(d.metadata), now(),
        %(decay_lambda)s::float8) AS score,
    GREATEST(now(), LEAST(now() + %(days)s::integer * interval '24 hours',
        :"schema".retention_fades_at(d.access_count, d.last_accessed_at, d.created_at, d.memory_type,
            d.related, :"schema".retention_decay_override(d.metadata), d.importance_score,
            %(threshold)s::float8, %(decay_lambda)s::float8, %(min_age_days)s::integer,
            %(keep_importance)s::float8))) AS goes_at
FROM due AS d
ORDER BY goes_at, d.created_at, d.id
LIMIT %(row_limit)s::integer;

-- name: memory
-- params: app_name, user_id, id
-- returns: what the score of one memory is made of, live or removed
SELECT m.id, m.user_id::text AS user, m.memory_type::text AS type, m.content, m.access_count, m.metadata,
    LEAST(GREATEST(m.created_at, '0001-01-03 00:00+00'), '9999-12-29 00:00+00') AS created_at,
    LEAST(GREATEST(m.last_accessed_at, '0001-01-03 00:00+00'), '9999-12-29 00:00+00') AS last_accessed_at,
    :"schema".related_count(m.user_id, m.app_name, m.thread_id, m.id) AS related,
    m.importance_score AS importance, m.pinned_at, m.deleted_at, m.deleted_reason,
    u.held_at IS NOT NULL AS is_held, now() AS now,
    :"schema".retention_decay_override(m.metadata) AS decay_override
FROM :"schema".memories AS m
LEFT JOIN :"schema".users AS u ON u.user_id = m.user_id AND u.app_name = m.app_name
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.id = %(id)s::uuid;

-- name: purgeable
-- params: app_name, user_id, window_days, log_days
-- returns: a row a user: removed memories whose window is over, and searches that are too old
SELECT o.user_id::text AS user, o.is_held,
    (SELECT count(*) FROM :"schema".memories AS m
        WHERE m.user_id = o.user_id AND m.app_name = %(app_name)s::varchar AND m.deleted_at IS NOT NULL
            AND m.pinned_at IS NULL
            AND m.deleted_at <= now() - LEAST(%(window_days)s::integer, 365000) * interval '24 hours') AS memories,
    (SELECT count(*) FROM :"schema".memories AS m
        WHERE m.user_id = o.user_id AND m.app_name = %(app_name)s::varchar AND m.deleted_at IS NOT NULL)
        AS removed,
    (SELECT count(*) FROM :"schema".memory_retrieval_logs AS l
        WHERE l.user_id = o.user_id AND l.app_name = %(app_name)s::varchar AND l.applied_at IS NOT NULL
            AND l.created_at <= now() - %(log_days)s::integer * interval '24 hours') AS retrieval_logs
FROM (
    SELECT u.user_id, u.held_at IS NOT NULL OR u.erasing_since IS NOT NULL AS is_held
    FROM :"schema".users AS u
    WHERE u.app_name = %(app_name)s::varchar
        AND (%(user_id)s::varchar IS NULL OR u.user_id = %(user_id)s::varchar)
    UNION
    SELECT m.user_id, false
    FROM :"schema".memories AS m
    WHERE m.app_name = %(app_name)s::varchar AND m.deleted_at IS NOT NULL
        AND (%(user_id)s::varchar IS NULL OR m.user_id = %(user_id)s::varchar)
        AND NOT EXISTS (SELECT 1 FROM :"schema".users AS u
            WHERE u.user_id = m.user_id AND u.app_name = m.app_name)
) AS o
ORDER BY o.user_id;

-- name: purge_memories
-- params: user_id, app_name, window_days, max_rows, actor
SELECT :"schema".purge_memories(%(user_id)s::text, %(app_name)s::text, %(window_days)s::integer,
    %(max_rows)s::integer, %(actor)s::text) AS gone;

-- name: purge_retrieval_logs
-- params: user_id, app_name, days, max_rows
SELECT :"schema".purge_retrieval_logs(%(user_id)s::text, %(app_name)s::text, %(days)s::integer,
    %(max_rows)s::integer) AS gone;

-- name: expired
-- params: app_name, user_id, window_days, job_days
-- returns: rows that are over their lifetime, by owner and table
WITH due AS MATERIALIZED (
    SELECT now() - LEAST(%(window_days)s::integer, 365000) * interval '24 hours' AS removed,
        now() - LEAST(%(job_days)s::integer, 365000) * interval '24 hours' AS ended
),
owners AS (
    SELECT 'user' AS owner_kind, f.user_id AS owner FROM due, :"schema".facts AS f
    WHERE f.app_name = %(app_name)s::varchar AND f.deleted_at <= due.removed
    UNION SELECT 'user', d.user_id FROM due, :"schema".decisions AS d
    WHERE d.app_name = %(app_name)s::varchar AND d.deleted_at <= due.removed
    UNION SELECT 'user', j.user_id FROM due, :"schema".consolidation_jobs AS j
    WHERE j.app_name = %(app_name)s::varchar AND j.status IN ('completed', 'cancelled')
        AND COALESCE(j.completed_at, j.created_at) <= due.ended
    UNION SELECT 'user', c.user_id FROM :"schema".memory_preload_cache AS c
    WHERE c.app_name = %(app_name)s::varchar AND c.expires_at <= now()
    UNION SELECT 'user', t.user_id FROM :"schema".tool_calls AS t
    WHERE t.app_name = %(app_name)s::varchar AND t.window_start < now() - interval '24 hours'
    UNION SELECT l.owner_kind, l.owner FROM due, :"schema".learnings AS l
    WHERE l.app_name = %(app_name)s::varchar AND l.deleted_at <= due.removed
    UNION SELECT e.owner_kind, e.owner FROM due, :"schema".entities AS e
    WHERE e.app_name = %(app_name)s::varchar AND e.deleted_at <= due.removed
    UNION SELECT e.owner_kind, e.owner FROM due, :"schema".entity_facts AS e
    WHERE e.app_name = %(app_name)s::varchar AND e.deleted_at <= due.removed
    UNION SELECT e.owner_kind, e.owner FROM due, :"schema".entity_events AS e
    WHERE e.app_name = %(app_name)s::varchar AND e.deleted_at <= due.removed
    UNION SELECT e.owner_kind, e.owner FROM due, :"schema".entity_relations AS e
    WHERE e.app_name = %(app_name)s::varchar AND e.deleted_at <= due.removed
    UNION SELECT p.owner_kind, p.owner FROM due, :"schema".proposals AS p
    WHERE p.app_name = %(app_name)s::varchar AND p.status NOT IN ('approved', 'edited')
        AND COALESCE(p.decided_at, p.expires_at) <= due.removed
)
SELECT o.owner_kind::text AS owner_kind, o.owner::text AS owner, p.table_name AS table, p.gone AS rows
FROM owners AS o
CROSS JOIN LATERAL :"schema".purge_expired(o.owner_kind::text, o.owner::text, %(app_name)s::text, %(window_days)s::integer,
    %(job_days)s::integer, 1, true) AS p
WHERE %(user_id)s::varchar IS NULL OR o.owner_kind = 'user' AND o.owner = %(user_id)s::varchar
ORDER BY o.owner_kind, o.owner, p.table_name;

-- name: purge_expired
-- params: owner_kind, owner, app_name, window_days, job_days, max_rows, actor
SELECT p.table_name AS table, p.gone AS rows
FROM :"schema".purge_expired(%(owner_kind)s::text, %(owner)s::text, %(app_name)s::text, %(window_days)s::integer,
    %(job_days)s::integer, %(max_rows)s::integer, false, %(actor)s::text) AS p;
