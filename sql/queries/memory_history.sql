-- The history of one memory.

-- name: now
-- params: user_id, app_name, id
SELECT m.id, m.content, m.memory_type::text AS type, m.version, m.created_at, m.updated_at, m.deleted_at,
    m.deleted_reason, (m.metadata ->> 'merged_into')::uuid AS merged_into, (m.metadata ->> 'merge_run')::uuid AS merge_run,
    ARRAY(SELECT x::uuid FROM jsonb_array_elements_text(COALESCE(m.metadata -> 'kept_apart', '[]')) AS x) AS kept_apart
FROM :"schema".memories AS m
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.id = %(id)s::uuid;

-- name: taken_in
-- params: user_id, app_name, id
SELECT (t.taken ->> 'id')::uuid AS id, l.content, (t.taken ->> 'similarity')::float8 AS similarity,
    (t.taken ->> 'run')::uuid AS run_id, (t.taken ->> 'at')::timestamptz AS at
FROM :"schema".memories AS m
CROSS JOIN LATERAL jsonb_array_elements(COALESCE(m.metadata -> 'merged_from', '[]')) WITH ORDINALITY AS t (taken, place)
LEFT JOIN :"schema".memories AS l
    ON l.user_id = m.user_id AND l.app_name = m.app_name AND l.id = (t.taken ->> 'id')::uuid
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.id = %(id)s::uuid
ORDER BY t.place;

-- name: sources
-- params: user_id, app_name, id
SELECT s.event_id, t.external_id AS thread, e.author::text AS author, s.extractor::text AS extractor,
    s.model::text AS model, s.run_id, e.occurred_at
FROM :"schema".item_sources AS s
JOIN :"schema".events AS e ON e.user_id = s.user_id AND e.app_name = s.app_name AND e.id = s.event_id
LEFT JOIN :"schema".threads AS t ON t.user_id = e.user_id AND t.app_name = e.app_name AND t.id = e.thread_id
WHERE s.user_id = %(user_id)s::varchar AND s.app_name = %(app_name)s::varchar AND s.item_id = %(id)s::uuid
ORDER BY e.sequence_num;
