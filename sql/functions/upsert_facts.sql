-- Writes facts by key, in the order given: what was true before stays as a version, with its end.
--
-- A fact holds from valid_from until valid_until (open: NULL; infinity where it is kept beside another of its key)
-- and was believed from created_at until expired_at. A new open value ends the one that holds at its valid_from, and
-- is itself ended by what is known to come later, so that old news read late land in their place. An open row that is
-- ended keeps its id (before superseded_at its end was believed to be open); one with an end is expired and copied. At
-- the same moment the later word corrects the earlier. A value with an end of its own is an exception: what holds
-- without end goes on after it. Said again, by the same event or another, a value only gains sources and confidence;
-- where it was said before what is known of it, it begins then.
--
-- Strategies: preference and rule contradict, profile, plan and relation are updated, both supersede; any other type
-- is refined, which supersedes with more confidence and else keeps both. Set by hand, a value stands against what is
-- extracted: that is recorded as never believed, with its conflict.
--
-- p_facts is an array of {type, key, value, confidence, origin, valid_from, valid_until, occurred_at, thread_id,
-- event_ids, run_id, extractor, model, metadata, model_id, embedding}.
--
-- callers: core/facts.py
-- locks: a transaction-level advisory lock per user's facts, so that two writers of one key never lose one; then
--   rows of facts, of memories of the threads in question, and the user's row of fact_term_stats
-- volatility: VOLATILE, it writes
-- returns: a row a fact: added, superseded, beside, earlier, ended, unchanged or kept_manual

CREATE OR REPLACE FUNCTION :"schema".upsert_facts(
    p_user_id text,
    p_app_name text,
    p_facts jsonb,
    p_actor text DEFAULT NULL
)
RETURNS TABLE (place integer, action text, id uuid, previous_id uuid, conflict_id uuid)
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", :"vector_schema", pg_catalog, pg_temp
AS $function$
#variable_conflict use_column
DECLARE
    w record;
    held record;
    v_next uuid;
    v_next_from timestamptz;
    v_id uuid;
    v_old uuid;
    v_conflict uuid;
    v_action text;
    v_strategy text;
    v_now timestamptz;
    v_until timestamptz;
    v_is_same boolean;
    v_hidden uuid[] := '{}';
    v_shown uuid[] := '{}';
    v_threads uuid[] := '{}';
BEGIN
    PERFORM admit_writer(p_user_id, p_app_name);
    PERFORM lock_facts(p_user_id, p_app_name);
    -- After the wait: the transaction may have begun before what it waited for was written.
    v_now := clock_timestamp();
    FOR w IN
        SELECT (e.n - 1)::integer AS place, e.f ->> 'type' AS fact_type, e.f ->> 'key' AS key, e.f -> 'value' AS value,
            (e.f ->> 'confidence')::float8 AS confidence, e.f ->> 'origin' AS origin,
            COALESCE((e.f ->> 'valid_from')::timestamptz, CASE
                WHEN (e.f ->> 'valid_until')::timestamptz <= COALESCE((e.f ->> 'occurred_at')::timestamptz, v_now)
                THEN '-infinity'
                ELSE COALESCE((e.f ->> 'occurred_at')::timestamptz, v_now) END) AS starts,
            (e.f ->> 'valid_until')::timestamptz AS ends, (e.f ->> 'thread_id')::uuid AS thread_id,
            ARRAY(SELECT x::uuid FROM jsonb_array_elements_text(e.f -> 'event_ids') AS x) AS event_ids,
            (e.f ->> 'run_id')::uuid AS run_id, e.f ->> 'extractor' AS extractor, e.f ->> 'model' AS model,
            COALESCE(e.f -> 'metadata', '{}') AS metadata,
            (e.f ->> 'model_id')::smallint AS model_id, (e.f ->> 'embedding')::vector AS embedding
        FROM jsonb_array_elements(p_facts) WITH ORDINALITY AS e (f, n)
        ORDER BY e.n
    LOOP
        v_action := NULL;
        v_old := NULL;
        v_conflict := NULL;
        v_is_same := false;
        v_until := w.ends;
        v_next := NULL;
        v_next_from := NULL;
        v_strategy := CASE w.fact_type
            WHEN 'preference' THEN 'contradiction' WHEN 'rule' THEN 'contradiction'
            WHEN 'profile' THEN 'temporal_update' WHEN 'plan' THEN 'temporal_update'
            WHEN 'relation' THEN 'temporal_update' ELSE 'refinement' END;

        -- The same words of the same event, whatever became of them; else the same value where it holds already.
        SELECT f.id INTO v_id
        FROM facts AS f
        WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.fact_type = w.fact_type AND f.key = w.key
            AND f.value = w.value
            AND (EXISTS (
                    SELECT 1 FROM item_sources AS s
                    WHERE s.user_id = p_user_id AND s.app_name = p_app_name AND s.item_id = f.id
                        AND s.event_id = ANY (w.event_ids))
                OR f.deleted_at IS NULL AND f.expired_at IS NULL
                    AND COALESCE(f.valid_from, '-infinity') <= w.starts
                    AND COALESCE(f.valid_until, 'infinity') > w.starts
                    AND (w.ends IS NULL OR f.valid_until = w.ends))
        ORDER BY f.deleted_at IS NULL DESC, f.expired_at IS NULL DESC, f.valid_until DESC NULLS FIRST, f.id
        LIMIT 1;
        IF FOUND THEN
            v_action := 'unchanged';
            UPDATE facts AS f
            SET confidence = GREATEST(f.confidence, w.confidence), updated_at = v_now, version = f.version + 1,
                origin = CASE WHEN w.origin = 'manual' THEN 'manual' ELSE f.origin END
            WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = v_id
                AND (f.confidence < w.confidence OR w.origin = 'manual' AND f.origin <> 'manual');
        END IF;

        IF v_action IS NULL AND w.origin <> 'manual' THEN
            SELECT f.id INTO v_old
            FROM facts AS f
            WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.fact_type = w.fact_type AND f.key = w.key
                AND f.origin = 'manual' AND f.deleted_at IS NULL AND f.expired_at IS NULL
                AND COALESCE(f.valid_from, '-infinity') <= w.starts
                AND COALESCE(f.valid_until, 'infinity') > w.starts
            ORDER BY f.valid_from DESC NULLS LAST, f.created_at DESC
            LIMIT 1;
            IF FOUND THEN
                v_action := 'kept_manual';
                SELECT f.id, c.id INTO v_id, v_conflict
                FROM facts AS f
                LEFT JOIN memory_conflicts AS c
                    ON c.user_id = p_user_id AND c.app_name = p_app_name AND c.new_fact_id = f.id
                WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.fact_type = w.fact_type
                    AND f.key = w.key AND f.value = w.value AND f.superseded_by = v_old
                    AND f.expired_at = f.created_at
                LIMIT 1;
                IF NOT FOUND THEN
                    v_id := gen_random_uuid();
                    INSERT INTO facts (user_id, app_name, id, thread_id, fact_type, key, value, confidence, origin,
                        valid_from, valid_until, status, superseded_by, superseded_at, created_at, expired_at, metadata)
                    VALUES (p_user_id, p_app_name, v_id, w.thread_id, w.fact_type, w.key, w.value, w.confidence,
                        w.origin, NULLIF(w.starts, '-infinity'), w.ends, 'superseded', v_old, v_now, v_now,
                        v_now, w.metadata);
                    v_conflict := record_conflict(p_user_id, p_app_name, v_old, v_id, v_strategy, 'keep_old',
                        'key_collision', 'resolved');
                END IF;
            END IF;
        END IF;

        IF v_action IS NULL AND w.ends IS NOT NULL THEN
            -- An end for what holds without one.
            UPDATE facts AS f
            SET valid_until = w.ends, superseded_at = v_now, updated_at = v_now, version = f.version + 1
            WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.fact_type = w.fact_type AND f.key = w.key
                AND f.value = w.value AND f.status = 'active' AND f.valid_until IS NULL AND f.deleted_at IS NULL
                AND COALESCE(f.valid_from, '-infinity') < w.ends
            RETURNING f.id INTO v_id;
            IF FOUND THEN
                v_action := 'ended';
            ELSE
                SELECT f.id INTO v_old
                FROM facts AS f
                WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.fact_type = w.fact_type
                    AND f.key = w.key AND f.status = 'active' AND f.deleted_at IS NULL AND f.superseded_by IS NULL
                    AND f.valid_until IS NOT NULL AND f.valid_until < 'infinity'
                    AND f.valid_from IS NOT DISTINCT FROM NULLIF(w.starts, '-infinity')
                FOR UPDATE;
            END IF;
        ELSIF v_action IS NULL THEN
            SELECT f.id, f.valid_from, f.value = w.value AND (f.origin <> 'manual' OR w.origin = 'manual')
            INTO v_next, v_next_from, v_is_same
            FROM facts AS f
            WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.fact_type = w.fact_type AND f.key = w.key
                AND f.deleted_at IS NULL AND f.expired_at IS NULL AND f.valid_from > w.starts
                AND (f.valid_until IS NULL OR f.superseded_by IS NOT NULL)
            ORDER BY f.valid_from, f.created_at
            LIMIT 1;
            v_until := v_next_from;
        END IF;

        IF v_action IS NULL THEN
            v_id := CASE WHEN v_is_same THEN v_next ELSE gen_random_uuid() END;
            v_action := CASE WHEN v_next IS NULL THEN 'added' ELSE 'earlier' END;
            IF w.ends IS NULL AND v_strategy = 'refinement' AND w.origin <> 'manual' AND v_next IS NULL THEN
                SELECT f.id INTO v_old
                FROM facts AS f
                WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.fact_type = w.fact_type
                    AND f.key = w.key AND f.status = 'active' AND f.deleted_at IS NULL
                    AND f.valid_until IS NULL AND f.confidence >= w.confidence;
                IF FOUND THEN
                    v_action := 'beside';
                    v_until := 'infinity';
                END IF;
            END IF;
            IF v_is_same THEN
                PERFORM backdate_fact(p_user_id, p_app_name, v_id, w.starts, w.confidence, w.origin, v_now);
            ELSE
                INSERT INTO facts (user_id, app_name, id, thread_id, fact_type, key, value, confidence, origin,
                    valid_from, valid_until, status, created_at, metadata)
                VALUES (p_user_id, p_app_name, v_id, w.thread_id, w.fact_type, w.key, w.value, w.confidence, w.origin,
                    NULLIF(w.starts, '-infinity'), COALESCE(v_until, 'infinity'),
                    CASE WHEN v_next_from <= v_now THEN 'superseded' ELSE 'active' END, v_now, w.metadata);
            END IF;
            IF v_next IS NOT NULL AND NOT v_is_same THEN
                UPDATE facts AS f
                SET superseded_by = v_next, superseded_at = v_now
                WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = v_id;
            END IF;
            IF v_action = 'beside' THEN
                v_conflict := record_conflict(p_user_id, p_app_name, v_old, v_id, v_strategy, 'keep_both',
                    'key_collision', 'resolved');
            ELSIF w.ends IS NOT NULL THEN
                IF v_old IS NOT NULL THEN
                    v_action := 'superseded';
                    UPDATE facts AS f
                    SET status = 'superseded', superseded_by = v_id, expired_at = v_now,
                        updated_at = v_now, version = f.version + 1
                    WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = v_old;
                    v_hidden := v_hidden || v_old;
                    v_conflict := record_conflict(p_user_id, p_app_name, v_old, v_id, v_strategy, 'supersede',
                        'key_collision', 'resolved');
                END IF;
            ELSE
                FOR held IN
                    SELECT f.id, f.valid_from, f.valid_until,
                        f.valid_until IS NULL OR f.valid_until = 'infinity' AS is_open
                    FROM facts AS f
                    WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.fact_type = w.fact_type
                        AND f.key = w.key AND f.id <> v_id AND f.deleted_at IS NULL AND f.expired_at IS NULL
                        AND COALESCE(f.valid_from, '-infinity') <= w.starts
                        AND COALESCE(f.valid_until, 'infinity') > w.starts
                        AND (f.valid_until IS NULL OR f.valid_until = 'infinity' OR f.superseded_by IS NOT NULL)
                        AND (v_strategy <> 'refinement' OR w.origin = 'manual' OR f.valid_until IS DISTINCT FROM 'infinity')
                    ORDER BY f.id
                    FOR UPDATE
                LOOP
                    v_action := 'superseded';
                    v_old := held.id;
                    IF held.valid_from = w.starts OR NOT held.is_open THEN
                        IF held.valid_from < w.starts OR held.valid_from IS NULL THEN
                            v_old := copy_fact(p_user_id, p_app_name, held.id, w.starts, v_id, v_now);
                        END IF;
                        UPDATE facts AS f
                        SET expired_at = v_now, status = 'superseded', superseded_by = v_id,
                            superseded_at = COALESCE(f.superseded_at, v_now), updated_at = v_now, version = f.version + 1
                        WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = held.id;
                        v_hidden := v_hidden || held.id;
                    ELSE
                        UPDATE facts AS f
                        SET valid_until = w.starts, superseded_by = v_id, superseded_at = v_now, updated_at = v_now,
                            version = f.version + 1,
                            status = CASE WHEN w.starts > v_now THEN 'active' ELSE 'superseded' END
                        WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = held.id;
                        IF w.starts <= v_now THEN
                            v_hidden := v_hidden || held.id;
                        END IF;
                    END IF;
                    v_conflict := record_conflict(p_user_id, p_app_name, v_old, v_id, v_strategy, 'supersede',
                        'key_collision', 'resolved');
                END LOOP;
            END IF;
            -- Open only now: before, the version that it ends held the place in facts_user_key_unique.
            IF v_until IS NULL THEN
                UPDATE facts AS f SET valid_until = NULL
                WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = v_id;
            END IF;
            v_shown := v_shown || v_id;
            v_threads := v_threads || w.thread_id;
        END IF;

        -- Given, or that of another version with these words.
        INSERT INTO fact_vectors (user_id, app_name, fact_id, model_id, live, bits, embedding)
        SELECT p_user_id, p_app_name, f.id, v.model_id, f.status = 'active' AND f.deleted_at IS NULL, v.bits, v.embedding
        FROM facts AS f
        CROSS JOIN LATERAL (
            SELECT m.id AS model_id, embedding_bits(w.embedding, m.mean) AS bits, w.embedding::halfvec AS embedding
            FROM embedding_models AS m
            WHERE m.app_name = p_app_name AND m.id = w.model_id AND m.dims = vector_dims(w.embedding)
            UNION ALL
            (SELECT DISTINCT ON (v.model_id) v.model_id, v.bits, v.embedding
            FROM facts AS o
            JOIN fact_vectors AS v ON v.user_id = p_user_id AND v.app_name = p_app_name AND v.fact_id = o.id
            WHERE o.user_id = p_user_id AND o.app_name = p_app_name AND o.fact_type = w.fact_type AND o.key = w.key
                AND o.value = w.value AND w.embedding IS NULL
            ORDER BY v.model_id, o.id)
        ) AS v
        WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = v_id
        ON CONFLICT (user_id, app_name, fact_id, model_id) DO NOTHING;
        INSERT INTO item_sources (user_id, app_name, item_kind, item_id, event_id, run_id, extractor, model)
        SELECT p_user_id, p_app_name, 'fact', v_id, e.id, w.run_id, COALESCE(w.extractor, 'manual'), w.model
        FROM events AS e
        WHERE e.user_id = p_user_id AND e.app_name = p_app_name AND e.id = ANY (w.event_ids)
        ON CONFLICT (user_id, app_name, item_id, event_id) DO NOTHING;
        RETURN QUERY SELECT w.place, v_action, v_id, v_old, v_conflict;
    END LOOP;

    PERFORM settle_facts(p_user_id, p_app_name, v_shown, v_hidden, v_threads);
END
$function$;
