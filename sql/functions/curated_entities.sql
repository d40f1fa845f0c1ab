-- What deduplication and pruning see of an owner's entities: the entities, and the live facts and events of each.
--
-- Only items of one group are compared: entities of one type, facts of one entity, events of one entity and date. An
-- entity of which nothing but a name is known is alone in its group: two of one name stay two.
--
-- callers: merge_entities(), queries/curator_shared.sql
-- locks: none beyond reading
-- volatility: STABLE, it reads tables
-- returns: at most p_limit items in order of id, from after p_after on, or those of p_ids

CREATE OR REPLACE FUNCTION :"schema".curated_entities(
    p_owner_kind text,
    p_owner text,
    p_app_name text,
    p_ids uuid[] DEFAULT NULL,
    p_after uuid DEFAULT NULL,
    p_limit integer DEFAULT NULL
)
RETURNS TABLE (
    id uuid,
    part text,
    entity uuid,
    group_key text,
    content text,
    occurred_at timestamptz,
    created_at timestamptz,
    updated_at timestamptz,
    version integer,
    weight integer,
    took_in boolean,
    kept_apart text[]
)
LANGUAGE sql
STABLE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
    SELECT i.id, i.part, i.entity, i.group_key, i.content, i.occurred_at, i.created_at, i.updated_at, i.version,
        i.weight, i.took_in, i.kept_apart
    FROM (
        (SELECT e.id, 'entity' AS part, e.id AS entity,
            jsonb_build_array('entity', e.entity_type,
                CASE WHEN e.description IS NULL AND e.properties = '{}' THEN e.id END)::text AS group_key,
            concat_ws(E'\n', e.name || CASE WHEN e.description IS NULL THEN '' ELSE ': ' || e.description END,
                (SELECT string_agg(p.key || ': ' || p.value, E'\n' ORDER BY p.key)
                 FROM jsonb_each_text(e.properties) AS p)) AS content,
            NULL::timestamptz AS occurred_at, e.created_at, e.updated_at, e.version,
            (SELECT count(*) FROM entity_facts AS f
             WHERE f.owner_kind = e.owner_kind AND f.owner = e.owner AND f.app_name = e.app_name AND f.entity = e.id
                AND f.deleted_at IS NULL AND f.superseded_at IS NULL)::integer AS weight,
            COALESCE(jsonb_array_length(e.metadata -> 'merged_from'), 0) > 0 AS took_in,
            ARRAY(SELECT jsonb_array_elements_text(COALESCE(e.metadata -> 'kept_apart', '[]'))
            UNION ALL SELECT taken ->> 'id' FROM jsonb_array_elements(COALESCE(e.metadata -> 'merged_from', '[]')) AS taken
            UNION ALL SELECT jsonb_array_elements_text(gone.metadata -> 'kept_apart')
            FROM jsonb_array_elements(e.metadata -> 'merged_from') AS taken
            CROSS JOIN LATERAL (
                SELECT g.metadata FROM entities AS g
                WHERE g.owner_kind = e.owner_kind AND g.owner = e.owner AND g.app_name = e.app_name
                    AND g.id = (taken ->> 'id')::uuid
                OFFSET 0  -- one by one, by the key, whatever the statistics say
            ) AS gone) AS kept_apart
        FROM entities AS e
        WHERE e.owner_kind = p_owner_kind AND e.owner = p_owner AND e.app_name = p_app_name
            AND e.deleted_at IS NULL AND e.archived_at IS NULL
            AND (p_ids IS NULL OR e.id = ANY (p_ids)) AND (p_after IS NULL OR e.id > p_after)
        ORDER BY e.id
        LIMIT p_limit)
        UNION ALL
        (SELECT f.id, 'fact', f.entity, jsonb_build_array('fact', f.entity)::text, f.content, NULL, f.created_at,
            f.updated_at, f.version, 0, EXISTS (
                SELECT 1 FROM entity_facts AS gone
                WHERE gone.owner_kind = f.owner_kind AND gone.owner = f.owner AND gone.app_name = f.app_name
                    AND gone.entity = f.entity AND gone.deleted_reason LIKE 'merged into ' || f.id || ' %'),
            ARRAY(
                WITH own AS (
                    SELECT f.id::text AS id
                    UNION ALL
                    SELECT gone.id::text FROM entity_facts AS gone
                    WHERE gone.owner_kind = f.owner_kind AND gone.owner = f.owner AND gone.app_name = f.app_name
                        AND gone.entity = f.entity AND gone.deleted_reason LIKE 'merged into ' || f.id || ' %'
                )
                SELECT o.id FROM own AS o WHERE o.id <> f.id::text
                UNION ALL
                SELECT pair ->> CASE WHEN pair ->> 0 = o.id THEN 1 ELSE 0 END
                FROM jsonb_array_elements(COALESCE(e.metadata -> 'parts_apart', '[]')) AS pair
                JOIN own AS o ON pair ? o.id)
        FROM entity_facts AS f
        JOIN entities AS e ON e.owner_kind = f.owner_kind AND e.owner = f.owner AND e.app_name = f.app_name
            AND e.id = f.entity AND e.deleted_at IS NULL AND e.archived_at IS NULL
        WHERE f.owner_kind = p_owner_kind AND f.owner = p_owner AND f.app_name = p_app_name
            AND f.deleted_at IS NULL AND f.superseded_at IS NULL
            AND (p_ids IS NULL OR f.id = ANY (p_ids)) AND (p_after IS NULL OR f.id > p_after)
        ORDER BY f.id
        LIMIT p_limit)
        UNION ALL
        (SELECT v.id, 'event', v.entity, jsonb_build_array('event', v.entity, v.date_text)::text, v.content,
            v.happened_at, v.created_at, v.updated_at, v.version, 0, EXISTS (
                SELECT 1 FROM entity_events AS gone
                WHERE gone.owner_kind = v.owner_kind AND gone.owner = v.owner AND gone.app_name = v.app_name
                    AND gone.entity = v.entity AND gone.deleted_reason LIKE 'merged into ' || v.id || ' %'),
            ARRAY(
                WITH own AS (
                    SELECT v.id::text AS id
                    UNION ALL
                    SELECT gone.id::text FROM entity_events AS gone
                    WHERE gone.owner_kind = v.owner_kind AND gone.owner = v.owner AND gone.app_name = v.app_name
                        AND gone.entity = v.entity AND gone.deleted_reason LIKE 'merged into ' || v.id || ' %'
                )
                SELECT o.id FROM own AS o WHERE o.id <> v.id::text
                UNION ALL
                SELECT pair ->> CASE WHEN pair ->> 0 = o.id THEN 1 ELSE 0 END
                FROM jsonb_array_elements(COALESCE(e.metadata -> 'parts_apart', '[]')) AS pair
                JOIN own AS o ON pair ? o.id)
        FROM entity_events AS v
        JOIN entities AS e ON e.owner_kind = v.owner_kind AND e.owner = v.owner AND e.app_name = v.app_name
            AND e.id = v.entity AND e.deleted_at IS NULL AND e.archived_at IS NULL
        WHERE v.owner_kind = p_owner_kind AND v.owner = p_owner AND v.app_name = p_app_name AND v.deleted_at IS NULL
            AND (p_ids IS NULL OR v.id = ANY (p_ids)) AND (p_after IS NULL OR v.id > p_after)
        ORDER BY v.id
        LIMIT p_limit)
    ) AS i
    ORDER BY i.id
    LIMIT p_limit
$function$;
