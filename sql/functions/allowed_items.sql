-- The ids of a user's live memories and active facts that pass the filters of a search; NULL: there is no filter.
--
-- A filter is applied before the ranking. Applied to the best few afterwards it would find too little, or nothing.
--
-- callers: search_items()
-- volatility: STABLE, it reads tables
-- returns: an array, empty where nothing passes; times are those when it was said (a fact: became true); metadata
--   must contain p_metadata, or have the same text under each of its keys (a null is none: it has to be there)

CREATE OR REPLACE FUNCTION :"schema".allowed_items(
    p_user_id text,
    p_app_name text,
    p_kinds text[],
    p_types text[],
    p_thread text,
    p_since timestamptz,
    p_until timestamptz,
    p_metadata jsonb
)
RETURNS uuid[]
LANGUAGE sql
STABLE
PARALLEL SAFE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
    SELECT CASE
        WHEN num_nonnulls(p_types, p_thread, p_since, p_until, p_metadata) > 0 THEN ARRAY(
            SELECT m.id
            FROM memories AS m
            WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.deleted_at IS NULL
                AND 'memory' = ANY (p_kinds)
                AND (p_types IS NULL OR m.memory_type = ANY (p_types))
                AND (p_thread IS NULL OR m.thread_id = (
                    SELECT t.id FROM threads AS t
                    WHERE t.user_id = p_user_id AND t.app_name = p_app_name AND t.external_id = p_thread))
                AND (p_since IS NULL OR m.occurred_at >= p_since)
                AND (p_until IS NULL OR m.occurred_at < p_until)
                AND (p_metadata IS NULL OR m.metadata @> p_metadata OR NOT EXISTS (
                    SELECT 1 FROM jsonb_each_text(p_metadata) AS wanted
                    WHERE wanted.value IS NULL OR m.metadata ->> wanted.key IS DISTINCT FROM wanted.value))
            UNION ALL
            SELECT f.id
            FROM facts AS f
            WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.deleted_at IS NULL AND f.status = 'active'
                AND 'fact' = ANY (p_kinds)
                AND (p_types IS NULL OR f.fact_type = ANY (p_types))
                AND (p_thread IS NULL OR f.thread_id = (
                    SELECT t.id FROM threads AS t
                    WHERE t.user_id = p_user_id AND t.app_name = p_app_name AND t.external_id = p_thread))
                AND (p_since IS NULL OR f.valid_from >= p_since)
                AND (p_until IS NULL OR f.valid_from < p_until)
                AND (p_metadata IS NULL OR f.metadata @> p_metadata OR NOT EXISTS (
                    SELECT 1 FROM jsonb_each_text(p_metadata) AS wanted
                    WHERE wanted.value IS NULL OR f.metadata ->> wanted.key IS DISTINCT FROM wanted.value)))
    END;
$function$;
