-- How many active facts and other live memories share a memory's thread; counting stops at 5, where
-- more of them no longer change the retention score.
--
-- Callers:    cleanup_low_value_memories, search, whoever computes the score of one memory.
-- Locks:      none.
-- Volatility: STABLE, it reads tables.
-- By hand:    psql -v schema=negentropy -f related_count.sql

CREATE OR REPLACE FUNCTION :"schema".related_count(
    p_user_id text,
    p_app_name text,
    p_thread_id uuid,
    p_memory_id uuid
)
RETURNS integer
LANGUAGE sql
STABLE
SET search_path = :"schema", pg_catalog, pg_temp
AS $$
    SELECT count(*)::integer
    FROM (
        SELECT 1
        FROM memories AS m
        WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.thread_id = p_thread_id
            AND m.id <> p_memory_id AND m.deleted_at IS NULL
        UNION ALL
        SELECT 1
        FROM facts AS f
        WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.thread_id = p_thread_id
            AND f.status = 'active' AND f.deleted_at IS NULL
        LIMIT 5
    ) AS related
$$;
