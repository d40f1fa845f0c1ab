-- The weight of the link between a memory and an entity that it names.
--
-- Callers:    the step that links new memories.
-- Volatility: IMMUTABLE; a constant.
-- Twin:       ENTITY_WEIGHT in negmem/core/formulas/associations.py
-- By hand:    psql -v schema=negentropy -f association_weight_entity.sql

CREATE OR REPLACE FUNCTION :"schema".association_weight_entity()
RETURNS double precision
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT 0.5::float8
$$;
