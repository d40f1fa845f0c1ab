-- What stands for a person: a pause, a legal hold, an erasure under way.

-- name: standing
-- params: user_id, app_name
SELECT u.paused_at, u.held_at, u.hold_reason, u.erasing_since
FROM :"schema".users AS u
WHERE u.user_id = %(user_id)s::varchar AND u.app_name = %(app_name)s::varchar
UNION ALL
SELECT o.since, NULL, NULL, NULL
FROM :"schema".objection_since(%(user_id)s::text, %(app_name)s::text) AS o (since)
WHERE o.since IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM :"schema".users AS u
    WHERE u.user_id = %(user_id)s::varchar AND u.app_name = %(app_name)s::varchar);

-- name: lock
-- params: user_id, app_name
-- Waits for writers of the person. Who is not known yet becomes known: a person may object before anything was said.
WITH made AS (
    INSERT INTO :"schema".users (user_id, app_name, paused_at)
    VALUES (%(user_id)s::varchar, %(app_name)s::varchar,
        :"schema".objection_since(%(user_id)s::text, %(app_name)s::text))
    ON CONFLICT (user_id, app_name) DO NOTHING
)
SELECT u.user_id FROM :"schema".users AS u
WHERE u.user_id = %(user_id)s::varchar AND u.app_name = %(app_name)s::varchar
FOR UPDATE OF u;

-- name: stand
-- params: user_id, app_name, is_paused, is_held, reason
-- returns: the row where that changed something
UPDATE :"schema".users AS u
SET paused_at = CASE WHEN %(is_paused)s::boolean THEN COALESCE(u.paused_at, now())
        WHEN NOT %(is_paused)s::boolean THEN NULL ELSE u.paused_at END,
    held_at = CASE WHEN %(is_held)s::boolean THEN COALESCE(u.held_at, now())
        WHEN NOT %(is_held)s::boolean THEN NULL ELSE u.held_at END,
    hold_reason = CASE WHEN %(is_held)s::boolean THEN %(reason)s::text
        WHEN NOT %(is_held)s::boolean THEN NULL ELSE u.hold_reason END
WHERE u.user_id = %(user_id)s::varchar AND u.app_name = %(app_name)s::varchar
    AND ((%(is_paused)s::boolean IS NOT NULL AND (u.paused_at IS NOT NULL) <> %(is_paused)s::boolean)
        OR (%(is_held)s::boolean IS NOT NULL
            AND ((u.held_at IS NOT NULL) <> %(is_held)s::boolean
                OR %(is_held)s::boolean AND u.hold_reason IS DISTINCT FROM %(reason)s::text)))
RETURNING u.erasing_since;

-- name: record
-- params: user_id, app_name, decision, note, actor, actor_verified
SELECT :"schema".record_audit_entries(%(app_name)s::text, %(user_id)s::text, ARRAY['user'], %(decision)s::text,
    %(note)s::text, NULL, %(actor)s::text, %(actor_verified)s::boolean) AS written;

-- name: share
-- params: user_id, app_name
-- An erasure begins after the transaction, or is seen by it.
SELECT u.erasing_since IS NOT NULL AS is_erasing FROM :"schema".users AS u
WHERE u.user_id = %(user_id)s::varchar AND u.app_name = %(app_name)s::varchar
FOR KEY SHARE;

-- name: may_delete
-- params: user_id, app_name
SELECT :"schema".check_may_delete(%(user_id)s::text, %(app_name)s::text);

-- name: held_persons
-- returns: how many persons of all apps are held; of a schema that is older than holds, none
SELECT count(*) AS persons, min(u.app_name)::text AS app
FROM :"schema".users AS u
WHERE to_jsonb(u) ->> 'held_at' IS NOT NULL;
