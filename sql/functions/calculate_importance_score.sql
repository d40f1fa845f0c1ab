-- How much a memory matters, in [0, 1].
--
--   0.30 base_activation + 0.25 access_frequency + 0.20 fact_support + 0.15 type_weight + 0.10 recency
--
-- Callers:    writers of memories and facts (initial value), the batch that records accesses.
-- Volatility: STABLE; p_now is now() unless given.
-- Inlining:   no object is named and no search_path is set, so the planner inlines it.
-- Bad rows:   negative counts and dates in the future count as 0; no row raises.
-- Twin:       negmem/core/formulas/importance.py
-- By hand:    psql -v schema=negentropy -f calculate_importance_score.sql

CREATE OR REPLACE FUNCTION :"schema".calculate_importance_score(
    p_access_count integer,
    p_last_accessed_at timestamptz,
    p_created_at timestamptz,
    p_memory_type text,
    p_related_fact_count integer DEFAULT 0,
    p_now timestamptz DEFAULT now()
)
RETURNS double precision
LANGUAGE sql
STABLE
PARALLEL SAFE
AS $$
    SELECT LEAST(1, GREATEST(0,
        0.30 * CASE
            WHEN p_access_count > 0 THEN LEAST(1,
                ln(1 + p_access_count::float8)
                / ln(1 + sqrt(1 + LEAST(1.1e8, GREATEST(0,
                    date_part('epoch', p_now)
                    - date_part('epoch', COALESCE(p_last_accessed_at, p_created_at, p_now))
                ) / 86400)))
            )
            ELSE 0.1::float8
        END
        + 0.25 * LEAST(1, ln(1 + GREATEST(0, p_access_count)::float8) / ln(101::float8))
        + 0.20 * LEAST(1, GREATEST(0, p_related_fact_count) / 10::float8)
        + 0.15 * CASE p_memory_type
            WHEN 'core' THEN 1.0::float8
            WHEN 'semantic' THEN 0.95
            WHEN 'preference' THEN 0.9
            WHEN 'procedural' THEN 0.75
            WHEN 'fact' THEN 0.6
            ELSE 0.4
        END
        + 0.10 * GREATEST(0, 1 - LEAST(1.1e8, GREATEST(0,
            date_part('epoch', p_now)
            - date_part('epoch', COALESCE(p_created_at, p_last_accessed_at, p_now))
        ) / 86400) / 90)
    ))
$$;
