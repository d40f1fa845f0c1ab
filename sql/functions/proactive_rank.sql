-- The rank of a memory among those offered to a session that asked for nothing yet, in [0.1, 1].
--
--   0.40 importance + 0.30 recency + 0.20 frequency + 0.10
--
-- Callers:    recall.
-- Volatility: STABLE; p_now is now() unless given.
-- Inlining:   no object is named and no search_path is set, so the planner inlines it.
-- Bad rows:   NaN and NULL importance count as 0, dates in the future as now; no row raises (1e-200
--             stands for 0, because the product of tiny numbers would).
-- Twin:       proactive_rank in negmem/core/formulas/importance.py
-- By hand:    psql -v schema=negentropy -f proactive_rank.sql

CREATE OR REPLACE FUNCTION :"schema".proactive_rank(
    p_importance_score double precision,
    p_last_accessed_at timestamptz,
    p_access_count integer,
    p_now timestamptz DEFAULT now()
)
RETURNS double precision
LANGUAGE sql
STABLE
PARALLEL SAFE
AS $$
    SELECT 0.40 * LEAST(1, GREATEST(1e-200, NULLIF(p_importance_score, 'NaN')))
        + 0.30 * GREATEST(0, 1 - LEAST(1.1e8, GREATEST(0,
            date_part('epoch', p_now) - date_part('epoch', COALESCE(p_last_accessed_at, p_now))
        ) / 86400) / 30)
        + 0.20 * LEAST(1, ln(1 + GREATEST(0, p_access_count)::float8) / ln(101::float8))
        + 0.10
$$;
