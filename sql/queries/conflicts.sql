-- Conflicts between facts: read, decided, taken back.

-- name: of_facts
-- params: user_id, app_name, ids
-- returns: the conflicts in which these facts stand, oldest first
SELECT c.*
FROM :"schema".conflict_details(%(user_id)s::text, %(app_name)s::text, ARRAY(
    SELECT m.id
    FROM :"schema".memory_conflicts AS m
    WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar
        AND (m.old_fact_id = ANY (%(ids)s::uuid[]) OR m.new_fact_id = ANY (%(ids)s::uuid[])))) AS c
ORDER BY c.created_at, c.id;

-- name: show
-- params: user_id, app_name, ids
SELECT c.*
FROM :"schema".conflict_details(%(user_id)s::text, %(app_name)s::text, %(ids)s::uuid[]) AS c
ORDER BY array_position(%(ids)s::uuid[], c.id);

-- name: list
-- params: user_id, app_name, status, detected_by, row_limit, row_offset
SELECT c.id, count(*) OVER () AS total
FROM :"schema".memory_conflicts AS c
WHERE c.user_id = %(user_id)s::varchar AND c.app_name = %(app_name)s::varchar
    AND (%(status)s::text IS NULL OR c.status = %(status)s::text)
    AND (%(detected_by)s::text IS NULL OR c.detected_by = %(detected_by)s::text)
ORDER BY c.created_at DESC, c.id
LIMIT %(row_limit)s::integer OFFSET %(row_offset)s::integer;

-- name: open_count
-- params: user_id, app_name
SELECT count(*)::integer AS open
FROM :"schema".memory_conflicts AS c
WHERE c.user_id = %(user_id)s::varchar AND c.app_name = %(app_name)s::varchar AND c.status = 'open';

-- name: owners
-- params: app_name, ids
SELECT DISTINCT c.user_id::text AS user_id
FROM :"schema".memory_conflicts AS c
WHERE c.app_name = %(app_name)s::varchar AND c.id = ANY (%(ids)s::uuid[]);

-- name: resolve
-- params: user_id, app_name, id, resolution, actor, value, model_id, embedding
SELECT :"schema".resolve_conflict(%(user_id)s::text, %(app_name)s::text, %(id)s::uuid, %(resolution)s::text,
    %(actor)s::text, %(value)s::jsonb, %(model_id)s::smallint, %(embedding)s::text:::"vector_schema".vector) AS outcome;

-- name: undo
-- params: user_id, app_name, id, actor
SELECT :"schema".undo_conflict(%(user_id)s::text, %(app_name)s::text, %(id)s::uuid, %(actor)s::text) AS outcome;

-- name: near_facts
-- params: user_id, app_name, thread_id, since, neighbours, min_cosine
-- returns: pairs of current facts of one type under different keys whose vectors are near, older first; pairs on which
--   something was decided or noted already are left out
WITH fresh AS (
    SELECT f.id, f.fact_type, f.key, v.model_id, v.embedding
    FROM :"schema".facts AS f
    JOIN :"schema".embedding_models AS m ON m.app_name = f.app_name AND m.status = 'active'
    JOIN :"schema".fact_vectors AS v
        ON v.user_id = f.user_id AND v.app_name = f.app_name AND v.fact_id = f.id AND v.model_id = m.id AND v.live
    WHERE f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar
        AND f.status = 'active' AND f.deleted_at IS NULL AND f.valid_until IS NULL
        AND (%(thread_id)s::uuid IS NULL OR f.thread_id = %(thread_id)s::uuid)
        AND (%(since)s::timestamptz IS NULL OR f.created_at >= %(since)s::timestamptz)
    ORDER BY f.created_at DESC, f.id
    LIMIT 2000
),
pairs AS (
    SELECT DISTINCT LEAST(a.id, n.fact_id) AS one, GREATEST(a.id, n.fact_id) AS other, n.cosine
    FROM fresh AS a
    CROSS JOIN LATERAL (
        SELECT v.fact_id, 1 - (v.embedding OPERATOR(:"vector_schema".<=>) a.embedding) AS cosine
        FROM :"schema".fact_vectors AS v
        JOIN :"schema".facts AS f ON f.user_id = v.user_id AND f.app_name = v.app_name AND f.id = v.fact_id
        WHERE v.user_id = %(user_id)s::varchar AND v.app_name = %(app_name)s::varchar AND v.model_id = a.model_id
            AND v.live AND v.fact_id <> a.id AND f.fact_type = a.fact_type AND f.key <> a.key
            AND f.status = 'active' AND f.deleted_at IS NULL AND f.valid_until IS NULL
        ORDER BY v.embedding OPERATOR(:"vector_schema".<=>) a.embedding
        LIMIT %(neighbours)s::integer
    ) AS n
    WHERE n.cosine >= %(min_cosine)s::float8
)
SELECT o.id AS old_id, n.id AS new_id, o.fact_type::text AS type, o.key::text AS old_key, n.key::text AS new_key,
    o.value AS old_value, n.value AS new_value, o.origin::text AS old_origin, n.origin::text AS new_origin,
    o.confidence AS old_confidence, n.confidence AS new_confidence, p.cosine
FROM pairs AS p
JOIN :"schema".facts AS a
    ON a.user_id = %(user_id)s::varchar AND a.app_name = %(app_name)s::varchar AND a.id = p.one
JOIN :"schema".facts AS b
    ON b.user_id = %(user_id)s::varchar AND b.app_name = %(app_name)s::varchar AND b.id = p.other
CROSS JOIN LATERAL (
    -- Of one moment and one batch, in the order of the turns: a conversation may have a single date.
    SELECT COALESCE(max(e.sequence_num) FILTER (WHERE s.item_id = a.id), 0) AS a,
        COALESCE(max(e.sequence_num) FILTER (WHERE s.item_id = b.id), 0) AS b
    FROM :"schema".item_sources AS s
    JOIN :"schema".events AS e ON e.user_id = s.user_id AND e.app_name = s.app_name AND e.id = s.event_id
    WHERE s.user_id = a.user_id AND s.app_name = a.app_name AND s.item_id IN (a.id, b.id)
) AS said
JOIN :"schema".facts AS o ON o.user_id = a.user_id AND o.app_name = a.app_name AND o.id =
    CASE WHEN (COALESCE(a.valid_from, '-infinity'), a.created_at, said.a, a.id)
        < (COALESCE(b.valid_from, '-infinity'), b.created_at, said.b, b.id)
        THEN a.id ELSE b.id END
JOIN :"schema".facts AS n ON n.user_id = a.user_id AND n.app_name = a.app_name AND n.id IN (a.id, b.id) AND n.id <> o.id
WHERE NOT EXISTS (
    SELECT 1 FROM :"schema".memory_conflicts AS c
    WHERE c.user_id = a.user_id AND c.app_name = a.app_name
        AND (c.old_fact_id, c.new_fact_id) IN ((o.id, n.id), (n.id, o.id)))
ORDER BY p.cosine DESC, o.id, n.id;

-- name: lock
-- params: user_id, app_name
SELECT :"schema".lock_facts(%(user_id)s::text, %(app_name)s::text);

-- name: record
-- params: user_id, app_name, old_id, new_id, conflict_type, detected_by, metadata
-- returns: the conflict, open; none where one of the two was changed meanwhile or the pair is known
SELECT :"schema".record_conflict(%(user_id)s::text, %(app_name)s::text, o.id, n.id, %(conflict_type)s::text,
    'keep_both', %(detected_by)s::text, 'open', %(metadata)s::jsonb) AS id
FROM :"schema".facts AS o
JOIN :"schema".facts AS n ON n.user_id = o.user_id AND n.app_name = o.app_name AND n.id = %(new_id)s::uuid
WHERE o.user_id = %(user_id)s::varchar AND o.app_name = %(app_name)s::varchar AND o.id = %(old_id)s::uuid
    AND o.status = 'active' AND n.status = 'active' AND o.deleted_at IS NULL AND n.deleted_at IS NULL
    AND NOT EXISTS (
        SELECT 1 FROM :"schema".memory_conflicts AS c
        WHERE c.user_id = o.user_id AND c.app_name = o.app_name
            AND (c.old_fact_id, c.new_fact_id) IN ((o.id, n.id), (n.id, o.id)));
