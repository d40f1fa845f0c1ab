-- What was learned that may help with a question: the learnings a user may read that share words with it, best first.
--
-- Readable is what accessible_owners() says. Ranked by BM25 (k1 1.2, b 0.75) within each owner's statistics.
--
-- callers: get_context_window(), queries/context.sql
-- locks: none beyond reading
-- volatility: STABLE, it reads tables

CREATE OR REPLACE FUNCTION :"schema".knowledge_candidates(
    p_user_id text,
    p_app_name text,
    p_query text,
    p_global text DEFAULT NULL
)
RETURNS TABLE (rank bigint, id uuid, title text, content text, updated_at timestamptz, score double precision)
LANGUAGE sql
STABLE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
    WITH owners AS (
        SELECT a.owner_kind, a.owner FROM accessible_owners(p_user_id, p_app_name, p_global) AS a
    ),
    asked AS MATERIALIZED (
        SELECT DISTINCT t.term FROM unnest(text_terms(p_query)) AS t (term)
    ),
    postings AS (
        SELECT o.owner_kind, o.owner, s.item_id, s.tf, s.len, st.documents,
            st.total_len::float8 / NULLIF(st.documents, 0) AS mean_len,
            count(*) OVER (PARTITION BY o.owner_kind, o.owner, s.term) AS df
        FROM owners AS o
        JOIN shared_term_stats AS st
            ON st.owner_kind = o.owner_kind AND st.owner = o.owner AND st.app_name = p_app_name
            AND st.item_kind = 'learning'
        CROSS JOIN asked AS a
        JOIN shared_terms AS s
            ON s.owner_kind = o.owner_kind AND s.owner = o.owner AND s.app_name = p_app_name
            AND s.item_kind = 'learning' AND s.term = a.term
    ),
    scored AS (
        SELECT p.owner_kind, p.owner, p.item_id, sum(
            ln(1 + (GREATEST(p.documents, p.df) - p.df + 0.5) / (p.df + 0.5))
            * p.tf * 2.2 / (p.tf + 1.2 * (0.25 + 0.75 * p.len / COALESCE(NULLIF(p.mean_len, 0), p.len)))) AS score
        FROM postings AS p
        GROUP BY p.owner_kind, p.owner, p.item_id
    )
    SELECT row_number() OVER (ORDER BY s.score DESC, l.id), l.id, l.title,
        concat_ws(E'\n', l.title || ': ' || l.learning, l.context), l.updated_at, s.score
    FROM scored AS s
    JOIN learnings AS l
        ON l.owner_kind = s.owner_kind AND l.owner = s.owner AND l.app_name = p_app_name AND l.id = s.item_id
    WHERE l.deleted_at IS NULL
    ORDER BY 1
    LIMIT 10
$function$;
