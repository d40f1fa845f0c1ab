-- What one arm adds to the reciprocal rank fusion score of a row: 1 / (k + rank), 0 if it missed it.
--
-- The fused score is the sum over the arms. Ranks start at 1.
--
-- Callers:    search, where arms are fused by rank.
-- Volatility: IMMUTABLE; the answer depends on the arguments alone.
-- Inlining:   no object is named and no search_path is set, so the planner inlines it.
-- Twin:       rrf_score in negmem/core/formulas/fusion.py
-- By hand:    psql -v schema=negentropy -f rrf_score.sql

CREATE OR REPLACE FUNCTION :"schema".rrf_score(
    p_rank bigint,
    p_k integer DEFAULT 60
)
RETURNS double precision
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT CASE WHEN p_rank >= 1 THEN 1 / (GREATEST(0, p_k) + p_rank)::float8 ELSE 0 END
$$;
