-- Records a context: the search it rests on, as record_retrieval() does, with the tokens that it may have and has.
--
-- callers: queries/context.sql
-- locks: none that another search waits for
-- volatility: VOLATILE, it writes
-- returns: the id that feedback names; NULL for a user whom the app does not know

CREATE OR REPLACE FUNCTION :"schema".record_context(
    p_user_id text,
    p_app_name text,
    p_query text,
    p_memory_ids uuid[],
    p_fact_ids uuid[],
    p_items jsonb,
    p_level text,
    p_fallbacks jsonb,
    p_thread text,
    p_repeat_window interval,
    p_budget_tokens integer,
    p_used_tokens integer
)
RETURNS uuid
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN record_retrieval(p_user_id, p_app_name, p_query, p_memory_ids, p_fact_ids, p_items, p_level, p_fallbacks,
        p_thread, p_repeat_window, p_budget_tokens, p_used_tokens);
END
$function$;
