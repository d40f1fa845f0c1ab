-- Which memories a step of formation has still to work on, and the record that it did.

-- name: pending
-- params: user_id, app_name, thread_id, step, row_limit
-- returns: live memories on whose present text the step has not worked yet, in the order in which they were said
SELECT m.id
FROM :"schema".memories AS m
LEFT JOIN :"schema".threads AS t
    ON t.user_id = m.user_id AND t.app_name = m.app_name AND t.id = m.thread_id
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.deleted_at IS NULL
    AND (%(thread_id)s::uuid IS NULL OR m.thread_id = %(thread_id)s::uuid)
    AND NOT EXISTS (
        SELECT 1 FROM :"schema".memory_formation AS d
        WHERE d.user_id = m.user_id AND d.app_name = m.app_name AND d.memory_id = m.id
            AND d.step = %(step)s::text AND d.content_version = m.version)
ORDER BY m.occurred_at NULLS FIRST, t.external_id, m.position, m.content, m.id
LIMIT %(row_limit)s::integer;

-- name: mark
-- params: user_id, app_name, ids, versions, step
-- The versions are those that the step read: a memory that was edited meanwhile stays pending.
INSERT INTO :"schema".memory_formation AS d (user_id, app_name, memory_id, step, content_version)
SELECT m.user_id, m.app_name, m.id, %(step)s::varchar, g.content_version
FROM unnest(%(ids)s::uuid[], %(versions)s::integer[]) AS g (id, content_version)
JOIN :"schema".memories AS m
    ON m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.id = g.id
ORDER BY m.id
ON CONFLICT (user_id, app_name, memory_id, step) DO UPDATE
    SET content_version = excluded.content_version, done_at = now();
