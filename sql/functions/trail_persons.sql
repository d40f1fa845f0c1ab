-- Those of the names that the trail gives to persons whose key still stands: who was not erased.
--
-- callers: queries/trail.sql
-- locks: none beyond reading
-- volatility: STABLE, it reads tables
-- rights: runs as the owner, so that who verifies need not read the keys

CREATE OR REPLACE FUNCTION :"schema".trail_persons(p_app_name text, p_persons text[])
RETURNS SETOF text
LANGUAGE sql
STABLE SECURITY DEFINER
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
    SELECT p.person
    FROM (
        SELECT encode(hmac_sha256(k.key, convert_to(k.user_id, 'UTF8')), 'hex') AS person
        FROM audit_keys AS k
        WHERE k.app_name = p_app_name
    ) AS p
    WHERE p.person = ANY (p_persons);
$function$;
