-- How the list of erased persons names one: an HMAC under the key of the installation, or under another's.
--
-- callers: erase_begin(), queries/erasure.sql
-- locks: none beyond reading
-- volatility: STABLE, it reads a table

CREATE OR REPLACE FUNCTION :"schema".erased_person(p_user_id text, p_app_name text, p_key bytea DEFAULT NULL)
RETURNS bytea
LANGUAGE sql
STABLE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
    SELECT hmac_sha256(COALESCE(p_key, (SELECT i.erasure_key FROM installation AS i)),
        convert_to(jsonb_build_array(p_app_name, p_user_id)::text, 'UTF8'));
$function$;
