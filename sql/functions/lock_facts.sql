-- Has the transaction wait until no other one writes this user's facts.
--
-- callers: every writer of facts
-- locks: a transaction-level advisory lock, one a user and app
-- volatility: VOLATILE, it locks

CREATE OR REPLACE FUNCTION :"schema".lock_facts(p_user_id text, p_app_name text)
RETURNS void
LANGUAGE sql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
    SELECT pg_advisory_xact_lock(hashtextextended(
        'negmem:facts:' || current_schema() || ':' || p_app_name || ':' || p_user_id, 0));
$function$;
