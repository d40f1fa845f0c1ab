-- Soft-deletes live memories of one user: out of every reader's sight, back by restore_memories().
--
-- Core memories and pinned ones are the caller's to leave out; a person may remove those by hand.
--
-- callers: memory rm, curator prune, cleanup_low_value_memories()
-- locks: the rows in order of id; the user's row of memory_term_stats; the app's trail
-- volatility: VOLATILE, it writes
-- returns: how many memories were live before

CREATE OR REPLACE FUNCTION :"schema".forget_memories(
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
    live uuid[];
BEGIN
    PERFORM check_may_delete(p_user_id, p_app_name);
    SELECT array_agg(m.id ORDER BY m.id) INTO live
    FROM (
        SELECT one.id FROM memories AS one
        WHERE one.user_id = p_user_id AND one.app_name = p_app_name AND one.id = ANY (p_ids)
            AND one.deleted_at IS NULL
        ORDER BY one.id
        FOR UPDATE
    ) AS m;
    IF live IS NULL THEN
        RETURN 0;
    END IF;
    UPDATE memories AS m
    SET deleted_at = now(), deleted_reason = p_reason, updated_at = now(), version = m.version + 1,
        metadata = COALESCE(m.metadata, '{}') || jsonb_build_object('deleted', true, 'deleted_reason', p_reason)
    WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.id = ANY (live);
    PERFORM unindex_memories(p_user_id, p_app_name, live);
    DELETE FROM memory_preload_cache AS c WHERE c.user_id = p_user_id AND c.app_name = p_app_name;
    PERFORM record_audit_entries(p_app_name, p_user_id, live::text[], 'delete', p_reason, NULL, p_actor);
    RETURN cardinality(live);
END;
$function$;
