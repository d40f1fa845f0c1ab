-- A hash of what the fading time of a memory was computed from, for memories.fades_basis.
--
-- The generated column memories.due_at compares it with the row as it stands. Where they differ, the
-- row was changed without its fading time (by hand, by another client), and the sweep looks at it.
--
-- Callers:    rescore_memories and whoever else writes fades_at.
-- Volatility: IMMUTABLE; the answer depends on the arguments alone.
-- By hand:    psql -v schema=negentropy -f retention_basis.sql

CREATE OR REPLACE FUNCTION :"schema".retention_basis(
    p_access_count integer,
    p_last_accessed_at timestamptz,
    p_created_at timestamptz,
    p_memory_type varchar,
    p_metadata jsonb
)
RETURNS bigint
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT hash_record_extended(
        ROW(p_access_count, p_last_accessed_at, p_created_at, p_memory_type,
            p_metadata -> 'decay_override'),
        0
    )
$$;
