-- Decides a conflict between two facts: keep_new (or supersede), keep_old, keep_both or merge.
--
-- The state of both before is kept in the conflict, so that undo_conflict() can bring it back. A merge makes a third
-- fact with p_value, which both are superseded by.
--
-- callers: conflict resolve
-- locks: the user's facts (lock_facts), the conflict, memories of the facts' threads, the row of fact_term_stats
-- volatility: VOLATILE, it writes
-- returns: resolved; unknown; incomplete, a side was erased or removed; outdated, another value stands under the key

CREATE OR REPLACE FUNCTION :"schema".resolve_conflict(
    p_user_id text,
    p_app_name text,
    p_id uuid,
    p_resolution text,
    p_actor text,
    p_value jsonb DEFAULT NULL,
    p_model_id smallint DEFAULT NULL,
    p_embedding :"vector_schema".vector DEFAULT NULL
)
RETURNS text
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", :"vector_schema", pg_catalog, pg_temp
AS $function$
DECLARE
    c record;
    winner record;
    loser record;
    v_before jsonb;
    v_merged uuid;
    v_is_same_key boolean;
    v_starts timestamptz;
BEGIN
    PERFORM lock_facts(p_user_id, p_app_name);
    SELECT m.* INTO c
    FROM memory_conflicts AS m
    WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.id = p_id
    FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'unknown';
    END IF;
    SELECT f.* INTO winner
    FROM facts AS f
    WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.deleted_at IS NULL
        AND f.id = CASE WHEN p_resolution IN ('keep_old', 'keep_both', 'merge') THEN c.old_fact_id ELSE c.new_fact_id END;
    SELECT f.* INTO loser
    FROM facts AS f
    WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.deleted_at IS NULL
        AND f.id = CASE WHEN p_resolution IN ('keep_old', 'keep_both', 'merge') THEN c.new_fact_id ELSE c.old_fact_id END;
    IF winner.id IS NULL OR loser.id IS NULL THEN
        RETURN 'incomplete';
    END IF;
    v_is_same_key := (winner.fact_type, winner.key) = (loser.fact_type, loser.key);
    PERFORM 1
    FROM facts AS f
    WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.deleted_at IS NULL
        AND f.status = 'active' AND f.valid_until IS NULL AND f.id NOT IN (winner.id, loser.id)
        AND (f.fact_type, f.key) IN ((winner.fact_type, winner.key), (loser.fact_type, loser.key));
    IF FOUND THEN
        RETURN 'outdated';
    END IF;
    v_before := fact_states(p_user_id, p_app_name, ARRAY[winner.id, loser.id]);

    IF p_resolution = 'merge' THEN
        v_merged := gen_random_uuid();
        v_starts := GREATEST(winner.valid_from, loser.valid_from);
        PERFORM end_fact(p_user_id, p_app_name, winner.id, NULL, v_starts);
        PERFORM end_fact(p_user_id, p_app_name, loser.id, NULL, v_starts);
        INSERT INTO facts (user_id, app_name, id, thread_id, fact_type, key, value, confidence, importance_score,
            origin, valid_from)
        VALUES (p_user_id, p_app_name, v_merged, winner.thread_id, winner.fact_type, winner.key, p_value,
            GREATEST(winner.confidence, loser.confidence), GREATEST(winner.importance_score, loser.importance_score),
            'manual', v_starts);
        UPDATE facts AS f
        SET superseded_by = v_merged
        WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.id IN (winner.id, loser.id);
        INSERT INTO item_sources (user_id, app_name, item_kind, item_id, event_id, run_id, extractor, model)
        SELECT DISTINCT ON (s.event_id) s.user_id, s.app_name, s.item_kind, v_merged, s.event_id, s.run_id, s.extractor, s.model
        FROM item_sources AS s
        WHERE s.user_id = p_user_id AND s.app_name = p_app_name AND s.item_id IN (winner.id, loser.id)
        ORDER BY s.event_id, s.created_at;
        INSERT INTO fact_vectors (user_id, app_name, fact_id, model_id, bits, embedding)
        SELECT p_user_id, p_app_name, v_merged, m.id, embedding_bits(p_embedding, m.mean), p_embedding::halfvec
        FROM embedding_models AS m
        WHERE m.app_name = p_app_name AND m.id = p_model_id AND p_embedding IS NOT NULL;
    ELSIF p_resolution = 'keep_both' THEN
        UPDATE facts AS f
        SET status = 'active', superseded_by = NULL, superseded_at = NULL, expired_at = NULL, updated_at = now(),
            version = f.version + 1,
            valid_until = CASE WHEN v_is_same_key THEN 'infinity'::timestamptz END
        WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.id IN (winner.id, loser.id);
        UPDATE facts AS f
        SET valid_until = NULL
        WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = winner.id;
    ELSE
        PERFORM end_fact(p_user_id, p_app_name, loser.id, winner.id, winner.valid_from);
        UPDATE facts AS f
        SET status = 'active', superseded_by = NULL, superseded_at = NULL, expired_at = NULL, valid_until = NULL,
            updated_at = now(), version = f.version + 1
        WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = winner.id;
    END IF;

    UPDATE memory_conflicts AS m
    SET resolution = p_resolution, status = 'resolved', resolved_by = p_actor, updated_at = now(),
        metadata = m.metadata || jsonb_build_object(
            'steps', COALESCE(m.metadata -> 'steps', '[]') || jsonb_build_array(jsonb_build_object(
                'resolution', p_resolution, 'status', 'resolved', 'by', p_actor, 'at', now())),
            'undo', COALESCE(m.metadata -> 'undo', '[]') || jsonb_build_array(jsonb_build_object(
                'resolution', c.resolution, 'status', c.status, 'merged', v_merged, 'before', v_before,
                'after', fact_states(p_user_id, p_app_name, ARRAY[winner.id, loser.id]))))
    WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.id = p_id;
    PERFORM settle_resolved(p_user_id, p_app_name, array_remove(ARRAY[winner.id, loser.id, v_merged], NULL));
    RETURN 'resolved';
END
$function$;
