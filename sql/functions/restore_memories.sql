-- Brings soft-deleted memories of one user back, searchable as before; a restore counts as a look at them.
-- One that was merged into another is told apart from it: release_merged().
--
-- callers: memory restore
-- locks: the rows in order of id, then those they were merged into; the user's row of memory_term_stats; the app's trail
-- volatility: VOLATILE, it writes
-- returns: how many memories were soft-deleted before

CREATE OR REPLACE FUNCTION :"schema".restore_memories(
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
    gone uuid[];
BEGIN
    SELECT array_agg(m.id ORDER BY m.id) INTO gone
    FROM (
        SELECT one.id FROM memories AS one
        WHERE one.user_id = p_user_id AND one.app_name = p_app_name AND one.id = ANY (p_ids)
            AND one.deleted_at IS NOT NULL
        ORDER BY one.id
        FOR UPDATE
    ) AS m;
    IF gone IS NULL THEN
        RETURN 0;
    END IF;
    PERFORM release_merged(p_user_id, p_app_name, gone);
    UPDATE memories AS m
    SET deleted_at = NULL, deleted_reason = NULL, updated_at = now(), last_accessed_at = now(),
        version = m.version + 1,
        metadata = COALESCE(m.metadata, '{}') - 'deleted' - 'deleted_reason' - 'deleted_at'
    WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.id = ANY (gone);
    UPDATE memory_vectors AS v
    SET live = true
    WHERE v.user_id = p_user_id AND v.app_name = p_app_name AND v.memory_id = ANY (gone) AND NOT v.live;
    PERFORM index_memories(p_user_id, p_app_name, gone);
    PERFORM rescore_memories(p_user_id, p_app_name, gone);
    PERFORM record_audit_entries(p_app_name, p_user_id, gone::text[], 'retain', 'restored', NULL, p_actor);
    RETURN cardinality(gone);
END;
$function$;
