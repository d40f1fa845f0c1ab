-- Deletes what one user searched, and the feedback to it, longer ago than p_days (spans of 24 hours).
--
-- A log whose accesses are still queued stays until they are counted. Not for a user under legal hold.
--
-- Callers:    retention purge, batch by batch.
-- Locks:      the rows of one batch, those that nobody else holds.
-- Volatility: VOLATILE, it writes.
-- Returns:    how many logs went; 0: none is left that may go.
-- By hand:    psql -v schema=negentropy -f purge_retrieval_logs.sql

CREATE OR REPLACE FUNCTION :"schema".purge_retrieval_logs(
    p_user_id text,
    p_app_name text,
    p_days integer,
    p_max_rows integer DEFAULT 5000
)
RETURNS integer
LANGUAGE sql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $$
    WITH old AS (
        SELECT l.id
        FROM memory_retrieval_logs AS l
        WHERE l.user_id = p_user_id AND l.app_name = p_app_name
            AND l.created_at <= now() - LEAST(GREATEST(p_days, 0), 365000) * interval '24 hours'
            AND l.applied_at IS NOT NULL
            AND NOT EXISTS (
                SELECT 1 FROM users AS u
                WHERE u.user_id = p_user_id AND u.app_name = p_app_name
                    AND (u.held_at IS NOT NULL OR u.erasing_since IS NOT NULL)
            )
        ORDER BY l.created_at
        LIMIT p_max_rows
        FOR UPDATE SKIP LOCKED
    ),
    gone AS (
        DELETE FROM memory_retrieval_logs AS l
        USING old
        WHERE l.user_id = p_user_id AND l.app_name = p_app_name AND l.id = old.id
        RETURNING 1
    )
    SELECT count(*)::integer FROM gone
$$;
