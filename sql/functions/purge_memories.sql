-- Removes soft-deleted memories of one user for good, with their vectors, versions, links and sources.
--
-- Only rows that were removed longer ago than p_window_days (spans of 24 hours), never a pinned one,
-- and none of a user under legal hold or being erased. The trail keeps an entry of each.
--
-- Callers:    retention purge, batch by batch.
-- Locks:      the user's row of users, shared, so that no hold begins meanwhile; the rows of one batch in
--             order of id, those that nobody else holds; the app's trail.
-- Volatility: VOLATILE, it writes.
-- Returns:    how many rows went; 0: none is left that may go.
-- By hand:    psql -v schema=negentropy -f purge_memories.sql

CREATE OR REPLACE FUNCTION :"schema".purge_memories(
    p_user_id text,
    p_app_name text,
    p_window_days integer,
    p_max_rows integer DEFAULT 1000,
    p_actor text DEFAULT NULL
)
RETURNS integer
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $$
DECLARE
    v_is_held boolean;
    v_ids uuid[];
BEGIN
    IF p_window_days IS NULL OR p_window_days < 0 THEN
        RAISE EXCEPTION 'a restore window is not negative'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'give the days of the window';
    END IF;
    SELECT u.held_at IS NOT NULL OR u.erasing_since IS NOT NULL INTO v_is_held
    FROM users AS u
    WHERE u.user_id = p_user_id AND u.app_name = p_app_name
    FOR SHARE;
    IF v_is_held THEN
        RETURN 0;
    END IF;
    SELECT array_agg(gone.id) INTO v_ids
    FROM (
        SELECT m.id
        FROM memories AS m
        WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.pinned_at IS NULL
            AND m.id = ANY (ARRAY(
                SELECT one.id
                FROM memories AS one
                WHERE one.user_id = p_user_id AND one.app_name = p_app_name AND one.pinned_at IS NULL
                    AND one.deleted_at IS NOT NULL
                    AND one.deleted_at <= now() - LEAST(p_window_days, 365000) * interval '24 hours'
                ORDER BY one.deleted_at
                LIMIT p_max_rows
            ))
            AND m.deleted_at <= now() - LEAST(p_window_days, 365000) * interval '24 hours'
        ORDER BY m.id
        FOR UPDATE SKIP LOCKED
    ) AS gone;
    IF v_ids IS NULL THEN
        RETURN 0;
    END IF;
    PERFORM unindex_memories(p_user_id, p_app_name, v_ids);
    DELETE FROM memory_associations AS a
    WHERE a.user_id = p_user_id AND a.app_name = p_app_name
        AND ((a.source_type = 'memory' AND a.source_id = ANY (v_ids))
            OR (a.target_type = 'memory' AND a.target_id = ANY (v_ids)));
    DELETE FROM item_sources AS s
    WHERE s.user_id = p_user_id AND s.app_name = p_app_name AND s.item_kind = 'memory'
        AND s.item_id = ANY (v_ids);
    DELETE FROM memories AS m
    WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.id = ANY (v_ids);
    PERFORM record_audit_entries(p_app_name, p_user_id, v_ids::text[], 'purge',
        'restore window is over', NULL, p_actor);
    RETURN cardinality(v_ids);
END
$$;
