-- What was learned that may help with a question, of what a user may read, best first.
--
-- Readable is what accessible_owners() says; ranked as search_shared_items() ranks, by words and by vectors. Of what
-- shares no word with the question the three nearest, as far as they are nearer than three in four unrelated texts are.
--
-- callers: get_context_window(), context_page()
-- locks: none beyond reading
-- volatility: STABLE, it reads tables

CREATE OR REPLACE FUNCTION :"schema".knowledge_candidates(
    p_user_id text,
    p_app_name text,
    p_query text,
    p_global text DEFAULT NULL,
    p_embedding :"vector_schema".vector DEFAULT NULL,
    p_semantic_weight double precision DEFAULT 0.4,
    p_keyword_weight double precision DEFAULT 0.6
)
RETURNS TABLE (rank bigint, id uuid, title text, content text, updated_at timestamptz, score double precision)
LANGUAGE plpgsql
STABLE
ROWS 10
SET jit = off
-- Planned for each call the statement costs more than it takes.
SET plan_cache_mode = force_generic_plan
SET search_path = :"schema", :"vector_schema", pg_catalog, pg_temp
AS $function$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH owners AS MATERIALIZED (
        SELECT array_agg(a.owner_kind ORDER BY a.owner_kind, a.owner) AS kinds,
            array_agg(a.owner ORDER BY a.owner_kind, a.owner) AS names
        FROM accessible_owners(p_user_id, p_app_name, p_global) AS a
        -- An owner without learnings costs nothing.
        WHERE EXISTS (
            SELECT FROM shared_term_stats AS s
            WHERE s.owner_kind = a.owner_kind AND s.owner = a.owner AND s.app_name = p_app_name
                AND s.item_kind = 'learning' AND s.documents > 0)
    ),
    -- Once, whatever the planner makes of the tables that are joined to it.
    found AS MATERIALIZED (
        SELECT m.owner_kind, m.owner, m.id, m.score, m.rank
        FROM (
            SELECT f.*, f.ordinality AS rank, f.bm25 IS NULL AND NOT f.is_named AND f.cosine IS NOT NULL AS is_meant,
                count(*) FILTER (WHERE f.bm25 IS NULL AND NOT f.is_named) OVER (ORDER BY f.ordinality) AS meant
            FROM owners AS o
            CROSS JOIN LATERAL search_shared_items(p_app_name, o.kinds, o.names, 'learning', p_query, p_embedding, 10, 0,
                    p_semantic_weight, p_keyword_weight, p_user_id, p_global)
                WITH ORDINALITY AS f
            WHERE o.kinds IS NOT NULL AND btrim(p_query) <> ''
        ) AS m
        WHERE NOT m.is_meant OR m.meant <= 3 AND m.cosine >= unlike_cosine(p_app_name)
    )
    SELECT f.rank, l.id, l.title, concat_ws(E'\n', l.title || ': ' || l.learning, l.context), l.updated_at, f.score
    FROM found AS f
    JOIN learnings AS l
        ON l.owner_kind = f.owner_kind AND l.owner = f.owner AND l.app_name = p_app_name AND l.id = f.id
    ORDER BY f.rank;
END
$function$;
