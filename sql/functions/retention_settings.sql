-- The settings by which an app forgets: its own stored config, else that of the main app.
--
-- Callers:    rescore_memories, refresh_fading_times, retention_owners, cleanup_low_value_memories.
-- Locks:      none.
-- Volatility: STABLE, it reads a table.
-- Returns:    one row; a key that the stored document lacks has the default of its parameter.
-- By hand:    psql -v schema=negentropy -v low_retention_threshold=0.1 -v decay_lambda=0.1
--             -v min_age_days=7 -v keep_importance=0.9 -f retention_settings.sql

CREATE OR REPLACE FUNCTION :"schema".retention_settings(
    p_app_name text,
    p_threshold double precision DEFAULT :low_retention_threshold,
    p_decay_lambda double precision DEFAULT :decay_lambda,
    p_min_age_days integer DEFAULT :min_age_days,
    p_keep_importance double precision DEFAULT :keep_importance
)
RETURNS TABLE (
    threshold double precision,
    decay_lambda double precision,
    min_age_days integer,
    keep_importance double precision
)
LANGUAGE sql
STABLE
ROWS 1
SET search_path = :"schema", pg_catalog, pg_temp
AS $$
    SELECT COALESCE((s.retention ->> 'low_retention_threshold')::double precision, p_threshold),
        COALESCE((s.retention ->> 'decay_lambda')::double precision, p_decay_lambda),
        COALESCE((s.retention ->> 'min_age_days')::integer, p_min_age_days),
        COALESCE((s.retention ->> 'keep_importance')::double precision, p_keep_importance)
    FROM (VALUES (1)) AS one (row)
    LEFT JOIN (
        SELECT c.config -> 'retention' AS retention
        FROM memory_automation_configs AS c
        WHERE c.app_name = p_app_name OR c.is_main
        ORDER BY c.app_name = p_app_name DESC
        LIMIT 1
    ) AS s ON true
$$;
