-- Soft-deletes facts of one user: out of every reader's sight, back by restore_facts().
--
-- What they superseded stays superseded: removing a fact does not make the one before it true again.
--
-- callers: fact rm
-- locks: the user's facts (lock_facts), the rows in order of id, memories of their threads, the user's row of
--   fact_term_stats, the app's trail
-- volatility: VOLATILE, it writes
-- returns: how many facts were not removed before

CREATE OR REPLACE FUNCTION :"schema".forget_facts(
    p_user_id text,
    p_app_name text,
    p_ids uuid[],
    p_reason text,
    p_actor text DEFAULT NULL
)
RETURNS integer
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
DECLARE
    v_live uuid[];
    v_threads uuid[];
BEGIN
    PERFORM check_may_delete(p_user_id, p_app_name);
    PERFORM lock_facts(p_user_id, p_app_name);
    SELECT array_agg(f.id ORDER BY f.id), array_agg(f.thread_id) INTO v_live, v_threads
    FROM facts AS f
    WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = ANY (p_ids) AND f.deleted_at IS NULL;
    IF v_live IS NULL THEN
        RETURN 0;
    END IF;
    UPDATE facts AS f
    SET deleted_at = now(), deleted_reason = p_reason, updated_at = now(), version = f.version + 1
    WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = ANY (v_live);
    PERFORM settle_facts(p_user_id, p_app_name, '{}', v_live, v_threads);
    PERFORM record_audit_entries(p_app_name, p_user_id, v_live::text[], 'delete', p_reason, NULL, p_actor);
    RETURN cardinality(v_live);
END;
$function$;
