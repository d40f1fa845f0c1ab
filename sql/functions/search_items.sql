-- The one search: what of a user's memories and active facts answers a question.
--
-- p_level is hybrid (words and vectors), vector, keyword or ilike. A level that finds nothing falls to ilike, unless
-- p_falls is false; search_level says which one found the rows. The parts add up to the score exactly; the rules are
-- in ranked_items() and items_containing().
--
-- callers: queries/search.sql, hybrid_search(); any SQL client
-- locks: none beyond reading
-- volatility: STABLE, it reads tables and now()
-- returns: a page of items, best first; cosine and bm25 are raw; in every row the candidates of each arm, the items
--   in scope and the postings read; without p_counted those by vector are not counted where all were compared

CREATE OR REPLACE FUNCTION :"schema".search_items(
    p_user_id text,
    p_app_name text,
    p_query text,
    p_embedding :"vector_schema".vector DEFAULT NULL,
    p_level text DEFAULT 'hybrid',
    p_limit integer DEFAULT 10,
    p_offset integer DEFAULT 0,
    p_semantic_weight double precision DEFAULT 0.4,
    p_keyword_weight double precision DEFAULT 0.6,
    p_kinds text[] DEFAULT '{memory,fact}',
    p_types text[] DEFAULT NULL,
    p_thread text DEFAULT NULL,
    p_since timestamptz DEFAULT NULL,
    p_until timestamptz DEFAULT NULL,
    p_metadata jsonb DEFAULT NULL,
    p_falls boolean DEFAULT true,
    p_neighbours double precision DEFAULT 0.65,
    p_session double precision DEFAULT 0.45,
    p_speaker double precision DEFAULT 0.08,
    p_intent double precision DEFAULT 0.15,
    p_relevance boolean DEFAULT true,
    p_counted boolean DEFAULT true
)
RETURNS TABLE (
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
    intent text
)
LANGUAGE plpgsql
STABLE
ROWS 10
SET plan_cache_mode = force_generic_plan
SET search_path = :"schema", :"vector_schema", pg_catalog, pg_temp
AS $function$
#variable_conflict use_column
DECLARE
    v_allowed uuid[];
    v_depth integer := GREATEST(p_limit, 1);
    v_end integer;
    v_seen uuid[] := '{}';
    v_found boolean := false;
BEGIN
    IF num_nonnulls(p_types, p_thread, p_since, p_until, p_metadata) > 0 THEN
        v_allowed := allowed_items(p_user_id, p_app_name, p_kinds, p_types, p_thread, p_since, p_until, p_metadata);
    END IF;
    IF p_level <> 'ilike' THEN
        -- How deep the ranking looks follows how much is asked of it, and a deeper look weighs more turns with those
        -- beside them. So that no page shows again what one before it has shown, and none is left out, the list is
        -- made in steps of a page, five, twenty-five …, each going on with what is not in it yet.
        LOOP
            v_end := CASE WHEN v_depth < p_limit + p_offset THEN v_depth ELSE p_limit + p_offset END;
            IF v_end > p_offset THEN
                RETURN QUERY
                SELECT r.kind, r.id, p_level, r.score, r.semantic_part, r.keyword_part, r.neighbours_part,
                    r.session_part, r.speaker_part, r.intent_part, r.relevance_part, 0::float8, r.semantic, r.keyword,
                    r.cosine, r.bm25, r.semantic_candidates, r.keyword_candidates, r.scope_items, r.postings_read,
                    r.reranked, r.common_terms, r.intent
                FROM ranked_items(p_user_id, p_app_name, p_query, p_embedding, p_level, v_depth, 0,
                    p_semantic_weight, p_keyword_weight, p_kinds, v_allowed, true, p_neighbours, p_session, p_speaker,
                    p_intent, p_relevance, p_counted => p_counted) AS r
                WHERE r.id <> ALL (v_seen)
                LIMIT v_end - GREATEST(p_offset, cardinality(v_seen))
                OFFSET GREATEST(p_offset - cardinality(v_seen), 0);
                v_found := v_found OR FOUND;
            END IF;
            EXIT WHEN v_end = p_limit + p_offset;
            v_seen := v_seen || ARRAY(
                SELECT r.id
                FROM ranked_items(p_user_id, p_app_name, p_query, p_embedding, p_level, v_depth, 0,
                    p_semantic_weight, p_keyword_weight, p_kinds, v_allowed, true, p_neighbours, p_session, p_speaker,
                    p_intent, p_relevance, p_counted => false) AS r
                WHERE r.id <> ALL (v_seen)
                LIMIT v_depth - cardinality(v_seen));
            v_depth := LEAST(5 * v_depth, GREATEST(10000, p_limit + p_offset));
        END LOOP;
        -- An empty further page is the end of the list, no reason to fall.
        IF v_found OR cardinality(v_seen) > 0 OR NOT p_falls THEN
            RETURN;
        END IF;
    END IF;

    RETURN QUERY
    SELECT c.kind, c.id, 'ilike', c.score, 0::float8, 0::float8, 0::float8, 0::float8, 0::float8, 0::float8,
        0::float8, c.score, NULL::float8, NULL::float8, NULL::float8, NULL::float8, 0, 0, NULL::bigint, 0::bigint, 0, 0,
        NULL::text
    FROM items_containing(p_user_id, p_app_name, p_query, p_limit, p_offset, p_kinds, v_allowed) AS c;
END
$function$;
