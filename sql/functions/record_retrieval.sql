-- Records a search: what was asked and given, and, in the same row, the accesses that are still to be counted.
--
-- The row is the queue: apply_recorded_accesses() adds its accesses to the memories later, so that reading never
-- waits for them and they are not lost. A repeat or a further page of the same query within p_repeat_window is
-- recorded too, but counts nothing.
--
-- callers: search_page(), record_context() with what a context may have and has, queries/pii.sql
-- locks: none that another search waits for
-- volatility: VOLATILE, it writes
-- returns: the id that feedback names; NULL for a user whom the app does not know

CREATE OR REPLACE FUNCTION :"schema".record_retrieval(
    p_user_id text,
    p_app_name text,
    p_query text,
    p_memory_ids uuid[],
    p_fact_ids uuid[] DEFAULT '{}',
    p_items jsonb DEFAULT '[]',
    p_level text DEFAULT NULL,
    p_fallbacks jsonb DEFAULT '[]',
    p_thread text DEFAULT NULL,
    p_repeat_window interval DEFAULT '1 minute',
    p_budget_tokens integer DEFAULT NULL,
    p_used_tokens integer DEFAULT NULL
)
RETURNS uuid
LANGUAGE plpgsql
VOLATILE
-- Planned for each search the statement costs more than it takes.
SET plan_cache_mode = force_generic_plan
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
DECLARE
    v_id uuid;
BEGIN
    INSERT INTO memory_retrieval_logs (user_id, app_name, thread_id, query, retrieved_memory_ids, retrieved_fact_ids,
        items, search_level, fallbacks, latency_ms, budget_tokens, used_tokens, counted, applied_at)
    SELECT u.user_id, u.app_name,
        (SELECT t.id FROM threads AS t
         WHERE t.user_id = p_user_id AND t.app_name = p_app_name AND t.external_id = p_thread),
        left(p_query, 10000), p_memory_ids, p_fact_ids, p_items, p_level, p_fallbacks,
        extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000, p_budget_tokens, p_used_tokens,
        counts.it,
        CASE WHEN NOT counts.it OR cardinality(p_memory_ids) + cardinality(p_fact_ids) = 0 THEN now() END
    FROM users AS u
    CROSS JOIN LATERAL (
        SELECT NOT EXISTS (
            SELECT 1 FROM memory_retrieval_logs AS l
            WHERE l.user_id = p_user_id AND l.app_name = p_app_name AND l.created_at > now() - p_repeat_window
                AND l.query = left(p_query, 10000)) AS it
    ) AS counts
    WHERE u.user_id = p_user_id AND u.app_name = p_app_name
    RETURNING id INTO v_id;
    RETURN v_id;
END
$function$;
