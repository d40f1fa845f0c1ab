-- Memories that answer a question, by vector and by word: the weighted sum of the two scores, for SQL clients.
--
-- The plain form of search_items(), under the name and arguments of the first design: no facts, no context of the
-- conversation, no fall to a lower level. semantic_score is the cosine on the scale of ranked_items() (0 = unrelated,
-- 1 = the same), keyword_score BM25 over the most that the question's terms could reach; a memory that only one arm
-- found is scored by the other too.
--
-- callers: SQL clients
-- volatility: STABLE, it reads tables
-- returns: memories, best combined_score = p_semantic_weight * semantic_score + p_keyword_weight * keyword_score first

CREATE OR REPLACE FUNCTION :"schema".hybrid_search(
    p_user_id character varying,
    p_app_name character varying,
    p_query text,
    p_query_embedding :"vector_schema".vector,
    p_limit integer DEFAULT 50,
    p_semantic_weight double precision DEFAULT 0.7,
    p_keyword_weight double precision DEFAULT 0.3,
    p_metadata_filter jsonb DEFAULT NULL
)
RETURNS TABLE (
    id uuid,
    content text,
    semantic_score real,
    keyword_score real,
    combined_score real,
    metadata jsonb
)
LANGUAGE sql
STABLE
ROWS 50
SET search_path = :"schema", :"vector_schema", pg_catalog, pg_temp
AS $function$
    SELECT m.id, m.content, COALESCE(r.semantic, 0)::real, COALESCE(r.keyword, 0)::real,
        weighted_score(r.semantic, r.keyword, p_semantic_weight, p_keyword_weight)::real, m.metadata
    FROM ranked_items(p_user_id::text, p_app_name::text, p_query, p_query_embedding,
        CASE WHEN p_query_embedding IS NULL THEN 'keyword' ELSE 'hybrid' END, p_limit, 0,
        p_semantic_weight, p_keyword_weight, '{memory}',
        allowed_items(p_user_id::text, p_app_name::text, '{memory}', NULL, NULL, NULL, NULL, p_metadata_filter),
        false) AS r
    JOIN memories AS m ON m.user_id = p_user_id AND m.app_name = p_app_name AND m.id = r.id
    ORDER BY 5 DESC, m.id;
$function$;
