-- Namespaces: who shares what.

-- name: accessible
-- params: user_id, app_name, global_access
SELECT o.owner_kind AS kind, o.owner AS name, o.role
FROM :"schema".accessible_owners(%(user_id)s::text, %(app_name)s::text, %(global_access)s::text) AS o
ORDER BY array_position('{user,team,global}'::text[], o.owner_kind), o.owner;

-- name: create
-- params: app_name, name, kind, actor
-- returns: a row where it is new
INSERT INTO :"schema".namespaces (app_name, name, kind, created_by)
VALUES (%(app_name)s::varchar, %(name)s::varchar, %(kind)s::varchar, %(actor)s::text)
ON CONFLICT (app_name, kind, name) DO NOTHING
RETURNING name;

-- name: lock
-- params: app_name, name, kind
SELECT n.name FROM :"schema".namespaces AS n
WHERE n.app_name = %(app_name)s::varchar AND n.kind = %(kind)s::varchar AND n.name = %(name)s::varchar
FOR UPDATE;

-- name: role_of
-- params: app_name, name, kind, user_id
SELECT m.role FROM :"schema".namespace_members AS m
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.kind = %(kind)s::varchar
    AND m.namespace = %(name)s::varchar;

-- name: grant
-- params: app_name, name, kind, user_id, role, actor
INSERT INTO :"schema".namespace_members AS m (app_name, namespace, kind, user_id, role, granted_by)
VALUES (%(app_name)s::varchar, %(name)s::varchar, %(kind)s::varchar, %(user_id)s::varchar, %(role)s::varchar,
    %(actor)s::text)
ON CONFLICT (user_id, app_name, kind, namespace) DO UPDATE
SET role = excluded.role, granted_by = excluded.granted_by, granted_at = now()
WHERE m.role <> excluded.role;

-- name: revoke
-- params: app_name, name, kind, user_id
DELETE FROM :"schema".namespace_members AS m
WHERE m.user_id = %(user_id)s::varchar AND m.app_name = %(app_name)s::varchar AND m.kind = %(kind)s::varchar
    AND m.namespace = %(name)s::varchar;

-- name: list
-- params: app_name, user_id, name, kind
-- returns: namespaces of the app with their members, those of a user where one is named
SELECT CASE n.kind WHEN 'global' THEN 'global' ELSE n.name END AS name, n.kind, n.created_by, n.created_at,
    COALESCE((
        SELECT jsonb_agg(jsonb_build_object('user', m.user_id, 'role', m.role, 'granted_by', m.granted_by,
            'granted_at', m.granted_at) ORDER BY m.user_id)
        FROM :"schema".namespace_members AS m
        WHERE m.app_name = n.app_name AND m.kind = n.kind AND m.namespace = n.name), '[]') AS members
FROM (
    SELECT o.app_name, o.name, o.kind, o.created_by, o.created_at FROM :"schema".namespaces AS o
    UNION ALL
    SELECT %(app_name)s::varchar, '', 'global', NULL, NULL
    WHERE NOT EXISTS (SELECT 1 FROM :"schema".namespaces AS o
        WHERE o.app_name = %(app_name)s::varchar AND o.kind = 'global' AND o.name = '')
) AS n
WHERE n.app_name = %(app_name)s::varchar AND n.kind <> 'user'
    AND (%(name)s::text IS NULL OR (n.name = %(name)s::text AND n.kind = %(kind)s::text))
    AND (%(user_id)s::text IS NULL OR EXISTS (
        SELECT 1 FROM :"schema".namespace_members AS m
        WHERE m.user_id = %(user_id)s::text AND m.app_name = n.app_name AND m.kind = n.kind AND m.namespace = n.name))
ORDER BY n.kind, n.name;

-- name: declared_access
-- params: app_name
-- returns: what sync found declared of global for an app; no row for an app without a config of its own
SELECT COALESCE(c.global_access, 'write')::text AS global_access
FROM :"schema".memory_automation_configs AS c
WHERE c.app_name = %(app_name)s::varchar;

-- name: declare_access
-- params: app_name, global_access
UPDATE :"schema".memory_automation_configs AS c
SET global_access = %(global_access)s::varchar
WHERE c.app_name = %(app_name)s::varchar AND COALESCE(c.global_access, 'write') <> %(global_access)s::varchar;
