-- Ends a fact where another one begins; at the same moment or before it, it was never true.
--
-- callers: resolve_conflict()
-- locks: the row
-- volatility: VOLATILE, it writes

CREATE OR REPLACE FUNCTION :"schema".end_fact(
    p_user_id text,
    p_app_name text,
    p_id uuid,
    p_superseded_by uuid,
    p_at timestamptz
)
RETURNS void
LANGUAGE sql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
    UPDATE facts AS f
    SET status = 'superseded', superseded_by = p_superseded_by,
        superseded_at = COALESCE(f.superseded_at, now()),
        valid_until = CASE WHEN COALESCE(f.valid_from, '-infinity') < p_at THEN p_at ELSE f.valid_until END,
        expired_at = CASE WHEN COALESCE(f.valid_from, '-infinity') < p_at THEN f.expired_at
            ELSE COALESCE(f.expired_at, now()) END,
        updated_at = now(), version = f.version + 1
    WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = p_id;
$function$;
