-- Merging memories that say the same.

-- name: candidates
-- params: user_id, app_name, ids, neighbours, min_cosine
SELECT c.one, c.other, c.cosine
FROM :"schema".merge_candidates(%(user_id)s::text, %(app_name)s::text, %(ids)s::uuid[], %(neighbours)s::integer,
    %(min_cosine)s::float8) AS c
ORDER BY c.cosine DESC NULLS FIRST, c.one, c.other;

-- name: texts
-- params: user_id, app_name, ids
-- Told apart: what an undo kept from it, and what of those it took in stands for too, which came in by other runs.
SELECT m.id, m.content, md5(m.content) AS hash, m.memory_type::text AS type, m.pinned_at IS NOT NULL AS is_pinned,
    COALESCE(jsonb_array_length(m.metadata -> 'merged_from'), 0) > 0 AS took_in,
    ARRAY(SELECT jsonb_array_elements_text(COALESCE(m.metadata -> 'kept_apart', '[]'))
        UNION ALL SELECT taken ->> 'id' FROM jsonb_array_elements(COALESCE(m.metadata -> 'merged_from', '[]')) AS taken
        UNION ALL SELECT jsonb_array_elements_text(gone.metadata -> 'kept_apart')
        FROM jsonb_array_elements(m.metadata -> 'merged_from') AS taken
        CROSS JOIN LATERAL (
            SELECT g.metadata FROM :"schema".memories AS g
            WHERE g.user_id = m.user_id AND g.app_name = m.app_name
                AND g.id = (taken ->> 'id')::uuid
            OFFSET 0  -- one by one, by the key, whatever the statistics say
        ) AS gone) AS kept_apart,
    m.access_count, m.occurred_at, m.created_at, m.position
FROM :"schema".memories AS m
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.id = ANY (%(ids)s::uuid[])
    AND m.deleted_at IS NULL;

-- name: fresh
-- params: user_id, app_name, thread_id, since, row_limit
-- returns: the live memories of a job, oldest first; of a whole user the newest row_limit
SELECT f.id
FROM (
    SELECT m.id, m.created_at, m.position
    FROM :"schema".memories AS m
    WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.deleted_at IS NULL
        AND (%(thread_id)s::uuid IS NULL OR m.thread_id = %(thread_id)s::uuid)
        AND (%(since)s::timestamptz IS NULL OR m.created_at >= %(since)s::timestamptz)
        AND m.memory_type <> 'core' AND COALESCE(m.metadata ->> 'subtype', '') NOT IN ('reflection', 'insight')
    ORDER BY m.created_at DESC, m.position DESC NULLS LAST, m.id
    LIMIT %(row_limit)s::integer
) AS f
ORDER BY f.created_at, f.position NULLS LAST, f.id;

-- name: apply
-- params: user_id, app_name, pairs, run_id, actor
SELECT m.survivor, m.loser
FROM :"schema".merge_memories(%(user_id)s::text, %(app_name)s::text, %(pairs)s::jsonb, %(run_id)s::uuid,
    %(actor)s::text) AS m;

-- name: merged_by
-- params: user_id, app_name, run_id
-- returns: what a run merged away and nobody brought back
SELECT m.id
FROM :"schema".memories AS m
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.deleted_at IS NOT NULL
    AND m.metadata ->> 'merge_run' = %(run_id)s::uuid::text
ORDER BY m.id;
