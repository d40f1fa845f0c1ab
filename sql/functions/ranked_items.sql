-- A page of the ranking of a user's memories and active facts by words, by vectors, or by both.
--
-- Both arms start at the owner. Words: BM25 (k1 1.2, b 0.75) over the postings, counts and lengths of the owner's
-- own items. Vectors: up to 1,000 items are compared exactly; of more, the 1,000 nearest by the sign bits in the
-- covering index, then exactly. The best of both arms (candidates) are scored in full.
--
--   semantic   cosine between what unrelated texts give and what the same text gives, by the model's calibration:
--              0 = the lower quartile of a question and an unrelated text, 1 = the same text as both. (Thresholds
--              have a stricter zero; here it would throw away half of the order.)
--   keyword    BM25 over the most that the question's terms could reach; a term of the question counts once, an
--              identifier that stands whole (order-1234) three times: its parts match elsewhere too
--   base       semantic_weight * semantic + keyword_weight * keyword, the weights divided by their sum
--   context    in a hybrid search a turn of a conversation is 10/18 its base, 5/18 neighbours (the better base of
--              the turns before and after it, where somebody else speaks), 3/18 session (the best base of its
--              thread). What stands alone keeps its whole base
--   speaker    0.15 of all that, where the question names the turn's speaker
--   relevance  what learned relevance adds or takes: times (relevance_weight - 1); and the cut at a score of 1
--
-- Measured on LoCoMo, recall@10: words 0.63, vectors 0.53, base 0.68, with neighbours 0.73, with session 0.74, with
-- speaker 0.766. Neighbours of the same speaker are notes one after the other; counting them cost 0.10 on MemDaily.
-- Contributions are whole millionths, so that they add up to the score exactly.
--
-- callers: search_items(), hybrid_search() and rrf_search(), the last two with p_context false: base alone
-- volatility: STABLE, it reads tables
-- returns: items, best first; in every row the candidates of each arm, the items in scope and the postings read

CREATE OR REPLACE FUNCTION :"schema".ranked_items(
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
    p_allowed uuid[] DEFAULT NULL,
    p_context boolean DEFAULT true
)
RETURNS TABLE (
    kind text,
    id uuid,
    score double precision,
    semantic_part double precision,
    keyword_part double precision,
    neighbours_part double precision,
    session_part double precision,
    speaker_part double precision,
    relevance_part double precision,
    semantic double precision,
    keyword double precision,
    cosine double precision,
    bm25 double precision,
    semantic_candidates integer,
    keyword_candidates integer,
    scope_items bigint,
    postings_read bigint
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
ROWS 10
-- One plan for all questions; hash tables where the planner, which knows nothing of the sizes, would sort; and no
-- compiling, which costs more than a search.
SET plan_cache_mode = force_generic_plan
SET enable_sort = off
SET jit = off
-- Before PostgreSQL 18 a disabled sort counts as costly, and costly plans are compiled: for seconds, where JIT is on.
SET jit = off
SET search_path = :"schema", :"vector_schema", pg_catalog, pg_temp
AS $function$
#variable_conflict use_column
DECLARE
    c_own CONSTANT double precision := 10 / 18.0;
    c_neighbours CONSTANT double precision := 5 / 18.0;
    c_session CONSTANT double precision := 3 / 18.0;
    c_speaker CONSTANT double precision := 0.15;
    c_exact_up_to CONSTANT integer := 1000;
    -- A number and not the name of the kind: it is grouped by, with every posting.
    c_memory CONSTANT smallint := 1;
    c_fact CONSTANT smallint := 2;
    v_depth CONSTANT integer := GREATEST(200, 2 * (p_limit + p_offset) + 10);
    v_context CONSTANT boolean := p_context AND p_level = 'hybrid' AND p_embedding IS NOT NULL;
    v_terms text[] := '{}';
    v_question text;
    v_embedding halfvec;
    v_bits bit varying;
    v_model smallint;
    v_floor double precision;
    v_ceiling double precision;
    v_semantic_weight double precision := 0;
    v_keyword_weight double precision := 0;
    v_documents bigint;
    v_total_len bigint;
    v_fact_documents bigint;
    v_fact_total_len bigint;
BEGIN
    IF p_level IN ('hybrid', 'vector') AND p_embedding IS NOT NULL THEN
        SELECT m.id, embedding_bits(p_embedding, m.mean),
            COALESCE((m.calibration -> 'unrelated_queries' ->> '25')::float8, 0),
            COALESCE((m.calibration ->> 'same_query')::float8, 1)
        INTO v_model, v_bits, v_floor, v_ceiling
        FROM embedding_models AS m
        WHERE m.app_name = p_app_name AND m.status = 'active' AND m.dims = vector_dims(p_embedding);
        IF FOUND THEN
            v_embedding := p_embedding::halfvec;
            v_semantic_weight := CASE WHEN p_level = 'vector' THEN 1 ELSE p_semantic_weight END;
        END IF;
    END IF;
    IF p_level IN ('hybrid', 'keyword') THEN
        v_terms := ARRAY(SELECT DISTINCT word FROM unnest(text_terms(p_query)) AS word);
        v_keyword_weight := CASE WHEN p_level = 'keyword' THEN 1 ELSE p_keyword_weight END;
    END IF;
    IF v_semantic_weight + v_keyword_weight > 0 THEN
        v_semantic_weight := v_semantic_weight / (v_semantic_weight + v_keyword_weight);
        v_keyword_weight := 1 - v_semantic_weight;
    END IF;

    v_question := ' ' || regexp_replace(lower(left(p_query, 10000)), '[\s[:punct:]]+', ' ', 'g') || ' ';

    SELECT s.documents, s.total_len INTO v_documents, v_total_len
    FROM memory_term_stats AS s WHERE s.user_id = p_user_id AND s.app_name = p_app_name;
    SELECT s.documents, s.total_len INTO v_fact_documents, v_fact_total_len
    FROM fact_term_stats AS s WHERE s.user_id = p_user_id AND s.app_name = p_app_name;
    v_documents := COALESCE(v_documents, 0);
    v_fact_documents := COALESCE(v_fact_documents, 0);

    RETURN QUERY
    WITH postings AS MATERIALIZED (
        SELECT c_memory AS store, t.memory_id AS id, t.term, t.tf, t.len
        FROM memory_terms AS t
        WHERE t.user_id = p_user_id AND t.app_name = p_app_name AND t.term = ANY (v_terms)
            AND 'memory' = ANY (p_kinds)
        UNION ALL
        SELECT c_fact, t.fact_id, t.term, t.tf, t.len
        FROM fact_terms AS t
        WHERE t.user_id = p_user_id AND t.app_name = p_app_name AND t.term = ANY (v_terms)
            AND 'fact' = ANY (p_kinds)
    ),
    frequencies AS MATERIALIZED (
        SELECT f.store, f.term, s.mean_len,
            ln(1 + (GREATEST(s.documents, f.documents) - f.documents + 0.5) / (f.documents + 0.5))
                * CASE WHEN f.term ~ '[-_.:/\\@+#]' THEN 3 ELSE 1 END AS idf
        FROM (SELECT p.store, p.term, count(*)::float8 AS documents FROM postings AS p GROUP BY p.store, p.term) AS f
        JOIN (VALUES
            (c_memory, v_documents::float8, GREATEST(v_total_len, 1)::float8 / GREATEST(v_documents, 1)),
            (c_fact, v_fact_documents::float8, GREATEST(v_fact_total_len, 1)::float8 / GREATEST(v_fact_documents, 1))
        ) AS s (store, documents, mean_len) USING (store)
    ),
    ceilings AS MATERIALIZED (
        SELECT f.store, 2.2 * sum(f.idf) AS most FROM frequencies AS f GROUP BY f.store
    ),
    matched AS MATERIALIZED (
        SELECT p.store, p.id,
            sum(f.idf * p.tf * 2.2 / (p.tf + 1.2 * (0.25 + 0.75 * p.len / f.mean_len))) AS bm25
        FROM postings AS p
        JOIN frequencies AS f ON f.store = p.store AND f.term = p.term
        GROUP BY p.store, p.id
    ),
    near AS MATERIALIZED (
        SELECT n.store, n.id, n.cosine
        FROM (
            SELECT c_memory AS store, v.memory_id AS id, 1 - (v.embedding <=> v_embedding) AS cosine
            FROM memory_vectors AS v
            WHERE v.user_id = p_user_id AND v.app_name = p_app_name AND v.model_id = v_model AND v.live
                AND v_documents <= c_exact_up_to AND 'memory' = ANY (p_kinds)
                AND (p_allowed IS NULL OR v.memory_id IN (SELECT a FROM unnest(p_allowed) AS a))
            UNION ALL
            SELECT c_memory, v.memory_id, 1 - (v.embedding <=> v_embedding)
            FROM (
                SELECT b.memory_id
                FROM memory_vectors AS b
                WHERE b.user_id = p_user_id AND b.app_name = p_app_name AND b.model_id = v_model AND b.live
                    AND v_documents > c_exact_up_to AND 'memory' = ANY (p_kinds)
                    AND (p_allowed IS NULL OR b.memory_id IN (SELECT a FROM unnest(p_allowed) AS a))
                ORDER BY b.bits <~> v_bits
                LIMIT c_exact_up_to
            ) AS b
            JOIN memory_vectors AS v
                ON v.user_id = p_user_id AND v.app_name = p_app_name AND v.memory_id = b.memory_id
                AND v.model_id = v_model
            UNION ALL
            SELECT c_fact, v.fact_id, 1 - (v.embedding <=> v_embedding)
            FROM fact_vectors AS v
            WHERE v.user_id = p_user_id AND v.app_name = p_app_name AND v.model_id = v_model AND v.live
                AND 'fact' = ANY (p_kinds)
                AND (p_allowed IS NULL OR v.fact_id IN (SELECT a FROM unnest(p_allowed) AS a))
        ) AS n
        ORDER BY n.cosine DESC, n.id
        LIMIT v_depth
    ),
    words AS MATERIALIZED (
        SELECT m.store, m.id, m.bm25
        FROM matched AS m
        WHERE p_allowed IS NULL OR m.id IN (SELECT a FROM unnest(p_allowed) AS a)
        ORDER BY m.bm25 DESC, m.id
        LIMIT v_depth
    ),
    -- Grouped and not joined: the planner knows nothing of these sizes and would compare all with all. So does the
    -- OR below keep its subquery a hash table.
    candidates AS MATERIALIZED (
        SELECT c.store, c.id, max(c.cosine) AS cosine, max(c.bm25) AS bm25
        FROM (
            SELECT n.store, n.id, n.cosine, NULL::float8 AS bm25 FROM near AS n
            UNION ALL
            SELECT w.store, w.id, NULL, w.bm25 FROM words AS w
            UNION ALL
            SELECT m.store, m.id, NULL, m.bm25 FROM matched AS m
            WHERE v_embedding IS NOT NULL AND (m.id IS NULL OR m.id IN (SELECT n.id FROM near AS n))
        ) AS c
        GROUP BY c.store, c.id
    ),
    found AS (
        SELECT c.store, c.id, m.thread_id, m.position, m.relevance_weight, COALESCE(m.occurred_at, m.created_at) AS at,
            m.metadata ->> 'speaker' AS name, COALESCE(m.metadata ->> 'speaker', m.metadata ->> 'role') AS voice,
            COALESCE(c.cosine, (
                SELECT 1 - (v.embedding <=> v_embedding) FROM memory_vectors AS v
                WHERE v.user_id = p_user_id AND v.app_name = p_app_name AND v.memory_id = c.id
                    AND v.model_id = v_model)) AS cosine,
            c.bm25
        FROM candidates AS c
        JOIN memories AS m ON m.user_id = p_user_id AND m.app_name = p_app_name AND m.id = c.id
        WHERE c.store = c_memory AND m.deleted_at IS NULL
        UNION ALL
        SELECT c.store, c.id, NULL, NULL, 1, f.valid_from, NULL, NULL,
            COALESCE(c.cosine, (
                SELECT 1 - (v.embedding <=> v_embedding) FROM fact_vectors AS v
                WHERE v.user_id = p_user_id AND v.app_name = p_app_name AND v.fact_id = c.id
                    AND v.model_id = v_model)),
            c.bm25
        FROM candidates AS c
        JOIN facts AS f ON f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = c.id
        WHERE c.store = c_fact AND f.deleted_at IS NULL AND f.status = 'active'
            AND (f.valid_from IS NULL OR f.valid_from <= now())
            AND (f.valid_until IS NULL OR f.valid_until > now())
    ),
    normed AS (
        SELECT f.*,
            CASE WHEN f.cosine IS NOT NULL
                THEN LEAST(1, GREATEST(0, (f.cosine - v_floor) / NULLIF(v_ceiling - v_floor, 0))) END AS semantic,
            f.bm25 / NULLIF(c.most, 0) AS keyword
        FROM found AS f
        LEFT JOIN ceilings AS c ON c.store = f.store
    ),
    based AS (
        SELECT n.*, v_semantic_weight * COALESCE(n.semantic, 0) AS semantic_base,
            v_keyword_weight * COALESCE(n.keyword, 0) AS keyword_base,
            v_semantic_weight * COALESCE(n.semantic, 0) + v_keyword_weight * COALESCE(n.keyword, 0) AS base
        FROM normed AS n
    ),
    placed AS (
        SELECT b.*,
            v_context AND b.thread_id IS NOT NULL AND b.position IS NOT NULL AS is_turn,
            GREATEST(
                CASE WHEN lag(b.position) OVER turns = b.position - 1
                        AND (lag(b.voice) OVER turns = b.voice) IS NOT TRUE
                    THEN lag(b.base) OVER turns ELSE 0 END,
                CASE WHEN lead(b.position) OVER turns = b.position + 1
                        AND (lead(b.voice) OVER turns = b.voice) IS NOT TRUE
                    THEN lead(b.base) OVER turns ELSE 0 END) AS beside,
            max(b.base) OVER (PARTITION BY b.thread_id) AS best
        FROM based AS b
        WINDOW turns AS (PARTITION BY b.thread_id ORDER BY b.position)
    ),
    shared AS (
        SELECT p.*,
            round(1e6 * p.semantic_base * CASE WHEN p.is_turn THEN c_own ELSE 1 END)::bigint AS semantic_part,
            round(1e6 * p.keyword_base * CASE WHEN p.is_turn THEN c_own ELSE 1 END)::bigint AS keyword_part,
            CASE WHEN p.is_turn THEN round(1e6 * c_neighbours * p.beside)::bigint ELSE 0 END AS neighbours_part,
            CASE WHEN p.is_turn THEN round(1e6 * c_session * p.best)::bigint ELSE 0 END AS session_part
        FROM placed AS p
    ),
    named AS (
        SELECT s.*, s.semantic_part + s.keyword_part + s.neighbours_part + s.session_part AS said,
            CASE
                WHEN v_context AND (position(' ' || lower(s.name) || ' ' IN v_question) > 0
                    OR octet_length(s.name) > length(s.name) AND position(s.name IN p_query) > 0)
                THEN round(c_speaker * (s.semantic_part + s.keyword_part + s.neighbours_part + s.session_part))::bigint
                ELSE 0
            END AS speaker_part
        FROM shared AS s
    ),
    scored AS (
        SELECT n.*, LEAST(1000000, round((n.said + n.speaker_part) * n.relevance_weight)::bigint) AS total
        FROM named AS n
    )
    SELECT CASE s.store WHEN c_memory THEN 'memory' ELSE 'fact' END, s.id,
        s.total / 1e6::float8, s.semantic_part / 1e6::float8, s.keyword_part / 1e6::float8,
        s.neighbours_part / 1e6::float8, s.session_part / 1e6::float8, s.speaker_part / 1e6::float8,
        (s.total - s.said - s.speaker_part) / 1e6::float8, s.semantic, s.keyword,
        s.cosine, s.bm25,
        (SELECT count(*) FROM near)::integer,
        (SELECT count(*) FROM words)::integer,
        COALESCE(CASE WHEN 'memory' = ANY (p_kinds) THEN v_documents END, 0)
            + COALESCE(CASE WHEN 'fact' = ANY (p_kinds) THEN v_fact_documents END, 0),
        (SELECT count(*) FROM postings)
    FROM scored AS s
    ORDER BY s.total DESC, s.cosine DESC NULLS LAST, s.at DESC, s.id
    LIMIT p_limit OFFSET p_offset;
END
$function$;
