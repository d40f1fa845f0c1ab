-- Whether the readable sides of a page of the trail are what was hashed: said without showing a person's key.
--
-- callers: queries/trail.sql
-- locks: none beyond reading
-- volatility: STABLE, it reads tables
-- rights: runs as the owner, so that who verifies need not read the keys

CREATE OR REPLACE FUNCTION :"schema".trail_details(p_app_name text, p_after bigint, p_row_limit integer)
RETURNS TABLE (log_id uuid, is_intact boolean)
LANGUAGE sql
STABLE SECURITY DEFINER
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
    SELECT l.id, COALESCE(
        encode(hmac_sha256(k.key, convert_to(k.user_id, 'UTF8')), 'hex') IS NOT DISTINCT FROM l.user_id
        AND encode(sha256(t.salt || convert_to(t.note, 'UTF8')), 'hex') IS NOT DISTINCT FROM l.note
        AND encode(sha256(k.key || convert_to(t.idempotency_key, 'UTF8')), 'hex')
            IS NOT DISTINCT FROM l.idempotency_key
        AND encode(sha256(t.salt || convert_to(t.actor, 'UTF8')), 'hex') = l.actor, false)
    FROM (
        SELECT one.* FROM memory_audit_logs AS one
        WHERE one.app_name = p_app_name AND one.sequence > p_after
        ORDER BY one.sequence
        LIMIT p_row_limit
    ) AS l
    JOIN audit_details AS t ON t.log_id = l.id AND t.app_name = l.app_name
    LEFT JOIN audit_keys AS k ON k.user_id = t.user_id AND k.app_name = t.app_name;
$function$;
