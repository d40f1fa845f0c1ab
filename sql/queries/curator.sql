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
-- Thread by thread, whatever the statistics say: after a bulk load or a restore each live row was held against the batch.
WITH threads AS MATERIALIZED (
    SELECT DISTINCT gone.thread_id FROM :"schema".memories AS gone
    WHERE gone.user_id = %(user_id)s::varchar AND gone.app_name = %(app_name)s::varchar
        AND gone.id = ANY (%(ids)s::uuid[]) AND gone.thread_id IS NOT NULL
)
SELECT :"schema".rescore_memories(%(user_id)s::text, %(app_name)s::text, neighbours.ids)
FROM (
    SELECT array_agg(beside.id) AS ids
    FROM threads AS t
    CROSS JOIN LATERAL (
        SELECT m.id, m.thread_id
        FROM :"schema".memories AS m
        WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.deleted_at IS NULL
            AND m.thread_id = t.thread_id
        OFFSET 0
    ) AS beside
    WHERE :"schema".related_count(%(user_id)s::varchar, %(app_name)s::varchar, beside.thread_id, beside.id) < 5
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

-- name: lock_facts
-- params: user_id, app_name
SELECT :"schema".lock_facts(%(user_id)s::text, %(app_name)s::text);

-- name: fact_items
-- params: user_id, app_name, after, row_limit
-- returns: one page of active facts, by id, as one line; a key in another spelling is the same key
SELECT f.id, f.fact_type AS group_key, :"schema".fact_text(btrim(translate(f.key, '_-', '  ')), f.value) AS content,
    COALESCE(f.valid_from, f.created_at) AS moment
FROM :"schema".facts AS f
WHERE f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar AND f.deleted_at IS NULL
    AND f.status = 'active' AND f.valid_until IS NULL AND f.id > %(after)s::uuid
ORDER BY f.id
LIMIT %(row_limit)s::integer;

-- name: fact_texts
-- params: user_id, app_name, ids
-- Told apart: what an undo kept from it, and what of those it took in stands for too, which came in by other runs.
SELECT f.id, t.content, md5(t.content) AS hash, f.fact_type AS type, f.pinned_at IS NOT NULL AS is_pinned,
    COALESCE(jsonb_array_length(f.metadata -> 'merged_from'), 0) > 0 AS took_in,
    ARRAY(SELECT jsonb_array_elements_text(COALESCE(f.metadata -> 'kept_apart', '[]'))
        UNION ALL SELECT taken ->> 'id' FROM jsonb_array_elements(COALESCE(f.metadata -> 'merged_from', '[]')) AS taken
        UNION ALL SELECT jsonb_array_elements_text(gone.metadata -> 'kept_apart')
        FROM jsonb_array_elements(f.metadata -> 'merged_from') AS taken
        CROSS JOIN LATERAL (
            SELECT g.metadata FROM :"schema".facts AS g
            WHERE g.user_id = f.user_id AND g.app_name = f.app_name
                AND g.id = (taken ->> 'id')::uuid
            OFFSET 0  -- one by one, by the key, whatever the statistics say
        ) AS gone) AS kept_apart,
    f.access_count, f.valid_from AS occurred_at, f.created_at, NULL::integer AS position
FROM :"schema".facts AS f
CROSS JOIN LATERAL (
    SELECT :"schema".fact_text(btrim(translate(f.key, '_-', '  ')), f.value) AS content
) AS t
WHERE f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar AND f.id = ANY (%(ids)s::uuid[])
    AND f.deleted_at IS NULL AND f.status = 'active' AND f.valid_until IS NULL;

-- name: fact_bits
-- params: user_id, app_name, model_id, after, row_limit
SELECT v.fact_id AS id, v.bits::text AS bits
FROM :"schema".fact_vectors AS v
WHERE v.user_id = %(user_id)s::varchar AND v.app_name = %(app_name)s::varchar
    AND v.model_id = %(model_id)s::smallint AND v.live AND v.fact_id > %(after)s::uuid
ORDER BY v.fact_id
LIMIT %(row_limit)s::integer;

-- name: fact_cosines
-- params: user_id, app_name, model_id, ones, others
-- returns: the cosine of each pair of which both have a vector
SELECT p.one, p.other, 1 - (a.embedding OPERATOR(:"vector_schema".<=>) b.embedding) AS cosine
FROM unnest(%(ones)s::uuid[], %(others)s::uuid[]) AS p (one, other)
JOIN :"schema".fact_vectors AS a ON a.user_id = %(user_id)s::varchar AND a.app_name = %(app_name)s::varchar
    AND a.fact_id = p.one AND a.model_id = %(model_id)s::smallint
JOIN :"schema".fact_vectors AS b ON b.user_id = %(user_id)s::varchar AND b.app_name = %(app_name)s::varchar
    AND b.fact_id = p.other AND b.model_id = %(model_id)s::smallint;

-- name: fact_count
-- params: user_id, app_name
SELECT count(*) AS live
FROM :"schema".facts AS f
WHERE f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar AND f.deleted_at IS NULL
    AND f.status = 'active' AND f.valid_until IS NULL;

-- name: fact_mergeable
-- params: user_id, app_name, pairs, run_id
-- returns: the pairs that are still as they were compared; what goes has taken in none and is in one pair only
SELECT DISTINCT ON (x.loser) x.survivor, x.loser
FROM jsonb_to_recordset(%(pairs)s::jsonb) AS x (survivor uuid, loser uuid, survivor_hash text, loser_hash text)
JOIN :"schema".facts AS s ON s.user_id = %(user_id)s::varchar AND s.app_name = %(app_name)s::varchar
    AND s.id = x.survivor AND s.deleted_at IS NULL AND s.status = 'active' AND s.valid_until IS NULL
JOIN :"schema".facts AS l ON l.user_id = %(user_id)s::varchar AND l.app_name = %(app_name)s::varchar
    AND l.id = x.loser AND l.deleted_at IS NULL AND l.status = 'active' AND l.valid_until IS NULL
WHERE x.survivor <> x.loser AND l.pinned_at IS NULL
    AND md5(:"schema".fact_text(btrim(translate(s.key, '_-', '  ')), s.value)) = x.survivor_hash
    AND md5(:"schema".fact_text(btrim(translate(l.key, '_-', '  ')), l.value)) = x.loser_hash
    AND COALESCE(jsonb_array_length(l.metadata -> 'merged_from'), 0) = 0
    AND %(run_id)s::uuid IS NOT NULL
ORDER BY x.loser, x.survivor;

-- name: fact_link
-- params: user_id, app_name, pairs, run_id
-- Both sides name each other, and the survivor takes over the sources.
WITH gone AS (
    SELECT x.survivor, x.loser
    FROM jsonb_to_recordset(%(pairs)s::jsonb) AS x (survivor uuid, loser uuid)
),
inherited AS (
    INSERT INTO :"schema".item_sources (user_id, app_name, item_kind, item_id, event_id, run_id, extractor, model)
    SELECT s.user_id, s.app_name, s.item_kind, g.survivor, s.event_id, s.run_id, s.extractor, s.model
    FROM gone AS g
    JOIN :"schema".item_sources AS s ON s.user_id = %(user_id)s::varchar AND s.app_name = %(app_name)s::varchar
        AND s.item_id = g.loser
    ON CONFLICT DO NOTHING
)
UPDATE :"schema".facts AS f
SET metadata = CASE WHEN g.loser = f.id
        THEN f.metadata || jsonb_build_object('merged_into', g.survivor, 'merge_run', %(run_id)s::uuid)
        ELSE f.metadata || jsonb_build_object('merged_from', COALESCE(f.metadata -> 'merged_from', '[]') || g.taken) END
FROM (
    SELECT one.loser AS id, one.loser, one.survivor, NULL::jsonb AS taken FROM gone AS one
    UNION ALL
    SELECT of.survivor, NULL, of.survivor, jsonb_agg(jsonb_build_object('id', of.loser, 'run', %(run_id)s::uuid))
    FROM gone AS of
    GROUP BY of.survivor
) AS g
WHERE f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar AND f.id = g.id;

-- name: fact_taken
-- params: user_id, app_name, run_id
SELECT f.id
FROM :"schema".facts AS f
WHERE f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar AND f.deleted_at IS NOT NULL
    AND f.metadata ->> 'merge_run' = %(run_id)s::uuid::text
ORDER BY f.id;

-- name: fact_restore
-- params: user_id, app_name, ids, actor
SELECT :"schema".restore_facts(%(user_id)s::text, %(app_name)s::text, %(ids)s::uuid[], %(actor)s::text) AS restored;

-- name: fact_release
-- params: user_id, app_name, ids
-- Those that came back are kept apart from what they were merged into, which no longer names them.
WITH back AS (
    SELECT l.id, l.metadata ->> 'merged_into' AS survivor
    FROM :"schema".facts AS l
    WHERE l.user_id = %(user_id)s::varchar AND l.app_name = %(app_name)s::varchar AND l.id = ANY (%(ids)s::uuid[])
        AND l.metadata ? 'merged_into'
)
UPDATE :"schema".facts AS f
SET metadata = CASE WHEN f.id = ANY (%(ids)s::uuid[])
        THEN (f.metadata - 'merged_into' - 'merge_run') || jsonb_build_object('kept_apart',
            COALESCE(f.metadata -> 'kept_apart', '[]') || jsonb_build_array(f.metadata ->> 'merged_into'))
        ELSE f.metadata || jsonb_build_object('merged_from', COALESCE((
            SELECT jsonb_agg(taken) FROM jsonb_array_elements(f.metadata -> 'merged_from') AS taken
            WHERE NOT (taken ->> 'id')::uuid = ANY (%(ids)s::uuid[])), '[]')) END
WHERE f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar
    AND (f.id IN (SELECT b.id FROM back AS b) OR f.id::text IN (SELECT b.survivor FROM back AS b));

-- name: fact_candidates
-- params: user_id, app_name
-- returns: the active facts in the order in which they came, with the times that count
SELECT f.id::text AS id, LEAST(GREATEST(f.created_at, '0001-01-01 00:00+00'), '9999-12-31 00:00+00') AS created,
    LEAST(GREATEST(f.updated_at, '0001-01-01 00:00+00'), '9999-12-31 00:00+00') AS updated,
    f.version, f.pinned_at IS NOT NULL AS is_protected
FROM :"schema".facts AS f
WHERE f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar AND f.deleted_at IS NULL
    AND f.status = 'active' AND f.valid_until IS NULL
ORDER BY f.created_at, f.id;

-- name: fact_details
-- params: user_id, app_name, ids
SELECT f.id, f.fact_type AS type, :"schema".fact_text(f.key, f.value) AS content, f.created_at, f.updated_at
FROM :"schema".facts AS f
WHERE f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar AND f.id = ANY (%(ids)s::uuid[]);

-- name: fact_prunable
-- params: user_id, app_name, ids, versions
-- returns: those that are still as they were when the plan was made
SELECT f.id
FROM :"schema".facts AS f
JOIN unnest(%(ids)s::uuid[], %(versions)s::integer[]) AS planned (id, version) ON planned.id = f.id
WHERE f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar
    AND f.deleted_at IS NULL AND f.pinned_at IS NULL AND f.version = planned.version
ORDER BY f.id;

-- name: fact_prune
-- params: user_id, app_name, ids, reason, actor
SELECT :"schema".forget_facts(%(user_id)s::text, %(app_name)s::text, %(ids)s::uuid[], %(reason)s::text,
    %(actor)s::text) AS removed;
