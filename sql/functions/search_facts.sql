-- A page of the facts that answer a question, of those that were true at a moment; NULL means now.
--
-- Scored as in ranked_items(): words by BM25 over the most that the question could reach, vectors on the model's
-- scale of questions; the terms are made on the way, since what is no longer true is not in the index. It reads all
-- facts of the user that were true then.
--
-- callers: fact search
-- volatility: STABLE, it reads tables and now()
-- returns: facts, best first; semantic is null without a vector

CREATE OR REPLACE FUNCTION :"schema".search_facts(
    p_user_id text,
    p_app_name text,
    p_query text,
    p_embedding :"vector_schema".vector DEFAULT NULL,
    p_as_of timestamptz DEFAULT NULL,
    p_believed_at timestamptz DEFAULT NULL,
    p_type text DEFAULT NULL,
    p_limit integer DEFAULT 10,
    p_semantic_weight double precision DEFAULT 0.4,
    p_keyword_weight double precision DEFAULT 0.6
)
RETURNS TABLE (id uuid, score double precision, semantic double precision, keyword double precision)
LANGUAGE sql
STABLE
ROWS 10
SET search_path = :"schema", :"vector_schema", pg_catalog, pg_temp
AS $function$
    WITH held AS MATERIALIZED (
        SELECT f.id, fact_text(f.key, f.value) AS words
        FROM facts_held(p_user_id, p_app_name, p_as_of, p_believed_at) AS h (id)
        JOIN facts AS f ON f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = h.id
        WHERE p_type IS NULL OR f.fact_type = p_type
    ),
    terms AS MATERIALIZED (
        SELECT h.id, t.term, t.tf, t.len
        FROM held AS h
        CROSS JOIN LATERAL index_terms(NULL, h.words, NULL) AS t
    ),
    size AS (
        SELECT count(*)::float8 AS documents, GREATEST(1, avg(d.len)) AS mean_len
        FROM (SELECT DISTINCT t.id, t.len FROM terms AS t) AS d
    ),
    asked AS (
        SELECT t.term, ln(1 + (s.documents - count(*) + 0.5) / (count(*) + 0.5)) AS idf
        FROM terms AS t
        CROSS JOIN size AS s
        WHERE t.term = ANY (text_terms(p_query))
        GROUP BY t.term, s.documents
    ),
    said AS (
        SELECT t.id, sum(a.idf * t.tf * 2.2 / (t.tf + 1.2 * (0.25 + 0.75 * t.len / s.mean_len)))
            / NULLIF((SELECT sum(a.idf) * 2.2 FROM asked AS a), 0) AS keyword
        FROM terms AS t
        JOIN asked AS a ON a.term = t.term
        CROSS JOIN size AS s
        GROUP BY t.id
    ),
    near AS (
        SELECT h.id, LEAST(1, GREATEST(0, (1 - (v.embedding <=> p_embedding::halfvec)
                - COALESCE((m.calibration -> 'unrelated_queries' ->> '25')::float8, 0))
            / NULLIF(COALESCE((m.calibration ->> 'same_query')::float8, 1)
                - COALESCE((m.calibration -> 'unrelated_queries' ->> '25')::float8, 0), 0))) AS semantic
        FROM held AS h
        JOIN embedding_models AS m ON m.app_name = p_app_name AND m.status = 'active' AND m.dims = vector_dims(p_embedding)
        JOIN fact_vectors AS v
            ON v.user_id = p_user_id AND v.app_name = p_app_name AND v.fact_id = h.id AND v.model_id = m.id
        WHERE p_embedding IS NOT NULL
    ),
    scored AS (
        SELECT h.id, n.semantic, s.keyword,
            round(1e6 * (
                CASE WHEN p_embedding IS NULL THEN 0 ELSE p_semantic_weight END * COALESCE(n.semantic, 0)
                + CASE WHEN p_embedding IS NULL THEN 1 ELSE p_keyword_weight END * COALESCE(s.keyword, 0))
                / CASE WHEN p_embedding IS NULL THEN 1 ELSE p_semantic_weight + p_keyword_weight END) / 1e6 AS score
        FROM held AS h
        LEFT JOIN near AS n ON n.id = h.id
        LEFT JOIN said AS s ON s.id = h.id
        WHERE n.semantic > 0 OR s.keyword > 0
    )
    SELECT s.id, s.score, s.semantic, s.keyword
    FROM scored AS s
    WHERE s.score > 0
    ORDER BY s.score DESC, s.id
    LIMIT p_limit;
$function$;
