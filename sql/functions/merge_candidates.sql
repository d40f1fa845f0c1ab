-- For some memories of a user the others that may say the same: the nearest by vector, and those with the same words.
--
-- Bounded for each memory, whatever the user holds: of more than 1,000 memories the 64 nearest by the sign bits in
-- the covering index, then exactly. Same words: as many terms, the longest of them shared, at most 20. Only live
-- memories of one type whose speakers and roles do not differ are compared: an assistant that repeats a user is no
-- witness. Core memories and what the step reflect made are never merged.
--
-- callers: core/merging.py
-- volatility: STABLE, it reads tables
-- returns: pairs, each once; cosine is null where one has no vector

CREATE OR REPLACE FUNCTION :"schema".merge_candidates(
    p_user_id text,
    p_app_name text,
    p_ids uuid[],
    p_neighbours integer DEFAULT 8,
    p_min_cosine double precision DEFAULT -1
)
RETURNS TABLE (one uuid, other uuid, cosine double precision)
LANGUAGE plpgsql
STABLE
SET plan_cache_mode = force_generic_plan
SET jit = off
SET search_path = :"schema", :"vector_schema", pg_catalog, pg_temp
AS $function$
#variable_conflict use_column
DECLARE
    v_model smallint;
    v_documents bigint;
BEGIN
    SELECT m.id INTO v_model FROM embedding_models AS m WHERE m.app_name = p_app_name AND m.status = 'active';
    SELECT s.documents INTO v_documents
    FROM memory_term_stats AS s WHERE s.user_id = p_user_id AND s.app_name = p_app_name;
    RETURN QUERY
    WITH asked AS MATERIALIZED (
        SELECT m.id, m.memory_type, m.metadata ->> 'speaker' AS speaker,
            COALESCE(m.metadata ->> 'role', 'user') AS role, v.bits, v.embedding
        FROM memories AS m
        LEFT JOIN memory_vectors AS v
            ON v.user_id = m.user_id AND v.app_name = m.app_name AND v.memory_id = m.id AND v.model_id = v_model
        WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.id = ANY (p_ids)
            AND m.deleted_at IS NULL AND m.memory_type <> 'core'
            AND COALESCE(m.metadata ->> 'subtype', '') NOT IN ('reflection', 'insight')
    ),
    near AS MATERIALIZED (
        SELECT a.id, n.memory_id, n.cosine
        FROM asked AS a
        CROSS JOIN LATERAL (
            SELECT v.memory_id, 1 - (v.embedding <=> a.embedding) AS cosine
            FROM memory_vectors AS v
            WHERE v.user_id = p_user_id AND v.app_name = p_app_name AND v.model_id = v_model AND v.live
                AND v.memory_id <> a.id AND COALESCE(v_documents, 0) <= 1000
            ORDER BY v.embedding <=> a.embedding
            LIMIT p_neighbours
        ) AS n
        WHERE a.embedding IS NOT NULL
        UNION ALL
        SELECT a.id, n.memory_id, n.cosine
        FROM asked AS a
        CROSS JOIN LATERAL (
            SELECT v.memory_id, 1 - (v.embedding <=> a.embedding) AS cosine
            FROM (
                SELECT b.memory_id
                FROM memory_vectors AS b
                WHERE b.user_id = p_user_id AND b.app_name = p_app_name AND b.model_id = v_model AND b.live
                    AND v_documents > 1000
                ORDER BY b.bits <~> a.bits
                LIMIT 64
            ) AS b
            JOIN memory_vectors AS v
                ON v.user_id = p_user_id AND v.app_name = p_app_name AND v.memory_id = b.memory_id
                AND v.model_id = v_model
            WHERE b.memory_id <> a.id
            ORDER BY v.embedding <=> a.embedding
            LIMIT p_neighbours
        ) AS n
        WHERE a.embedding IS NOT NULL
    ),
    same_words AS MATERIALIZED (
        SELECT a.id, w.memory_id
        FROM asked AS a
        CROSS JOIN LATERAL (
            SELECT t.term, t.len
            FROM memory_terms AS t
            JOIN memories AS m ON m.user_id = t.user_id AND m.app_name = t.app_name AND m.id = a.id
            CROSS JOIN LATERAL index_terms(m.metadata ->> 'speaker', m.content, NULL) AS own
            WHERE t.user_id = p_user_id AND t.app_name = p_app_name AND t.term = own.term AND t.memory_id = a.id
            ORDER BY length(t.term) DESC, t.term DESC
            LIMIT 1
        ) AS longest
        CROSS JOIN LATERAL (
            SELECT t.memory_id
            FROM memory_terms AS t
            WHERE t.user_id = p_user_id AND t.app_name = p_app_name AND t.term = longest.term
                AND t.len = longest.len AND t.memory_id <> a.id
            ORDER BY t.memory_id
            LIMIT 20
        ) AS w
    )
    SELECT LEAST(f.id, f.memory_id), GREATEST(f.id, f.memory_id), max(f.cosine)
    FROM (
        SELECT n.id, n.memory_id, n.cosine FROM near AS n WHERE n.cosine >= p_min_cosine
        UNION ALL
        SELECT s.id, s.memory_id, NULL FROM same_words AS s
    ) AS f
    JOIN asked AS a ON a.id = f.id
    JOIN memories AS m ON m.user_id = p_user_id AND m.app_name = p_app_name AND m.id = f.memory_id
    WHERE m.deleted_at IS NULL AND m.memory_type = a.memory_type
        AND m.metadata ->> 'speaker' IS NOT DISTINCT FROM a.speaker
        AND COALESCE(m.metadata ->> 'role', 'user') = a.role
        AND COALESCE(m.metadata ->> 'subtype', '') NOT IN ('reflection', 'insight')
    GROUP BY 1, 2;
END
$function$;
