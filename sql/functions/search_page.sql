-- A search as the program asks for it: finds, records and reads what is shown, in one call whose plans are kept.
--
-- Sent as a statement of its own the same would be planned anew for each search (2 ms), since nothing may be left
-- prepared behind a pooler. The level falls to keyword where the question's vector is of another model than those
-- stored, or nothing has a vector; the ranking is that of search_items().
--
-- callers: queries/search.sql
-- locks: none that another search waits for
-- volatility: VOLATILE, it records the search where p_record says so; a read-only server takes it without
-- returns: a row a result, in order, each with what is known about the whole search; one row without id: no result

CREATE OR REPLACE FUNCTION :"schema".search_page(
    p_user_id text,
    p_app_name text,
    p_query text,
    p_embedding :"vector_schema".vector,
    p_provider text,
    p_model text,
    p_version text,
    p_dims integer,
    p_level text,
    p_limit integer,
    p_offset integer,
    p_semantic_weight double precision,
    p_keyword_weight double precision,
    p_kinds text[],
    p_types text[],
    p_thread text,
    p_since timestamptz,
    p_until timestamptz,
    p_metadata jsonb,
    p_neighbours double precision,
    p_session double precision,
    p_speaker double precision,
    p_intent double precision,
    p_relevance boolean,
    p_explain boolean,
    p_record boolean,
    p_fallbacks jsonb,
    p_repeat_window interval
)
RETURNS TABLE (
    retrieval_id uuid,
    user_known boolean,
    provider text,
    model text,
    version text,
    dims integer,
    is_same_space boolean,
    has_vectors boolean,
    planned_level text,
    kind text,
    id uuid,
    search_level text,
    score double precision,
    semantic_part double precision,
    keyword_part double precision,
    neighbours_part double precision,
    session_part double precision,
    speaker_part double precision,
    intent_part double precision,
    relevance_part double precision,
    retention_part double precision,
    semantic double precision,
    keyword double precision,
    cosine double precision,
    bm25 double precision,
    semantic_candidates integer,
    keyword_candidates integer,
    scope_items bigint,
    postings_read bigint,
    reranked integer,
    common_terms integer,
    intent text,
    place bigint,
    content text,
    type text,
    metadata jsonb,
    created_at timestamptz,
    occurred_at timestamptz,
    thread text,
    retention double precision,
    importance double precision,
    relevance double precision,
    last_accessed_at timestamptz
)
LANGUAGE plpgsql
VOLATILE
ROWS 10
-- Planned for each search the joins at the end cost more than they take.
SET plan_cache_mode = force_generic_plan
SET search_path = :"schema", :"vector_schema", pg_catalog, pg_temp
AS $function$
#variable_conflict use_column
DECLARE
    v_user_known boolean;
    v_model record;
    v_is_same_space boolean;
    v_has_vectors boolean;
    v_level text := p_level;
BEGIN
    -- One row; where the app has no model, without one.
    SELECT u.is_known, m.provider, m.model, m.version, m.dims,
        EXISTS (
            SELECT FROM memory_vectors AS v
            WHERE v.user_id = p_user_id AND v.app_name = p_app_name AND v.model_id = m.id AND v.live)
        OR EXISTS (
            SELECT FROM fact_vectors AS v
            WHERE v.user_id = p_user_id AND v.app_name = p_app_name AND v.model_id = m.id AND v.live) AS has_vectors
    INTO v_model
    FROM (
        SELECT EXISTS (SELECT FROM users AS u WHERE u.user_id = p_user_id AND u.app_name = p_app_name)
    ) AS u (is_known)
    LEFT JOIN embedding_models AS m ON m.app_name = p_app_name AND m.status = 'active';
    v_user_known := v_model.is_known;
    v_has_vectors := v_model.has_vectors;
    v_is_same_space := v_model.provider = p_provider AND v_model.model = p_model AND v_model.version = p_version
        AND v_model.dims = p_dims;
    IF p_level IN ('hybrid', 'vector') AND (v_is_same_space AND v_has_vectors) IS NOT TRUE THEN
        v_level := 'keyword';
    END IF;

    RETURN QUERY
    WITH found AS MATERIALIZED (
        SELECT f.*
        FROM search_items(p_user_id, p_app_name, p_query, CASE WHEN v_level <> 'keyword' THEN p_embedding END, v_level,
            p_limit, p_offset, p_semantic_weight, p_keyword_weight, p_kinds, p_types, p_thread, p_since, p_until,
            p_metadata, true, p_neighbours, p_session, p_speaker, p_intent, p_relevance, p_explain
        ) WITH ORDINALITY AS f (kind, id, search_level, score, semantic_part, keyword_part, neighbours_part,
            session_part, speaker_part, intent_part, relevance_part, retention_part, semantic, keyword, cosine, bm25,
            semantic_candidates, keyword_candidates, scope_items, postings_read, reranked, common_terms, intent, place)
    ),
    recorded AS MATERIALIZED (
        SELECT CASE WHEN p_record THEN record_retrieval(
            p_user_id, p_app_name, p_query,
            COALESCE(array_agg(f.id ORDER BY f.place) FILTER (WHERE f.kind = 'memory'), '{}'),
            COALESCE(array_agg(f.id ORDER BY f.place) FILTER (WHERE f.kind = 'fact'), '{}'),
            COALESCE(jsonb_agg(jsonb_build_object('kind', f.kind, 'id', f.id,
                'rank', f.place + p_offset, 'score', f.score) ORDER BY f.place), '[]'),
            COALESCE(max(f.search_level), v_level),
            p_fallbacks
                || CASE WHEN v_level <> p_level THEN jsonb_build_array(jsonb_build_object(
                    'from', p_level, 'to', v_level, 'code', CASE
                        WHEN v_is_same_space IS NOT TRUE THEN 'embedding_space_mismatch' ELSE 'nothing_embedded' END))
                    ELSE '[]' END
                || CASE WHEN max(f.search_level) <> v_level THEN jsonb_build_array(jsonb_build_object(
                    'from', v_level, 'to', max(f.search_level), 'code', 'no_match')) ELSE '[]' END,
            p_thread, p_repeat_window) END AS retrieval_id
        FROM found AS f
    )
    SELECT
        r.retrieval_id, v_user_known, v_model.provider::text, v_model.model::text, v_model.version::text, v_model.dims,
        v_is_same_space, v_has_vectors, v_level, f.*,
        COALESCE(m.content, fact_text(x.key, x.value)),
        COALESCE(m.memory_type, x.fact_type)::text,
        COALESCE(m.metadata, x.metadata),
        COALESCE(m.created_at, x.created_at),
        COALESCE(m.occurred_at, x.valid_from),
        t.external_id::text,
        CASE WHEN p_explain THEN calculate_retention_score(
            COALESCE(m.access_count, x.access_count), COALESCE(m.last_accessed_at, x.last_accessed_at),
            COALESCE(m.created_at, x.created_at), COALESCE(m.memory_type, 'fact')::text,
            related_count(p_user_id, p_app_name, t.id, f.id),
            retention_decay_override(COALESCE(m.metadata, x.metadata))) END,
        COALESCE(m.importance_score, x.importance_score)::float8,
        COALESCE(m.relevance_weight, 1)::float8,
        COALESCE(m.last_accessed_at, x.last_accessed_at, m.created_at, x.created_at)
    FROM recorded AS r
    LEFT JOIN found AS f ON true
    LEFT JOIN memories AS m
        ON f.kind = 'memory' AND m.user_id = p_user_id AND m.app_name = p_app_name AND m.id = f.id
    LEFT JOIN facts AS x
        ON f.kind = 'fact' AND x.user_id = p_user_id AND x.app_name = p_app_name AND x.id = f.id
    LEFT JOIN threads AS t
        ON t.user_id = p_user_id AND t.app_name = p_app_name AND t.id = COALESCE(m.thread_id, x.thread_id)
    ORDER BY f.place;
END
$function$;
