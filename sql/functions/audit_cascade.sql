-- Deletes or anonymizes memories with exactly what came from them, and says how many rows of which table.
--
-- What only they said goes with them: facts and other items none of whose sources stays. What others said too stays,
-- with one source less. What was made of several together (summaries, reflections, topics) goes whole and is made anew
-- from what is left. Turns that no other memory stands on lose their text and keep their place, so that the same
-- input does not bring them back; a thread of such turns alone loses its state. Searches that found the memories lose
-- their question. A memory that was merged into one of them says the same and goes too; a survivor into which one of
-- them was merged stays.
--
-- callers: audit_decide()
-- locks: facts of the user (lock_facts) and the memories p_ids are the caller's to lock first; then rows of what
--   came from them, statistics, the app's trail
-- volatility: VOLATILE, it writes
-- returns: rows by table

CREATE OR REPLACE FUNCTION :"schema".audit_cascade(
    p_user_id text,
    p_app_name text,
    p_ids uuid[],
    p_decision text,
    p_actor text DEFAULT NULL,
    p_actor_verified boolean DEFAULT false
)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
SET search_path = :"schema", pg_catalog, pg_temp
AS $function$
DECLARE
    c_blank CONSTANT text := '[ANONYMIZED]';
    c_made_of_several CONSTANT text[] := '{reflection,insight}';
    v_gone CONSTANT boolean := p_decision = 'delete';
    v_taken_in uuid[];
    v_made uuid[];
    v_all uuid[];
    v_events uuid[];
    v_facts uuid[];
    v_items uuid[];
    v_summaries uuid[];
    v_topics uuid[];
    v_threads uuid[];
    v_related uuid[];
    v_memories bigint;
    v_rows bigint;
    v_more bigint;
    v_reach jsonb := '{}';
BEGIN
    SELECT COALESCE(array_agg(m.id ORDER BY m.id), '{}') INTO v_taken_in
    FROM (
        SELECT one.id FROM memories AS one
        WHERE one.user_id = p_user_id AND one.app_name = p_app_name AND one.deleted_at IS NOT NULL
            AND one.metadata ->> 'merged_into' = ANY (p_ids::text[]) AND one.id <> ALL (p_ids)
        ORDER BY one.id
        FOR UPDATE
    ) AS m;
    v_all := p_ids || v_taken_in;
    -- Turns that one of them stands on and no other memory does, unless that only inherited them in a merge.
    SELECT COALESCE(array_agg(e.event_id), '{}') INTO v_events
    FROM (
        SELECT DISTINCT s.event_id FROM item_sources AS s
        WHERE s.user_id = p_user_id AND s.app_name = p_app_name AND s.item_id = ANY (v_all)
    ) AS e
    WHERE NOT EXISTS (
        SELECT 1
        FROM item_sources AS s
        JOIN memories AS m ON m.user_id = s.user_id AND m.app_name = s.app_name AND m.id = s.item_id
        WHERE s.user_id = p_user_id AND s.app_name = p_app_name AND s.event_id = e.event_id
            AND s.item_kind = 'memory' AND s.item_id <> ALL (v_all)
            AND COALESCE(m.metadata ->> 'subtype', '') <> ALL (c_made_of_several)
            AND NOT EXISTS (
                SELECT 1 FROM jsonb_array_elements(COALESCE(m.metadata -> 'merged_from', '[]')) AS taken
                WHERE taken -> 'sources' ? e.event_id::text));
    SELECT COALESCE(array_agg(m.id ORDER BY m.id), '{}') INTO v_made
    FROM (
        SELECT one.id FROM memories AS one
        WHERE one.user_id = p_user_id AND one.app_name = p_app_name AND one.id <> ALL (v_all)
            AND one.metadata ->> 'subtype' = ANY (c_made_of_several)
            AND one.id IN (
                SELECT s.item_id FROM item_sources AS s
                WHERE s.user_id = p_user_id AND s.app_name = p_app_name AND s.event_id = ANY (v_events))
        ORDER BY one.id
        FOR UPDATE
    ) AS m;
    v_all := v_all || v_made;
    SELECT COALESCE(array_agg(i.item_id) FILTER (WHERE i.item_kind = 'fact'), '{}'),
        COALESCE(array_agg(i.item_id) FILTER (WHERE i.item_kind <> 'fact'), '{}')
    INTO v_facts, v_items
    FROM (
        SELECT s.item_id, s.item_kind
        FROM item_sources AS s
        WHERE s.user_id = p_user_id AND s.app_name = p_app_name
            AND s.item_kind NOT IN ('memory', 'summary', 'association')
            AND s.item_id IN (
                SELECT o.item_id FROM item_sources AS o
                WHERE o.user_id = p_user_id AND o.app_name = p_app_name AND o.event_id = ANY (v_events))
        GROUP BY s.item_id, s.item_kind
        HAVING bool_and(s.event_id = ANY (v_events))
    ) AS i;
    SELECT COALESCE(array_agg(s.id), '{}') INTO v_summaries
    FROM memory_summaries AS s
    WHERE s.user_id = p_user_id AND s.app_name = p_app_name
        AND (s.details -> 'memory_ids' ?| v_all::text[] OR s.details -> 'fact_ids' ?| v_facts::text[]
            OR EXISTS (
                SELECT 1 FROM item_sources AS i
                WHERE i.user_id = s.user_id AND i.app_name = s.app_name AND i.item_id = s.id
                    AND i.event_id = ANY (v_events)));
    SELECT COALESCE(array_agg(DISTINCT t.topic_id), '{}') INTO v_topics
    FROM memory_topic_members AS t
    WHERE t.user_id = p_user_id AND t.app_name = p_app_name AND t.memory_id = ANY (v_all);
    SELECT array_agg(DISTINCT m.thread_id) INTO v_threads
    FROM memories AS m
    WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.id = ANY (v_all) AND m.thread_id IS NOT NULL;

    -- memories
    PERFORM unindex_memories(p_user_id, p_app_name, v_all);
    DELETE FROM memory_versions AS v
    WHERE v.user_id = p_user_id AND v.app_name = p_app_name AND v.memory_id = ANY (v_all);
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    v_reach := v_reach || jsonb_build_object('memory_versions', v_rows);
    DELETE FROM memory_vectors AS v
    WHERE v.user_id = p_user_id AND v.app_name = p_app_name AND v.memory_id = ANY (v_all);
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    v_reach := v_reach || jsonb_build_object('memory_vectors', v_rows);
    DELETE FROM memory_pii AS v
    WHERE v.user_id = p_user_id AND v.app_name = p_app_name AND v.memory_id = ANY (v_all);
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    v_reach := v_reach || jsonb_build_object('memory_pii', v_rows);
    DELETE FROM memory_formation AS d
    USING memory_topic_members AS t
    WHERE t.user_id = p_user_id AND t.app_name = p_app_name AND t.topic_id = ANY (v_topics)
        AND d.user_id = p_user_id AND d.app_name = p_app_name AND d.memory_id = t.memory_id
        AND d.step = 'topic_cluster';
    DELETE FROM memory_topics AS t
    WHERE t.user_id = p_user_id AND t.app_name = p_app_name AND t.id = ANY (v_topics);
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    v_reach := v_reach || jsonb_build_object('memory_topics', v_rows);
    DELETE FROM memories AS m
    WHERE m.user_id = p_user_id AND m.app_name = p_app_name
        AND (v_gone AND m.id = ANY (v_all) OR m.id = ANY (v_made));
    GET DIAGNOSTICS v_memories = ROW_COUNT;
    UPDATE memories AS m
    SET content = c_blank, metadata = '{}', deleted_reason = NULL, updated_at = now(), version = m.version + 1
    WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.id = ANY (v_all);
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    v_reach := v_reach || jsonb_build_object('memories', v_memories + v_rows);
    PERFORM index_memories(p_user_id, p_app_name, ARRAY(
        SELECT m.id FROM memories AS m
        WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.id = ANY (v_all) AND m.deleted_at IS NULL));
    UPDATE memories AS m
    SET metadata = m.metadata || jsonb_build_object('merged_from', COALESCE((
            SELECT jsonb_agg(taken) FROM jsonb_array_elements(m.metadata -> 'merged_from') AS taken
            WHERE taken ->> 'id' <> ALL (v_all::text[])), '[]'))
    WHERE m.user_id = p_user_id AND m.app_name = p_app_name AND m.metadata ? 'merged_from'
        AND EXISTS (
            SELECT 1 FROM jsonb_array_elements(m.metadata -> 'merged_from') AS taken
            WHERE taken ->> 'id' = ANY (v_all::text[]));

    -- facts
    PERFORM unindex_facts(p_user_id, p_app_name, v_facts);
    DELETE FROM fact_vectors AS v
    WHERE v.user_id = p_user_id AND v.app_name = p_app_name AND v.fact_id = ANY (v_facts);
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    v_reach := v_reach || jsonb_build_object('fact_vectors', v_rows);
    DELETE FROM memory_conflicts AS c
    WHERE c.user_id = p_user_id AND c.app_name = p_app_name
        AND (c.old_fact_id = ANY (v_facts) OR c.new_fact_id = ANY (v_facts));
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    v_reach := v_reach || jsonb_build_object('memory_conflicts', v_rows);
    IF v_gone THEN
        DELETE FROM facts AS f
        WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = ANY (v_facts);
    ELSE
        UPDATE facts AS f
        SET key = 'anonymized:' || f.id, value = '{"anonymized": true}', metadata = '{}', deleted_reason = NULL,
            updated_at = now(), version = f.version + 1
        WHERE f.user_id = p_user_id AND f.app_name = p_app_name AND f.id = ANY (v_facts);
    END IF;
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    v_reach := v_reach || jsonb_build_object('facts', v_rows);

    -- what else came from them
    v_reach := v_reach || audit_cascade_items(p_user_id, p_app_name, v_items);
    DELETE FROM memory_summaries AS s
    WHERE s.user_id = p_user_id AND s.app_name = p_app_name AND s.id = ANY (v_summaries);
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    v_reach := v_reach || jsonb_build_object('memory_summaries', v_rows);
    WITH gone AS (
        DELETE FROM memory_associations AS a
        WHERE a.user_id = p_user_id AND a.app_name = p_app_name
            AND (a.source_id = ANY (v_all || v_facts || v_items) OR a.target_id = ANY (v_all || v_facts || v_items))
        RETURNING a.id
    )
    SELECT count(*), v_items || COALESCE(array_agg(g.id), '{}') INTO v_rows, v_items FROM gone AS g;
    v_reach := v_reach || jsonb_build_object('memory_associations', v_rows);
    DELETE FROM item_sources AS s
    WHERE s.user_id = p_user_id AND s.app_name = p_app_name
        AND (s.item_id = ANY (v_all || v_facts || v_summaries || v_items) OR s.event_id = ANY (v_events));
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    v_reach := v_reach || jsonb_build_object('item_sources', v_rows);
    UPDATE events AS e
    SET content = jsonb_build_object('erased', true), actions = '{}',
        author = CASE WHEN e.content ->> 'role' IN ('user', 'assistant', 'model', 'system', 'tool', 'agent')
            THEN e.content ->> 'role' ELSE 'user' END
    WHERE e.user_id = p_user_id AND e.app_name = p_app_name AND e.id = ANY (v_events);
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    v_reach := v_reach || jsonb_build_object('events', v_rows);
    UPDATE threads AS t
    SET state = '{}', metadata = '{}', updated_at = now(), version = t.version + 1
    WHERE t.user_id = p_user_id AND t.app_name = p_app_name AND (t.state <> '{}' OR t.metadata <> '{}')
        AND t.id IN (
            SELECT e.thread_id FROM events AS e
            WHERE e.user_id = p_user_id AND e.app_name = p_app_name AND e.id = ANY (v_events))
        AND NOT EXISTS (
            SELECT 1 FROM events AS e
            WHERE e.user_id = p_user_id AND e.app_name = p_app_name AND e.thread_id = t.id
                AND e.content ->> 'erased' IS NULL);
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    v_reach := v_reach || jsonb_build_object('threads', v_rows);
    UPDATE memory_retrieval_logs AS l
    SET query = c_blank
    WHERE l.user_id = p_user_id AND l.app_name = p_app_name AND l.query <> c_blank
        AND (l.retrieved_memory_ids && v_all OR l.retrieved_fact_ids && v_facts);
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    v_reach := v_reach || jsonb_build_object('memory_retrieval_logs', v_rows);
    DELETE FROM memory_preload_cache AS c WHERE c.user_id = p_user_id AND c.app_name = p_app_name;
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    v_reach := v_reach || jsonb_build_object('memory_preload_cache', v_rows);

    -- A memory's score counts at most five relatives: in larger threads it stays.
    SELECT array_agg(m.id) INTO v_related
    FROM unnest(v_threads) AS t (thread_id)
    CROSS JOIN LATERAL (
        SELECT one.id FROM memories AS one
        WHERE one.user_id = p_user_id AND one.app_name = p_app_name AND one.thread_id = t.thread_id
            AND one.deleted_at IS NULL
        LIMIT 8
    ) AS m;
    PERFORM rescore_memories(p_user_id, p_app_name, v_related) WHERE v_related IS NOT NULL;

    v_taken_in := v_taken_in || v_made || v_facts;
    IF cardinality(v_taken_in) > 0 THEN
        PERFORM record_audit_entries(p_app_name, p_user_id, v_taken_in::text[], p_decision,
            'came from a memory that this was decided of', NULL, p_actor, p_actor_verified);
    END IF;
    RETURN v_reach;
END
$function$;
