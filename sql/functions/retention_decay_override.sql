-- The decay rate per day that a memory's metadata asks for, or NULL.
--
-- Anything but a number in [0, 1e6] is ignored, so that one odd row can't stop a sweep: a cast of
-- the text would raise on 'slow', and a cast of the number on 1e400.
--
-- Callers:    cleanup_low_value_memories, readers of the score, writers of the crossing time.
-- Volatility: IMMUTABLE; the answer depends on the argument alone.
-- Twin:       decay_override_of in negmem/core/formulas/retention.py
-- By hand:    psql -v schema=negentropy -f retention_decay_override.sql

CREATE OR REPLACE FUNCTION :"schema".retention_decay_override(p_metadata jsonb)
RETURNS double precision
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT CASE
        WHEN jsonb_typeof(p_metadata -> 'decay_override') = 'number' THEN
            CASE
                WHEN (p_metadata ->> 'decay_override')::numeric BETWEEN 0 AND 1e6
                    THEN round((p_metadata ->> 'decay_override')::numeric, 15)::float8
            END
    END
$$;
