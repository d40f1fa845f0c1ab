-- Facts: written by key, read as they are, were, or were believed to be.

-- name: upsert
-- params: user_id, app_name, facts, actor
SELECT u.place AS position, u.action, u.id, u.previous_id, u.conflict_id
FROM :"schema".upsert_facts(%(user_id)s::text, %(app_name)s::text, %(facts)s::jsonb, %(actor)s::text) AS u
ORDER BY u.place;
