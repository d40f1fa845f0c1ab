-- When a person of an app was erased, told to whoever is about to bring the person back.
--
-- callers: queries/export.sql
-- locks: none beyond reading
-- security: DEFINER, since nobody but the owner reads the list of erased persons and its key; the search path is pinned,
--   no argument becomes SQL. Whoever may not read users is refused
-- volatility: STABLE, it reads tables
-- returns: when the last erasure began; NULL for a person who is not on the list

CREATE OR REPLACE FUNCTION :"schema".erased_on(p_user_id text, p_app_name text)
RETURNS timestamptz
LANGUAGE plpgsql
STABLE SECURITY DEFINER
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
DECLARE
    caller name := COALESCE(NULLIF(current_setting('role'), 'none'), session_user);
BEGIN
    IF NOT has_table_privilege(caller, 'users', 'SELECT') THEN
        RAISE EXCEPTION 'permission denied for function erased_on'
            USING ERRCODE = 'insufficient_privilege', DETAIL = format('%I may not read users', caller);
    END IF;
    RETURN (
        SELECT e.erased_at FROM erased_persons AS e
        WHERE e.app_name = p_app_name AND e.person_hmac = erased_person(p_user_id, p_app_name));
END
$function$;
