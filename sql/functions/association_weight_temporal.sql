-- The weight, in [0, 1], of the link between two memories that are near in time.
--
-- 1 at the same moment, falling evenly to 0 at the end of the window (30 minutes).
--
-- Callers:    the step that links new memories.
-- Volatility: STABLE; PostgreSQL says so of date_part on timestamptz, and a stricter label here
--             would stop the inlining.
-- Bad rows:   infinite dates and missing dates give 0; no row raises.
-- Twin:       temporal_weight in negmem/core/formulas/associations.py
-- By hand:    psql -v schema=negentropy -f association_weight_temporal.sql

CREATE OR REPLACE FUNCTION :"schema".association_weight_temporal(
    p_source_at timestamptz,
    p_target_at timestamptz,
    p_window_seconds double precision DEFAULT 1800
)
RETURNS double precision
LANGUAGE sql
STABLE
PARALLEL SAFE
AS $$
    SELECT LEAST(1, GREATEST(0, NULLIF(
        1 - abs(date_part('epoch', p_source_at) - date_part('epoch', p_target_at))
            / NULLIF(GREATEST(0, p_window_seconds), 0),
        'NaN'
    )))
$$;
