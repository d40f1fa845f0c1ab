-- Summaries: of a user, and of a thread; what they are made from, and whether that changed.

-- name: thread
-- params: user_id, app_name, thread
SELECT t.id
FROM :"schema".threads AS t
WHERE t.user_id = %(user_id)s::varchar AND t.app_name = %(app_name)s::varchar AND t.external_id = %(thread)s::text;

-- name: profile_memories
-- params: user_id, app_name, row_limit
-- returns: what the user said or was noted of the user, the best kept first; stored scores choose the candidates.
--   Reflections were made from memories: they are no source
SELECT c.id, c.version, c.content, c.occurred_at, c.speaker
FROM (
    SELECT m.id, m.version, m.content, m.occurred_at, m.created_at, m.metadata ->> 'speaker' AS speaker,
        :"schema".calculate_retention_score(m.access_count, m.last_accessed_at, m.created_at,
            m.memory_type::text, 0, :"schema".retention_decay_override(m.metadata)) AS retention
    FROM (
        SELECT one.id, one.version, one.content, one.occurred_at, one.created_at, one.metadata, one.access_count,
            one.last_accessed_at, one.memory_type
        FROM :"schema".memories AS one
        WHERE one.user_id = %(user_id)s::varchar AND one.app_name = %(app_name)s::varchar
            AND one.deleted_at IS NULL
            AND COALESCE(one.metadata ->> 'subtype', '') NOT IN ('reflection', 'insight')
            AND COALESCE(one.metadata ->> 'role', 'user') = 'user'
        ORDER BY one.retention_score DESC, one.occurred_at DESC NULLS LAST, one.id
        LIMIT 200
    ) AS m
) AS c
WHERE c.retention > 0.1
ORDER BY c.retention DESC, c.occurred_at DESC NULLS LAST, c.created_at DESC, c.id
LIMIT %(row_limit)s::integer;

-- name: profile_facts
-- params: user_id, app_name, row_limit
SELECT f.id, f.version, f.fact_type::text AS type, f.key::text AS key, f.value
FROM :"schema".facts AS f
WHERE f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar
    AND f.status = 'active' AND f.deleted_at IS NULL
    AND (f.valid_from IS NULL OR f.valid_from <= now()) AND (f.valid_until IS NULL OR f.valid_until > now())
ORDER BY f.importance_score DESC, f.confidence DESC, f.key, f.id
LIMIT %(row_limit)s::integer;

-- name: session_memories
-- params: user_id, app_name, thread_id, row_limit
-- returns: the last of a thread, in their order
SELECT l.id, l.version, l.content, l.occurred_at, l.speaker
FROM (
    SELECT m.id, m.version, m.content, m.occurred_at, m.position, m.created_at,
        COALESCE(m.metadata ->> 'speaker', m.metadata ->> 'role') AS speaker
    FROM :"schema".memories AS m
    WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar
        AND m.thread_id = %(thread_id)s::uuid AND m.deleted_at IS NULL
        AND COALESCE(m.metadata ->> 'subtype', '') NOT IN ('reflection', 'insight')
    ORDER BY m.position DESC NULLS FIRST, m.created_at DESC, m.id DESC
    LIMIT %(row_limit)s::integer
) AS l
ORDER BY l.position NULLS LAST, l.created_at, l.id;

-- name: list
-- params: user_id, app_name, summary_type, thread_id, row_limit, row_offset
-- returns: the user's first, then threads, the latest first; `total` counts all
SELECT s.id, s.summary_type::text AS type, t.external_id AS thread, s.thread_id, s.content, s.details, s.token_count AS tokens,
    s.source_memory_count AS memories, s.source_fact_count AS facts, s.model_used::text AS model_used, s.version,
    s.created_at, s.updated_at, extract(epoch FROM now() - s.updated_at)::float8 AS age_s,
    count(*) OVER () AS total,
    (SELECT count(*) FROM :"schema".item_sources AS i
     WHERE i.user_id = s.user_id AND i.app_name = s.app_name AND i.item_id = s.id)::integer AS events
FROM :"schema".memory_summaries AS s
LEFT JOIN :"schema".threads AS t
    ON t.user_id = s.user_id AND t.app_name = s.app_name AND t.id = s.thread_id
WHERE s.user_id = %(user_id)s::varchar AND s.app_name = %(app_name)s::varchar
    AND (%(summary_type)s::text IS NULL OR s.summary_type = %(summary_type)s::text)
    AND (%(thread_id)s::uuid IS NULL OR s.thread_id = %(thread_id)s::uuid)
ORDER BY s.summary_type DESC, s.updated_at DESC, s.id
LIMIT %(row_limit)s::integer OFFSET %(row_offset)s::integer;

-- name: lock
-- params: user_id, app_name, summary_type, thread_id
SELECT s.id, s.version, s.details
FROM :"schema".memory_summaries AS s
WHERE s.user_id = %(user_id)s::varchar AND s.app_name = %(app_name)s::varchar
    AND s.summary_type = %(summary_type)s::varchar AND s.thread_id IS NOT DISTINCT FROM %(thread_id)s::uuid
FOR UPDATE;

-- name: add
-- params: user_id, app_name, summary_type, thread_id, content, details, tokens, memories, facts, model_used
-- returns: the id; none where somebody was first
INSERT INTO :"schema".memory_summaries
    (user_id, app_name, summary_type, thread_id, content, details, token_count, source_memory_count,
     source_fact_count, model_used)
VALUES (%(user_id)s::varchar, %(app_name)s::varchar, %(summary_type)s::varchar, %(thread_id)s::uuid,
    %(content)s::text, %(details)s::jsonb, %(tokens)s::integer, %(memories)s::integer, %(facts)s::integer,
    %(model_used)s::varchar)
ON CONFLICT (user_id, app_name, summary_type, thread_id) DO NOTHING
RETURNING id;

-- name: set
-- params: user_id, app_name, id, content, details, tokens, memories, facts, model_used
UPDATE :"schema".memory_summaries AS s
SET content = %(content)s::text, details = %(details)s::jsonb, token_count = %(tokens)s::integer,
    source_memory_count = %(memories)s::integer, source_fact_count = %(facts)s::integer,
    model_used = %(model_used)s::varchar, version = s.version + 1, updated_at = now()
WHERE s.user_id = %(user_id)s::varchar AND s.app_name = %(app_name)s::varchar AND s.id = %(id)s::uuid;

-- name: remove
-- params: user_id, app_name, id
-- Its sources are gone: so is it.
DELETE FROM :"schema".memory_summaries AS s
WHERE s.user_id = %(user_id)s::varchar AND s.app_name = %(app_name)s::varchar AND s.id = %(id)s::uuid;

-- name: drop_sources
-- params: user_id, app_name, id
DELETE FROM :"schema".item_sources AS i
WHERE i.user_id = %(user_id)s::varchar AND i.app_name = %(app_name)s::varchar AND i.item_id = %(id)s::uuid;

-- name: add_sources
-- params: user_id, app_name, id, source_ids, run_id, extractor, model_used
INSERT INTO :"schema".item_sources (user_id, app_name, item_kind, item_id, event_id, run_id, extractor, model)
SELECT DISTINCT i.user_id, i.app_name, 'summary', %(id)s::uuid, i.event_id, %(run_id)s::uuid, %(extractor)s::varchar,
    %(model_used)s::varchar
FROM :"schema".item_sources AS i
WHERE i.user_id = %(user_id)s::varchar AND i.app_name = %(app_name)s::varchar
    AND i.item_id = ANY (%(source_ids)s::uuid[])
ON CONFLICT DO NOTHING;

-- name: gone
-- params: user_id, app_name, details
-- returns: how many of the sources are no longer there, or not active
SELECT :"schema".summary_sources_gone(%(user_id)s::text, %(app_name)s::text, %(details)s::jsonb) AS gone;

-- name: threads_to_summarize
-- params: user_id, app_name, thread_id, least
-- returns: threads of some length that have no summary, or a memory that changed after it
SELECT t.id
FROM :"schema".threads AS t
LEFT JOIN :"schema".memory_summaries AS s
    ON s.user_id = t.user_id AND s.app_name = t.app_name AND s.thread_id = t.id AND s.summary_type = 'session'
WHERE t.user_id = %(user_id)s::varchar AND t.app_name = %(app_name)s::varchar
    AND (%(thread_id)s::uuid IS NULL OR t.id = %(thread_id)s::uuid)
    AND EXISTS (
        SELECT 1 FROM :"schema".memories AS m
        WHERE m.user_id = t.user_id AND m.app_name = t.app_name AND m.thread_id = t.id
            AND (s.id IS NULL OR m.updated_at > s.updated_at))
    AND (s.id IS NOT NULL OR (
        SELECT count(*) FROM (
            SELECT 1 FROM :"schema".memories AS m
            WHERE m.user_id = t.user_id AND m.app_name = t.app_name AND m.thread_id = t.id
                AND m.deleted_at IS NULL
            LIMIT %(least)s::integer) AS few) = %(least)s::integer)
ORDER BY t.updated_at, t.id;
