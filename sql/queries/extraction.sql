-- Which turns were read for facts, by which reader.

-- name: read_before
-- params: user_id, app_name, memory_ids, reader
-- returns: of these memories those whose present text the reader has read already, and the version of each
SELECT m.id, m.version,
    EXISTS (
        SELECT 1 FROM :"schema".memory_formation AS d
        WHERE d.user_id = m.user_id AND d.app_name = m.app_name AND d.memory_id = m.id
            AND d.step = %(reader)s::text AND d.content_version = m.version) AS is_read
FROM unnest(%(memory_ids)s::uuid[]) AS g (id)
JOIN :"schema".memories AS m
    ON m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.id = g.id
ORDER BY m.id;

-- name: threads
-- params: user_id, app_name
-- returns: the user's threads, oldest first, so that what was said later is written later
SELECT t.id
FROM :"schema".threads AS t
WHERE t.user_id = %(user_id)s::varchar AND t.app_name = %(app_name)s::varchar
ORDER BY t.occurred_at NULLS FIRST, t.created_at, t.id;

-- name: later_starts
-- params: user_id, app_name, fact_types, keys, starts
-- returns: the numbers, from 0, of those facts whose key has a live value that began after the given start
SELECT (g.number - 1)::integer AS number
FROM unnest(%(fact_types)s::varchar[], %(keys)s::varchar[], %(starts)s::timestamptz[])
    WITH ORDINALITY AS g (fact_type, key, starts, number)
WHERE EXISTS (
    SELECT 1 FROM :"schema".facts AS f
    WHERE f.user_id = %(user_id)s::varchar AND f.app_name = %(app_name)s::varchar
        AND f.fact_type = g.fact_type AND f.key = g.key AND f.status = 'active'
        AND f.deleted_at IS NULL AND f.valid_from > g.starts)
ORDER BY g.number;
