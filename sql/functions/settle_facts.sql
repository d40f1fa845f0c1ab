-- What follows a change of facts: search, the scores of their threads' memories, what was prepared for recall.
--
-- callers: upsert_facts(), forget_facts(), restore_facts(), resolve_conflict()
-- locks: memories of the threads, as long as those are small enough for their scores to change; then the user's row
--   of fact_term_stats
-- volatility: VOLATILE, it writes

CREATE OR REPLACE FUNCTION :"schema".settle_facts(
    p_user_id text,
    p_app_name text,
    p_shown uuid[],
    p_hidden uuid[],
    p_threads uuid[]
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
DECLARE
    v_related uuid[];
BEGIN
    -- A memory's score counts at most five relatives: beyond eight memories of a thread, facts change nothing.
    SELECT array_agg(m.id) INTO v_related
    FROM (SELECT DISTINCT t FROM unnest(p_threads) AS t WHERE t IS NOT NULL) AS threads_changed (thread_id)
    CROSS JOIN LATERAL (
        SELECT m.id
        FROM memories AS m
        WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.thread_id = threads_changed.thread_id
            AND m.deleted_at IS NULL
        LIMIT 8
    ) AS m;
    IF v_related IS NOT NULL THEN
        PERFORM rescore_memories(p_user_id, p_app_name, v_related);
    END IF;
    IF cardinality(p_hidden) > 0 THEN
        PERFORM unindex_facts(p_user_id, p_app_name, p_hidden);
    END IF;
    IF cardinality(p_shown) > 0 THEN
        PERFORM index_facts(p_user_id, p_app_name, p_shown);
    END IF;
    IF cardinality(p_shown) > 0 OR cardinality(p_hidden) > 0 THEN
        DELETE FROM memory_preload_cache AS c WHERE c.user_id = p_user_id AND c.app_name = p_app_name;
    END IF;
END
$function$;
