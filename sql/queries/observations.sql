-- User memory: rows of memories with the source observation.

-- name: list
-- params: user_id, app_name, ids, row_limit, row_offset
-- returns: observations in force, the last changed first; total counts all pages
SELECT m.id, m.content, m.metadata ->> 'written_by' AS written_by, m.version, m.created_at, m.updated_at, m.metadata,
    count(*) OVER () AS total, (
        SELECT count(*) FROM :"schema".item_sources AS s
        WHERE s.user_id = m.user_id AND s.app_name = m.app_name AND s.item_id = m.id) AS sources
FROM :"schema".memories AS m
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.deleted_at IS NULL
    AND m.metadata ->> 'source' = 'observation'
    AND (%(ids)s::uuid[] IS NULL OR m.id = ANY (%(ids)s::uuid[]))
ORDER BY m.updated_at DESC, m.id
LIMIT %(row_limit)s::integer OFFSET %(row_offset)s::integer;

-- name: cite
-- params: user_id, app_name, item_kind, item_id, event_ids, run_id, extractor, model
-- The turns that an item rests on, of those that are there.
INSERT INTO :"schema".item_sources (user_id, app_name, item_kind, item_id, event_id, run_id, extractor, model)
SELECT e.user_id, e.app_name, %(item_kind)s::varchar, %(item_id)s::uuid, e.id, %(run_id)s::uuid, %(extractor)s::varchar,
    %(model)s::varchar
FROM :"schema".events AS e
WHERE e.user_id = %(user_id)s::varchar AND e.app_name = %(app_name)s::varchar AND e.id = ANY (%(event_ids)s::uuid[])
ORDER BY e.id
ON CONFLICT DO NOTHING;
