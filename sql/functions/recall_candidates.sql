-- What a session that asked for nothing yet should know of a user: core blocks, memories and facts, best first.
--
--   core       blocks of the user, then of the app; newer versions first
--   memory     ten of those that are still well remembered (retention above 0.2), pinned or of type core, by
--              proactive_rank(); at most 200 characters of each
--   fact       five active, valid ones by importance
--
-- Removed, superseded and expired items are no part of it.
--
-- callers: queries/recall.sql
-- locks: none beyond reading
-- volatility: STABLE, it reads tables and now()

CREATE OR REPLACE FUNCTION :"schema".recall_candidates(p_user_id text, p_app_name text)
RETURNS TABLE (
    kind text,
    rank bigint,
    id uuid,
    label text,
    content text,
    is_cut boolean,
    score double precision,
    occurred_at timestamptz,
    version integer,
    metadata jsonb,
    valid_until timestamptz
)
LANGUAGE sql
STABLE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
    (
        SELECT 'core', row_number() OVER (ORDER BY b.scope = 'user' DESC, b.version DESC, b.label, b.id),
            b.id, b.scope || ':' || b.label, b.content, false, 1::float8, b.updated_at, b.version, b.metadata,
            NULL::timestamptz
        FROM memory_core_blocks AS b
        WHERE b.app_name = p_app_name AND (b.owner_kind, b.owner) IN (('user', p_user_id), ('global', ''))
            AND b.thread_id IS NULL
        ORDER BY 2
        LIMIT 100
    )
    UNION ALL
    (
        -- The order is by what is cheap; the score of retention is asked for until there are ten.
        SELECT 'memory', row_number() OVER (ORDER BY m.score DESC, m.id), m.id, m.memory_type::text,
            left(m.content, 200), length(m.content) > 200, m.score, m.occurred_at, m.version, m.metadata, NULL
        FROM (
            SELECT one.*, proactive_rank(one.importance_score, one.last_accessed_at, one.access_count) AS score
            FROM memories AS one
            WHERE one.user_id = p_user_id AND one.app_name = p_app_name AND one.deleted_at IS NULL
            ORDER BY score DESC, one.id
            OFFSET 0
        ) AS m
        WHERE m.pinned_at IS NOT NULL OR m.memory_type = 'core'
            OR calculate_retention_score(m.access_count, m.last_accessed_at, m.created_at, m.memory_type::text,
                related_count(p_user_id, p_app_name, m.thread_id, m.id), retention_decay_override(m.metadata)) > 0.2
        LIMIT 10
    )
    UNION ALL
    (
        SELECT 'fact', row_number() OVER (ORDER BY f.importance_score DESC, f.updated_at DESC, f.id), f.id,
            f.fact_type::text, left(fact_text(f.key, f.value), 356), length(fact_text(f.key, f.value)) > 356,
            f.importance_score, f.valid_from, f.version, f.metadata, f.valid_until
        FROM facts AS f
        WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.status = 'active' AND f.deleted_at IS NULL
            AND (f.valid_from IS NULL OR f.valid_from <= now())
            AND (f.valid_until IS NULL OR f.valid_until > now())
        ORDER BY 2
        LIMIT 5
    )
$function$;
