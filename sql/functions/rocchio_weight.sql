-- The factor, in [0.5, 2], by which feedback changes the score of a memory in later searches.
--
--   1 + beta * helpful / total - gamma * irrelevant / total - harmful_gamma * harmful / total
--
-- Under p_min_count votes it is 1. Counts may be fractions, so that old votes can weigh less.
--
-- Callers:    reweight_all_users_relevance.
-- Volatility: IMMUTABLE; the answer depends on the arguments alone.
-- Inlining:   no object is named and no search_path is set, so the planner inlines it.
-- Bad rows:   negative and NULL counts are 0.
-- Twin:       negmem/core/formulas/relevance.py
-- By hand:    psql -v schema=negentropy -f rocchio_weight.sql

CREATE OR REPLACE FUNCTION :"schema".rocchio_weight(
    p_helpful double precision,
    p_irrelevant double precision DEFAULT 0,
    p_harmful double precision DEFAULT 0,
    p_beta double precision DEFAULT 0.75,
    p_gamma double precision DEFAULT 0.15,
    p_harmful_gamma double precision DEFAULT NULL,
    p_min_count double precision DEFAULT 3
)
RETURNS double precision
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT CASE
        WHEN GREATEST(0, p_helpful) + GREATEST(0, p_irrelevant) + GREATEST(0, p_harmful)
            < GREATEST(1e-9, p_min_count)
        THEN 1
        ELSE LEAST(2, GREATEST(0.5, 1 + (
            p_beta * GREATEST(0, p_helpful)
            - p_gamma * GREATEST(0, p_irrelevant)
            - COALESCE(p_harmful_gamma, p_gamma) * GREATEST(0, p_harmful)
        ) / (GREATEST(0, p_helpful) + GREATEST(0, p_irrelevant) + GREATEST(0, p_harmful))))
    END
$$;
