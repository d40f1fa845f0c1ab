-- Reflections: lessons from answers that were no good, insights from several memories. Both are memories.

-- name: bad_feedback
-- params: user_id, app_name, row_limit
-- returns: feedback of the last 7 days that has no lesson yet, the oldest first
SELECT f.id, f.outcome::text AS outcome, f.retrieval_id, l.query,
    CASE WHEN cardinality(f.memory_ids) > 0 THEN f.memory_ids ELSE l.retrieved_memory_ids END AS memory_ids
FROM :"schema".retrieval_feedback AS f
JOIN :"schema".memory_retrieval_logs AS l
    ON l.user_id = f.user_id AND l.app_name = f.app_name AND l.id = f.retrieval_id
WHERE f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar
    AND f.outcome IN ('irrelevant', 'harmful') AND f.created_at > now() - interval '168 hours'
    AND btrim(l.query) <> ''
    AND NOT EXISTS (
        SELECT 1 FROM :"schema".memories AS m
        WHERE m.user_id = f.user_id AND m.app_name = f.app_name AND m.created_at >= f.created_at
            AND m.metadata ->> 'feedback_id' = f.id::text)
ORDER BY f.created_at, f.id
LIMIT %(row_limit)s::integer;

-- name: snippets
-- params: user_id, app_name, ids, row_limit
SELECT m.id, m.content
FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS g (id, place)
JOIN :"schema".memories AS m
    ON m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.id = g.id
    AND m.deleted_at IS NULL
ORDER BY g.place
LIMIT %(row_limit)s::integer;

-- name: lock
-- params: user_id, app_name
-- One at a time adds reflections of a user: the limit of a day is counted under it.
SELECT pg_advisory_xact_lock(hashtextextended(
    'negmem:reflections:' || :'schema' || ':' || %(app_name)s::text || ':' || %(user_id)s::text, 0));

-- name: made
-- params: user_id, app_name, query_hash
-- returns: lessons since midnight UTC, and whether one of the last 7 days is about the same question
SELECT count(*) FILTER (WHERE m.created_at >= date_trunc('day', now(), 'UTC'))::integer AS today,
    COALESCE(bool_or(m.metadata ->> 'query_hash' = %(query_hash)s::text), false) AS same_query
FROM :"schema".memories AS m
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar
    AND m.created_at > now() - interval '168 hours' AND m.metadata ->> 'subtype' = 'reflection';

-- name: nearest
-- params: user_id, app_name, model_id, embedding, subtype
-- returns: how near the nearest of the last 7 days is, on the calibrated scale; NULL where there is none
SELECT max((1 - (v.embedding OPERATOR(:"vector_schema".<=>)
        %(embedding)s::real[]:::"vector_schema".halfvec) - k.floor) / (1 - k.floor)) AS similarity
FROM :"schema".memories AS m
JOIN :"schema".memory_vectors AS v
    ON v.user_id = m.user_id AND v.app_name = m.app_name AND v.memory_id = m.id
    AND v.model_id = %(model_id)s::smallint AND v.live
CROSS JOIN (
    SELECT GREATEST(0, COALESCE(((e.calibration -> 'unrelated' ->> '99')::float8 - 0.3) / 0.7, 0)) AS floor
    FROM :"schema".embedding_models AS e
    WHERE e.app_name = %(app_name)s::varchar AND e.id = %(model_id)s::smallint
) AS k
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.deleted_at IS NULL
    AND m.created_at > now() - interval '168 hours' AND m.metadata ->> 'subtype' = %(subtype)s::text;

-- name: material
-- params: user_id, app_name, step, row_limit
-- returns: memories that no insight was sought in yet, in the order in which they were said
SELECT m.id, m.version, m.content, m.occurred_at
FROM :"schema".memories AS m
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.deleted_at IS NULL
    AND COALESCE(m.metadata ->> 'subtype', '') NOT IN ('reflection', 'insight')
    AND COALESCE(m.metadata ->> 'role', 'user') IN ('user', 'other')
    AND NOT EXISTS (
        SELECT 1 FROM :"schema".memory_formation AS d
        WHERE d.user_id = m.user_id AND d.app_name = m.app_name AND d.memory_id = m.id
            AND d.step = %(step)s::text AND d.content_version = m.version)
ORDER BY m.occurred_at NULLS FIRST, m.thread_id, m.position, m.created_at, m.id
LIMIT %(row_limit)s::integer;

-- name: still_there
-- params: user_id, app_name, ids, versions
-- returns: the memories that are as they were read, locked until the commit
SELECT m.id
FROM unnest(%(ids)s::uuid[], %(versions)s::integer[]) AS g (id, version)
JOIN :"schema".memories AS m
    ON m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.id = g.id
    AND m.version = g.version AND m.deleted_at IS NULL
ORDER BY m.id
FOR NO KEY UPDATE OF m;

-- name: weigh
-- params: user_id, app_name, id, added
UPDATE :"schema".memories AS m
SET importance_score = LEAST(1, m.importance_score + %(added)s::float8)
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.id = %(id)s::uuid;

-- name: add_sources
-- params: user_id, app_name, id, source_ids, run_id, model
INSERT INTO :"schema".item_sources (user_id, app_name, item_kind, item_id, event_id, run_id, extractor, model)
SELECT DISTINCT i.user_id, i.app_name, 'memory', %(id)s::uuid, i.event_id, %(run_id)s::uuid, 'reflect',
    %(model)s::varchar
FROM :"schema".item_sources AS i
WHERE i.user_id = %(user_id)s::varchar AND i.app_name = %(app_name)s::varchar
    AND i.item_id = ANY (%(source_ids)s::uuid[])
ON CONFLICT DO NOTHING;

-- name: resting_on
-- params: user_id, app_name, ids
-- returns: live lessons and insights that were made of one of these memories
SELECT m.id
FROM :"schema".memories AS m
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.deleted_at IS NULL
    AND m.metadata ->> 'subtype' IN ('reflection', 'insight') AND m.metadata -> 'source_ids' ?| %(ids)s::text[]
ORDER BY m.id;

-- name: withdrawn
-- params: user_id, app_name, ids, reason
-- returns: those that went with one of these memories and rest on no other one that is removed
SELECT m.id
FROM :"schema".memories AS m
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar
    AND m.deleted_at IS NOT NULL AND m.deleted_reason = %(reason)s::text
    AND m.metadata ->> 'subtype' IN ('reflection', 'insight') AND m.metadata -> 'source_ids' ?| %(ids)s::text[]
    AND NOT EXISTS (
        SELECT 1
        FROM :"schema".memories AS s
        WHERE s.user_id = m.user_id AND s.app_name = m.app_name AND s.deleted_at IS NOT NULL
            AND m.metadata -> 'source_ids' ? s.id::text AND NOT s.id::text = ANY (%(ids)s::text[]))
ORDER BY m.id;
