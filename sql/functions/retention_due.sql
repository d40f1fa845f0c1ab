-- The memories of one user that may be forgotten at p_at, what faded first first.
--
-- Never a core memory, a pinned one, one younger than p_min_age_days at p_at, or one of importance
-- p_keep_importance and above. Where p_is_current, only the index range of memories.due_at is read;
-- else the score of each of the user's rows is computed.
--
-- Callers:    cleanup_low_value_memories, retention preview and the dry run.
-- Locks:      none.
-- Volatility: STABLE, it reads tables.
-- Plans:      one for all users; planning the formula anew would cost more than the few rows of most.
-- By hand:    psql -v schema=negentropy -f retention_due.sql

CREATE OR REPLACE FUNCTION :"schema".retention_due(
    p_user_id text,
    p_app_name text,
    p_threshold double precision,
    p_min_age_days integer,
    p_decay_rate double precision,
    p_keep_importance double precision,
    p_at timestamptz,
    p_is_current boolean,
    p_max_rows bigint DEFAULT NULL
)
RETURNS TABLE (id uuid, due_at timestamptz)
LANGUAGE plpgsql
STABLE
SET search_path = :"schema", pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    v_until timestamptz := CASE WHEN p_is_current THEN p_at ELSE 'infinity' END;
    v_cutoff timestamptz := p_at - LEAST(p_min_age_days, 365000) * interval '24 hours';
BEGIN
    RETURN QUERY
    SELECT m.id, m.due_at
    FROM memories AS m
    WHERE m.user_id = p_user_id AND m.app_name = p_app_name
        AND m.due_at <= v_until
        AND m.deleted_at IS NULL AND m.pinned_at IS NULL
        AND m.memory_type <> 'core'
        AND m.created_at < v_cutoff
        AND NOT (m.importance_score >= p_keep_importance AND m.importance_score <> 'NaN')
        AND calculate_retention_score(m.access_count, m.last_accessed_at, m.created_at,
            m.memory_type, 0, retention_decay_override(m.metadata), p_at, p_decay_rate) < p_threshold
        AND calculate_retention_score(m.access_count, m.last_accessed_at, m.created_at,
            m.memory_type, related_count(m.user_id, m.app_name, m.thread_id, m.id),
            retention_decay_override(m.metadata), p_at, p_decay_rate) < p_threshold
    ORDER BY m.due_at, m.id
    LIMIT p_max_rows;
END
$$;
