-- How many of the memories and facts that a summary was made of are removed, superseded or no longer there.
--
-- Such a summary says what nobody should read any more: it is shown in no context until it was made anew.
--
-- callers: context_candidates(), queries/summaries.sql
-- locks: none beyond reading
-- volatility: STABLE, it reads tables
-- returns: 0 where all are there, and for a summary that does not say what it was made of

CREATE OR REPLACE FUNCTION :"schema".summary_sources_gone(p_user_id text, p_app_name text, p_details jsonb)
RETURNS integer
LANGUAGE sql
STABLE
PARALLEL SAFE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
    SELECT (
        SELECT count(*)
        FROM jsonb_array_elements_text(
            CASE WHEN jsonb_typeof(p_details -> 'memory_ids') = 'array' THEN p_details -> 'memory_ids' END) AS g (id)
        WHERE NOT EXISTS (
            SELECT FROM memories AS m
            WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.id = g.id::uuid AND m.deleted_at IS NULL)
    )::integer + (
        SELECT count(*)
        FROM jsonb_array_elements_text(
            CASE WHEN jsonb_typeof(p_details -> 'fact_ids') = 'array' THEN p_details -> 'fact_ids' END) AS g (id)
        WHERE NOT EXISTS (
            SELECT FROM facts AS f
            WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = g.id::uuid
                AND f.deleted_at IS NULL AND f.status = 'active')
    )::integer;
$function$;
