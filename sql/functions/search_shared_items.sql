-- What of the learnings or entities of some owners answers a question, best first.
--
-- Words and vectors as in ranked_items(): BM25 (k1 1.2, b 0.75) within each owner's statistics over the most that the
-- question's terms could reach there, and the cosine between what unrelated texts give and the same text. An entity
-- whose name or alias stands in the question (a Latin one as a whole word, a Chinese one inside running text) is moved
-- half the way to 1; keyword_part has that. Where neither words nor vectors give anything, items that contain the
-- question. Of the owners asked for only those are searched that accessible_owners() gives p_user_id (NULL: nobody in
-- particular) under p_global.
--
-- callers: entity_candidates(), queries/shared_items.sql
-- locks: none beyond reading
-- volatility: STABLE, it reads tables
-- returns: items, best first; the parts add up to the score; total counts what was found in all pages

CREATE OR REPLACE FUNCTION :"schema".search_shared_items(
    p_app_name text,
    p_owner_kinds text[],
    p_owners text[],
    p_item_kind text,
    p_query text,
    p_embedding :"vector_schema".vector DEFAULT NULL,
    p_limit integer DEFAULT 10,
    p_offset integer DEFAULT 0,
    p_semantic_weight double precision DEFAULT 0.4,
    p_keyword_weight double precision DEFAULT 0.6,
    p_user_id text DEFAULT NULL,
    p_global text DEFAULT NULL
)
RETURNS TABLE (
    owner_kind text,
    owner text,
    id uuid,
    score double precision,
    semantic_part double precision,
    keyword_part double precision,
    semantic double precision,
    keyword double precision,
    cosine double precision,
    bm25 double precision,
    is_named boolean,
    total bigint
)
LANGUAGE sql
STABLE
ROWS 10
SET jit = off
SET search_path = :"schema", :"vector_schema", pg_catalog, pg_temp
AS $function$
    WITH asked AS MATERIALIZED (
        SELECT lower(p_query) AS words, ' ' || regexp_replace(regexp_replace(lower(p_query), '[^\x20-\x7e]+', ' ', 'g'),
            '[\s[:punct:]]+', ' ', 'g') || ' ' AS latin
    ),
    owners AS MATERIALIZED (
        SELECT u.owner_kind, u.owner, s.documents, 0.9 * s.documents / GREATEST(s.total_len, 1) AS len_rate
        FROM unnest(p_owner_kinds, p_owners) AS u (owner_kind, owner)
        JOIN accessible_owners(p_user_id, p_app_name, p_global) AS a
            ON a.owner_kind = u.owner_kind AND a.owner = u.owner
        LEFT JOIN shared_term_stats AS s
            ON s.owner_kind = u.owner_kind AND s.owner = u.owner AND s.app_name = p_app_name
            AND s.item_kind = p_item_kind
    ),
    model AS MATERIALIZED (
        SELECT m.id, COALESCE((m.calibration -> 'unrelated_queries' ->> '25')::float8, 0) AS floor,
            COALESCE((m.calibration ->> 'same_query')::float8, 1) AS same
        FROM embedding_models AS m
        WHERE m.app_name = p_app_name AND m.status = 'active' AND m.dims = vector_dims(p_embedding)
    ),
    near AS (
        SELECT o.owner_kind, o.owner, v.item_id, 1 - (v.embedding <=> p_embedding::halfvec) AS cosine,
            LEAST(1, GREATEST(0, (1 - (v.embedding <=> p_embedding::halfvec) - m.floor)
                / NULLIF(m.same - m.floor, 0))) AS semantic
        FROM model AS m
        CROSS JOIN owners AS o
        JOIN shared_vectors AS v
            ON v.owner_kind = o.owner_kind AND v.owner = o.owner AND v.app_name = p_app_name
            AND v.item_kind = p_item_kind AND v.model_id = m.id AND v.live
        ORDER BY v.embedding <=> p_embedding::halfvec
        LIMIT GREATEST(200, 2 * (p_limit + p_offset))
    ),
    postings AS MATERIALIZED (
        SELECT o.owner_kind, o.owner, t.item_id, q.term, t.tf, t.len, o.len_rate,
            GREATEST(o.documents, count(*) OVER own) AS documents, count(*) OVER own AS df
        FROM owners AS o
        CROSS JOIN (SELECT DISTINCT w.term FROM unnest(text_terms(p_query)) AS w (term)) AS q
        JOIN shared_terms AS t
            ON t.owner_kind = o.owner_kind AND t.owner = o.owner AND t.app_name = p_app_name
            AND t.item_kind = p_item_kind AND t.term = q.term
        WINDOW own AS (PARTITION BY o.owner_kind, o.owner, q.term)
    ),
    weighed AS (
        SELECT p.*, ln(1 + (p.documents - p.df + 0.5) / (p.df + 0.5))
            * CASE WHEN p.term ~ '[-_.:/\\@+#]' THEN 3 ELSE 1 END AS idf
        FROM postings AS p
    ),
    most AS (
        SELECT w.owner_kind, w.owner, 2.2 * sum(w.idf) AS most
        FROM (SELECT DISTINCT i.owner_kind, i.owner, i.term, i.idf FROM weighed AS i) AS w
        GROUP BY w.owner_kind, w.owner
    ),
    worded AS (
        SELECT w.owner_kind, w.owner, w.item_id, sum(w.idf * 2.2 * w.tf / (w.tf + 0.3 + w.len_rate * w.len)) AS bm25
        FROM weighed AS w
        GROUP BY w.owner_kind, w.owner, w.item_id
    ),
    pool AS (
        SELECT COALESCE(n.owner_kind, w.owner_kind) AS owner_kind, COALESCE(n.owner, w.owner) AS owner,
            COALESCE(n.item_id, w.item_id) AS id, n.cosine, n.semantic, w.bm25, w.bm25 / NULLIF(m.most, 0) AS keyword
        FROM near AS n
        FULL JOIN worded AS w
            ON w.owner_kind = n.owner_kind AND w.owner = n.owner AND w.item_id = n.item_id
        LEFT JOIN most AS m ON m.owner_kind = w.owner_kind AND m.owner = w.owner
    ),
    known AS (
        SELECT p.*, COALESCE(l.updated_at, e.updated_at) AS at,
            e.id IS NOT NULL AND EXISTS (
                SELECT 1 FROM unnest(e.name || e.aliases) AS said (name)
                WHERE said.name <> '' AND CASE
                    WHEN said.name ~ '^[\x20-\x7e]+$' THEN
                        position(' ' || btrim(regexp_replace(lower(said.name), '[\s[:punct:]]+', ' ', 'g')) || ' '
                            IN a.latin) > 0
                    ELSE position(lower(said.name) IN a.words) > 0 END) AS is_named
        FROM pool AS p
        CROSS JOIN asked AS a
        LEFT JOIN learnings AS l
            ON p_item_kind = 'learning' AND l.owner_kind = p.owner_kind AND l.owner = p.owner
            AND l.app_name = p_app_name AND l.id = p.id AND l.deleted_at IS NULL
        LEFT JOIN entities AS e
            ON p_item_kind = 'entity' AND e.owner_kind = p.owner_kind AND e.owner = p.owner
            AND e.app_name = p_app_name AND e.id = p.id AND e.deleted_at IS NULL AND e.archived_at IS NULL
        WHERE l.id IS NOT NULL OR e.id IS NOT NULL
    ),
    weights AS (
        SELECT w.semantic / (w.semantic + w.keyword) AS semantic, w.keyword / (w.semantic + w.keyword) AS keyword
        FROM (
            SELECT CASE WHEN EXISTS (SELECT 1 FROM near) THEN p_semantic_weight ELSE 0 END AS semantic,
                CASE WHEN p_keyword_weight = 0 AND NOT EXISTS (SELECT 1 FROM near) THEN 1 ELSE p_keyword_weight END
                    AS keyword
        ) AS w
        WHERE w.semantic + w.keyword > 0
    ),
    based AS (
        SELECT k.*, round(1e6 * w.semantic * COALESCE(k.semantic, 0))::bigint AS semantic_part,
            round(1e6 * w.keyword * COALESCE(k.keyword, 0))::bigint AS words_part
        FROM known AS k CROSS JOIN weights AS w
    ),
    scored AS (
        SELECT b.*, LEAST(1000000, CASE WHEN b.is_named
            THEN 500000 + (b.semantic_part + b.words_part) / 2 ELSE b.semantic_part + b.words_part END) AS score
        FROM based AS b
        WHERE b.is_named OR b.semantic_part + b.words_part > 0
    ),
    contained AS (
        SELECT l.owner_kind::text, l.owner::text, l.id, l.updated_at AS at
        FROM owners AS o
        JOIN learnings AS l ON l.owner_kind = o.owner_kind AND l.owner = o.owner AND l.app_name = p_app_name
        WHERE p_item_kind = 'learning' AND l.deleted_at IS NULL
            AND position(lower(btrim(p_query)) IN lower(concat_ws(E'\n', l.title, l.learning, l.context))) > 0
        UNION ALL
        SELECT e.owner_kind::text, e.owner::text, e.id, e.updated_at
        FROM owners AS o
        JOIN entities AS e ON e.owner_kind = o.owner_kind AND e.owner = o.owner AND e.app_name = p_app_name
        WHERE p_item_kind = 'entity' AND e.deleted_at IS NULL AND e.archived_at IS NULL
            AND position(lower(btrim(p_query)) IN lower(concat_ws(E'\n', e.name, array_to_string(e.aliases, ' '),
                e.description))) > 0
    ),
    found AS (
        SELECT s.owner_kind, s.owner, s.id, s.score, LEAST(s.semantic_part, s.score) AS semantic_part, s.semantic,
            s.keyword, s.cosine, s.bm25, s.is_named, s.at
        FROM scored AS s
        UNION ALL
        SELECT c.owner_kind, c.owner, c.id, 1, 0, NULL, NULL, NULL, NULL, false, c.at
        FROM contained AS c
        WHERE NOT EXISTS (SELECT 1 FROM scored)
    )
    SELECT f.owner_kind, f.owner, f.id, f.score / 1e6::float8, f.semantic_part / 1e6::float8,
        (f.score - f.semantic_part) / 1e6::float8, f.semantic::float8, f.keyword::float8, f.cosine::float8,
        f.bm25::float8, f.is_named, count(*) OVER ()
    FROM found AS f
    ORDER BY f.score DESC, f.at DESC, f.id
    LIMIT p_limit OFFSET p_offset
$function$;
