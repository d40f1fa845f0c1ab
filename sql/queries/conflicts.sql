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
