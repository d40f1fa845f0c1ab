-- Writes a current fact under another key, as if it had been said so, and ends the one under the old key.
--
-- callers: the step entity_normalization
-- locks: as upsert_facts()
-- volatility: VOLATILE, it writes
-- returns: whether the fact stood and was moved

CREATE OR REPLACE FUNCTION :"schema".move_fact(
    p_user_id text,
    p_app_name text,
    p_id uuid,
    p_key text,
    p_value jsonb,
    p_actor text DEFAULT NULL
)
RETURNS boolean
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
DECLARE
    f record;
    w record;
BEGIN
    PERFORM lock_facts(p_user_id, p_app_name);
    SELECT x.*, ARRAY(
        SELECT s.event_id FROM item_sources AS s
        WHERE s.user_id = p_user_id AND s.app_name = p_app_name AND s.item_id = x.id ORDER BY s.event_id) AS event_ids
    INTO f
    FROM facts AS x
    WHERE x.user_id = p_user_id AND x.app_name = p_app_name AND x.id = p_id AND x.deleted_at IS NULL
        AND x.status = 'active'
    FOR UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    -- Out of the way first: under the same key it would be found again as what is known already.
    UPDATE facts AS x
    SET status = 'superseded', superseded_at = clock_timestamp(), expired_at = clock_timestamp(),
        updated_at = clock_timestamp(), version = x.version + 1
    WHERE x.user_id = p_user_id AND x.app_name = p_app_name AND x.id = p_id;
    SELECT u.* INTO w
    FROM upsert_facts(p_user_id, p_app_name, jsonb_build_array(jsonb_build_object(
        'type', f.fact_type, 'key', p_key, 'value', p_value, 'confidence', f.confidence, 'origin', f.origin,
        'valid_from', CASE WHEN f.valid_from IS NULL THEN '-infinity' ELSE f.valid_from::text END,
        'thread_id', f.thread_id, 'metadata', f.metadata, 'extractor', 'normalized', 'event_ids', '[]'::jsonb)),
        p_actor) AS u;
    UPDATE facts AS x
    SET superseded_by = w.id
    WHERE x.user_id = p_user_id AND x.app_name = p_app_name AND x.id = p_id AND w.id <> p_id;
    INSERT INTO item_sources (user_id, app_name, item_kind, item_id, event_id, run_id, extractor, model)
    SELECT s.user_id, s.app_name, s.item_kind, w.id, s.event_id, s.run_id, s.extractor, s.model
    FROM item_sources AS s
    WHERE s.user_id = p_user_id AND s.app_name = p_app_name AND s.item_id = p_id
    ON CONFLICT DO NOTHING;
    INSERT INTO fact_vectors (user_id, app_name, fact_id, model_id, live, bits, embedding)
    SELECT v.user_id, v.app_name, w.id, v.model_id, x.status = 'active', v.bits, v.embedding
    FROM fact_vectors AS v
    JOIN facts AS x ON x.user_id = p_user_id AND x.app_name = p_app_name AND x.id = w.id
    WHERE v.user_id = p_user_id AND v.app_name = p_app_name AND v.fact_id = p_id
    ON CONFLICT DO NOTHING;
    PERFORM settle_facts(p_user_id, p_app_name, '{}', ARRAY[p_id], ARRAY[f.thread_id]);
    RETURN true;
END
$function$;
