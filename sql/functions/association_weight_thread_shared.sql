-- The weight of the link between two memories of one thread.
--
-- Callers:    the step that links new memories.
-- Volatility: IMMUTABLE; a constant.
-- Twin:       THREAD_SHARED_WEIGHT in negmem/core/formulas/associations.py
-- By hand:    psql -v schema=negentropy -f association_weight_thread_shared.sql

CREATE OR REPLACE FUNCTION :"schema".association_weight_thread_shared()
RETURNS double precision
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT 0.6::float8
$$;
