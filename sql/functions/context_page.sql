-- What stands in a user's contexts and what was learned that a question asks for, with the app's budget.
--
-- Without a query nothing of what was learned, without an entity query no entities. An embedding that is not of the
-- app's model is not used.
--
-- callers: queries/context.sql
-- locks: none beyond reading
-- volatility: STABLE, it reads tables and now()
-- returns: candidates by section, best first, each with the app's context_assembler, the main app's where it has none;
--   at least one row, has_config false before init; is_same_space: the embedding was used

CREATE OR REPLACE FUNCTION :"schema".context_page(
    p_user_id text,
    p_app_name text,
    p_thread_id uuid,
    p_query text,
    p_entity_query text,
    p_global text,
    p_embedding :"vector_schema".vector,
    p_provider text,
    p_model text,
    p_version text,
    p_dims integer,
    p_semantic_weight double precision,
    p_keyword_weight double precision
)
RETURNS TABLE (
    has_config boolean,
    context_assembler jsonb,
    is_same_space boolean,
    section text,
    id uuid,
    label text,
    content text,
    occurred_at timestamptz,
    thread text,
    score double precision
)
LANGUAGE plpgsql
STABLE
-- Planned for each call the statement costs more than it takes.
SET plan_cache_mode = force_generic_plan
SET search_path = :"schema", :"vector_schema", pg_catalog, pg_temp
AS $function$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT a.has_config, a.context_assembler, q.embedding IS NOT NULL, c.section, c.id, c.label, c.content,
        c.occurred_at, c.thread, c.score
    FROM (VALUES (1)) AS one (row)
    LEFT JOIN (
        SELECT true AS has_config, c.config -> 'context_assembler' AS context_assembler
        FROM memory_automation_configs AS c
        WHERE c.app_name = p_app_name OR c.is_main
        ORDER BY c.is_main
        LIMIT 1
    ) AS a ON true
    LEFT JOIN (
        SELECT p_embedding AS embedding
        FROM embedding_models AS m
        WHERE m.app_name = p_app_name AND m.status = 'active' AND m.provider = p_provider AND m.model = p_model
            AND m.version = p_version AND m.dims = p_dims
    ) AS q ON true
    LEFT JOIN LATERAL (
        SELECT s.section, s.id, s.label, s.content, s.occurred_at, s.thread, NULL::float8 AS score, s.rank
        FROM context_candidates(p_user_id, p_app_name, p_thread_id) AS s
        UNION ALL
        SELECT 'entity', e.id, e.title, e.content, e.updated_at, NULL, e.score, e.rank
        FROM entity_candidates(p_user_id, p_app_name, p_entity_query, p_global, q.embedding, p_semantic_weight,
            p_keyword_weight) AS e
        UNION ALL
        SELECT 'knowledge', k.id, k.title, k.content, k.updated_at, NULL, k.score, k.rank
        FROM knowledge_candidates(p_user_id, p_app_name, p_query, p_global, q.embedding, p_semantic_weight,
            p_keyword_weight) AS k
    ) AS c ON true
    ORDER BY c.section, c.rank;
END
$function$;
