-- Brings soft-deleted facts of one user back; those that were true until they were removed are found again.
--
-- callers: fact restore
-- locks: the user's facts (lock_facts), the rows in order of id, memories of their threads, the user's row of
--   fact_term_stats, the app's trail
-- volatility: VOLATILE, it writes; fails on facts_user_key_unique where another value stands under the key by now
-- returns: how many facts were soft-deleted before

CREATE OR REPLACE FUNCTION :"schema".restore_facts(
    p_user_id text,
    p_app_name text,
    p_ids uuid[],
    p_actor text DEFAULT NULL
)
RETURNS integer
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
DECLARE
    v_gone uuid[];
    v_threads uuid[];
BEGIN
    PERFORM lock_facts(p_user_id, p_app_name);
    SELECT array_agg(f.id ORDER BY f.id), array_agg(f.thread_id) INTO v_gone, v_threads
    FROM facts AS f
    WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = ANY (p_ids) AND f.deleted_at IS NOT NULL;
    IF v_gone IS NULL THEN
        RETURN 0;
    END IF;
    UPDATE facts AS f
    SET deleted_at = NULL, deleted_reason = NULL, updated_at = now(), version = f.version + 1
    WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = ANY (v_gone);
    PERFORM settle_facts(p_user_id, p_app_name, v_gone, '{}', v_threads);
    PERFORM record_audit_entries(p_app_name, p_user_id, v_gone::text[], 'retain', 'restored', NULL, p_actor);
    RETURN cardinality(v_gone);
END;
$function$;
