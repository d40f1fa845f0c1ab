-- Pruning: what a user's memories are judged by, and the batches in which they go.

-- name: standing
-- params: user_id, app_name
-- returns: whether the user's memories may be removed at all; no row for an unknown user
SELECT u.held_at IS NOT NULL AS is_held, u.erasing_since IS NOT NULL AS is_erasing
FROM :"schema".users AS u
WHERE u.user_id = %(user_id)s::varchar AND u.app_name = %(app_name)s::varchar;

-- name: clock
-- returns: the database's now
SELECT now() AS now;

-- name: candidates
-- params: user_id, app_name
-- returns: the live memories in the order in which they came, with the times that count
-- A row that nobody changed has in updated_at the moment of its insertion, as in last_accessed_at: that
-- is no change, and an import may say an older created_at.
SELECT m.id::text AS id,
    LEAST(GREATEST(m.created_at, '0001-01-01 00:00+00'), '9999-12-31 00:00+00') AS created,
    CASE WHEN m.version > 1 OR m.updated_at IS DISTINCT FROM m.last_accessed_at
        THEN LEAST(GREATEST(m.updated_at, '0001-01-01 00:00+00'), '9999-12-31 00:00+00') END AS updated,
    m.version, m.pinned_at IS NOT NULL OR m.memory_type = 'core' AS is_protected
FROM :"schema".memories AS m
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.deleted_at IS NULL
ORDER BY m.created_at, m.occurred_at NULLS FIRST, m.thread_id NULLS FIRST, m.position NULLS FIRST, m.id;

-- name: details
-- params: user_id, app_name, ids
SELECT m.id, m.memory_type::text AS type, m.content, m.created_at, m.updated_at
FROM :"schema".memories AS m
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar
    AND m.id = ANY (%(ids)s::uuid[]);

-- name: prunable
-- params: user_id, app_name, ids, versions
-- returns: those that are still as they were when the plan was made
SELECT m.id
FROM :"schema".memories AS m
JOIN unnest(%(ids)s::uuid[], %(versions)s::integer[]) AS planned (id, version) ON planned.id = m.id
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar
    AND m.deleted_at IS NULL AND m.pinned_at IS NULL AND m.memory_type <> 'core'
    AND m.version = planned.version
ORDER BY m.id
FOR UPDATE OF m;

-- name: prune
-- params: user_id, app_name, ids, reason, actor
-- returns: how many went
SELECT :"schema".forget_memories(%(user_id)s::text, %(app_name)s::text, %(ids)s::uuid[], %(reason)s::text,
    %(actor)s::text) AS removed;

-- name: rescore_neighbours
-- params: user_id, app_name, ids
-- What shared a thread with those that went lost a neighbour: under the cap its own fading time moves.
SELECT :"schema".rescore_memories(%(user_id)s::text, %(app_name)s::text, neighbours.ids)
FROM (
    SELECT array_agg(m.id) AS ids
    FROM :"schema".memories AS m
    WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.deleted_at IS NULL
        AND m.thread_id IN (
            SELECT gone.thread_id FROM :"schema".memories AS gone
            WHERE gone.user_id = %(user_id)s::varchar AND gone.app_name = %(app_name)s::varchar
                AND gone.id = ANY (%(ids)s::uuid[])
        )
        AND :"schema".related_count(m.user_id, m.app_name, m.thread_id, m.id) < 5
) AS neighbours
WHERE neighbours.ids IS NOT NULL;

-- name: memory_items
-- params: user_id, app_name, after, row_limit
-- returns: one page of what may be a duplicate, by id
SELECT m.id, jsonb_build_array(m.memory_type, m.metadata ->> 'speaker')::text AS group_key, m.content,
    COALESCE(m.occurred_at, m.created_at) AS moment
FROM :"schema".memories AS m
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.deleted_at IS NULL
    AND m.memory_type <> 'core' AND m.id > %(after)s::uuid
ORDER BY m.id
LIMIT %(row_limit)s::integer;

-- name: memory_bits
-- params: user_id, app_name, model_id, after, row_limit
-- returns: one page of sign bits, by id
SELECT v.memory_id AS id, v.bits::text AS bits
FROM :"schema".memory_vectors AS v
WHERE v.user_id = %(user_id)s::varchar AND v.app_name = %(app_name)s::varchar
    AND v.model_id = %(model_id)s::smallint AND v.live AND v.memory_id > %(after)s::uuid
ORDER BY v.memory_id
LIMIT %(row_limit)s::integer;

-- name: memory_cosines
-- params: user_id, app_name, model_id, ones, others
-- returns: the cosine of each pair of which both have a vector
SELECT p.one, p.other, 1 - (a.embedding OPERATOR(:"vector_schema".<=>) b.embedding) AS cosine
FROM unnest(%(ones)s::uuid[], %(others)s::uuid[]) AS p (one, other)
CROSS JOIN LATERAL (
    SELECT v.embedding FROM :"schema".memory_vectors AS v
    WHERE v.user_id = %(user_id)s::varchar AND v.app_name = %(app_name)s::varchar
        AND v.memory_id = p.one AND v.model_id = %(model_id)s::smallint
    LIMIT 1
) AS a
CROSS JOIN LATERAL (
    SELECT v.embedding FROM :"schema".memory_vectors AS v
    WHERE v.user_id = %(user_id)s::varchar AND v.app_name = %(app_name)s::varchar
        AND v.memory_id = p.other AND v.model_id = %(model_id)s::smallint
    LIMIT 1
) AS b;

-- name: memory_count
-- params: user_id, app_name
SELECT count(*) AS live
FROM :"schema".memories AS m
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.deleted_at IS NULL;
