-- Instructions: how an app's agents should behave, by key, each version kept.

-- name: list
-- params: app_name, key, version, history
-- returns: of each key the newest version, or all of them; `versions` counts them
SELECT i.id, i.instruction_key::text AS key, i.content, i.version, i.metadata, i.created_by, i.created_at,
    i.newest AS is_current, i.versions
FROM (
    SELECT one.id, one.instruction_key, one.content, one.version, one.metadata, one.created_by, one.created_at,
        one.version = max(one.version) OVER own AS newest, (count(*) OVER own)::integer AS versions
    FROM :"schema".instructions AS one
    WHERE one.app_name = %(app_name)s::varchar
        AND (%(key)s::text IS NULL OR one.instruction_key = %(key)s::text)
    WINDOW own AS (PARTITION BY one.instruction_key)
) AS i
WHERE CASE
    WHEN %(version)s::integer IS NOT NULL THEN i.version = %(version)s::integer
    ELSE i.newest OR %(history)s::boolean
END
ORDER BY i.instruction_key, i.version;

-- name: add
-- params: app_name, key, content, version, metadata, created_by
-- returns: the id; none where somebody wrote this version first
INSERT INTO :"schema".instructions (app_name, instruction_key, content, version, metadata, created_by)
VALUES (%(app_name)s::varchar, %(key)s::varchar, %(content)s::text, %(version)s::integer, %(metadata)s::jsonb,
    %(created_by)s::text)
ON CONFLICT (app_name, instruction_key, version) DO NOTHING
RETURNING id;
