-- A new version of a fact, with another end and successor: what is believed of it from now on.
--
-- Its sources come along, for erasure follows them; its vectors too, so that the past can be searched.
--
-- callers: upsert_facts()
-- locks: none beyond the rows written
-- volatility: VOLATILE, it writes
-- returns: the id of the copy

CREATE OR REPLACE FUNCTION :"schema".copy_fact(
    p_user_id text,
    p_app_name text,
    p_id uuid,
    p_valid_until timestamptz,
    p_superseded_by uuid,
    p_at timestamptz
)
RETURNS uuid
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
DECLARE
    v_copy uuid := gen_random_uuid();
BEGIN
    INSERT INTO facts (user_id, app_name, id, thread_id, fact_type, key, value, confidence, importance_score, origin,
        valid_from, valid_until, superseded_by, status, superseded_at, access_count, last_accessed_at, created_at,
        metadata)
    SELECT f.user_id, f.app_name, v_copy, f.thread_id, f.fact_type, f.key, f.value, f.confidence, f.importance_score,
        f.origin, f.valid_from, p_valid_until, p_superseded_by,
        CASE WHEN p_valid_until > p_at THEN 'active' ELSE 'superseded' END,
        p_at, f.access_count, f.last_accessed_at, p_at, f.metadata
    FROM facts AS f
    WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = p_id;
    INSERT INTO item_sources (user_id, app_name, item_kind, item_id, event_id, run_id, extractor, model)
    SELECT s.user_id, s.app_name, s.item_kind, v_copy, s.event_id, s.run_id, s.extractor, s.model
    FROM item_sources AS s
    WHERE s.user_id = p_user_id AND s.app_name = p_app_name AND s.item_id = p_id;
    INSERT INTO fact_vectors (user_id, app_name, fact_id, model_id, live, bits, embedding)
    SELECT v.user_id, v.app_name, v_copy, v.model_id, p_valid_until > p_at, v.bits, v.embedding
    FROM fact_vectors AS v
    WHERE v.user_id = p_user_id AND v.app_name = p_app_name AND v.fact_id = p_id;
    RETURN v_copy;
END
$function$;
