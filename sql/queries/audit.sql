-- Decisions about memories, and the trail of them.

-- name: decide
-- params: user_id, app_name, items, idempotency_key, request_hash, actor, actor_verified
SELECT :"schema".audit_decide(%(user_id)s::text, %(app_name)s::text, %(items)s::jsonb, %(idempotency_key)s::text,
    %(request_hash)s::bytea, %(actor)s::text, %(actor_verified)s::boolean) AS answer;

-- name: history
-- params: user_id, app_name, memory_id, before, row_limit
-- returns: a person's entries, the newest first
SELECT l.sequence, l.memory_id::text AS subject, l.decision::text AS decision, l.version, l.created_at AS at, d.note,
    d.actor, l.actor_verified, d.idempotency_key
FROM :"schema".audit_details AS d
JOIN :"schema".memory_audit_logs AS l ON l.id = d.log_id AND l.app_name = d.app_name
WHERE d.user_id = %(user_id)s::varchar AND d.app_name = %(app_name)s::varchar
    AND (%(memory_id)s::text IS NULL OR l.memory_id = %(memory_id)s::text)
    AND (%(before)s::bigint IS NULL OR l.sequence < %(before)s::bigint)
ORDER BY l.sequence DESC
LIMIT %(row_limit)s::integer;

-- name: record
-- params: app_name, user_id, ids, decision, note, actor, actor_verified
SELECT :"schema".record_audit_entries(%(app_name)s::text, %(user_id)s::text, %(ids)s::text[], %(decision)s::text,
    %(note)s::text, NULL, %(actor)s::text, %(actor_verified)s::boolean) AS entries;
