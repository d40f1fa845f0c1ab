-- Lets a fact begin earlier: somebody had said the same before, and it is read only now.
--
-- The fact keeps its id and is believed so from p_at on. What was believed of it until then stays as an expired copy,
-- with its sources and vectors.
--
-- callers: upsert_facts()
-- locks: the row of the fact
-- volatility: VOLATILE, it writes

CREATE OR REPLACE FUNCTION :"schema".backdate_fact(
    p_user_id text,
    p_app_name text,
    p_id uuid,
    p_valid_from timestamptz,
    p_confidence float8,
    p_origin text,
    p_at timestamptz
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
DECLARE
    v_copy uuid := gen_random_uuid();
BEGIN
    INSERT INTO facts (user_id, app_name, id, thread_id, fact_type, key, value, confidence, importance_score, origin,
        valid_from, valid_until, superseded_by, status, superseded_at, expired_at, created_at, metadata)
    SELECT f.user_id, f.app_name, v_copy, f.thread_id, f.fact_type, f.key, f.value, f.confidence, f.importance_score,
        f.origin, f.valid_from, f.valid_until, f.id, 'superseded', f.superseded_at, p_at, f.created_at, f.metadata
    FROM facts AS f
    WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = p_id
    FOR UPDATE;
    INSERT INTO item_sources (user_id, app_name, item_kind, item_id, event_id, run_id, extractor, model)
    SELECT s.user_id, s.app_name, s.item_kind, v_copy, s.event_id, s.run_id, s.extractor, s.model
    FROM item_sources AS s
    WHERE s.user_id = p_user_id AND s.app_name = p_app_name AND s.item_id = p_id;
    INSERT INTO fact_vectors (user_id, app_name, fact_id, model_id, live, bits, embedding)
    SELECT v.user_id, v.app_name, v_copy, v.model_id, false, v.bits, v.embedding
    FROM fact_vectors AS v
    WHERE v.user_id = p_user_id AND v.app_name = p_app_name AND v.fact_id = p_id;
    UPDATE facts AS f
    SET valid_from = NULLIF(p_valid_from, '-infinity'), created_at = p_at, updated_at = p_at, version = f.version + 1,
        confidence = GREATEST(f.confidence, p_confidence),
        origin = CASE WHEN p_origin = 'manual' THEN 'manual' ELSE f.origin END
    WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = p_id;
END
$function$;
