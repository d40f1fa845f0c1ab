-- What is indexed and embedded of a learning or an entity: its names first, then what is known of it.
--
-- Of an entity: name, aliases, id, description, properties, then live facts and events, oldest first, and the names of
-- its relations. The name of what a relation points to is not among them: renaming that would change this text.
--
-- callers: index_shared_items(), unindex_shared_items(), search_shared_items(), queries/learning.sql,
--   queries/entities.sql
-- locks: none beyond reading
-- volatility: STABLE, it reads tables
-- returns: a text; NULL where there is no such item, whether removed or not does not matter

CREATE OR REPLACE FUNCTION :"schema".shared_item_text(
    p_owner_kind text,
    p_owner text,
    p_app_name text,
    p_item_kind text,
    p_id uuid
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
    SELECT concat_ws(E'\n', l.title || ': ' || l.learning, l.context, NULLIF(array_to_string(l.tags, ' '), ''))
    FROM learnings AS l
    WHERE p_item_kind = 'learning' AND l.owner_kind = p_owner_kind AND l.owner = p_owner AND l.app_name = p_app_name
        AND l.id = p_id
    UNION ALL
    SELECT concat_ws(E'\n',
        e.name || CASE WHEN e.description IS NULL THEN '' ELSE ': ' || e.description END,
        NULLIF(array_to_string(e.aliases, ' '), ''), e.entity_id,
        (SELECT string_agg(p.key || ': ' || p.value, E'\n' ORDER BY p.key) FROM jsonb_each_text(e.properties) AS p),
        (SELECT string_agg(f.content, E'\n' ORDER BY f.created_at, f.id) FROM entity_facts AS f
         WHERE f.owner_kind = p_owner_kind AND f.owner = p_owner AND f.app_name = p_app_name AND f.entity = p_id
            AND f.deleted_at IS NULL AND f.superseded_at IS NULL),
        (SELECT string_agg(v.content, E'\n' ORDER BY v.happened_at NULLS FIRST, v.id) FROM entity_events AS v
         WHERE v.owner_kind = p_owner_kind AND v.owner = p_owner AND v.app_name = p_app_name AND v.entity = p_id
            AND v.deleted_at IS NULL),
        (SELECT string_agg(DISTINCT r.relation::text, ' ') FROM entity_relations AS r
         WHERE r.owner_kind = p_owner_kind AND r.owner = p_owner AND r.app_name = p_app_name AND r.source = p_id
            AND r.deleted_at IS NULL AND r.expired_at IS NULL))
    FROM entities AS e
    WHERE p_item_kind = 'entity' AND e.owner_kind = p_owner_kind AND e.owner = p_owner AND e.app_name = p_app_name
        AND e.id = p_id
$function$;
