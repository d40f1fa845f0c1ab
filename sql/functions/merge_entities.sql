-- Merges entities, or facts and events of one entity, that say the same; release_entities() takes a run back.
--
-- A pair is left out unless both are live with the text that was compared, and what goes has taken in none. A fact or
-- an event is removed and names its survivor. Of an entity the facts, events and relations go over to the survivor,
-- its id and names become aliases there, and its id is free again; a relation that the survivor has already, or that
-- would lead to itself, is removed. The survivor notes what it took over.
--
-- callers: queries/curator_shared.sql, under lock_store and between unindex and index of the entities
-- locks: the rows that it changes
-- volatility: VOLATILE, it writes
-- returns: the pairs that were merged

CREATE OR REPLACE FUNCTION :"schema".merge_entities(
    p_owner_kind text,
    p_owner text,
    p_app_name text,
    p_pairs jsonb,
    p_run_id uuid
)
RETURNS TABLE (survivor uuid, loser uuid)
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
#variable_conflict use_column
DECLARE
    p record;
    gone entities;
    v_facts uuid[];
    v_events uuid[];
    v_dropped uuid[];
    v_sources uuid[];
    v_targets uuid[];
    v_aliases text[];
    v_reason text;
BEGIN
    FOR p IN
        SELECT DISTINCT ON (x.loser) x.survivor, x.loser, s.part, s.entity
        FROM jsonb_to_recordset(p_pairs) AS x (survivor uuid, loser uuid, survivor_hash text, loser_hash text)
        JOIN curated_entities(p_owner_kind, p_owner, p_app_name, (
            SELECT array_agg((pair ->> side)::uuid)
            FROM jsonb_array_elements(p_pairs) AS pair, unnest(ARRAY['survivor', 'loser']) AS side)) AS s
            ON s.id = x.survivor
        JOIN curated_entities(p_owner_kind, p_owner, p_app_name, (
            SELECT array_agg((pair ->> 'loser')::uuid) FROM jsonb_array_elements(p_pairs) AS pair)) AS l
            ON l.id = x.loser
        WHERE x.survivor <> x.loser AND s.group_key = l.group_key AND NOT l.took_in
            AND md5(s.content) = x.survivor_hash AND md5(l.content) = x.loser_hash
            AND NOT EXISTS (
                SELECT 1 FROM jsonb_array_elements(p_pairs) AS other WHERE (other ->> 'loser')::uuid = x.survivor)
        ORDER BY x.loser, x.survivor
    LOOP
        survivor := p.survivor;
        loser := p.loser;
        v_reason := format('merged into %s (run %s)', p.survivor, p_run_id);
        IF p.part = 'fact' THEN
            UPDATE entity_facts AS f
            SET deleted_at = now(), deleted_reason = v_reason, updated_at = now(), version = f.version + 1
            WHERE f.owner_kind = p_owner_kind AND f.owner = p_owner AND f.app_name = p_app_name AND f.id = p.loser;
            RETURN NEXT;
            CONTINUE;
        ELSIF p.part = 'event' THEN
            UPDATE entity_events AS v
            SET deleted_at = now(), deleted_reason = v_reason, updated_at = now(), version = v.version + 1
            WHERE v.owner_kind = p_owner_kind AND v.owner = p_owner AND v.app_name = p_app_name AND v.id = p.loser;
            RETURN NEXT;
            CONTINUE;
        END IF;
        SELECT e.* INTO STRICT gone FROM entities AS e
        WHERE e.owner_kind = p_owner_kind AND e.owner = p_owner AND e.app_name = p_app_name AND e.id = p.loser
        FOR UPDATE;
        WITH moved AS (
            UPDATE entity_facts AS f SET entity = p.survivor
            WHERE f.owner_kind = p_owner_kind AND f.owner = p_owner AND f.app_name = p_app_name AND f.entity = p.loser
                AND f.deleted_at IS NULL
            RETURNING f.id
        )
        SELECT array_agg(m.id) INTO v_facts FROM moved AS m;
        WITH moved AS (
            UPDATE entity_events AS v SET entity = p.survivor
            WHERE v.owner_kind = p_owner_kind AND v.owner = p_owner AND v.app_name = p_app_name AND v.entity = p.loser
                AND v.deleted_at IS NULL
            RETURNING v.id
        )
        SELECT array_agg(m.id) INTO v_events FROM moved AS m;
        WITH dropped AS (
            UPDATE entity_relations AS r
            SET deleted_at = now(), deleted_reason = v_reason, updated_at = now(), version = r.version + 1
            WHERE r.owner_kind = p_owner_kind AND r.owner = p_owner AND r.app_name = p_app_name
                AND (r.source = p.loser OR r.target = p.loser) AND r.deleted_at IS NULL
                AND (r.source = p.survivor OR r.target = p.survivor OR EXISTS (
                    SELECT 1 FROM entity_relations AS has
                    WHERE has.owner_kind = p_owner_kind AND has.owner = p_owner AND has.app_name = p_app_name
                        AND has.relation = r.relation
                        AND has.source = CASE WHEN r.source = p.loser THEN p.survivor ELSE r.source END
                        AND has.target = CASE WHEN r.target = p.loser THEN p.survivor ELSE r.target END))
            RETURNING r.id
        )
        SELECT array_agg(d.id) INTO v_dropped FROM dropped AS d;
        WITH moved AS (
            UPDATE entity_relations AS r SET source = p.survivor
            WHERE r.owner_kind = p_owner_kind AND r.owner = p_owner AND r.app_name = p_app_name AND r.source = p.loser
                AND r.deleted_at IS NULL
            RETURNING r.id
        )
        SELECT array_agg(m.id) INTO v_sources FROM moved AS m;
        WITH moved AS (
            UPDATE entity_relations AS r SET target = p.survivor
            WHERE r.owner_kind = p_owner_kind AND r.owner = p_owner AND r.app_name = p_app_name AND r.target = p.loser
                AND r.deleted_at IS NULL
            RETURNING r.id
        )
        SELECT array_agg(m.id) INTO v_targets FROM moved AS m;
        SELECT COALESCE(array_agg(DISTINCT a.name), '{}') INTO v_aliases
        FROM entities AS e
        CROSS JOIN unnest(gone.aliases || gone.name || gone.entity_id::text) AS a (name)
        WHERE e.owner_kind = p_owner_kind AND e.owner = p_owner AND e.app_name = p_app_name AND e.id = p.survivor
            AND a.name <> ALL (e.aliases || e.name || e.entity_id::text);
        UPDATE entities AS e
        SET aliases = e.aliases || v_aliases, updated_at = now(), version = e.version + 1,
            metadata = e.metadata || jsonb_build_object('merged_from', COALESCE(e.metadata -> 'merged_from', '[]')
                || jsonb_build_object('id', p.loser, 'run', p_run_id, 'aliases', v_aliases,
                    'facts', COALESCE(v_facts, '{}'), 'events', COALESCE(v_events, '{}'),
                    'dropped', COALESCE(v_dropped, '{}'), 'sources', COALESCE(v_sources, '{}'),
                    'targets', COALESCE(v_targets, '{}')))
        WHERE e.owner_kind = p_owner_kind AND e.owner = p_owner AND e.app_name = p_app_name AND e.id = p.survivor;
        UPDATE entities AS e
        SET entity_id = left(e.entity_id, 200) || '~' || e.id, deleted_at = now(), deleted_reason = v_reason,
            updated_at = now(), version = e.version + 1, metadata = e.metadata
                || jsonb_build_object('merged_into', p.survivor, 'merge_run', p_run_id, 'entity_id', e.entity_id)
        WHERE e.owner_kind = p_owner_kind AND e.owner = p_owner AND e.app_name = p_app_name AND e.id = p.loser;
        RETURN NEXT;
    END LOOP;
END
$function$;
