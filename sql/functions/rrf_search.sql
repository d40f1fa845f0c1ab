-- Memories that answer a question, joined by rank: the sum of 1 / (p_k + rank) over vectors and words.
--
-- Under the name and arguments of the first design. Ranks need no common scale, but rank worse than
-- hybrid_search() (LoCoMo, recall@10: 0.64 against 0.68).
--
-- callers: SQL clients
-- volatility: STABLE, it reads tables
-- returns: memories, best first; a rank is NULL where the arm did not find the memory among its first 3 * p_limit

CREATE OR REPLACE FUNCTION :"schema".rrf_search(
    p_user_id character varying,
    p_app_name character varying,
    p_query text,
    p_query_embedding :"vector_schema".vector,
    p_limit integer DEFAULT 50,
    p_k integer DEFAULT 60
)
RETURNS TABLE (
    id uuid,
    content text,
    rrf_score real,
    semantic_rank integer,
    keyword_rank integer,
    metadata jsonb
)
LANGUAGE sql
STABLE
ROWS 50
SET search_path = :"schema", :"vector_schema", pg_catalog, pg_temp
AS $function$
    SELECT m.id, m.content, (rrf_score(a.semantic_rank, p_k) + rrf_score(a.keyword_rank, p_k))::real,
        a.semantic_rank, a.keyword_rank, m.metadata
    FROM (
        SELECT r.id, max(r.place) FILTER (WHERE r.arm = 'vector') AS semantic_rank,
            max(r.place) FILTER (WHERE r.arm = 'keyword') AS keyword_rank
        FROM (
            SELECT arm, i.id, i.place::integer
            FROM unnest(ARRAY['vector', 'keyword']) AS arm
            CROSS JOIN LATERAL ranked_items(p_user_id::text, p_app_name::text, p_query, p_query_embedding, arm,
                3 * p_limit, 0, 1, 1, '{memory}', NULL, false) WITH ORDINALITY AS i (kind, id, score, semantic_part,
                keyword_part, neighbours_part, session_part, speaker_part, intent_part, relevance_part, semantic,
                keyword, cosine, bm25, semantic_candidates, keyword_candidates, scope_items, postings_read, reranked,
                common_terms, intent, place)
        ) AS r
        GROUP BY r.id
    ) AS a
    JOIN memories AS m ON m.user_id = p_user_id AND m.app_name = p_app_name AND m.id = a.id
    ORDER BY 3 DESC, m.id
    LIMIT p_limit;
$function$;
