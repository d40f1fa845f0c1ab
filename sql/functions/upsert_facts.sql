-- Writes facts by key, in order: a changed value supersedes the version before, which stays.
--
-- callers: core/facts.py
-- locks: a transaction-level advisory lock per user's facts, so that two writers of one key never lose one
-- volatility: VOLATILE, it writes
-- returns: a row a fact, what became of it

CREATE OR REPLACE FUNCTION :"schema".upsert_facts(
    p_user_id text,
    p_app_name text,
    p_facts jsonb,
    p_actor text DEFAULT NULL
)
RETURNS TABLE (place integer, action text, id uuid, previous_id uuid, conflict_id uuid)
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
#variable_conflict use_column
DECLARE
    w record;
    old record;
    v_action text;
    v_new uuid;
BEGIN
    INSERT INTO users (user_id, app_name) VALUES (p_user_id, p_app_name)
    ON CONFLICT (user_id, app_name) DO NOTHING;
    PERFORM pg_advisory_xact_lock(hashtextextended(
        'negmem:facts:' || current_schema() || ':' || p_app_name || ':' || p_user_id, 0));
    FOR w IN
        SELECT (e.n - 1)::integer AS place, e.f ->> 'type' AS fact_type, e.f ->> 'key' AS key, e.f -> 'value' AS value,
            (e.f ->> 'confidence')::float8 AS confidence, e.f ->> 'origin' AS origin,
            COALESCE((e.f ->> 'valid_from')::timestamptz, (e.f ->> 'occurred_at')::timestamptz, now()) AS valid_from,
            (e.f ->> 'valid_until')::timestamptz AS valid_until, (e.f ->> 'thread_id')::uuid AS thread_id,
            e.f -> 'metadata' AS metadata
        FROM jsonb_array_elements(p_facts) WITH ORDINALITY AS e (f, n)
        ORDER BY e.n
    LOOP
        SELECT f.* INTO old
        FROM facts AS f
        WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.fact_type = w.fact_type AND f.key = w.key
            AND f.status = 'active' AND f.valid_until IS NULL AND f.deleted_at IS NULL
        FOR UPDATE;
        IF old.id IS NOT NULL AND old.value = w.value THEN
            RETURN QUERY SELECT w.place, 'unchanged', old.id, NULL::uuid, NULL::uuid;
            CONTINUE;
        END IF;
        v_new := gen_random_uuid();
        v_action := CASE WHEN old.id IS NULL THEN 'added' ELSE 'superseded' END;
        IF old.id IS NOT NULL THEN
            UPDATE facts AS f SET status = 'superseded', superseded_at = now(), valid_until = w.valid_from
            WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = old.id;
        END IF;
        INSERT INTO facts (user_id, app_name, id, thread_id, fact_type, key, value, confidence, origin, valid_from,
            valid_until, metadata)
        VALUES (p_user_id, p_app_name, v_new, w.thread_id, w.fact_type, w.key, w.value, w.confidence, w.origin,
            w.valid_from, w.valid_until, COALESCE(w.metadata, '{}'));
        IF old.id IS NOT NULL THEN
            UPDATE facts AS f SET superseded_by = v_new
            WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = old.id;
        END IF;
        RETURN QUERY SELECT w.place, v_action, v_new, old.id, NULL::uuid;
    END LOOP;
END
$function$;
