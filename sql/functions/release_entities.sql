-- Brings back entities, facts and events that a run of deduplication or pruning removed, each with what it had.
--
-- What was merged is kept apart from its survivor from now on. An entity whose id was given to another one meanwhile
-- keeps the longer id under which it lay.
--
-- callers: queries/curator_shared.sql, under lock_store and between unindex and index of the entities
-- locks: the rows that it changes
-- volatility: VOLATILE, it writes
-- returns: the items that came back, and the entities whose text changed by that

CREATE OR REPLACE FUNCTION :"schema".release_entities(
    p_owner_kind text,
    p_owner text,
    p_app_name text,
    p_run_id uuid
)
RETURNS TABLE (id uuid, entity uuid)
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
#variable_conflict use_column
DECLARE
    gone record;
    note jsonb;
    apart jsonb;
BEGIN
    FOR gone IN
        SELECT e.id, e.entity_type, e.metadata ->> 'entity_id' AS entity_id, (e.metadata ->> 'merged_into')::uuid AS survivor
        FROM entities AS e
        WHERE e.owner_kind = p_owner_kind AND e.owner = p_owner AND e.app_name = p_app_name
            AND e.deleted_at IS NOT NULL AND e.metadata ->> 'merge_run' = p_run_id::text
        ORDER BY e.id
        FOR UPDATE
    LOOP
        SELECT taken INTO note
        FROM entities AS s, jsonb_array_elements(s.metadata -> 'merged_from') AS taken
        WHERE s.owner_kind = p_owner_kind AND s.owner = p_owner AND s.app_name = p_app_name AND s.id = gone.survivor
            AND taken ->> 'id' = gone.id::text;
        UPDATE entity_facts AS f SET entity = gone.id
        WHERE f.owner_kind = p_owner_kind AND f.owner = p_owner AND f.app_name = p_app_name AND f.entity = gone.survivor
            AND note -> 'facts' ? f.id::text;
        UPDATE entity_events AS v SET entity = gone.id
        WHERE v.owner_kind = p_owner_kind AND v.owner = p_owner AND v.app_name = p_app_name AND v.entity = gone.survivor
            AND note -> 'events' ? v.id::text;
        UPDATE entity_relations AS r
        SET source = CASE WHEN note -> 'sources' ? r.id::text THEN gone.id ELSE r.source END,
            target = CASE WHEN note -> 'targets' ? r.id::text THEN gone.id ELSE r.target END,
            deleted_at = CASE WHEN note -> 'dropped' ? r.id::text THEN NULL ELSE r.deleted_at END,
            deleted_reason = CASE WHEN note -> 'dropped' ? r.id::text THEN NULL ELSE r.deleted_reason END
        WHERE r.owner_kind = p_owner_kind AND r.owner = p_owner AND r.app_name = p_app_name
            AND (note -> 'sources' ? r.id::text OR note -> 'targets' ? r.id::text OR note -> 'dropped' ? r.id::text);
        UPDATE entities AS s
        SET aliases = ARRAY(SELECT a FROM unnest(s.aliases) WITH ORDINALITY AS u (a, place)
                            WHERE NOT COALESCE(note -> 'aliases' ? a, false) ORDER BY place),
            updated_at = now(), version = s.version + 1, metadata = s.metadata || jsonb_build_object(
                'merged_from', COALESCE((
                    SELECT jsonb_agg(taken) FROM jsonb_array_elements(s.metadata -> 'merged_from') AS taken
                    WHERE taken ->> 'id' <> gone.id::text), '[]'))
        WHERE s.owner_kind = p_owner_kind AND s.owner = p_owner AND s.app_name = p_app_name AND s.id = gone.survivor;
        UPDATE entities AS e
        SET deleted_at = NULL, deleted_reason = NULL, updated_at = now(), version = e.version + 1,
            entity_id = CASE WHEN EXISTS (
                    SELECT 1 FROM entities AS now_there
                    WHERE now_there.owner_kind = p_owner_kind AND now_there.owner = p_owner
                        AND now_there.app_name = p_app_name AND now_there.entity_type = gone.entity_type
                        AND now_there.entity_id = gone.entity_id)
                THEN e.entity_id ELSE gone.entity_id END,
            metadata = (e.metadata - 'merged_into' - 'merge_run' - 'entity_id') || jsonb_build_object('kept_apart',
                COALESCE(e.metadata -> 'kept_apart', '[]') || to_jsonb(gone.survivor))
        WHERE e.owner_kind = p_owner_kind AND e.owner = p_owner AND e.app_name = p_app_name AND e.id = gone.id;
        RETURN QUERY VALUES (gone.id, gone.id), (NULL::uuid, gone.survivor);
    END LOOP;
    FOR gone IN
        WITH back AS (
            SELECT f.id, f.entity, f.deleted_reason AS reason FROM entity_facts AS f
            WHERE f.owner_kind = p_owner_kind AND f.owner = p_owner AND f.app_name = p_app_name
                AND f.deleted_at IS NOT NULL AND f.deleted_reason LIKE '%(run ' || p_run_id || ')'
            UNION ALL
            SELECT v.id, v.entity, v.deleted_reason FROM entity_events AS v
            WHERE v.owner_kind = p_owner_kind AND v.owner = p_owner AND v.app_name = p_app_name
                AND v.deleted_at IS NOT NULL AND v.deleted_reason LIKE '%(run ' || p_run_id || ')'
        ),
        facts AS (
            UPDATE entity_facts AS f
            SET deleted_at = NULL, deleted_reason = NULL, updated_at = now(), version = f.version + 1
            FROM back AS b
            WHERE f.owner_kind = p_owner_kind AND f.owner = p_owner AND f.app_name = p_app_name AND f.id = b.id
        ),
        events AS (
            UPDATE entity_events AS v
            SET deleted_at = NULL, deleted_reason = NULL, updated_at = now(), version = v.version + 1
            FROM back AS b
            WHERE v.owner_kind = p_owner_kind AND v.owner = p_owner AND v.app_name = p_app_name AND v.id = b.id
        )
        SELECT b.id, b.entity, substring(b.reason FROM '^merged into (\S+) ') AS survivor FROM back AS b ORDER BY b.id
    LOOP
        IF gone.survivor IS NOT NULL THEN
            apart := jsonb_build_array(jsonb_build_array(gone.id, gone.survivor));
            UPDATE entities AS e
            SET metadata = e.metadata
                || jsonb_build_object('parts_apart', COALESCE(e.metadata -> 'parts_apart', '[]') || apart)
            WHERE e.owner_kind = p_owner_kind AND e.owner = p_owner AND e.app_name = p_app_name AND e.id = gone.entity;
        END IF;
        RETURN QUERY VALUES (gone.id, gone.entity);
    END LOOP;
END
$function$;
