-- Writes down that two facts stood against each other, and what came of it. The values are those of the facts.
--
-- callers: upsert_facts(), the steps that compare facts of different keys
-- locks: none beyond the row written
-- volatility: VOLATILE, it writes
-- returns: the id of the conflict; confidence_delta is new - old

CREATE OR REPLACE FUNCTION :"schema".record_conflict(
    p_user_id text,
    p_app_name text,
    p_old uuid,
    p_new uuid,
    p_type text,
    p_resolution text,
    p_detected_by text,
    p_status text,
    p_metadata jsonb DEFAULT '{}'
)
RETURNS uuid
LANGUAGE sql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
    INSERT INTO memory_conflicts (user_id, app_name, old_fact_id, new_fact_id, conflict_type, resolution, status,
        confidence_delta, detected_by, metadata)
    SELECT p_user_id, p_app_name, o.id, n.id, p_type, p_resolution, p_status,
        -- To twelve digits: 0.9 - 0.7 is 0.2 to whoever reads it.
        round((n.confidence - o.confidence)::numeric, 12)::float8, p_detected_by, p_metadata
    FROM facts AS o
    JOIN facts AS n ON n.user_id = p_user_id AND n.app_name = p_app_name AND n.id = p_new
    WHERE o.user_id = p_user_id AND o.app_name = p_app_name AND o.id = p_old
    RETURNING id;
$function$;
