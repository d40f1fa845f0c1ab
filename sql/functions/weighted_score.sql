-- Weighted sum of the scores of the two search arms; an arm that missed the row adds 0.
--
-- Callers:    hybrid_search.
-- Volatility: IMMUTABLE; the answer depends on the arguments alone.
-- Inlining:   no object is named and no search_path is set, so the planner inlines it.
-- Twin:       weighted_score in negmem/core/formulas/fusion.py
-- By hand:    psql -v schema=negentropy -f weighted_score.sql

CREATE OR REPLACE FUNCTION :"schema".weighted_score(
    p_semantic double precision,
    p_keyword double precision,
    p_semantic_weight double precision DEFAULT 0.7,
    p_keyword_weight double precision DEFAULT 0.3
)
RETURNS double precision
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT p_semantic_weight * COALESCE(NULLIF(p_semantic, 'NaN'), 0)
        + p_keyword_weight * COALESCE(NULLIF(p_keyword, 'NaN'), 0)
$$;
