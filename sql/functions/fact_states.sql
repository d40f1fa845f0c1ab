-- What of some facts a decision about a conflict changes, as JSON, in order of id.
--
-- callers: resolve_conflict(), undo_conflict()
-- volatility: STABLE, it reads a table

CREATE OR REPLACE FUNCTION :"schema".fact_states(p_user_id text, p_app_name text, p_ids uuid[])
RETURNS jsonb
LANGUAGE sql
STABLE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
    SELECT COALESCE(jsonb_agg(jsonb_build_object('id', f.id, 'status', f.status, 'valid_until', f.valid_until,
        'superseded_by', f.superseded_by, 'superseded_at', f.superseded_at, 'expired_at', f.expired_at,
        'deleted_at', f.deleted_at) ORDER BY f.id), '[]')
    FROM facts AS f
    WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = ANY (p_ids);
$function$;
