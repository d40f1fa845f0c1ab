-- Whose shared stores a user may read, and which of them write: the one access rule of learnings and entities.
--
-- A user has what is the user's own, and what a grant of a team gives: readers read, writers and admins write too.
-- What is of the whole app is everybody's to the degree of p_global (YAML learning.global_access): write, read, or
-- members, where only a grant on it counts; without p_global as sync found it declared for the app, or for the main app
-- where the app has no config of its own. Without a user (NULL) only what is of the whole app.
--
-- callers: search_shared_items(), knowledge_candidates(), entity_candidates(), live_items(), queries/namespaces.sql
-- locks: none beyond reading
-- volatility: STABLE, it reads tables
-- returns: a row an owner; role is reader, writer or admin

CREATE OR REPLACE FUNCTION :"schema".accessible_owners(
    p_user_id text,
    p_app_name text,
    p_global text DEFAULT NULL
)
RETURNS TABLE (owner_kind text, owner text, role text)
LANGUAGE sql
STABLE
PARALLEL SAFE
ROWS 3
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
    SELECT 'user', p_user_id, 'admin' WHERE p_user_id IS NOT NULL
    UNION ALL
    SELECT g.kind, '', CASE GREATEST(g.open, g.granted) WHEN 3 THEN 'admin' WHEN 2 THEN 'writer' ELSE 'reader' END
    FROM (
        SELECT 'global' AS kind, CASE COALESCE(p_global, (
                SELECT COALESCE(c.global_access, 'write')
                FROM memory_automation_configs AS c
                WHERE c.app_name = p_app_name OR c.is_main
                ORDER BY c.is_main AND c.app_name <> p_app_name
                LIMIT 1), 'write')
            WHEN 'write' THEN 2 WHEN 'read' THEN 1 ELSE 0 END AS open,
            COALESCE((
                SELECT CASE n.role WHEN 'admin' THEN 3 WHEN 'writer' THEN 2 ELSE 1 END
                FROM namespace_members AS n
                WHERE n.user_id = p_user_id AND n.app_name = p_app_name AND n.kind = 'global' AND n.namespace = ''), 0)
                AS granted
    ) AS g
    WHERE GREATEST(g.open, g.granted) > 0
    UNION ALL
    SELECT 'team', n.namespace, n.role
    FROM namespace_members AS n
    WHERE n.user_id = p_user_id AND n.app_name = p_app_name AND n.kind = 'team'
$function$;
