-- The weight, in [0, 1], of the link between two memories that say similar things; NULL for no link.
--
-- p_similarity is on the calibrated scale, not a bare cosine, and must be above the threshold.
--
-- Callers:    the step that links new memories.
-- Volatility: IMMUTABLE; the answer depends on the arguments alone.
-- Inlining:   no object is named and no search_path is set, so the planner inlines it.
-- Twin:       semantic_weight in negmem/core/formulas/associations.py
-- By hand:    psql -v schema=negentropy -f association_weight_semantic.sql

CREATE OR REPLACE FUNCTION :"schema".association_weight_semantic(
    p_similarity double precision,
    p_threshold double precision DEFAULT 0.75
)
RETURNS double precision
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT CASE
        WHEN NULLIF(p_similarity, 'NaN') > p_threshold THEN LEAST(1, GREATEST(0, p_similarity))
    END
$$;
