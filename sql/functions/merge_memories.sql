-- Retires memories in favour of others that say the same: the link to the survivor and the soft delete in one
-- transaction, so that nothing is lost without a live successor.
--
-- A pair is left out unless both are live with the text that was compared, the one that goes is neither core nor
-- pinned nor has taken in another, and neither has been told to be kept apart from the other. The survivor inherits
-- the sources and names what it took in; restore_memories() takes all of it back.
--
-- callers: core/merging.py
-- locks: the rows in order of id; the user's row of memory_term_stats; the app's trail
-- volatility: VOLATILE, it writes
-- returns: the pairs that were merged

CREATE OR REPLACE FUNCTION :"schema".merge_memories(
    p_user_id text,
    p_app_name text,
    p_pairs jsonb,
    p_run_id uuid,
    p_actor text DEFAULT NULL
)
RETURNS TABLE (survivor uuid, loser uuid)
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
#variable_conflict use_column
DECLARE
    p record;
    v_sources jsonb;
    v_survivors uuid[] := '{}';
    v_losers uuid[] := '{}';
    v_notes jsonb[] := '{}';
BEGIN
    IF EXISTS (
        SELECT 1 FROM users AS u
        WHERE u.user_id = p_user_id AND u.app_name = p_app_name AND u.held_at IS NOT NULL)
    THEN
        RETURN;
    END IF;
    PERFORM 1
    FROM memories AS m
    WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.id IN (
        SELECT unnest(ARRAY[x.survivor, x.loser])
        FROM jsonb_to_recordset(p_pairs) AS x (survivor uuid, loser uuid))
    ORDER BY m.id
    FOR UPDATE;
    FOR p IN
        SELECT x.survivor, x.loser, x.similarity
        FROM jsonb_to_recordset(p_pairs) AS x (survivor uuid, loser uuid, similarity float8, survivor_hash text, loser_hash text)
        JOIN memories AS s ON s.user_id = p_user_id AND s.app_name = p_app_name AND s.id = x.survivor
        JOIN memories AS l ON l.user_id = p_user_id AND l.app_name = p_app_name AND l.id = x.loser
        WHERE x.survivor <> x.loser AND s.deleted_at IS NULL AND l.deleted_at IS NULL
            AND md5(s.content) = x.survivor_hash AND md5(l.content) = x.loser_hash
            AND l.pinned_at IS NULL AND l.memory_type <> 'core'
            AND COALESCE(jsonb_array_length(l.metadata -> 'merged_from'), 0) = 0
            AND COALESCE(s.metadata -> 'kept_apart' ? x.loser::text, false) = false
            AND COALESCE(l.metadata -> 'kept_apart' ? x.survivor::text, false) = false
        ORDER BY x.survivor, x.loser
    LOOP
        -- One of an earlier pair of this call may be gone by now, or have taken in another.
        CONTINUE WHEN p.survivor = ANY (v_losers) OR p.loser = ANY (v_losers) OR p.loser = ANY (v_survivors);
        WITH inherited AS (
            INSERT INTO item_sources (user_id, app_name, item_kind, item_id, event_id, run_id, extractor, model)
            SELECT s.user_id, s.app_name, s.item_kind, p.survivor, s.event_id, s.run_id, s.extractor, s.model
            FROM item_sources AS s
            WHERE s.user_id = p_user_id AND s.app_name = p_app_name AND s.item_id = p.loser
            ON CONFLICT DO NOTHING
            RETURNING event_id
        )
        SELECT COALESCE(jsonb_agg(i.event_id), '[]') INTO v_sources FROM inherited AS i;
        v_survivors := v_survivors || p.survivor;
        v_losers := v_losers || p.loser;
        v_notes := v_notes || jsonb_build_object(
            'id', p.loser, 'similarity', p.similarity, 'run', p_run_id, 'at', now(), 'sources', v_sources);
    END LOOP;
    IF cardinality(v_losers) = 0 THEN
        RETURN;
    END IF;
    UPDATE memories AS m
    SET metadata = COALESCE(m.metadata, '{}') || jsonb_build_object('merged_from',
            COALESCE(m.metadata -> 'merged_from', '[]') || taken.notes),
        updated_at = now(), version = m.version + 1
    FROM (
        SELECT n.survivor, jsonb_agg(n.note ORDER BY n.place) AS notes
        FROM unnest(v_survivors, v_notes) WITH ORDINALITY AS n (survivor, note, place)
        GROUP BY n.survivor
    ) AS taken
    WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.id = taken.survivor;
    -- As forget_memories() does, but all at once: what leaves the index is found by one look at it.
    UPDATE memories AS m
    SET deleted_at = now(), deleted_reason = 'merged into ' || gone.survivor, updated_at = now(),
        version = m.version + 1,
        metadata = COALESCE(m.metadata, '{}') || jsonb_build_object('merged_into', gone.survivor, 'merge_run', p_run_id,
            'deleted', true, 'deleted_reason', 'merged into ' || gone.survivor)
    FROM unnest(v_survivors, v_losers) AS gone (survivor, loser)
    WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.id = gone.loser;
    PERFORM unindex_memories(p_user_id, p_app_name, v_losers);
    DELETE FROM memory_preload_cache AS c WHERE c.user_id = p_user_id AND c.app_name = p_app_name;
    PERFORM record_audit_entries(p_app_name, p_user_id, gone.losers, 'delete', 'merged into ' || gone.survivor, NULL,
        p_actor)
    FROM (
        SELECT n.survivor, array_agg(n.loser::text ORDER BY n.loser) AS losers
        FROM unnest(v_survivors, v_losers) AS n (survivor, loser)
        GROUP BY n.survivor
        ORDER BY n.survivor
    ) AS gone;
    RETURN QUERY SELECT n.survivor, n.loser FROM unnest(v_survivors, v_losers) AS n (survivor, loser);
END
$function$;
