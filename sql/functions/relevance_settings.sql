-- The numbers by which an app learns from feedback: its own stored config, else that of the main app.
--
-- Callers:    reweight_all_users_relevance.
-- Locks:      none.
-- Volatility: STABLE, it reads a table.
-- Returns:    one row; a key that the stored document lacks has the default of its parameter.
-- By hand:    psql -v schema=negentropy -v beta=0.75 -v gamma=0.15 -v harmful_gamma=0.5 -v min_count=3
--             -v half_life_days=90 -f relevance_settings.sql

CREATE OR REPLACE FUNCTION :"schema".relevance_settings(
    p_app_name text,
    p_beta double precision DEFAULT :beta,
    p_gamma double precision DEFAULT :gamma,
    p_harmful_gamma double precision DEFAULT :harmful_gamma,
    p_min_count double precision DEFAULT :min_count,
    p_half_life_days double precision DEFAULT :half_life_days
)
RETURNS TABLE (
    beta double precision,
    gamma double precision,
    harmful_gamma double precision,
    min_count double precision,
    half_life_days double precision
)
LANGUAGE sql
STABLE
ROWS 1
SET search_path = :"schema", pg_catalog, pg_temp
AS $$
    SELECT COALESCE((s.section ->> 'beta')::double precision, p_beta),
        COALESCE((s.section ->> 'gamma')::double precision, p_gamma),
        COALESCE((s.section ->> 'harmful_gamma')::double precision, p_harmful_gamma),
        COALESCE((s.section ->> 'min_count')::double precision, p_min_count),
        COALESCE((s.section ->> 'half_life_days')::double precision, p_half_life_days)
    FROM (VALUES (1)) AS one (row)
    LEFT JOIN (
        SELECT c.config -> 'reweight_relevance' AS section
        FROM memory_automation_configs AS c
        WHERE c.app_name = p_app_name OR c.is_main
        ORDER BY c.app_name = p_app_name DESC
        LIMIT 1
    ) AS s ON true
$$;
