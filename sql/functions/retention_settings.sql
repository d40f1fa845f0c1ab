-- The settings by which an app forgets: its own stored config, else that of the main app.
--
-- Callers:    rescore_memories, refresh_fading_times, cleanup_low_value_memories.
-- Locks:      none.
-- Volatility: STABLE, it reads a table.
-- Returns:    one row; a key that the stored document lacks has the default of its parameter.
-- By hand:    psql -v schema=negentropy -v low_retention_threshold=0.1 -v decay_lambda=0.1
--             -f retention_settings.sql

CREATE OR REPLACE FUNCTION :"schema".retention_settings(
    p_app_name text,
    p_threshold double precision DEFAULT :low_retention_threshold,
    p_decay_lambda double precision DEFAULT :decay_lambda
)
RETURNS TABLE (threshold double precision, decay_lambda double precision)
LANGUAGE sql
STABLE
ROWS 1
SET search_path = :"schema", pg_catalog, pg_temp
AS $$
    SELECT COALESCE((s.retention ->> 'low_retention_threshold')::double precision, p_threshold),
        COALESCE((s.retention ->> 'decay_lambda')::double precision, p_decay_lambda)
    FROM (VALUES (1)) AS one (row)
    LEFT JOIN (
        SELECT c.config -> 'retention' AS retention
        FROM memory_automation_configs AS c
        WHERE c.app_name = p_app_name OR c.is_main
        ORDER BY c.app_name = p_app_name DESC
        LIMIT 1
    ) AS s ON true
$$;
