-- How the trail names a person: an HMAC under the person's key; NULL where there is none, or no longer.
--
-- callers: audit_decide(), queries/audit.sql
-- locks: none beyond reading
-- volatility: STABLE, it reads tables

CREATE OR REPLACE FUNCTION :"schema".audit_person(p_user_id text, p_app_name text)
RETURNS text
LANGUAGE sql
STABLE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
    SELECT encode(hmac_sha256(k.key, convert_to(p_user_id, 'UTF8')), 'hex')
    FROM audit_keys AS k
    WHERE k.user_id = p_user_id AND k.app_name = p_app_name;
$function$;
