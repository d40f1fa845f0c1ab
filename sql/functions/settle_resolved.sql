-- After a decision about a conflict: those of its facts that stand are searched, the others are not.
--
-- callers: resolve_conflict(), undo_conflict()
-- locks: as settle_facts()
-- volatility: VOLATILE, it writes

CREATE OR REPLACE FUNCTION :"schema".settle_resolved(p_user_id text, p_app_name text, p_ids uuid[])
RETURNS void
LANGUAGE sql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
    SELECT settle_facts(p_user_id, p_app_name,
        COALESCE(array_agg(f.id) FILTER (WHERE f.status = 'active' AND f.deleted_at IS NULL), '{}'),
        COALESCE(array_agg(f.id) FILTER (WHERE f.status <> 'active' OR f.deleted_at IS NOT NULL), '{}'),
        array_agg(f.thread_id))
    FROM facts AS f
    WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = ANY (p_ids);
$function$;
