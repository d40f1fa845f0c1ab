-- Those of some memories, facts and entities that a user may see now, with what they say.
--
-- Memories that were not removed; facts that are active, valid now and not removed; entities of the stores
-- that accessible_owners() names, neither archived nor removed.
--
-- callers: linked_memories(), queries/associations.sql
-- locks: none beyond reading
-- volatility: STABLE, it reads tables and now()
-- returns: a row an item that is there, in no stated order

CREATE OR REPLACE FUNCTION :"schema".live_items(p_user_id text, p_app_name text, p_ids uuid[], p_global text DEFAULT NULL)
RETURNS TABLE (kind text, id uuid, content text, occurred_at timestamptz)
LANGUAGE sql
STABLE
PARALLEL SAFE
ROWS 1
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
    SELECT 'memory', m.id, m.content, m.occurred_at
    FROM memories AS m
    WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.id = ANY (p_ids) AND m.deleted_at IS NULL
    UNION ALL
    SELECT 'fact', f.id, fact_text(f.key, f.value), f.valid_from
    FROM facts AS f
    WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = ANY (p_ids)
        AND f.status = 'active' AND f.deleted_at IS NULL
        AND (f.valid_from IS NULL OR f.valid_from <= now())
        AND (f.valid_until IS NULL OR f.valid_until > now())
    UNION ALL
    SELECT 'entity', e.id, concat_ws(': ', e.name, e.description), NULL
    FROM entities AS e
    WHERE e.app_name = p_app_name AND e.id = ANY (p_ids) AND e.deleted_at IS NULL AND e.archived_at IS NULL
        AND (e.owner_kind, e.owner) IN (
            SELECT a.owner_kind, a.owner FROM accessible_owners(p_user_id, p_app_name, p_global) AS a)
$function$;
