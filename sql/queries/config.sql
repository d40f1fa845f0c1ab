-- The automation document that the database stores, one row an app, with its history.

-- name: stored
-- params: app_name
SELECT app_name, config, revision, is_main, updated_by, updated_at
FROM :"schema".memory_automation_configs
WHERE app_name = %(app_name)s::varchar;

-- name: stored_for_update
-- params: app_name
SELECT app_name, config, revision, is_main, updated_by, updated_at
FROM :"schema".memory_automation_configs
WHERE app_name = %(app_name)s::varchar
FOR UPDATE;

-- name: store
-- params: app_name, config, changed_keys, actor, reason
-- returns: the row as it stands afterwards; the history keeps who changed which keys, when and why
WITH changed AS (
    UPDATE :"schema".memory_automation_configs AS c
    SET config = %(config)s::jsonb,
        revision = c.revision + 1,
        updated_by = left(%(actor)s::text, 255),
        updated_at = now()
    WHERE c.app_name = %(app_name)s::varchar
    RETURNING c.app_name, c.config, c.revision, c.is_main, c.updated_by, c.updated_at
),
history AS (
    INSERT INTO :"schema".memory_automation_config_history
        (app_name, revision, config, changed_keys, changed_by, reason)
    SELECT c.app_name, c.revision, c.config, %(changed_keys)s::text[], %(actor)s::text,
        %(reason)s::text
    FROM changed AS c
)
SELECT app_name, config, revision, is_main, updated_by, updated_at FROM changed;

-- name: history
-- params: app_name, limit
-- returns: revisions, newest first, each with the document before it; total counts all
SELECT h.revision, h.config, lag(h.config) OVER (ORDER BY h.revision) AS config_before, h.changed_by, h.reason, h.changed_at,
    count(*) OVER () AS total
FROM :"schema".memory_automation_config_history AS h
WHERE h.app_name = %(app_name)s::varchar
ORDER BY h.revision DESC
LIMIT %(limit)s::integer;
