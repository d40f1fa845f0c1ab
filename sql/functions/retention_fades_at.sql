-- When a memory may be forgotten: it is under the threshold and of the minimum age; infinity: never.
--
-- Of importance p_keep_importance and above nothing is forgotten. The age is counted in spans of 24
-- hours, so that no zone and no change of the clocks shifts it.
--
-- Callers:    rescore_memories, ingest, retention preview.
-- Volatility: IMMUTABLE; no clock and no table is read.
-- Twin:       forgettable_from in negmem/core/formulas/retention.py
-- By hand:    psql -v schema=negentropy -f retention_fades_at.sql

CREATE OR REPLACE FUNCTION :"schema".retention_fades_at(
    p_access_count integer,
    p_last_accessed_at timestamptz,
    p_created_at timestamptz,
    p_memory_type text,
    p_related_count integer,
    p_decay_rate double precision,
    p_importance double precision,
    p_threshold double precision,
    p_decay_lambda double precision,
    p_min_age_days integer,
    p_keep_importance double precision
)
RETURNS timestamptz
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SET search_path = :"schema", pg_catalog, pg_temp
AS $$
DECLARE
    c_last CONSTANT timestamptz := '9999-12-29 00:00+00';
    v_at timestamptz;
BEGIN
    IF p_importance >= p_keep_importance AND p_importance <> 'NaN' THEN
        RETURN 'infinity';
    END IF;
    v_at := retention_crossing_time(p_access_count, p_last_accessed_at, p_created_at, p_memory_type,
        p_related_count, p_decay_rate, p_threshold, p_decay_lambda);
    IF p_created_at >= '0001-01-03 00:00+00' THEN
        v_at := GREATEST(v_at,
            LEAST(p_created_at, c_last) + LEAST(p_min_age_days, 365000) * interval '24 hours');
    END IF;
    RETURN CASE WHEN v_at > c_last THEN 'infinity' ELSE v_at END;
END
$$;
