-- What is known of the entities that a question names or is about, of those that a user may read, best first.
--
-- Readable is what accessible_owners() says; found as search_shared_items() finds, by words, by vectors, and a name inside
-- running Chinese too. Of what shares no word with the question the three nearest, as far as they are nearer than three
-- in four unrelated texts are. Of each the ten newest facts in force, the last five events, and ten relations to others.
--
-- callers: get_context_window(), context_page()
-- locks: none beyond reading
-- volatility: STABLE, it reads tables

CREATE OR REPLACE FUNCTION :"schema".entity_candidates(
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
ROWS 5
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
        -- An owner without entities costs nothing.
        WHERE EXISTS (
            SELECT FROM shared_term_stats AS s
            WHERE s.owner_kind = a.owner_kind AND s.owner = a.owner AND s.app_name = p_app_name
                AND s.item_kind = 'entity' AND s.documents > 0)
    ),
    -- Once, whatever the planner makes of the tables that are joined to it.
    found AS MATERIALIZED (
        SELECT m.owner_kind, m.owner, m.id, m.score, m.rank
        FROM (
            SELECT f.*, f.ordinality AS rank, f.bm25 IS NULL AND NOT f.is_named AND f.cosine IS NOT NULL AS is_meant,
                count(*) FILTER (WHERE f.bm25 IS NULL AND NOT f.is_named) OVER (ORDER BY f.ordinality) AS meant
            FROM owners AS o
            CROSS JOIN LATERAL search_shared_items(p_app_name, o.kinds, o.names, 'entity', p_query, p_embedding, 5, 0,
                    p_semantic_weight, p_keyword_weight, p_user_id, p_global)
                WITH ORDINALITY AS f
            WHERE o.kinds IS NOT NULL AND btrim(p_query) <> ''
        ) AS m
        WHERE NOT m.is_meant OR m.meant <= 3 AND m.cosine >= unlike_cosine(p_app_name)
    )
    SELECT f.rank, e.id, e.name, concat_ws(E'\n',
        e.name || ' (' || e.entity_type || ')' || COALESCE(': ' || e.description, ''),
        (SELECT string_agg('fact: ' || t.content, E'\n' ORDER BY t.created_at, t.id)
         FROM (
            SELECT x.content, x.created_at, x.id FROM entity_facts AS x
            WHERE x.owner_kind = e.owner_kind AND x.owner = e.owner AND x.app_name = e.app_name AND x.entity = e.id
                AND x.deleted_at IS NULL AND x.superseded_at IS NULL
            ORDER BY x.created_at DESC, x.id
            LIMIT 10) AS t),
        (SELECT string_agg('event' || COALESCE(' ' || v.date_text, '') || ': ' || v.content, E'\n'
                ORDER BY v.happened_at NULLS FIRST, v.created_at, v.id)
         FROM (
            SELECT x.content, x.date_text, x.happened_at, x.created_at, x.id FROM entity_events AS x
            WHERE x.owner_kind = e.owner_kind AND x.owner = e.owner AND x.app_name = e.app_name AND x.entity = e.id
                AND x.deleted_at IS NULL
            ORDER BY x.happened_at DESC NULLS LAST, x.created_at DESC, x.id
            LIMIT 5) AS v),
        (SELECT string_agg(r.said, E'\n' ORDER BY r.said)
         FROM (
            SELECT 'relation: ' || s.name || ' ' || x.relation || ' ' || t.name AS said
            FROM entity_relations AS x
            JOIN entities AS s
                ON s.owner_kind = x.owner_kind AND s.owner = x.owner AND s.app_name = x.app_name AND s.id = x.source
            JOIN entities AS t
                ON t.owner_kind = x.owner_kind AND t.owner = x.owner AND t.app_name = x.app_name AND t.id = x.target
            WHERE x.owner_kind = e.owner_kind AND x.owner = e.owner AND x.app_name = e.app_name
                AND e.id IN (x.source, x.target) AND x.deleted_at IS NULL AND x.expired_at IS NULL
                AND s.deleted_at IS NULL AND t.deleted_at IS NULL
            ORDER BY x.created_at DESC, x.id
            LIMIT 10) AS r)), e.updated_at, f.score
    FROM found AS f
    JOIN entities AS e
        ON e.owner_kind = f.owner_kind AND e.owner = f.owner AND e.app_name = p_app_name AND e.id = f.id
    ORDER BY f.rank;
END
$function$;
