-- Takes the last decision about a conflict back: both facts stand as they did before it.
--
-- callers: conflict resolve --undo
-- locks: the user's facts (lock_facts), the conflict, memories of the facts' threads, the row of fact_term_stats
-- volatility: VOLATILE, it writes
-- returns: undone; unknown; nothing, no decision was made; outdated, one of the facts was changed since, or another
--   value stands under its key

CREATE OR REPLACE FUNCTION :"schema".undo_conflict(p_user_id text, p_app_name text, p_id uuid, p_actor text)
RETURNS text
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
DECLARE
    c record;
    v_last jsonb;
    v_ids uuid[];
BEGIN
    PERFORM lock_facts(p_user_id, p_app_name);
    SELECT m.* INTO c
    FROM memory_conflicts AS m
    WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.id = p_id
    FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'unknown';
    END IF;
    v_last := c.metadata -> 'undo' -> -1;
    IF v_last IS NULL THEN
        RETURN 'nothing';
    END IF;
    v_ids := ARRAY(SELECT (x ->> 'id')::uuid FROM jsonb_array_elements(v_last -> 'before') AS x);
    IF fact_states(p_user_id, p_app_name, v_ids) <> v_last -> 'after' OR EXISTS (
        SELECT 1
        FROM facts AS f
        JOIN facts AS mine ON mine.user_id = f.user_id AND mine.app_name = f.app_name
            AND mine.fact_type = f.fact_type AND mine.key = f.key AND mine.id = ANY (v_ids)
        WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.deleted_at IS NULL
            AND f.status = 'active' AND f.valid_until IS NULL AND NOT f.id = ANY (v_ids)
            AND f.id IS DISTINCT FROM (v_last ->> 'merged')::uuid)
    THEN
        RETURN 'outdated';
    END IF;
    IF v_last ->> 'merged' IS NOT NULL THEN
        PERFORM check_may_delete(p_user_id, p_app_name);
    END IF;
    UPDATE facts AS f
    SET deleted_at = now(), deleted_reason = 'the merge was taken back', updated_at = now(), version = f.version + 1
    WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = (v_last ->> 'merged')::uuid;
    -- First out of facts_user_key_unique, both of them, then as they were.
    UPDATE facts AS f
    SET status = 'superseded'
    WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = ANY (v_ids);
    UPDATE facts AS f
    SET status = b.status, valid_until = b.valid_until, superseded_by = b.superseded_by,
        superseded_at = b.superseded_at, expired_at = b.expired_at, updated_at = now(), version = f.version + 1
    FROM jsonb_to_recordset(v_last -> 'before') AS b (id uuid, status text, valid_until timestamptz,
        superseded_by uuid, superseded_at timestamptz, expired_at timestamptz)
    WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = b.id;
    UPDATE memory_conflicts AS m
    SET resolution = v_last ->> 'resolution', status = v_last ->> 'status', resolved_by = p_actor, updated_at = now(),
        metadata = m.metadata || jsonb_build_object(
            'steps', COALESCE(m.metadata -> 'steps', '[]') || jsonb_build_array(jsonb_build_object(
                'resolution', v_last ->> 'resolution', 'status', v_last ->> 'status', 'by', p_actor, 'at', now())),
            'undo', (m.metadata -> 'undo') - -1)
    WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.id = p_id;
    PERFORM settle_resolved(p_user_id, p_app_name, array_remove(v_ids || (v_last ->> 'merged')::uuid, NULL));
    RETURN 'undone';
END
$function$;
