-- A page of the ranking of a user's memories and active facts by words, by vectors, or by both.
--
-- Both arms start at the owner. Words: BM25 (k1 1.2, b 0.75) over the postings, counts and lengths of the owner's
-- own items. Vectors: up to 4,000 items are compared exactly; of more, the nearest by the sign bits in the covering
-- index (1,500 and one in 25 of the owner's), then exactly. Of both arms the best 30 by base are looked at, the
-- turns beside the best 15, and more for later pages.
--
--   semantic   how alike the vectors are, in 0..1: in a ranking with context embedding_similarity(), else the cosine
--              between what unrelated texts give (the lower quartile, by the model's calibration) and the same text
--   keyword    BM25 over the most that the question's terms could reach; a term of the question counts once, an
--              identifier that stands whole (order-1234) three times: its parts match elsewhere too
--   base       semantic_weight * semantic + keyword_weight * keyword, the weights divided by their sum
--   context    a turn of a conversation is its base, p_neighbours times that of the turns beside it and p_session times
--              that of its thread, divided by the sum of these weights. Beside it: the better of the turns before and
--              after where somebody else speaks, that before at a quarter if it asks nothing; of its thread: the
--              best, where more than one speaks. Notes of one speaker are no conversation: their own base stands in.
--              What stands alone keeps its base
--   speaker    p_speaker of all that, where the question names the turn's speaker; five times it, where the question
--              says "I" and not "you" and the user speaks: who asks about himself knows who said it, who asks about
--              another may name the wrong one
--   intent     p_intent of all that for the type of memory that the question asks for (query_intent()), a fifth of it
--              for the types beside it
--   relevance  what learned relevance adds or takes: times (relevance_weight - 1); and the cut at a score of 1
--
-- Each part can be switched off by its weight. What each is worth on four data sets is in docs/search.md.
-- Contributions are whole millionths, so that they add up to the score exactly.
--
-- A question whose words stand in more than p_postings postings is matched by its rarer words alone; the others are
-- counted for the best 1,000 of those and for what the vectors found. common_terms says how many.
--
-- Without p_counted the candidates by vector are not counted where all were compared (semantic_candidates is of
-- facts alone): to count some hundred takes a twentieth of a search.
--
-- callers: search_items(), hybrid_search() and rrf_search(), the last two with p_context false: base alone
-- volatility: STABLE, it reads tables
-- returns: items, best first; in every row the candidates of each arm, the items in scope, the postings read, how many
--   vectors were compared exactly after the sign bits (0: all were), and the question's intent. cosine is raw, but with
--   context that of the centred vectors

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
    p_context boolean DEFAULT true,
    p_neighbours double precision DEFAULT 0.65,
    p_session double precision DEFAULT 0.45,
    p_speaker double precision DEFAULT 0.08,
    p_intent double precision DEFAULT 0.15,
    p_relevance boolean DEFAULT true,
    p_postings integer DEFAULT 40000,
    p_counted boolean DEFAULT true
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
    intent_part double precision,
    relevance_part double precision,
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
PARALLEL SAFE
ROWS 10
-- One plan for all questions; hash tables where the planner, which knows nothing of the sizes, would sort; and no
-- compiling, which costs more than a search.
SET plan_cache_mode = force_generic_plan
SET enable_sort = off
SET jit = off
SET search_path = :"schema", :"vector_schema", pg_catalog, pg_temp
AS $function$
#variable_conflict use_column
DECLARE
    c_exact_up_to CONSTANT integer := 4000;
    -- Vectors from which it is guessed how far the nearest reach.
    c_sample CONSTANT integer := 2000;
    -- A number and not the name of the kind: it is grouped by, with every posting.
    c_memory CONSTANT smallint := 1;
    c_fact CONSTANT smallint := 2;
    -- What a turn before is worth that asks nothing. Who answers a question takes its words as said; who goes on after
    -- a statement may speak of something else.
    c_unasked CONSTANT double precision := 0.25;
    -- Characters of a turn that are looked through for a question mark.
    c_read CONSTANT integer := 4000;
    v_rows CONSTANT integer := GREATEST(30, 2 * (p_limit + p_offset) + 10);
    v_turns CONSTANT integer := GREATEST(15, p_limit + p_offset + 5);
    v_depth integer := GREATEST(200, v_rows);
    v_context CONSTANT boolean := p_context AND p_level IN ('hybrid', 'keyword');
    v_whole CONSTANT double precision := 1 + p_neighbours + p_session;
    v_question text;
    v_says_i boolean := false;
    v_intent text;
    v_beside text[] := '{}';
    v_embedding halfvec;
    v_bits bit varying;
    v_model smallint;
    v_mean halfvec;
    v_direction halfvec;
    v_offset double precision;
    v_centred boolean := false;
    v_floor double precision;
    v_scale double precision;
    v_exact boolean;
    v_reranked integer := 0;
    v_radius double precision;
    v_near uuid[];
    v_semantic_weight double precision := 0;
    v_keyword_weight double precision := 0;
    v_terms text[] := '{}';
    v_words text[] := '{}';
    v_idf double precision[] := '{}';
    v_counts bigint[] := '{}';
    v_most double precision;
    v_len_rate double precision := 0;
    v_postings bigint := 0;
    v_rare integer := 0;
    v_common integer := 0;
    v_fact_words text[] := '{}';
    v_fact_idf double precision[] := '{}';
    v_fact_most double precision;
    v_fact_len_rate double precision := 0;
    v_fact_postings bigint := 0;
    v_documents bigint;
    v_total_len bigint;
    v_fact_documents bigint;
    v_fact_total_len bigint;
    v_small boolean;
    v_matched uuid[];
    v_matched_bm25 double precision[];
    v_ids uuid[];
    v_stores smallint[];
    v_similarities double precision[];
    v_bm25s double precision[];
    v_bases double precision[];
    v_near_found integer := 0;
    v_keyword_found integer := 0;
BEGIN
    SELECT s.documents, s.total_len INTO v_documents, v_total_len
    FROM memory_term_stats AS s WHERE s.user_id = p_user_id AND s.app_name = p_app_name;
    SELECT s.documents, s.total_len INTO v_fact_documents, v_fact_total_len
    FROM fact_term_stats AS s WHERE s.user_id = p_user_id AND s.app_name = p_app_name;
    v_documents := COALESCE(v_documents, 0);
    v_fact_documents := COALESCE(v_fact_documents, 0);
    v_exact := v_documents <= c_exact_up_to;

    IF p_level IN ('hybrid', 'vector') AND p_embedding IS NOT NULL THEN
        SELECT m.id, CASE WHEN NOT v_exact THEN embedding_bits(p_embedding, m.mean) END, m.mean::halfvec,
            l2_normalize(p_embedding - m.mean)::halfvec,
            -(m.mean <#> l2_normalize(p_embedding - m.mean)),
            m.mean IS NOT NULL AND p_level = 'hybrid' AND v_context,
            COALESCE((m.calibration -> 'unrelated_queries' ->> '25')::float8, 0),
            COALESCE((m.calibration ->> 'same_query')::float8, 1)
        INTO v_model, v_bits, v_mean, v_direction, v_offset, v_centred, v_floor, v_scale
        FROM embedding_models AS m
        WHERE m.app_name = p_app_name AND m.status = 'active' AND m.dims = vector_dims(p_embedding);
        IF FOUND THEN
            v_embedding := p_embedding::halfvec;
            v_scale := 1 / NULLIF(v_scale - v_floor, 0);
            v_semantic_weight := CASE WHEN p_level = 'vector' THEN 1 ELSE p_semantic_weight END;
            IF NOT v_exact THEN
                v_reranked := GREATEST(1500 + v_documents / 25, v_rows);
            END IF;
        ELSE
            v_centred := false;
        END IF;
    END IF;

    IF p_level IN ('hybrid', 'keyword') THEN
        v_keyword_weight := CASE WHEN p_level = 'keyword' THEN 1 ELSE p_keyword_weight END;
        v_terms := ARRAY(SELECT DISTINCT word FROM unnest(text_terms(p_query)) AS word);
        IF 'memory' = ANY (p_kinds) THEN
            v_len_rate := 0.9 * GREATEST(v_documents, 1) / GREATEST(v_total_len, 1);
            SELECT COALESCE(array_agg(t.term ORDER BY t.documents, t.term), '{}'),
                COALESCE(array_agg(t.idf ORDER BY t.documents, t.term), '{}'),
                COALESCE(array_agg(t.documents ORDER BY t.documents, t.term), '{}'),
                2.2 * sum(t.idf), COALESCE(sum(t.documents), 0)
            INTO v_words, v_idf, v_counts, v_most, v_postings
            FROM (
                SELECT c.term, c.documents,
                    ln(1 + (GREATEST(v_documents, c.documents) - c.documents + 0.5)::float8 / (c.documents + 0.5))
                        * CASE WHEN c.term ~ '[-_.:/\\@+#]' THEN 3 ELSE 1 END AS idf
                FROM (
                    SELECT q.term, (
                        SELECT count(*) FROM memory_terms AS m
                        WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.term = q.term) AS documents
                    FROM unnest(v_terms) AS q (term)
                    OFFSET 0
                ) AS c
                WHERE c.documents > 0
            ) AS t;
            v_rare := cardinality(v_words);
            IF v_postings > p_postings THEN
                v_rare := 1;
                v_postings := v_counts[1];
                WHILE v_postings + v_counts[v_rare + 1] <= p_postings LOOP
                    v_rare := v_rare + 1;
                    v_postings := v_postings + v_counts[v_rare];
                END LOOP;
                v_common := cardinality(v_words) - v_rare;
                v_depth := GREATEST(1000, v_depth);
            END IF;
        END IF;
        IF 'fact' = ANY (p_kinds) AND v_fact_documents > 0 THEN
            v_fact_len_rate := 0.9 * v_fact_documents / GREATEST(v_fact_total_len, 1);
            SELECT COALESCE(array_agg(t.term), '{}'), COALESCE(array_agg(t.idf), '{}'), 2.2 * sum(t.idf),
                COALESCE(sum(t.documents), 0)
            INTO v_fact_words, v_fact_idf, v_fact_most, v_fact_postings
            FROM (
                SELECT c.term, c.documents,
                    ln(1 + (GREATEST(v_fact_documents, c.documents) - c.documents + 0.5)::float8
                        / (c.documents + 0.5))
                        * CASE WHEN c.term ~ '[-_.:/\\@+#]' THEN 3 ELSE 1 END AS idf
                FROM (
                    SELECT q.term, (
                        SELECT count(*) FROM fact_terms AS m
                        WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.term = q.term) AS documents
                    FROM unnest(v_terms) AS q (term)
                    OFFSET 0
                ) AS c
                WHERE c.documents > 0
            ) AS t;
        END IF;
    END IF;
    IF v_semantic_weight + v_keyword_weight > 0 THEN
        -- Of what weighs less than a millionth no contribution is left; the smallest numbers would end in an underflow.
        v_semantic_weight := round(
            v_semantic_weight::numeric / (v_semantic_weight + v_keyword_weight)::numeric, 9);
        v_keyword_weight := 1 - v_semantic_weight;
    END IF;

    IF v_context THEN
        v_question := lower(left(p_query, 10000));
        v_says_i := v_question ~ '\m(i|me|my|mine|myself|we|us|our)\M|我|咱|私|僕|俺|나는|내가'
            AND v_question !~ '\m(you|your|yours)\M|你|您';
        v_question := ' ' || regexp_replace(v_question, '[\s[:punct:]]+', ' ', 'g') || ' ';
        IF p_intent > 0 THEN
            SELECT q.intent, q.beside INTO v_intent, v_beside
            FROM query_intent(p_query) AS q WHERE q.confidence > 0.3;
        END IF;
    END IF;

    -- Of each store the best by base, in order. The usual case has a statement of its own: to set up the plan of the
    -- other takes a third of a search among some hundred memories.
    v_small := v_exact AND v_common = 0;
    IF v_small AND 'memory' = ANY (p_kinds) THEN
        SELECT array_agg(m.id), array_agg(m.bm25) INTO v_matched, v_matched_bm25
        FROM (
            SELECT t.memory_id AS id, sum(q.idf * 2.2 * t.tf / (t.tf + 0.3 + v_len_rate * t.len)) AS bm25
            FROM unnest(v_words, v_idf) AS q (term, idf)
            JOIN memory_terms AS t
                ON t.user_id = p_user_id AND t.app_name = p_app_name AND t.term = q.term
            GROUP BY t.memory_id
        ) AS m
        WHERE p_allowed IS NULL OR m.id IN (SELECT a FROM unnest(p_allowed) AS a);
        v_keyword_found := COALESCE(cardinality(v_matched), 0);
        SELECT array_agg(b.id), array_agg(b.similarity), array_agg(b.bm25), array_agg(b.base)
        INTO v_ids, v_similarities, v_bm25s, v_bases
        FROM (
            SELECT COALESCE(n.id, w.id) AS id, n.similarity, w.bm25,
                v_semantic_weight * COALESCE(LEAST(1, GREATEST(0, n.similarity)), 0)
                    + v_keyword_weight * COALESCE(w.bm25 / v_most, 0) AS base
            FROM (
                SELECT v.memory_id AS id,
                    CASE WHEN v_centred
                        THEN embedding_similarity(v.embedding, v_mean, v_direction, v_offset)
                        ELSE (1 - (v.embedding <=> v_embedding) - v_floor) * v_scale END AS similarity
                FROM memory_vectors AS v
                WHERE v_embedding IS NOT NULL
                    AND v.user_id = p_user_id AND v.app_name = p_app_name AND v.model_id = v_model AND v.live
                    AND (p_allowed IS NULL OR v.memory_id IN (SELECT a FROM unnest(p_allowed) AS a))
                OFFSET 0
            ) AS n
            FULL JOIN unnest(v_matched, v_matched_bm25) AS w (id, bm25) ON w.id = n.id
            ORDER BY base DESC, 1
            LIMIT v_rows
        ) AS b;
    ELSIF 'memory' = ANY (p_kinds) THEN
        -- To sort all takes longer than to read them: what is too far by a sample is not sorted. Where the sample
        -- misled and too few are left, all are.
        IF v_reranked > 0 AND p_allowed IS NULL THEN
            SELECT s.distance INTO v_radius
            FROM (
                SELECT b.bits <~> v_bits AS distance
                FROM memory_vectors AS b
                WHERE b.user_id = p_user_id AND b.app_name = p_app_name AND b.model_id = v_model AND b.live
                LIMIT c_sample
            ) AS s
            ORDER BY s.distance
            OFFSET 3 * c_sample * v_reranked::bigint / v_documents / 2 LIMIT 1;
            v_near := ARRAY(
                SELECT b.memory_id
                FROM memory_vectors AS b
                WHERE b.user_id = p_user_id AND b.app_name = p_app_name AND b.model_id = v_model AND b.live
                    AND b.bits <~> v_bits <= v_radius
                ORDER BY b.bits <~> v_bits
                LIMIT v_reranked
            );
        END IF;
        IF v_reranked > COALESCE(cardinality(v_near), 0) THEN
            v_near := ARRAY(
                SELECT b.memory_id
                FROM memory_vectors AS b
                WHERE b.user_id = p_user_id AND b.app_name = p_app_name AND b.model_id = v_model AND b.live
                    AND (p_allowed IS NULL OR b.memory_id IN (SELECT a FROM unnest(p_allowed) AS a))
                ORDER BY b.bits <~> v_bits
                LIMIT v_reranked
            );
        END IF;
        WITH nearest AS MATERIALIZED (
            SELECT v.memory_id AS id,
                CASE WHEN v_centred
                    THEN embedding_similarity(v.embedding, v_mean, v_direction, v_offset)
                    ELSE (1 - (v.embedding <=> v_embedding) - v_floor) * v_scale END AS similarity
            FROM memory_vectors AS v
            WHERE v_embedding IS NOT NULL AND NOT v_exact
                AND v.user_id = p_user_id AND v.app_name = p_app_name AND v.model_id = v_model
                -- One pass over the index for all of them: in a join each is looked up by itself, at twice the time.
                AND v.memory_id = ANY (v_near)
            UNION ALL
            SELECT v.memory_id,
                CASE WHEN v_centred
                    THEN embedding_similarity(v.embedding, v_mean, v_direction, v_offset)
                    ELSE (1 - (v.embedding <=> v_embedding) - v_floor) * v_scale END
            FROM memory_vectors AS v
            WHERE v_embedding IS NOT NULL AND v_exact
                AND v.user_id = p_user_id AND v.app_name = p_app_name AND v.model_id = v_model AND v.live
                AND (p_allowed IS NULL OR v.memory_id IN (SELECT a FROM unnest(p_allowed) AS a))
        ),
        matched AS MATERIALIZED (
            SELECT t.memory_id AS id, sum(q.idf * 2.2 * t.tf / (t.tf + 0.3 + v_len_rate * t.len)) AS bm25
            FROM unnest(v_words[:v_rare], v_idf[:v_rare]) AS q (term, idf)
            JOIN memory_terms AS t
                ON t.user_id = p_user_id AND t.app_name = p_app_name AND t.term = q.term
            GROUP BY t.memory_id
        ),
        words AS MATERIALIZED (
            SELECT m.id, m.bm25
            FROM matched AS m
            WHERE p_allowed IS NULL OR m.id IN (SELECT a FROM unnest(p_allowed) AS a)
            ORDER BY m.bm25 DESC, m.id
            LIMIT v_depth
        ),
        -- What the vectors found is scored by words too, whatever its place there. Here and below the OR keeps a
        -- subquery a hash table: the planner knows nothing of these sizes.
        worded AS (
            SELECT w.id, w.bm25 FROM words AS w
            UNION ALL
            SELECT m.id, m.bm25 FROM matched AS m
            WHERE (m.id IS NULL OR m.id IN (SELECT n.id FROM nearest AS n))
                AND (m.id IS NULL OR m.id NOT IN (SELECT w.id FROM words AS w))
        ),
        pool AS (
            SELECT COALESCE(n.id, w.id) AS id,
                CASE WHEN v_common > 0
                    THEN COALESCE(w.bm25, 0) + COALESCE((
                        SELECT sum(q.idf * 2.2 * t.tf / (t.tf + 0.3 + v_len_rate * t.len))
                        FROM unnest(v_words[v_rare + 1:], v_idf[v_rare + 1:]) AS q (term, idf)
                        JOIN memory_terms AS t
                            ON t.user_id = p_user_id AND t.app_name = p_app_name AND t.term = q.term
                            -- Not COALESCE: under row-level security that may leak, and would be no condition of the
                            -- index.
                            AND t.memory_id = CASE WHEN n.id IS NULL THEN w.id ELSE n.id END), 0)
                    ELSE w.bm25 END AS bm25,
                COALESCE(n.similarity, CASE WHEN v_reranked > 0 THEN (
                    SELECT CASE WHEN v_centred
                        THEN embedding_similarity(v.embedding, v_mean, v_direction, v_offset)
                        ELSE (1 - (v.embedding <=> v_embedding) - v_floor) * v_scale END
                    FROM memory_vectors AS v
                    WHERE v.user_id = p_user_id AND v.app_name = p_app_name AND v.memory_id = w.id
                        AND v.model_id = v_model) END) AS similarity
            FROM nearest AS n
            FULL JOIN worded AS w ON w.id = n.id
            OFFSET 0
        )
        SELECT array_agg(b.id), array_agg(b.similarity), array_agg(b.bm25), array_agg(b.base),
            (SELECT count(*) FROM nearest), (SELECT count(*) FROM words)
        INTO v_ids, v_similarities, v_bm25s, v_bases, v_near_found, v_keyword_found
        FROM (
            SELECT p.*, v_semantic_weight * COALESCE(LEAST(1, GREATEST(0, p.similarity)), 0)
                + v_keyword_weight * COALESCE(p.bm25 / v_most, 0) AS base
            FROM pool AS p
            ORDER BY base DESC, p.id
            LIMIT v_rows
        ) AS b;
    END IF;

    IF 'fact' = ANY (p_kinds) AND (v_fact_documents > 0 OR EXISTS (
        SELECT FROM fact_vectors AS v
        WHERE v.user_id = p_user_id AND v.app_name = p_app_name AND v.model_id = v_model AND v.live))
    THEN
        WITH near AS MATERIALIZED (
            SELECT v.fact_id AS id,
                CASE WHEN v_centred
                    THEN embedding_similarity(v.embedding, v_mean, v_direction, v_offset)
                    ELSE (1 - (v.embedding <=> v_embedding) - v_floor) * v_scale END AS similarity
            FROM fact_vectors AS v
            WHERE v_embedding IS NOT NULL
                AND v.user_id = p_user_id AND v.app_name = p_app_name AND v.model_id = v_model AND v.live
                AND (p_allowed IS NULL OR v.fact_id IN (SELECT a FROM unnest(p_allowed) AS a))
        ),
        words AS MATERIALIZED (
            SELECT m.id, m.bm25
            FROM (
                SELECT t.fact_id AS id, sum(q.idf * 2.2 * t.tf / (t.tf + 0.3 + v_fact_len_rate * t.len)) AS bm25
                FROM unnest(v_fact_words, v_fact_idf) AS q (term, idf)
                JOIN fact_terms AS t
                    ON t.user_id = p_user_id AND t.app_name = p_app_name AND t.term = q.term
                GROUP BY t.fact_id
            ) AS m
            WHERE p_allowed IS NULL OR m.id IN (SELECT a FROM unnest(p_allowed) AS a)
        )
        SELECT array_agg(b.id), array_agg(b.store), array_agg(b.similarity), array_agg(b.bm25),
            v_near_found + (SELECT count(*) FROM near), v_keyword_found + (SELECT count(*) FROM words)
        INTO v_ids, v_stores, v_similarities, v_bm25s, v_near_found, v_keyword_found
        FROM (
            SELECT c_memory AS store, m.id, m.similarity, m.bm25, m.base
            FROM unnest(v_ids, v_similarities, v_bm25s, v_bases) AS m (id, similarity, bm25, base)
            UNION ALL
            SELECT c_fact, COALESCE(n.id, w.id), n.similarity, w.bm25,
                v_semantic_weight * COALESCE(LEAST(1, GREATEST(0, n.similarity)), 0)
                    + v_keyword_weight * COALESCE(w.bm25 / v_fact_most, 0)
            FROM near AS n
            FULL JOIN words AS w ON w.id = n.id
            ORDER BY base DESC, id
            LIMIT v_rows
        ) AS b;
    END IF;
    IF p_counted AND v_small AND v_embedding IS NOT NULL AND 'memory' = ANY (p_kinds) THEN
        SELECT v_near_found + count(*) INTO v_near_found
        FROM memory_vectors AS v
        WHERE v.user_id = p_user_id AND v.app_name = p_app_name AND v.model_id = v_model AND v.live
            AND (p_allowed IS NULL OR v.memory_id IN (SELECT a FROM unnest(p_allowed) AS a));
    END IF;

    RETURN QUERY
    WITH known AS MATERIALIZED (
        SELECT c_memory AS store, f.id, f.place, f.similarity, f.bm25, m.thread_id, m.position, m.memory_type AS type,
            m.relevance_weight, COALESCE(m.occurred_at, m.created_at) AS at, m.metadata ->> 'speaker' AS name,
            m.metadata ->> 'role' AS role, left(m.content, c_read) AS words
        FROM unnest(v_ids, v_stores, v_similarities, v_bm25s) WITH ORDINALITY AS f (id, store, similarity, bm25, place)
        JOIN memories AS m ON m.user_id = p_user_id AND m.app_name = p_app_name AND m.id = f.id
        WHERE f.store IS DISTINCT FROM c_fact AND m.deleted_at IS NULL
        UNION ALL
        SELECT c_fact, f.id, f.place, f.similarity, f.bm25, NULL, NULL, x.fact_type, 1, x.valid_from, NULL, NULL, NULL
        FROM unnest(v_ids, v_stores, v_similarities, v_bm25s) WITH ORDINALITY AS f (id, store, similarity, bm25, place)
        JOIN facts AS x ON x.user_id = p_user_id AND x.app_name = p_app_name AND x.id = f.id
        WHERE v_stores IS NOT NULL AND f.store = c_fact AND x.deleted_at IS NULL AND x.status = 'active'
            AND (x.valid_from IS NULL OR x.valid_from <= now())
            AND (x.valid_until IS NULL OR x.valid_until > now())
    ),
    -- The turns beside the best, which may say by themselves nothing that the question asks for.
    found AS (
        SELECT k.* FROM known AS k
        UNION ALL
        SELECT c_memory, m.id, v_rows + 1, (
                SELECT CASE WHEN v_centred
                    THEN embedding_similarity(v.embedding, v_mean, v_direction, v_offset)
                    ELSE (1 - (v.embedding <=> v_embedding) - v_floor) * v_scale END
                FROM memory_vectors AS v
                WHERE v.user_id = p_user_id AND v.app_name = p_app_name AND v.memory_id = m.id
                    AND v.model_id = v_model),
            CASE WHEN v_small THEN w.bm25 ELSE (
                SELECT sum(q.idf * 2.2 * t.tf / (t.tf + 0.3 + v_len_rate * t.len))
                FROM unnest(v_words, v_idf) AS q (term, idf)
                JOIN memory_terms AS t
                    ON t.user_id = p_user_id AND t.app_name = p_app_name AND t.term = q.term AND t.memory_id = m.id)
                END,
            m.thread_id, m.position, m.memory_type, m.relevance_weight,
            COALESCE(m.occurred_at, m.created_at), m.metadata ->> 'speaker', m.metadata ->> 'role',
            left(m.content, c_read)
        FROM (
            SELECT DISTINCT k.thread_id, k.position + step.by AS position
            FROM known AS k
            CROSS JOIN (VALUES (-1), (1)) AS step (by)
            WHERE v_context AND k.store = c_memory AND k.place <= v_turns
        ) AS k
        JOIN memories AS m
            ON m.user_id = p_user_id AND m.app_name = p_app_name AND m.thread_id = k.thread_id
            AND m.position = k.position
        LEFT JOIN unnest(v_matched, v_matched_bm25) AS w (id, bm25) ON w.id = m.id
        WHERE m.deleted_at IS NULL
            AND (m.id IS NULL OR m.id NOT IN (SELECT o.id FROM known AS o))
            AND (p_allowed IS NULL OR m.id IN (SELECT a FROM unnest(p_allowed) AS a))
    ),
    placed AS (
        SELECT f.*, COALESCE(f.name, f.role) AS voice, f.place <= v_turns AS is_surrounded,
            v_context AND f.thread_id IS NOT NULL AND f.position IS NOT NULL AS is_turn,
            strpos(f.words, '?') > 0 OR strpos(f.words, '？') > 0 AS asks,
            v_semantic_weight * COALESCE(LEAST(1, GREATEST(0, f.similarity)), 0) AS by_meaning,
            v_keyword_weight * COALESCE(f.bm25 / CASE f.store WHEN c_memory THEN v_most ELSE v_fact_most END, 0)
                AS by_words
        FROM found AS f
        OFFSET 0
    ),
    seen AS (
        SELECT p.*,
            CASE WHEN lag(p.position) OVER turns = p.position - 1
                THEN (lag(p.voice) OVER turns = p.voice) IS NOT TRUE END AS other_before,
            CASE WHEN lead(p.position) OVER turns = p.position + 1
                THEN (lead(p.voice) OVER turns = p.voice) IS NOT TRUE END AS other_after,
            lag((p.by_meaning + p.by_words) * CASE WHEN p.asks THEN 1 ELSE c_unasked END) OVER turns AS base_before,
            lead(p.by_meaning + p.by_words) OVER turns AS base_after,
            max(p.by_meaning + p.by_words) OVER thread AS best,
            min(p.voice) OVER thread <> max(p.voice) OVER thread AS is_dialogue
        FROM placed AS p
        WINDOW turns AS (PARTITION BY p.thread_id ORDER BY p.position), thread AS (PARTITION BY p.thread_id)
    ),
    shared AS (
        SELECT s.store, s.id, s.similarity, s.bm25, s.type, s.relevance_weight, s.at, s.name, s.role,
            round(1e6 * s.by_meaning / CASE WHEN s.is_turn THEN v_whole ELSE 1 END)::bigint AS semantic_part,
            round(1e6 * s.by_words / CASE WHEN s.is_turn THEN v_whole ELSE 1 END)::bigint AS keyword_part,
            CASE WHEN s.is_turn THEN round(1e6 * p_neighbours / v_whole * CASE
                WHEN s.other_before OR s.other_after THEN GREATEST(
                    CASE WHEN s.other_before THEN s.base_before END, CASE WHEN s.other_after THEN s.base_after END)
                WHEN s.is_surrounded OR NOT s.other_before OR NOT s.other_after THEN s.by_meaning + s.by_words
                ELSE 0 END)::bigint ELSE 0 END AS neighbours_part,
            CASE WHEN s.is_turn THEN round(1e6 * p_session / v_whole
                * CASE WHEN s.is_dialogue THEN s.best ELSE s.by_meaning + s.by_words END)::bigint ELSE 0 END
                AS session_part
        FROM seen AS s
        WHERE p_level <> 'keyword' OR s.bm25 > 0
        OFFSET 0
    ),
    named AS (
        SELECT s.*, s.semantic_part + s.keyword_part + s.neighbours_part + s.session_part AS said,
            CASE WHEN NOT v_context THEN 0 WHEN v_says_i AND s.role = 'user' THEN LEAST(1, 5 * p_speaker)
                WHEN position(' ' || lower(s.name) || ' ' IN v_question) > 0
                    OR octet_length(s.name) > length(s.name) AND position(s.name IN p_query) > 0 THEN p_speaker
                ELSE 0 END AS named,
            CASE WHEN v_intent IS NULL THEN 0 WHEN s.type = v_intent THEN p_intent
                WHEN s.type = ANY (v_beside) OR s.store = c_fact AND 'fact' = ANY (v_beside) THEN p_intent / 5
                ELSE 0 END AS wanted
        FROM shared AS s
        OFFSET 0
    ),
    meant AS (
        SELECT n.*, round(n.named * n.said)::bigint AS speaker_part,
            round(n.wanted * (n.said + round(n.named * n.said)::bigint))::bigint AS intent_part
        FROM named AS n
        OFFSET 0
    ),
    scored AS (
        SELECT m.*, (m.said + m.speaker_part + m.intent_part)
            * CASE WHEN p_relevance THEN m.relevance_weight ELSE 1 END AS uncut
        FROM meant AS m
    ),
    page AS (
        SELECT s.*, LEAST(1000000, round(s.uncut)::bigint) AS total
        FROM scored AS s
        ORDER BY total DESC, s.uncut DESC, s.similarity DESC NULLS LAST, s.at DESC, s.id
        LIMIT p_limit OFFSET p_offset
    )
    SELECT CASE p.store WHEN c_memory THEN 'memory' ELSE 'fact' END, p.id,
        p.total / 1e6::float8, p.semantic_part / 1e6::float8, p.keyword_part / 1e6::float8,
        p.neighbours_part / 1e6::float8, p.session_part / 1e6::float8, p.speaker_part / 1e6::float8,
        p.intent_part / 1e6::float8,
        (p.total - p.said - p.speaker_part - p.intent_part) / 1e6::float8,
        CASE WHEN p.similarity IS NOT NULL THEN LEAST(1, GREATEST(0, p.similarity)) END,
        p.bm25 / CASE p.store WHEN c_memory THEN v_most ELSE v_fact_most END,
        CASE WHEN v_centred THEN p.similarity ELSE p.similarity / v_scale + v_floor END, p.bm25,
        v_near_found, v_keyword_found,
        COALESCE(CASE WHEN 'memory' = ANY (p_kinds) THEN v_documents END, 0)
            + COALESCE(CASE WHEN 'fact' = ANY (p_kinds) THEN v_fact_documents END, 0),
        v_postings + v_fact_postings, v_reranked, v_common, v_intent
    FROM page AS p
    ORDER BY p.total DESC, p.uncut DESC, p.similarity DESC NULLS LAST, p.at DESC, p.id;
END
$function$;
