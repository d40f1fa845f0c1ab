-- Undoes what a merge noted about memories that come back: the survivors give up their sources, and both are kept
-- apart from now on, or the next run would merge them again.
--
-- callers: restore_memories()
-- locks: the rows of the survivors in order of id
-- volatility: VOLATILE, it writes

CREATE OR REPLACE FUNCTION :"schema".release_merged(p_user_id text, p_app_name text, p_ids uuid[])
RETURNS void
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
BEGIN
    PERFORM 1
    FROM memories AS m
    WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.id IN (
        SELECT (l.metadata ->> 'merged_into')::uuid
        FROM memories AS l
        WHERE l.user_id = p_user_id AND l.app_name = p_app_name AND l.id = ANY (p_ids) AND l.metadata ? 'merged_into')
    ORDER BY m.id
    FOR UPDATE;
    DELETE FROM item_sources AS s
    USING memories AS l, memories AS m, jsonb_array_elements(m.metadata -> 'merged_from') AS taken
    WHERE l.user_id = p_user_id AND l.app_name = p_app_name AND l.id = ANY (p_ids) AND l.metadata ? 'merged_into'
        AND m.user_id = p_user_id AND m.app_name = p_app_name AND m.id = (l.metadata ->> 'merged_into')::uuid
        AND taken ->> 'id' = l.id::text
        AND s.user_id = p_user_id AND s.app_name = p_app_name AND s.item_id = m.id
        AND taken -> 'sources' ? s.event_id::text;
    UPDATE memories AS m
    SET metadata = m.metadata || jsonb_build_object('merged_from', COALESCE((
            SELECT jsonb_agg(taken)
            FROM jsonb_array_elements(m.metadata -> 'merged_from') AS taken
            WHERE NOT (taken ->> 'id')::uuid = ANY (p_ids)), '[]')),
        updated_at = now(), version = m.version + 1
    WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.metadata ? 'merged_from' AND m.id IN (
        SELECT (l.metadata ->> 'merged_into')::uuid
        FROM memories AS l
        WHERE l.user_id = p_user_id AND l.app_name = p_app_name AND l.id = ANY (p_ids) AND l.metadata ? 'merged_into');
    UPDATE memories AS l
    SET metadata = (l.metadata - 'merged_into' - 'merge_run') || jsonb_build_object('kept_apart',
        COALESCE(l.metadata -> 'kept_apart', '[]') || jsonb_build_array(l.metadata ->> 'merged_into'))
    WHERE l.user_id = p_user_id AND l.app_name = p_app_name AND l.id = ANY (p_ids) AND l.metadata ? 'merged_into';
END
$function$;
